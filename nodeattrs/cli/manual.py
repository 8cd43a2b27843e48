"""Make the manual from the parser: pages for `man`, and the reference of the site as Markdown.

`entries` reads the help of all commands; `page`, `pages_of`, `man` and `markdown` make texts of it. No file is written.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nodeattrs.core.tree import hint_for
from nodeattrs.errors import NotFound

PROGRAM = "nodeattrs"


class Option(NamedTuple):
    """An option or an argument: its spelling, "--jobs N", and its help."""

    spelling: str
    help: str


class HelpPage(NamedTuple):
    """The help of a command, of one of its actions, or of the program, as data. `entries` makes it.

    words:       the words of the command: ("catalog", "check"); () for the program
    summary:     its line in the help of the program; "" for the program
    usage:       the line of usage
    description: the text before the options
    options:     title of a group -> its options and arguments; a command with actions has the group "actions"
    more:        the text after the options, with examples and exit codes
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
    """Yield a HelpPage for the parser and for each parser below it, a parent before its children.

    Hidden options are left out.
    words, summary: the words and the summary of this parser; () and "" for the program
    """
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
    """The text of the page for `man` of a command, in roff.

    words:  the words of the command; () for the program
    raises: NotFound, with near misses, for an unknown command
    """
    known = list(entries(parser))
    found = next((one for one in known if one.words == tuple(words)), None)
    if found is None:
        names = [" ".join(one.words) for one in known if one.words]
        raise NotFound(f"there is no command {' '.join(words)}", hint=hint_for(" ".join(words), names))
    return man(found, version, _see_also(found, known))


def pages_of(parser: argparse.ArgumentParser, version: str) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of the page for `man` of the program, and of each command and action."""
    known = list(entries(parser))
    for one in known:
        yield one.page_name, man(one, version, _see_also(one, known))


def _see_also(entry: HelpPage, known: Iterable[HelpPage]) -> list[str]:
    """The names of the pages to see also: of the commands above it, and of its own actions."""
    above = [entry.words[:depth] for depth in range(len(entry.words))]
    return [
        one.page_name
        for one in known
        if one.words in above or (one.words[:-1] == entry.words and one.words != entry.words)
    ]


# --- for `man`


def man(entry: HelpPage, version: str, others: Iterable[str] = ()) -> str:
    """The text of a page for `man`, section 1, in roff.

    version: the version of nodeattrs, for the head of the page
    others:  names of pages for SEE ALSO; empty: the page has no such section
    """
    lines = [
        f'.TH {_roff(entry.page_name.upper())} 1 "" "{PROGRAM} {version}" "{PROGRAM}"',
        ".nh",
        ".ad l",
        ".SH NAME",
        f"{_roff(entry.page_name)} \\- {_roff(entry.summary or 'which file and line set a value')}",
        ".SH SYNOPSIS",
        _roff(entry.usage),
        ".SH DESCRIPTION",
        _roff(entry.description),
    ]
    for title, options in entry.options.items():
        lines.append(f".SH {_roff(title.upper())}")
        for option in options:
            lines += [".TP", f"\\fB{_roff(option.spelling)}\\fR", _roff(option.help)]
    for title, section in _sections(entry.more):
        lines += [f".SH {_roff(title.upper())}", ".nf", *map(_roff, section), ".fi"]
    pages = sorted(others)
    if pages:
        lines += [".SH SEE ALSO", ", ".join(f"\\fB{_roff(page)}\\fR(1)" for page in pages)]
    return "\n".join([*lines, ""])


def _roff(text: str) -> str:
    """The text with roff's special characters escaped."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield (title, lines) of each section: its title ends with a colon; lines before the first one are "notes"."""
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
    head = f"{'#' * min(len(entry.words) + 1, 4)} {entry.name}"
    lines = [head, "", entry.description or f"{entry.summary.capitalize()}.", "", f"```text\n{entry.usage}\n```"]
    for title, options in entry.options.items():
        lines += [f"\n**{title}**\n", "| | |\n| --- | --- |"]
        lines += [f"| `{_cell(option.spelling)}` | {_cell(option.help)} |" for option in options]
    if entry.more.strip():
        lines.append(f"\n```text\n{entry.more.strip()}\n```")
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
