"""The tests. `tests.vectors` is also a command: `python -m tests.vectors KIND FILE`."""
