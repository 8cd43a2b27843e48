"""Debian's libnetplan in a process of its own: one folder a line comes in, what `netplan get` prints goes out as JSON.

Run by the system's Python, which has netplan's bindings. Each folder is read in a child, since netplan 0.106 ends the
process where two files set `gateway4`.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

sys.path.insert(0, "/usr/share/netplan")
from netplan import libnetplan  # type: ignore[import-not-found]  # Debian's, not a wheel


def got(root: str) -> dict[str, str]:
    """What `netplan get --root-dir` prints, under "text"; or why it refuses, under "error"."""
    try:
        parser = libnetplan.Parser()
        parser.load_yaml_hierarchy(rootdir=root)
        state = libnetplan.State()
        state.import_parser_results(parser)
        with tempfile.TemporaryFile() as file:
            state.dump_yaml(output_file=file)
            file.seek(0)
            return {"text": file.read().decode()}
    except Exception as error:
        return {"error": str(error)}


def main() -> None:
    for line in sys.stdin:
        here, there = os.pipe()
        child = os.fork()
        if not child:
            os.write(there, json.dumps(got(json.loads(line))).encode())
            os._exit(0)
        os.close(there)
        with os.fdopen(here, "rb") as pipe:
            answer = pipe.read().decode()
        os.waitpid(child, 0)
        print(answer or json.dumps({"error": "netplan ended"}), flush=True)


if __name__ == "__main__":
    main()
