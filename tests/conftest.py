"""What all tests share: no property test is failed for being slow.

On CI Hypothesis starts from its own profile there (the same examples each time);
this one only takes the clock away.
"""

from hypothesis import settings

settings.register_profile("house", deadline=None)
settings.load_profile("house")
