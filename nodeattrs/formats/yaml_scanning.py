"""PyYAML's loader in Python, for texts that libyaml reads differently, or where there is no libyaml.

Before each token it looks through every place where a key may have begun, of which each open bracket is one: a text of
a thousand brackets takes seconds. They stand in the order in which they were met, so a look at the first ones says the
same.
"""

from __future__ import annotations

import yaml
from yaml.scanner import ScannerError

_LONGEST = 1024
"""Signs of a key, by YAML's rule."""


class Loader(yaml.SafeLoader):
    """As PyYAML's own. cost: by the signs of a text"""

    def next_possible_simple_key(self) -> int | None:
        """The number of the first token that a key may begin with."""
        return next((key.token_number for key in self.possible_simple_keys.values()), None)

    def stale_possible_simple_keys(self) -> None:
        """Forget the places that are too far away, or on another line. raises: ScannerError"""
        while self.possible_simple_keys:
            level, key = next(iter(self.possible_simple_keys.items()))
            if key.line == self.line and self.index - key.index <= _LONGEST:
                return
            if key.required:
                message = "could not find expected ':'"
                raise ScannerError("while scanning a simple key", key.mark, message, self.get_mark())
            del self.possible_simple_keys[level]
