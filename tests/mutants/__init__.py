"""Small changes to the code, each judged by the tests that execute it: what no test notices is a survivor.

Run by hand: `python -m tests.mutants --help`. It never touches the checkout.
"""
