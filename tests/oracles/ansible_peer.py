"""The real ansible-core, asked over a pipe. Runs in an environment of its own, and imports nothing of ours.

Reads a question a line from stdin and writes an answer a line to stdout, both JSON. A question names a folder, the
sources, the playbook, the extra variables and the hosts; the answer has for each host the tasks of the plays, each with
its variables and where Ansible says that they come from. Tasks are compiled, or really run where the question says so.
A question may have an environment: its fork reads Ansible's settings again, so that one process serves all trees.
Each question is answered in a fork, so that nothing is remembered; what Ansible imports on the way is imported once,
by a small tree of no account before the first question.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import tempfile
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
    with tempfile.TemporaryDirectory() as folder:
        _warmed(folder)
    gc.freeze()
    gc.disable()  # a fork does not live long, and would copy what it counts
    _say(answers, release.__version__)
    for line in sys.stdin:
        _say(answers, _forked(_answered, json.loads(line)))


_SMALL = {
    "ini": "h1 a=1\n[g]\nh1\n",
    "more.yml": "all: {hosts: {h2: {b: 1}}}\n",
    "group_vars/all.yml": "c: 1\n",
    "roles/r/tasks/main.yml": "- debug: {msg: x}\n- import_tasks: main2.yml\n",
    "roles/r/tasks/main2.yml": "- block:\n  - debug: {msg: x}\n",
    "site.yml": "- hosts: all\n  gather_facts: false\n  roles: [r]\n  tasks:\n  - import_role: {name: r}\n",
}


def _warmed(folder: str) -> None:
    """Read a small tree, so that the forks find imported what they need."""
    for name, text in _SMALL.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    from ansible.inventory.manager import InventoryManager
    from ansible.parsing.dataloader import DataLoader
    from ansible.playbook import Playbook
    from ansible.vars.manager import VariableManager

    loader = DataLoader()
    loader.set_basedir(folder)
    inventory = InventoryManager(loader=loader, sources=[os.path.join(folder, name) for name in ("ini", "more.yml")])
    manager = VariableManager(loader=loader, inventory=inventory)
    playbook = Playbook.load(os.path.join(folder, "site.yml"), variable_manager=manager, loader=loader)
    for play in playbook.get_plays():
        for task in [task for block in play.compile() for task in _tasks(block)]:
            manager.get_vars(play=play, host=inventory.get_hosts()[0], task=task)


def _forked(ask: Any, *of: Any) -> Any:
    """What a function answers in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        with os.fdopen(writing, "w") as out:
            json.dump(ask(*of), out)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as text:
        answer = text.read()
    os.waitpid(child, 0)
    return json.loads(answer or '{"error": "no answer"}')


def _say(answers: Any, value: Any) -> None:
    answers.write(json.dumps(value) + "\n")
    answers.flush()


def _answered(question: dict[str, Any]) -> Any:
    from ansible.utils.display import Display

    Display.warning = lambda *_, **__: None  # type: ignore[method-assign]
    if question.get("environment"):
        os.environ.update(question["environment"])
        importlib.reload(sys.modules["ansible.constants"])  # where Ansible has its settings
    os.chdir(question["folder"])
    try:
        ask = _outside if not question.get("playbook") else _run if question.get("run") else _compiled
        found: dict[str, Any] = {"printed": [_forked(_printed, question, words) for words in question["printed"]]}
        found["hosts"] = dict(ask(question))
        found["ran"] = question.get("ran", {})
        found["said"] = question.get("said", {})
    except BaseException as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return found


def _arguments(question: dict[str, Any]) -> list[str]:
    words = [word for source in question["sources"] for word in ("-i", source)]
    return [*words, *(word for text in question["extra"] for word in ("-e", text))]


def _asked(question: dict[str, Any], hosts: list[Any]) -> Iterator[Any]:
    wanted = question.get("hosts")
    return (host for host in hosts if not wanted or str(host.name) in wanted)


