"""A program that answers each line of JSON with a line of JSON: an original, in its own process."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any


class Peer:
    """The process of an original.

    command:     the program and its arguments
    environment: further variables of its environment
    """

    def __init__(self, *command: str, **environment: str) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **environment},
        )

    def ask(self, asked: Any) -> dict[str, Any]:
        """The answer to one question. raises: JSONDecodeError, where the process has ended"""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait(10)
