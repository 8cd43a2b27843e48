"""No certain answer without what may change it: one thing in a tree is made unreadable, and every verb is asked.

A case is a tree of a dialect in which one place cannot be read or is not known, a key, and a subject. The same tree is
made with two contents of that place. Each verb has to do one of two things:

- answer with exit code 5 and name the place, or
- answer with certainty what both readable trees answer.

In half of the cases the place is built so that it cannot set the key; most of these have to be certain.
"""
