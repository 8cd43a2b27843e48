"""`nodeattrs completion`: scripts that make bash, zsh and fish complete commands, options and values.

Commands and options come from the parser, so a new option is completed at once. For names in a store or a repository,
the scripts call `nodeattrs complete`.
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from nodeattrs._version import VERSION
from nodeattrs.cli.complete import value_kind
from nodeattrs.cli.manual import pages_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.disk import FolderEntry, folder_below

DESCRIPTION = """\
Print a script that makes a shell complete the commands, options and their values; or, with --install, put it
where the shell looks for such scripts, and the pages of the manual where man does: in your home only."""
EXAMPLES = """\
examples:
  nodeattrs completion --install
  source <(nodeattrs completion bash)
  nodeattrs completion zsh > "${fpath[1]}/_nodeattrs"
  nodeattrs completion fish > ~/.config/fish/completions/nodeattrs.fish
"""


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the completion script of a shell; with --install write it, and the pages for `man`, to the home folder.

    Returns 0.

    The shell is the one that is named, or else $SHELL. For an unknown shell the program ends with exit code 2. Files
    that exist are replaced.
    """
    shell = options.shell or os.path.basename(os.environ.get("SHELL", ""))
    if shell not in _SCRIPTS:
        options.refuse(f"name a shell: {', '.join(_SCRIPTS)}")
    parser = options.whole()
    script = "".join(f"{line}\n" for line in _SCRIPTS[shell](list(_commands(parser))))
    if not options.install:
        terminal.text(script)
        return 0
    place = _PLACES[shell]()
    _write(place, script)
    terminal.text(f"{place}\n")
    pages = _data() / "man/man1"
    count = 0
    for name, text in pages_of(parser, VERSION):
        _write(pages / f"{name}.1", text)
        count += 1
    terminal.text(f"{pages}/nodeattrs*.1 ({count} pages)\n")
    if shell == "zsh":
        terminal.remark([f"for ~/.zshrc: fpath+=({place.parent}); autoload -Uz compinit && compinit"])
    terminal.remark(["a new shell completes nodeattrs"])
    return 0


def _home(variable: str, default: str) -> Path:
    given = os.environ.get(variable, "")
    return Path(given) if os.path.isabs(given) else Path.home() / default


def _data() -> Path:
    return _home("XDG_DATA_HOME", ".local/share")


_PLACES: dict[str, Callable[[], Path]] = {
    "bash": lambda: _data() / "bash-completion/completions/nodeattrs",
    "zsh": lambda: _data() / "zsh/site-functions/_nodeattrs",
    "fish": lambda: _home("XDG_CONFIG_HOME", ".config") / "fish/completions/nodeattrs.fish",
}


def _write(place: Path, text: str) -> None:
    """Write a file whole or not at all, with the folders above it."""
    with folder_below(place.anchor, place.parent.parts[1:], make=True) as folder:
        FolderEntry(folder, place.name).replace(text.encode("utf-8"), 0o644)


class _Option(NamedTuple):
    """An option of a command: its spellings, and the sort of value that may follow it.

    values: the words to choose from
    names:  "file", "directory", "asked" where `nodeattrs complete` completes the value, else ""
    """

    spellings: tuple[str, ...]
    help: str
    takes_value: bool
    values: tuple[str, ...]
    names: str


class _Command(NamedTuple):
    """What may follow the words of a command.

    before:     these words, without the program's name: (), ("run",), ("catalog", "check")
    words:      word that may stand next -> its help
    is_between: whether one of these words has to follow, and has options of its own
    names:      the sort of the positional words, as in _Option
    """

    before: tuple[str, ...]
    words: dict[str, str]
    is_between: bool
    options: tuple[_Option, ...]
    names: str

    @property
    def spellings(self) -> list[str]:
        return [spelling for option in self.options for spelling in option.spellings]


_NAMES = {"FILE": "file", "DIR": "directory", "PLACE": "file"}


