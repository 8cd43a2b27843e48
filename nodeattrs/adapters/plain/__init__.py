"""Files of any kind: the rules of Helm, Compose and RFC 7396 by name, and those of the core.

What a file says, `texts` reads; which files are meant is known to `runs.folds`.
"""

from nodeattrs.adapters.plain.policies import POLICIES, NamedPolicy

__all__ = ["POLICIES", "NamedPolicy"]
