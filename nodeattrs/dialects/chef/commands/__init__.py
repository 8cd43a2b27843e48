"""The commands about nodes, declared as data: `run`, `explain`, `search`, ...; `Chef.top` loads the module of one."""
