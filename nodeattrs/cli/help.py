"""The form of `--help`: one line of usage, options with their short form first, and shared options by name alone.

argparse calls the methods of `Help` while it prints a help text.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from nodeattrs.contract.arguments import OUTPUT


class Help(argparse.RawDescriptionHelpFormatter):
    """The formatter class of all parsers. It keeps the line breaks of descriptions, examples and tables.

    The line of usage shows "[OPTION ...]" for all options that may be left out, then the other words and options by
    name. The group of shared options is printed as a list of spellings without help texts. argparse makes the
    instances, and calls the methods.
    """

    def __init__(self, prog: str, width: int | None = None) -> None:
        super().__init__(prog, max_help_position=30, width=width)
        self._is_shared = False

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None = None,
    ) -> None:
        """Add the usage: "[OPTION ...]" for all options that may be left out, then the other words and options."""
        required = [one for one in groups if one.required]
        in_required = [one for group in required for one in group._group_actions]
        every = list(actions)
        named = [one for one in every if not one.option_strings or one.required or one in in_required]
        others = [argparse.Action([], "options", nargs="*", metavar="OPTION")] if len(named) < len(every) else []
        super().add_usage(usage, [*others, *named], required, prefix)

    def start_section(self, heading: str | None) -> None:
        """Begin the section of a group of options, and note whether it is the group of shared options.

        heading: the title of the group; None: no title
        """
        self._is_shared = heading == OUTPUT
        super().start_section(f"{heading} (docs/cli.md)" if self._is_shared else heading)

    def add_arguments(self, actions: Iterable[argparse.Action]) -> None:
        """Add options to the section that `start_section` began. The shared options get rows of spellings alone."""
        if self._is_shared:
            spellings = [self._format_action_invocation(one) for one in actions]
            self.add_text("\n".join(_rows(spellings, self._width - 2)))
        else:
            super().add_arguments(actions)

    def add_argument(self, action: argparse.Action) -> None:
        """Add one option or argument to the section, with its help text."""
        super().add_argument(action)
        if action.nargs == argparse.PARSER:
            self._action_max_length += 2  # argparse forgets that the commands are indented

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return ", ".join(_short_first(action)) or super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(_short_first(action))} {value}"


def _short_first(action: argparse.Action) -> list[str]:
    long = [one for one in action.option_strings if one.startswith("--")]
    return [*(one for one in action.option_strings if one not in long), *long]


def _rows(words: Iterable[str], width: int) -> Iterator[str]:
    """The words in rows of at most *width* characters, with two blanks between them."""
    row = ""
    for word in words:
        if row and len(row) + 2 + len(word) > width:
            yield row
            row = word
        else:
            row = f"{row}  {word}" if row else word
    if row:
        yield row
