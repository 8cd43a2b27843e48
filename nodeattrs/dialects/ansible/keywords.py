"""The keywords of plays, role entries and tasks, as Ansible's page of keywords lists them.

The functions read the module, the arguments, the conditions and single keywords of a task.
"""

from __future__ import annotations

from typing import Any

from nodeattrs.dialects.ansible.extra import parsed_words

_EVERYWHERE = """any_errors_fatal become become_exe become_flags become_method become_user check_mode collections
    connection debugger diff environment ignore_errors ignore_unreachable module_defaults name no_log port remote_user
    run_once tags throttle timeout vars"""
PLAY = frozenset(
    (
        _EVERYWHERE
        + """
    fact_path force_handlers gather_facts gather_subset gather_timeout handlers hosts max_fail_percentage order
    post_tasks pre_tasks roles serial strategy tasks user validate_argspec vars_files vars_prompt"""
    ).split()
)
ROLE = frozenset((_EVERYWHERE + " role when delegate_to delegate_facts").split())
TASK = frozenset(
    (
        _EVERYWHERE
        + """ action args async changed_when delay delegate_facts delegate_to failed_when listen local_action loop
    loop_control notify poll register retries until when block rescue always"""
    ).split()
)
_BUILTIN = ("ansible.builtin.", "ansible.legacy.")


def module_of(task: dict[Any, Any]) -> tuple[str, Any]:
    """The module that a task runs, without the prefix of Ansible's own collection, and its arguments as they are
    written.

    ("", "") for a task without a module.

    >>> module_of({"name": "x", "ansible.builtin.set_fact": {"a": 1}})
    ('set_fact', {'a': 1})
    """
    for key, value in task.items():
        if isinstance(key, str) and key not in TASK and not key.startswith("with_"):
            return plain_name(key), value
    action = task.get("action", task.get("local_action"))
    if isinstance(action, dict):
        return plain_name(str(action.get("module", ""))), {key: one for key, one in action.items() if key != "module"}
    name, _, rest = str(action or "").partition(" ")
    return plain_name(name), rest


def arguments_of(task: dict[Any, Any], arguments: Any) -> dict[Any, Any]:
    """The arguments of a task by name, with those under `args`; words without a name are under `_raw_params`.

    arguments: as `module_of` returns them, a map or words
    raises:    AnsibleError, for a quote that stays open

    >>> arguments_of({"args": {"apply": {}}}, "name=web")
    {'apply': {}, 'name': 'web'}
    """
    given = arguments if isinstance(arguments, dict) else parsed_words(str(arguments or ""))
    more = task.get("args") or {}
    return {**(more if isinstance(more, dict) else {more: None}), **given}  # a template may name any argument


def is_yes(value: Any) -> bool:
    """Whether a boolean argument is true: True, or a text such as "yes", "on" or "1". False for anything else."""
    return str(value).strip().lower() in ("yes", "true", "on", "1", "t", "y")


def plain_name(module: str) -> str:
    """The name of a module without the prefix of Ansible's own collection."""
    return next((module.removeprefix(one) for one in _BUILTIN if module.startswith(one)), module)


def is_sure(task: dict[Any, Any]) -> bool:
    """Whether no keyword of a task except `when` and a loop decides whether it runs and for which host."""
    return not {"until", "delegate_to", "run_once", "failed_when"} & task.keys()


def never_runs(entry: dict[Any, Any]) -> bool:
    """Whether `when` has the literal false, so that the entry never runs."""
    return any(one is False for one in conditions(entry.get("when")))


def tags_of(entry: dict[Any, Any]) -> frozenset[str]:
    """The tags of a task, a block, a play or an entry of a role; empty for none."""
    given = entry.get("tags") or []
    return frozenset(tag.strip() for one in conditions(given) for tag in str(one).split(","))


def is_true(when: Any) -> bool:
    """Whether a value of `when` is true whatever variables say: null, or the literal true."""
    return all(one is None or str(one).lower() == "true" for one in conditions(when))


def conditions(when: Any) -> list[Any]:
    """A value of `when` as a list of conditions, which all have to be true; [None] for null."""
    return when if isinstance(when, list) else [when]
