"""Strain on stores: killed, contended, damaged, out of room. `python -m tests.strain --help`

Each kind of strain judges by what it was promised (a save that returned, a number that was given), never by what
the store says of itself alone, and gives figures; "bad" is what must not be.
"""
