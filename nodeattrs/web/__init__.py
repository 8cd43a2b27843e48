"""Pages: an explorer that a server serves, and a report with the same pages in one file.

A page shows the data of `--format json`. It gets that data from a function that runs commands, so this package knows no
command line and no store. It writes nothing.
"""
