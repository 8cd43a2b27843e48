"""`nodeattrs completion`: what a shell needs to complete our words.

The words are read off the parser, so that a new option is completed the day it is there.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from nodeattrs.cli.terminal import Terminal

__all__ = ["DESCRIPTION", "EXAMPLES", "NAME", "SUMMARY", "add_options", "perform"]

NAME = "completion"
SUMMARY = "print what a shell needs to complete commands and options"
DESCRIPTION = "Print a script that makes a shell complete our commands, options and their values."
EXAMPLES = """\
examples:
  source <(nodeattrs completion bash)
  nodeattrs completion zsh > "${fpath[1]}/_nodeattrs"
  nodeattrs completion fish > ~/.config/fish/completions/nodeattrs.fish
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The words of this command."""
    parser.add_argument("shell", choices=tuple(_SCRIPTS), help="which shell")


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the script."""
    from nodeattrs.cli.program import parser

    terminal.text("".join(f"{line}\n" for line in _SCRIPTS[options.shell](_commands(parser()))))
    return 0


@dataclass(frozen=True, slots=True)
class _Option:
    """An option of a command: its spellings, and what may follow it.

    values: the words to choose from
    names:  "file" or "directory" where it names one, "" where nothing can be guessed or follows
    """

    spellings: tuple[str, ...]
    help: str
    takes_value: bool
    values: tuple[str, ...]
    names: str


@dataclass(frozen=True, slots=True)
class _Command:
    name: str
    help: str
    options: tuple[_Option, ...]
    words: tuple[str, ...]


_FILES = {"FILE": "file", "DIR": "directory", "PLACE": "directory"}


def _commands(program: argparse.ArgumentParser) -> list[_Command]:
    (commands,) = (action for action in program._actions if isinstance(action, argparse._SubParsersAction))
    summaries = {choice.dest: choice.help or "" for choice in commands._choices_actions}
    return [_command(name, summaries[name], parser) for name, parser in commands.choices.items()]


def _command(name: str, summary: str, parser: argparse.ArgumentParser) -> _Command:
    options: list[_Option] = []
    words: list[str] = []
    for action in parser._actions:
        values = tuple(map(str, action.choices or ()))
        if action.option_strings:
            metavar = action.metavar if isinstance(action.metavar, str) else ""
            help_text = (action.help or "").partition(" (default")[0]
            options.append(
                _Option(tuple(action.option_strings), help_text, action.nargs != 0, values, _FILES.get(metavar, ""))
            )
        else:
            words += values
    return _Command(name, summary, tuple(options), tuple(words))


def _bash(commands: list[_Command]) -> Iterator[str]:
    yield "# bash completion for nodeattrs"
    yield "_nodeattrs() {"
    yield "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}"
    yield "    COMPREPLY=()"
    yield '    if [ "$COMP_CWORD" -eq 1 ]; then'
    names = " ".join([*(command.name for command in commands), "--help", "--version"])
    yield f'        COMPREPLY=($(compgen -W {shlex.quote(names)} -- "$word"))'
    yield "        return"
    yield "    fi"
    yield "    case ${COMP_WORDS[1]} in"
    for command in commands:
        yield f"    {command.name})"
        yield "        case $before in"
        for option in command.options:
            if option.takes_value:
                yield f"        {'|'.join(option.spellings)})"
                yield f"            {_bash_values(option)}"
                yield "            return ;;"
        yield "        esac"
        words = [*command.words, *(spelling for option in command.options for spelling in option.spellings)]
        yield f'        COMPREPLY=($(compgen -W {shlex.quote(" ".join(words))} -- "$word")) ;;'
    yield "    esac"
    yield "}"
    yield "complete -F _nodeattrs nodeattrs"


def _bash_values(option: _Option) -> str:
    if option.values:
        return f'COMPREPLY=($(compgen -W {shlex.quote(" ".join(option.values))} -- "$word"))'
    if option.names:
        return f'compopt -o filenames; COMPREPLY=($(compgen -{"d" if option.names == "directory" else "f"} -- "$word"))'
    return ":"


def _zsh(commands: list[_Command]) -> Iterator[str]:
    yield "#compdef nodeattrs"
    yield "_nodeattrs() {"
    yield "    local -a commands"
    yield "    commands=("
    for command in commands:
        yield f"        {shlex.quote(f'{command.name}:{command.help}')}"
    yield "    )"
    yield "    if (( CURRENT == 2 )); then"
    yield "        _describe command commands"
    yield "        return"
    yield "    fi"
    yield "    local command=$words[2]"
    yield "    shift words; (( CURRENT-- ))"
    yield "    case $command in"
    for command in commands:
        yield f"    {command.name})"
        specs = [spec for option in command.options for spec in _zsh_specs(option)]
        specs += [f"1:word:({' '.join(command.words)})"] if command.words else ["*: :"]
        yield f"        _arguments {' '.join(shlex.quote(spec) for spec in specs)} ;;"
    yield "    esac"
    yield "}"
    yield 'if [ "$funcstack[1]" = _nodeattrs ]; then _nodeattrs "$@"; else compdef _nodeattrs nodeattrs; fi'


def _zsh_specs(option: _Option) -> Iterator[str]:
    told = option.help
    for sign in ("\\", "[", "]", ":"):
        told = told.replace(sign, f"\\{sign}")
    for spelling in option.spellings:
        spec = f"*{spelling}[{told}]"
        if option.values:
            spec += f":value:({' '.join(option.values)})"
        elif option.takes_value:
            spec += {"file": ":file:_files", "directory": ":directory:_files -/"}.get(option.names, ":value: ")
        yield spec


def _fish(commands: list[_Command]) -> Iterator[str]:
    yield "# fish completion for nodeattrs"
    yield "complete -c nodeattrs -f"
    for command in commands:
        yield f"complete -c nodeattrs -n __fish_use_subcommand -a {command.name} -d {_fish_quoted(command.help)}"
    for command in commands:
        begin = f"complete -c nodeattrs -n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            spelled = [f"-l {one[2:]}" if one.startswith("--") else f"-s {one[1:]}" for one in option.spellings]
            parts = [begin, *spelled, f"-d {_fish_quoted(option.help)}"]
            if option.takes_value:
                parts.append("-r")
            if option.values:
                parts.append(f"-a {_fish_quoted(' '.join(option.values))}")
            elif option.names:
                parts.append("-F" if option.names == "file" else "-a '(__fish_complete_directories)'")
            yield " ".join(parts)
        if command.words:
            yield f"{begin} -a {_fish_quoted(' '.join(command.words))}"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
