"""Pages to look at: an explorer that serves them, and a report that is one of them in a file.

A page shows the data that `--format json` gives and decides nothing: what to ask comes in as a callable, the answers
as plain data. It knows no command line and no store; it writes nothing and asks nobody else.
"""
