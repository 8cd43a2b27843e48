"""The real ansible-core, asked over a pipe. Runs in an environment of its own, and imports nothing of ours.

Reads a question a line from stdin and writes an answer a line to stdout, both JSON. A question names a folder, the
sources, the playbook and the extra variables; the answer has for each host the tasks of the plays as they are compiled,
each with its variables and where Ansible says that they come from. No task is run. Each question is answered in a
fork, so that nothing is remembered.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any


def main() -> None:
    """Answer until there are no more questions."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from ansible import release
    from ansible.cli.inventory import InventoryCLI  # noqa: F401  # what the forks need is imported once
    from ansible.cli.playbook import PlaybookCLI  # noqa: F401
    from ansible.plugins.loader import init_plugin_loader

    init_plugin_loader()
    _say(answers, release.__version__)
    for line in sys.stdin:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            with os.fdopen(writing, "w") as out:
                json.dump(_answered(json.loads(line)), out)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as text:
            answer = json.load(text)
        os.waitpid(child, 0)
        _say(answers, answer)


def _say(answers: Any, value: Any) -> None:
    answers.write(json.dumps(value) + "\n")
    answers.flush()


def _answered(question: dict[str, Any]) -> Any:
    from ansible.utils.display import Display

    warnings: list[str] = []
    Display.warning = lambda self, message, *_, **__: warnings.append(str(message))  # type: ignore[method-assign]
    os.chdir(question["folder"])
    try:
        return {"hosts": dict(_in_tasks(question) if question.get("playbook") else _outside(question))}
    except BaseException as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _arguments(question: dict[str, Any]) -> list[str]:
    words = [word for source in question["sources"] for word in ("-i", source)]
    return [*words, *(word for text in question["extra"] for word in ("-e", text))]


def _outside(question: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The variables of each host outside of a play."""
    from ansible.cli.inventory import InventoryCLI

    cli = InventoryCLI(["ansible-inventory", *_arguments(question), "--list"])
    cli.parse()
    _, inventory, manager = cli._play_prereqs()
    for host in inventory.get_hosts():
        yield str(host.name), [["", _shown(manager.get_vars(host=host, include_hostvars=False))]]


def _in_tasks(question: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The variables of each host in each task, in the order in which the plays have them."""
    from ansible.cli.playbook import PlaybookCLI
    from ansible.playbook import Playbook

    cli = PlaybookCLI(["ansible-playbook", *_arguments(question), question["playbook"]])
    cli.parse()
    loader, inventory, manager = cli._play_prereqs()
    loader.set_basedir(os.path.abspath(os.path.dirname(question["playbook"]) or "."))
    found: dict[str, list[Any]] = {}
    playbook = Playbook.load(os.path.abspath(question["playbook"]), variable_manager=manager, loader=loader)
    for play in playbook.get_plays():
        tasks = [task for block in play.compile() for task in _tasks(block)]
        loader.set_basedir(play._included_path or os.path.abspath(os.path.dirname(question["playbook"]) or "."))
        for host in inventory.get_hosts(play.hosts):
            its = found.setdefault(str(host.name), [])
            for task in tasks:
                its.append([str(task.name), _shown(manager.get_vars(play=play, host=host, task=task))])
    yield from found.items()


def _tasks(block: Any) -> Iterator[Any]:
    for entry in block.block:
        if hasattr(entry, "block"):
            yield from _tasks(entry)
        elif not entry.action.endswith("meta"):
            yield entry


def _shown(variables: Any) -> dict[str, Any]:
    """Each variable that the questions are about: its value, and the file and line that Ansible has for it."""
    return {
        str(name): [_plain(value), _origin(value)]
        for name, value in variables.items()
        if len(name) == 2 and name[0] == "v"
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return value + 0
    return [_plain(entry) for entry in value]


def _origin(value: Any) -> Any:
    from ansible._internal._datatag._tags import Origin

    tag = Origin.get_tag(value)
    if tag is None:
        return None
    return [os.path.relpath(str(tag.path)), tag.line_num] if tag.path else ["-e", None]


if __name__ == "__main__":
    main()
