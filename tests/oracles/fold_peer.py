"""The originals of plain folds in a process of their own: docker-compose 1.29, podman-compose, json-merge-patch, ...

Asked by tests/oracles/fold.py in pickles: (op, arguments) -> ("ok", answer) or ("error", words). The first argument
are the folders to import from.
"""

from __future__ import annotations

import configparser
import copy
import io
import pickle
import sys
from typing import Any


def compose(trees: list[dict[str, Any]]) -> Any:
    """What docker-compose makes of files, as `docker-compose config` prints it."""
    import yaml
    from compose.config.config import ConfigDetails, ConfigFile, load
    from compose.config.environment import Environment
    from compose.config.serialize import serialize_config

    files = [ConfigFile(f"{number}.yml", copy.deepcopy(tree)) for number, tree in enumerate(trees)]
    return yaml.safe_load(serialize_config(load(ConfigDetails("/work", files, Environment({})))))


def podman(texts: list[str]) -> Any:
    """What podman-compose makes of files, before it resolves anything."""
    import podman_compose
    import yaml

    merged: dict[str, Any] = {}
    for text in texts:
        podman_compose.rec_merge(merged, podman_compose.normalize(yaml.safe_load(text)))
    return merged


def patch(target: Any, patches: list[Any]) -> Any:
    import json_merge_patch

    result = copy.deepcopy(target)
    for one in patches:
        result = json_merge_patch.merge(result, copy.deepcopy(one))
    return result


def env(text: str) -> Any:
    import dotenv

    return dict(dotenv.dotenv_values(stream=io.StringIO(text), interpolate=False))


def properties(text: str) -> Any:
    import javaproperties

    return javaproperties.loads(text)


def ini(text: str) -> Any:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, default_section="\0")
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    return {name: dict(parser[name]) for name in parser.sections()}


def main() -> None:
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    sys.path[:0] = sys.argv[1:]
    while True:
        try:
            op, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = ("ok", globals()[op](*arguments))
            message = pickle.dumps(answer)
        except Exception as error:  # whatever it refuses is an answer
            message = pickle.dumps(("error", f"{type(error).__name__}: {error}"))
        answers.write(message)
        answers.flush()


if __name__ == "__main__":
    main()
