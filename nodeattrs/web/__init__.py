"""Pages: an explorer that serves them, and a report with the same pages in one file.

A page shows the data of `--format json`. Questions come in as a callable, answers as plain data. It knows no command
line and no store, and writes nothing.
"""
