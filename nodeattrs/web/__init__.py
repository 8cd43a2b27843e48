"""Pages for a browser: an explorer that a server serves, and a report with the same pages in one file.

A page shows the data of `--format json`. The caller gives a function that runs commands and returns their data. So this
package knows no command line and no store. The package writes nothing.
"""