def _outside(question: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The variables of each host outside of a play."""
    from ansible.cli.inventory import InventoryCLI

    cli = InventoryCLI(["ansible-inventory", *_arguments(question), "--list"])
    cli.parse()
    _, inventory, manager = cli._play_prereqs()
    for host in _asked(question, inventory.get_hosts()):
        yield str(host.name), [["", *_shown(manager.get_vars(host=host, include_hostvars=False), question)]]


def _printed(question: dict[str, Any], words: list[str]) -> Any:
    """What ansible-inventory prints."""
    from ansible.cli.inventory import InventoryCLI
    from ansible.utils.display import Display

    lines: list[str] = []

    def display(self: Any, text: Any, *_: Any, stderr: bool = False, newline: bool = True, **__: Any) -> None:
        if not stderr:
            lines.append(str(text) + ("\n" if newline and not str(text).endswith("\n") else ""))

    Display.display = display  # type: ignore[method-assign]
    try:
        InventoryCLI(["ansible-inventory", *_arguments(question), *words]).run()
    except SystemExit:
        pass
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "".join(lines)


def _compiled(question: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The variables of each host in each task, in the order in which the plays have them."""
    from ansible.cli.playbook import PlaybookCLI
    from ansible.playbook import Playbook
    from ansible.template import Templar

    cli = PlaybookCLI(["ansible-playbook", *_arguments(question), question["playbook"]])
    cli.parse()
    loader, inventory, manager = cli._play_prereqs()
    folder = os.path.abspath(os.path.dirname(question["playbook"]) or ".")
    loader.set_basedir(folder)
    found: dict[str, list[Any]] = {}
    playbook = Playbook.load(os.path.abspath(question["playbook"]), variable_manager=manager, loader=loader)
    for play in playbook.get_plays():
        tasks = [task for block in play.compile() for task in _tasks(block)]
        loader.set_basedir(play._included_path or folder)
        named = play.copy()
        named.post_validate(Templar(loader=loader, variables=manager.get_vars(play=play)))
        for host in _asked(question, inventory.get_hosts(named.hosts)):
            its = found.setdefault(str(host.name), [])
            for task in tasks:
                variables = manager.get_vars(play=play, host=host, task=task)
                its.append([str(task.name), *_shown(variables, question)])
    yield from found.items()


def _run(question: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The variables that each host was given in each task of a real run; of several of one name the first.

    The question gets the names of the tasks that each host has run, in order; and what they said, as `debug` does.
    """
    from ansible.cli.playbook import PlaybookCLI
    from ansible.executor.task_queue_manager import TaskQueueManager
    from ansible.vars.manager import VariableManager

    found: dict[str, dict[str, Any]] = {}
    ran = question["ran"] = {}
    said: dict[str, list[Any]] = {}
    question["said"] = said
    send = TaskQueueManager.send_callback

    def sent(self: Any, what: str, *of: Any, **how: Any) -> Any:
        if what == "v2_runner_on_ok":
            host, name = str(of[0].host.name), str(of[0].task.name)
            ran.setdefault(host, []).append(name)
            data = getattr(of[0], "_return_data", None)  # up to 2.20
            message = of[0].utr.msg if data is None else data.get("msg")
            said.setdefault(host, []).append([name, _plain(message)])
        return send(self, what, *of, **how)

    TaskQueueManager.send_callback = sent  # type: ignore[method-assign]
    get = VariableManager.get_vars

    def noted(self: Any, play: Any = None, host: Any = None, task: Any = None, *rest: Any, **how: Any) -> Any:
        variables = get(self, play, host, task, *rest, **how)
        if host is not None and task is not None and task.name and False not in task.when:
            its = found.setdefault(str(host.name), {})
            if str(task.name) not in its:
                its[str(task.name)] = _shown(variables, question)
        return variables

    VariableManager.get_vars = noted  # type: ignore[method-assign]
    words = ["--limit", ",".join(question["hosts"])] if question.get("hosts") else []
    more = question.get("words", [])
    PlaybookCLI(["ansible-playbook", *_arguments(question), *words, *more, question["playbook"]]).run()
    yield from ((host, [[name, *shown] for name, shown in its.items()]) for host, its in found.items())


def _tasks(block: Any) -> Iterator[Any]:
    for section in (block.block, block.rescue, block.always):
        for entry in section:
            if hasattr(entry, "block"):
                yield from _tasks(entry)
            elif not entry.action.endswith("meta"):
                yield entry


def _shown(variables: Any, question: dict[str, Any]) -> list[Any]:
    """Each variable that the questions are about: its value, and where Ansible says it is from; and Ansible's own."""
    pattern, magic = question.get("pattern", ""), question.get("magic", ())
    plain = {
        str(name): [_plain(value), _origin(value)]
        for name, value in variables.items()
        if str(name) not in magic and (not pattern or (len(str(name)) == 2 and str(name)[0] == pattern))
    }
    return [plain, {name: _plain(variables[name]) for name in magic if name in variables}]


def _plain(value: Any) -> Any:
    kind = type(value).__name__
    if kind in ("EncryptedString", "AnsibleVaultEncryptedUnicode"):
        return {"$vault": True}
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return value + 0
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return [_plain(entry) for entry in value] if hasattr(value, "__iter__") else f"({kind})"


def _origin(value: Any) -> Any:
    from ansible._internal._datatag._tags import Origin

    tag = Origin.get_tag(value)
    if tag is None:
        return None
    if tag.path:
        return [os.path.relpath(str(tag.path)), tag.line_num]
    return ["-e", None] if "-e" in str(tag.description) else None


if __name__ == "__main__":
    main()
