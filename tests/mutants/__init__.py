"""Small changes to the code, each judged by the tests beside it: what is changed and noticed by no test is a survivor.

Run by hand: `python -m tests.mutants --help`. It finds the tests by what they import; it never touches the checkout.
"""
