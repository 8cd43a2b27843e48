"""PyYAML's loader in Python, for texts that libyaml reads differently, or where PyYAML has no libyaml.

Before each token, PyYAML's own loader looks at all places where a key may start, such as each open bracket. So a text
of a thousand brackets takes seconds. The places are in the order of the text, so this loader looks only at the first
ones.
"""

from __future__ import annotations

import yaml
from yaml.scanner import ScannerError

_LONGEST = 1024
"""Signs of a key, by YAML's rule."""


class Loader(yaml.SafeLoader):
    """`yaml.SafeLoader` with two methods replaced, so that its time is linear in the text. Its results are the same."""

    def next_possible_simple_key(self) -> int | None:
        """The number of the first token that a key may begin with; None where no key can start."""
        return next((key.token_number for key in self.possible_simple_keys.values()), None)

    def stale_possible_simple_keys(self) -> None:
        """Forget the places of keys that are too far away, or on another line.

        raises: ScannerError, if a key has to be at such a place
        """
        while self.possible_simple_keys:
            level, key = next(iter(self.possible_simple_keys.items()))
            if key.line == self.line and self.index - key.index <= _LONGEST:
                return
            if key.required:
                message = "could not find expected ':'"
                raise ScannerError("while scanning a simple key", key.mark, message, self.get_mark())
            del self.possible_simple_keys[level]