def _commands(parser: argparse.ArgumentParser, before: tuple[str, ...] = ()) -> Iterator[_Command]:
    """Yield the command of a parser and all commands in it, the longer ones first."""
    words: dict[str, str] = {}
    options: list[_Option] = []
    names, is_between = "", False
    for action in parser._actions:
        values = tuple(map(str, action.choices or ()))
        named = _NAMES.get(action.metavar, "") if isinstance(action.metavar, str) else ""
        named = "asked" if value_kind(action) else named
        if isinstance(action, argparse._SubParsersAction):
            is_between = True
            words |= {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, inner in action.choices.items():
                yield from _commands(inner, (*before, name))
        elif action.option_strings:
            summary = (action.help or "").partition(" (default")[0].replace("%%", "%")
            options.append(_Option(tuple(action.option_strings), summary, action.nargs != 0, values, named))
        else:
            words |= dict.fromkeys(values, "")
            names = names or named
    yield _Command(before, words, is_between, tuple(options), names)


def _pattern(command: _Command) -> str:
    """The pattern for the words before the cursor in a script: a space follows each word."""
    return shlex.quote(f"{' '.join(command.before)} ")


def _bash(commands: list[_Command]) -> Iterator[str]:
    yield _BASH_BEGIN
    for command in commands:
        if command.words:
            yield f"    {_pattern(command)})"
            yield f"        {_bash_words([*command.words, *command.spellings])} ;;"
        if not command.is_between:
            yield f"    {_pattern(command)}*)"
            yield "        case $before in"
            answers: dict[str, list[str]] = {}
            for option in command.options:
                if option.takes_value:
                    answer = _bash_words(option.values) if option.values else _bash_names(option.names)
                    answers.setdefault(answer, []).extend(option.spellings)
            for answer, spellings in answers.items():
                yield f"        {'|'.join(spellings)}) {answer}; return ;;"
            yield "        esac"
            if command.names:
                yield f"        if [[ $word != -* ]]; then {_bash_names(command.names)}; return; fi"
            yield f"        {_bash_words(command.spellings)} ;;"
    yield _END
    yield "complete -F _nodeattrs nodeattrs"


def _bash_words(words: Iterable[str]) -> str:
    return f'COMPREPLY=($(compgen -W {shlex.quote(" ".join(words))} -- "$word"))'


def _bash_names(names: str) -> str:
    if not names:
        return ":"
    if names == "asked":
        return _BASH_ASKED
    kind = "d" if names == "directory" else "f"
    return f"compopt -o filenames; IFS=$'\\n'; COMPREPLY=($(compgen -{kind} -- \"$word\"))"


_BASH_BEGIN = r"""# bash completion for nodeattrs
_nodeattrs() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} IFS=$' \t\n'
    COMPREPLY=()
    # bash takes --format=json for three words
    if [ "$word" = = ]; then word=; elif [ "$before" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
    case "${COMP_WORDS[*]:1:COMP_CWORD-1} " in"""
_END = "    esac\n}"

# Bash adds a space unless more is to come, and cannot be asked to leave it out for one word among others.
_BASH_ASKED = (
    "IFS=$'\\n'; COMPREPLY=($(nodeattrs complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)); "
    'case "${COMPREPLY[*]}" in *.) compopt -o nospace;; esac'
)


def _zsh(commands: list[_Command]) -> Iterator[str]:
    yield _ZSH_BEGIN
    for command in commands:
        if command.words:
            yield f"    {_pattern(command)})"
            summary = (shlex.quote(f"{word}:{help}" if help else word) for word, help in command.words.items())
            yield f"        choices=({' '.join(summary)})"
            yield "        _describe word choices ;;" if command.is_between else "        _describe word choices ;|"
        if not command.is_between:
            yield f"    {_pattern(command)}*)"
            yield f"        shift {len(command.before)} words; (( CURRENT -= {len(command.before)} ))"
            specs = [spec for option in command.options for spec in _zsh_specs(option)]
            specs.append(f"*:{command.names or ' '}:{_ZSH_NAMES[command.names]}")
            yield f"        _arguments {' '.join(shlex.quote(spec) for spec in specs)} ;;"
    yield _END
    yield 'if [ "$funcstack[1]" = _nodeattrs ]; then _nodeattrs "$@"; else compdef _nodeattrs nodeattrs; fi'


_ZSH_BEGIN = """#compdef nodeattrs
_nodeattrs() {
    local -a choices whole=(${words[2,CURRENT]})
    _nodeattrs_asked() { compadd -S "" -- ${(f)"$(nodeattrs complete "${whole[@]}" 2>/dev/null)"} }
    case "${(j: :)words[2,CURRENT-1]} " in"""
_ZSH_NAMES = {"file": "_files", "directory": "_files -/", "asked": "_nodeattrs_asked", "": " "}


def _zsh_specs(option: _Option) -> Iterator[str]:
    summary = option.help
    for sign in ("\\", "[", "]", ":"):
        summary = summary.replace(sign, f"\\{sign}")
    for spelling in option.spellings:
        joint = "=" if option.takes_value and spelling.startswith("--") else ""
        spec = f"*{spelling}{joint}[{summary}]"
        if option.values:
            spec += f":value:({' '.join(option.values)})"
        elif option.takes_value:
            spec += f":{option.names or 'value'}:{_ZSH_NAMES[option.names]}"
        yield spec


def _fish(commands: list[_Command]) -> Iterator[str]:
    yield _FISH_BEGIN
    for command in commands:
        at = " ".join(command.before)
        for word, summary in command.words.items():
            yield _fish_line(f"__nodeattrs_after {at}", f"-a {word}", summary)
        where = f"__nodeattrs_{'after' if command.is_between else 'in'} {at}"
        if command.names:
            yield _fish_line(where, _FISH_WORDS[command.names], "")
        for option in command.options:
            parts = [f"-l {one[2:]}" if one.startswith("--") else f"-s {one[1:]}" for one in option.spellings]
            if option.values:
                parts.append(f"-x -a {_fish_quoted(' '.join(option.values))}")
            elif option.takes_value:
                parts.append(_FISH_VALUES[option.names])
            yield _fish_line(where, " ".join(parts), option.help)


_FISH_BEGIN = """# fish completion for nodeattrs
function __nodeattrs_after -d 'whether these are all words before the cursor'
    set -l before (commandline -opc)[2..-1]
    test "$before" = "$argv"
end
function __nodeattrs_in -d 'whether the words before the cursor begin with these'
    set -l before (commandline -opc)[2..-1]
    string match -q -- "$argv *" "$before "
end
complete -c nodeattrs -f"""
_FISH_ASKED = "-a '(nodeattrs complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'"
_FISH_WORDS = {"file": "-F", "directory": "-a '(__fish_complete_directories)'", "asked": _FISH_ASKED}
_FISH_VALUES = {"file": "-r -F", "directory": "-x -a '(__fish_complete_directories)'", "asked": f"-x {_FISH_ASKED}"}
_FISH_VALUES[""] = "-x"


def _fish_line(where: str, what: str, summary: str) -> str:
    line = f"complete -c nodeattrs -n {_fish_quoted(where.strip())} {what}"
    return f"{line} -d {_fish_quoted(summary)}" if summary else line


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}

ARGUMENTS = (
    Argument(("shell",), "which shell (default: the one of $SHELL)", {"choices": tuple(_SCRIPTS), "nargs": "?"}),
    Argument(("--install",), "write the script and the pages for man into your home", {"action": "store_true"}),
)
