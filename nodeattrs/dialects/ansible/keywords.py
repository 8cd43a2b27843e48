"""The keywords of plays, role entries and tasks, as Ansible's page of keywords lists them.

The functions read the module, the arguments, the conditions and single keywords of a task. `parsed_words` reads
arguments, and extra variables, in one text.
"""

from __future__ import annotations

import re
from typing import Any

from nodeattrs.dialects.ansible.faults import EXTRA_VARS, AnsibleError

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
_WORD = re.compile(r"""(?:\{\{.*?\}\}|\{%.*?%\}|\{\#.*?\#\}|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\s'"])+""", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|[\\'\"abfnrtv])")
_BUILTIN = ("ansible.builtin.", "ansible.legacy.")


def module_of(task: dict[Any, Any]) -> tuple[str, Any]:
    """(Name of the module that a task runs, its arguments as they are written). ("", "") for a task without a module.

    The prefix of Ansible's own collection is removed from the name.

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
    """Whether only `when` and a loop decide about a run of a task. False with `until`, `delegate_to`, `run_once` or
    `failed_when`.
    """
    return not {"until", "delegate_to", "run_once", "failed_when"} & task.keys()


def never_runs(entry: dict[Any, Any]) -> bool:
    """Whether `when` has the literal false, so that the entry never runs."""
    return any(one is False for one in conditions(entry.get("when")))


def tags_of(entry: dict[Any, Any]) -> frozenset[str]:
    """The tags of a task, a block, a play or an entry of a role; empty for none."""
    given = entry.get("tags") or []
    return frozenset(tag.strip() for one in conditions(given) for tag in str(one).split(","))


def is_true(when: Any) -> bool:
    """Whether a value of `when` is true for any values of variables: null, the literal true, or a list of these."""
    return all(one is None or str(one).lower() == "true" for one in conditions(when))


def conditions(when: Any) -> list[Any]:
    """A value of `when` as a list of conditions, which all have to be true; [None] for null."""
    return when if isinstance(when, list) else [when]


def parsed_words(text: str) -> dict[str, Any]:
    """The map of `name=value` words. Values are texts without their quotes, with escapes such as \\n replaced.

    Words without `=`, or with a template in the name, are joined under the key `_raw_params`. An empty text gives {}.
    raises: AnsibleError, for a quote that is not closed

    >>> parsed_words(r"a=1 b='x y' c={{ d }} e=a\\nb")
    {'a': '1', 'b': 'x y', 'c': '{{ d }}', 'e': 'a\\nb'}
    """
    found: dict[str, Any] = {}
    free, at = [], 0
    for match in _WORD.finditer(_closed(text)):
        if text[at : match.start()].strip():
            break
        at = match.end()
        word = text[match.start() : at]
        name, equals, value = word.partition("=")
        if equals and name and "{{" not in name:
            found[name] = _unquoted(_ESCAPE.sub(_character, value).strip())
        else:
            free.append(word)
    if text[at:].strip():
        raise AnsibleError(EXTRA_VARS, f"a quote stays open in {text!r}", file="-e", hint="close the quote")
    return {**found, "_raw_params": " ".join(free)} if free else found


def _closed(text: str) -> str:
    """A text in which ".." replaces the marks of a template that is not closed. So `_WORD` needs linear time."""
    for opening, closing in (("{{", "}}"), ("{%", "%}"), ("{#", "#}")):
        at = text.rfind(closing) + 2 if closing in text else 0
        text = text[:at] + text[at:].replace(opening, "..")
    return text


def _character(match: re.Match[str]) -> str:
    text = match[0]
    return chr(int(text[1:], 8)) if text[1] in "01234567" else text.encode("latin-1").decode("unicode_escape")


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
