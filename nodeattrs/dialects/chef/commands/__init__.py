"""The commands about nodes, declared as data: `run`, `explain`, `search`, ...

`Chef.top` imports the module of one command when that command is needed.
"""
