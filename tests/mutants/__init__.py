"""Small changes to the code, each judged by the tests beside it: what is changed and noticed by no test is a survivor.

Run by hand: `python -m tests.mutants --help`. It knows the rooms and their test files; it never touches the checkout.
"""
