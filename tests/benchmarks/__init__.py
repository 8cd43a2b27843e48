"""The benchmarks: what must stay fast, with the bar it must stay under.

    python -m tests.benchmarks node [--json] [--rounds N]

workloads.py  what is measured: small functions that compute something, and can be tested without a clock
clock.py      how: processor time, in turns, the collector off, the best of several rounds
figures.py    the bars, and Chef's own figures beside them

pytest runs no clock: tests/test_benchmarks.py checks that the workloads compute what they claim.
"""
