"""The manual, read off the parser: pages for `man`, and the reference of the site as Markdown.

What a command takes stands in one place, where it is parsed; a new option is in both the day it is there.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nodeattrs.core.tree import meant
from nodeattrs.errors import NotFound

PROGRAM = "nodeattrs"


class Option(NamedTuple):
    """An option or an argument: its spelling, "--jobs N", and its help."""

    spelling: str
    help: str


class HelpPage(NamedTuple):
    """The help of a command, or of one of its actions.

    words:   the words of the command: ("catalog", "check"); () for the program
    options: title of a group -> its options
    more:    the text after the options, with examples and exit codes
    """

    words: tuple[str, ...]
    summary: str
    usage: str
    description: str
    options: dict[str, list[Option]]
    more: str

    @property
    def name(self) -> str:
        """The command as it is typed: "nodeattrs catalog check"."""
        return " ".join((PROGRAM, *self.words))

    @property
    def page_name(self) -> str:
        """The name of its page for `man`: "nodeattrs-catalog-check"."""
        return "-".join((PROGRAM, *self.words))


def entries(parser: argparse.ArgumentParser, words: tuple[str, ...] = (), summary: str = "") -> Iterator[HelpPage]:
    """Yield the entry of a parser, then the entries of its commands and actions, each before its own actions."""
    usage = re.sub(r"\s+", " ", parser.format_usage().removeprefix("usage:")).strip()
    options: dict[str, list[Option]] = {}
    inner: list[tuple[str, argparse.ArgumentParser, str]] = []
    for group in parser._action_groups:
        for action in group._group_actions:
            if isinstance(action, argparse._SubParsersAction):
                summaries = {one.dest: one.help or "" for one in action._choices_actions}
                inner += [(name, one, summaries.get(name, "")) for name, one in action.choices.items()]
            elif action.help != argparse.SUPPRESS:
                option = Option(_spelling(action), _filled(action, parser.prog))
                options.setdefault(group.title or "options", []).append(option)
    if inner:
        options["commands" if not words else "actions"] = [Option(name, text) for name, _, text in inner]
    yield HelpPage(words, summary, usage, parser.description or "", options, parser.epilog or "")
    for name, one, text in inner:
        yield from entries(one, (*words, name), text)


def _spelling(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else _value(action)
    if not action.option_strings:
        return f"{value} ..." if action.nargs in ("*", "+") else value
    return ", ".join(f"{one} {value}".strip() for one in action.option_strings)


def _value(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    if action.choices is not None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper()


def _filled(action: argparse.Action, prog: str) -> str:
    values = {**vars(action), "prog": prog}
    return (action.help or "") % {name: value for name, value in values.items() if value is not argparse.SUPPRESS}


def page(parser: argparse.ArgumentParser, words: Sequence[str], version: str) -> str:
    """The text of the page for `man` of a command, in roff. raises: NotFound, for an unknown command"""
    known = list(entries(parser))
    found = next((one for one in known if one.words == tuple(words)), None)
    if found is None:
        names = [" ".join(one.words) for one in known if one.words]
        raise NotFound(f"there is no command {' '.join(words)}", hint=meant(" ".join(words), names))
    return man(found, version, _near(found, known))


def pages_of(parser: argparse.ArgumentParser, version: str) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of each page for `man`."""
    known = list(entries(parser))
    for one in known:
        yield one.page_name, man(one, version, _near(one, known))


def _near(entry: HelpPage, known: Iterable[HelpPage]) -> list[str]:
    """The pages to see also: what stands above and below, and of a command the program."""
    above = [entry.words[:depth] for depth in range(len(entry.words))]
    return [
        one.page_name
        for one in known
        if one.words in above or (one.words[:-1] == entry.words and one.words != entry.words)
    ]


# --- for `man`


def man(entry: HelpPage, version: str, others: Iterable[str] = ()) -> str:
    """The text of a page for `man`, section 1, in roff. others: names of pages for SEE ALSO"""
    return "\n".join([*_man(entry, version, others), ""])


def _man(entry: HelpPage, version: str, others: Iterable[str]) -> Iterator[str]:
    yield f'.TH {_roff(entry.page_name.upper())} 1 "" "{PROGRAM} {version}" "{PROGRAM}"'
    yield ".nh"
    yield ".ad l"
    yield ".SH NAME"
    yield f"{_roff(entry.page_name)} \\- {_roff(entry.summary or 'which file and line set a value')}"
    yield ".SH SYNOPSIS"
    yield _roff(entry.usage)
    yield ".SH DESCRIPTION"
    yield _roff(entry.description)
    for title, options in entry.options.items():
        yield f".SH {_roff(title.upper())}"
        for option in options:
            yield ".TP"
            yield f"\\fB{_roff(option.spelling)}\\fR"
            yield _roff(option.help)
    for title, lines in _sections(entry.more):
        yield f".SH {_roff(title.upper())}"
        yield ".nf"
        yield from (_roff(line) for line in lines)
        yield ".fi"
    if pages := sorted(others):
        yield ".SH SEE ALSO"
        yield ", ".join(f"\\fB{_roff(page)}\\fR(1)" for page in pages)


def _roff(text: str) -> str:
    """Text that `man` shows as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """What stands behind the options: lines under a title that ends with a colon, or under "notes"."""
    title, lines = "notes", list[str]()
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            if any(lines):
                yield title, lines
            title, lines = line[:-1], []
        else:
            lines.append(line)
    if any(lines):
        yield title, lines


# --- for the site


def markdown(entry: HelpPage) -> str:
    """The section of a command in the reference of the site, as Markdown."""
    return "\n".join([*_markdown(entry), ""])


def _markdown(entry: HelpPage) -> Iterator[str]:
    yield f"{'#' * min(len(entry.words) + 1, 4)} {entry.name}"
    yield ""
    yield entry.description if entry.description else f"{entry.summary.capitalize()}."
    yield ""
    yield f"```text\n{entry.usage}\n```"
    for title, options in entry.options.items():
        yield f"\n**{title}**\n"
        yield "| | |\n| --- | --- |"
        for option in options:
            yield f"| `{_cell(option.spelling)}` | {_cell(option.help)} |"
    if entry.more.strip():
        yield f"\n```text\n{entry.more.strip()}\n```"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
