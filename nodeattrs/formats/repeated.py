"""Parsers of files in which a key may be written several times: Git's config, units of systemd, and npm's .npmrc.

Each program takes some keys as lists. Such a key has a list of its texts; an empty one makes the earlier ones void, and
leaves None as the first element. In .npmrc an empty text is an element like any other, and `key[]` makes a list. Of any
other key the last text counts. Nothing is filled in.
source: git-config(1), "Syntax" and "Values"; systemd.syntax(7), systemd.unit(5), systemd.exec(5),
        systemd.resource-control(5), systemd.service(5) and the table load-fragment-gperf.gperf.in of systemd 258;
        npm, "ini", README
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from nodeattrs.core.budget import Budget
from nodeattrs.core.tree import Path, json_or_text
from nodeattrs.formats.places import HALF_PAIR, Mark, ParsedText, Text

_LISTS_OF_GIT = re.compile(
    r"remote\..*\.(?:fetch|push|url|pushurl)|branch\..*\.merge|url\..*\.(?:insteadof|pushinsteadof)|"
    r"credential\.(?:.*\.)?helper|http\.(?:.*\.)?extraheader|include\.path|safe\.directory|push\.pushoption|"
    r"(?:transfer|receive|uploadpack)\.hiderefs|blame\.ignorerevsfile|core\.gitproxy|log\.excludedecoration|"
    r"maintenance\.repo|notes\.displayref|notes\.rewriteref|versionsort\.suffix|format\.(?:headers|to|cc)",
    re.DOTALL,
)
_DEPENDENCIES = re.compile(
    r"Unit\.(?:Wants|Requires|Requisite|Binds?To|PartOf|Upholds|Conflicts|Before|After|On(?:Failure|Success)|"
    r"\w*Propagate\w+|JoinsNamespaceOf|(?:Requires|Wants)MountsFor|(?:Requires|Requisite)Overridable)"
)
"""Lists that no empty text makes void."""
_LISTS_OF_SYSTEMD = re.compile(
    r"Unit\.(?:Documentation|Condition\w+|Assert\w+)|Install\.(?:Alias|WantedBy|RequiredBy|UpheldBy|Also)|"
    r"Socket\.(?:Listen\w+|Symlinks)|Timer\.On(?:\w+Sec|Calendar)|Path\.(?:Path\w+|DirectoryNotEmpty)|"
    r"\w+\.(?:Exec(?:Start|Stop|Reload|Condition)\w*|Environment(?:File)?|PassEnvironment|UnsetEnvironment|"
    r"SupplementaryGroups|(?:ReadWrite|ReadOnly|Inaccessible|Exec|NoExec|Bind|BindReadOnly)Paths|TemporaryFileSystem|"
    r"(?:ReadWrite|ReadOnly|Inaccessible|Extension)Directories|ExecSearchPath|RootImageOptions|"
    r"(?:Mount|Extension)Images|(?:Load|Set|Import)Credential\w*|CapabilityBoundingSet|AmbientCapabilities|SecureBits|"
    r"SystemCall(?:Filter|Architectures|Log)|Restrict(?:AddressFamilies|FileSystems|NetworkInterfaces|Namespaces)|"
    r"DelegateNamespaces|Delegate|DisableControllers|DeviceAllow|NFTSet|BPFProgram|IP(?:Ingress|Egress)FilterPath|"
    r"CPUAffinity|NUMAMask|(?:Startup)?Allowed(?:CPUs|MemoryNodes)|CoredumpFilter|StandardInput(?:Text|Data)|"
    r"IPAddress(?:Allow|Deny)|SocketBind(?:Allow|Deny)|IO(?:Device|Read|Write)\w+|Log(?:ExtraFields|FilterPatterns)|"
    r"(?:Runtime|State|Cache|Logs|Configuration)Directory|SuccessExitStatus|Restart(?:Prevent|Force)ExitStatus|"
    r"Sockets|OpenFile)"
)

_VOIDED_TOGETHER = re.compile(
    r"Unit\.(Condition|Assert)\w+|Socket\.Listen\w+|Timer\.On(?:\w+Sec|Calendar)|Path\.(?:Path\w+|DirectoryNotEmpty)|"
    r"\w+\.(StandardInput)(?:Text|Data)"
)


def voided_together(section: str, key: str) -> str:
    """The name of the group of a key of systemd; "" for a key without a group.

    An empty text for one key makes the lists of all keys of its group void.

    >>> voided_together("Timer", "OnBootSec") == voided_together("Timer", "OnCalendar")
    True
    """
    found = _VOIDED_TOGETHER.fullmatch(f"{section}.{key}")
    return f"{section}.{found[1] or found[2] or ''}" if found else ""


class _Entry(NamedTuple):
    """One assignment.

    value: its text; None for a key alone in a file of Git; npm also has numbers, true, false and null
    group: `voided_together` of its key; "" in a file of Git or npm
    """

    path: Path
    value: Any
    offset: int
    is_list: bool
    group: str = ""


class _VoidGroups:
    """Where the groups of keys were made void, and which keys they have had since then."""

    def __init__(self) -> None:
        self.offsets: dict[str, int] = {}
        self.keys: dict[str, set[Any]] = {}

    def extend(self, holder: dict[str, Any], mark: Mark, entry: _Entry) -> None:
        """Add the text of an entry to its list, or make its list and its group void."""
        key, group = entry.path[-1], entry.group
        if entry.value == "":
            for other in self.keys.pop(group, ()):
                del holder[other], mark.parts[other]
            self.offsets[group] = entry.offset
            holder[key], mark.parts[key] = [None], Mark(entry.offset, {0: Mark(entry.offset)})
        elif key not in holder and group and group in self.offsets:
            holder[key], mark.parts[key] = [None], Mark(entry.offset, {0: Mark(self.offsets[group])})
        if group:
            self.keys.setdefault(group, set()).add(key)
        if entry.value != "":
            _append(holder, mark, entry)


def _append(holder: dict[str, Any], mark: Mark, entry: _Entry) -> None:
    """Add the value of an entry to its list. A single value becomes the first element."""
    key = entry.path[-1]
    if key in holder and not isinstance(holder[key], list):
        before = mark.parts[key]
        holder[key], mark.parts[key] = [holder[key]], Mark(before.offset, {0: before})
    elements = holder.setdefault(key, [])
    mark.parts.setdefault(key, Mark(entry.offset)).parts[len(elements)] = Mark(entry.offset)
    elements.append(entry.value)


def read(text: Text, budget: Budget, syntax: str) -> ParsedText:
    """Parse a text; an empty one is {}.

    syntax: "git", "systemd" or "npm"
    raises: DocumentError, also for a key that is a section, too; TooMuch
    """
    return _parsed(text, budget, syntax, _ENTRIES[syntax](text))


def git_parts(text: Text, budget: Budget) -> list[ParsedText]:
    """Parse a config of Git, and split it behind each line that includes a file; returns the parts, at least one.

    raises: DocumentError, TooMuch
    """
    parts: list[list[_Entry]] = [[]]
    for entry in _git(text):
        parts[-1].append(entry)
        if entry.path == INCLUDE or (entry.path[0].startswith(INCLUDE_IF) and entry.path[-1] == "path"):
            parts.append([])
    return [_parsed(text, budget, "git", part) for part in parts]


def _parsed(text: Text, budget: Budget, syntax: str, entries: Iterable[_Entry]) -> ParsedText:
    tree: dict[str, Any] = {}
    root, voids = Mark(0), _VoidGroups()
    for entry in entries:
        budget.values(1)
        holder, mark = tree, root
        *above, key = entry.path
        for step in above:
            holder, mark = holder.setdefault(step, {}), mark.parts.setdefault(step, Mark(entry.offset))
            if not isinstance(holder, dict):
                raise text.error(f"{step} is a key and a section", entry.offset, path=entry.path)
        if isinstance(holder.get(key), dict):
            raise text.error(f"{key} is a section and a key", entry.offset, path=entry.path)
        if syntax == "npm" and (entry.is_list or isinstance(holder.get(key), list)):
            _append(holder, mark, entry)
        elif not entry.is_list:
            before = mark.parts.get(key)
            mark.parts[key] = Mark(entry.offset, before=None if before is None else (holder[key], before))
            holder[key] = entry.value
        elif entry.value != "" or not _DEPENDENCIES.fullmatch(".".join(entry.path)):
            voids.extend(holder, mark, entry)
    return ParsedText(tree, lambda: root, (), 4)


# --- Git

INCLUDE: Path = ("include", "path")
INCLUDE_IF = 'includeif "'
"""The beginning of the section of a conditional include."""
_HEADER = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\[^\n])*)")?\s*\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[^\S\n]*(=)?[^\S\n]*")
_VALUE = re.compile(r'(?:[^"\\\n#;]|\\(?:\r?\n|[^\n])|"(?:[^"\\\n]|\\(?:\r?\n|[^\n]))*")*')
_BLANK = re.compile(r"(?:\s|[#;][^\n]*)*")
_WORD = re.compile(r'"|\\(\r?\n|[^\n])|(\s+)|[^"\\\s]+')
_SIGNS = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\", "\n": "", "\r\n": ""}


def _git(text: Text) -> Iterator[_Entry]:
    section: Path = ()
    offset = text.after(_BLANK, 0)
    while offset < len(text.text):
        header = _HEADER.match(text.text, offset)
        if header is not None:
            section = _section(header[1], header[2])
            offset = text.after(_BLANK, header.end())
            continue
        key = _KEY.match(text.text, offset)
        if key is None or not section:
            raise text.error("a line that says nothing", offset, hint="write [section], and key = value below it")
        value, end = None, key.end()
        if key[2]:
            end = text.after(_VALUE, key.end())
            value = _value(text, key.end(), end)
        if text.text[end : end + 1] not in ("", "\n", "\r", "#", ";"):
            raise text.error("a quote is opened here and never closed" if key[2] else "a key is followed by =", end)
        path = (*section, key[1].lower())
        yield _Entry(path, value, offset, _LISTS_OF_GIT.fullmatch(".".join(path)) is not None)
        offset = text.after(_BLANK, end)


def _section(name: str, part: str | None) -> Path:
    """The path of a section. Its name counts in small letters; the part in quotes keeps its capitals."""
    name = name.lower()
    if part is None:
        return tuple(name.split(".", 1))
    part = re.sub(r"\\(.)", r"\1", part)
    return (f'{name} "{part}"',) if name == "includeif" else (name, part)


def _value(text: Text, offset: int, end: int) -> str:
    """The value between two offsets. Blanks outside of quotes are left out before the value and behind it."""
    parts: list[str] = []
    blank, is_quoted = "", False
    for word in _WORD.finditer(text.text, offset, end):
        if word[2] and not is_quoted:
            blank = f"{blank}{word[2]}" if parts else ""
            continue
        if word[1] and word[1] not in _SIGNS:
            raise text.error(f"Git knows no escape {word[0]}", word.start())
        is_quoted ^= word[0] == '"'
        meant = "" if word[0] == '"' else _SIGNS[word[1]] if word[1] else word[0]
        parts += filter(None, (blank, meant))
        blank = ""
    return "".join(parts)


# --- systemd


def _systemd(text: Text) -> Iterator[_Entry]:
    section = ""
    begin, offset = 0, 0
    held: list[str] = []
    for line in [*text.text.split("\n"), ""]:
        bare = line.strip()
        if bare[:1] not in ("#", ";") and (bare or held):
            begin = begin if held else offset + len(line) - len(line.lstrip())
            is_continued = (len(bare) - len(bare.rstrip("\\"))) % 2 == 1
            held.append(f"{bare[:-1]} " if is_continued else bare)
            if not is_continued:
                whole, held = "".join(held), []
                if whole.startswith("[") and whole.endswith("]"):
                    section = whole[1:-1]
                else:
                    yield _assignment(text, section, whole, begin)
        offset += len(line) + 1


def _assignment(text: Text, section: str, line: str, offset: int) -> _Entry:
    key, equals, value = (part.strip() for part in line.partition("="))
    if not section or not key or not equals:
        raise text.error("a line that says nothing", offset, hint="write [Section], and Key=value below it")
    name = f"{section}.{key}"
    is_list = _LISTS_OF_SYSTEMD.fullmatch(name) or _DEPENDENCIES.fullmatch(name)
    return _Entry((section, key), value, offset, is_list is not None, voided_together(section, key))


# --- npm

_HEADER_OF_NPM = re.compile(r"\[([^\]]*)\]\s*")
_SIGN_OF_NPM = re.compile(r"\\([\\;#])|[;#].*", re.DOTALL)
_WORDS_OF_NPM = {"true": True, "false": False, "null": None}


def _npm(text: Text) -> Iterator[_Entry]:
    section: Path = ()
    for found in re.finditer(r"[^\r\n]+", text.text):
        line, offset = found[0], found.start()
        written, equals, value = line.partition("=")
        if not written or line.strip()[:1] in ("", ";", "#"):
            continue
        header = _HEADER_OF_NPM.fullmatch(line)
        key = _of_npm(text, header[1] if header else written, offset)
        if not isinstance(key, str) or (header and "." in key):
            raise text.error("npm takes this name apart, which is not supported here", offset, hint="write it plainly")
        if header:
            section = (key,)
            continue
        is_list = len(key) > 2 and key.endswith("[]")
        name = key.removesuffix("[]") if is_list else key
        meant = _of_npm(text, value, offset) if equals else True
        meant = _WORDS_OF_NPM.get(meant, meant) if isinstance(meant, str) else meant
        if isinstance(meant, (dict, list)) or (meant is None and "." in name and not section):
            raise text.error("npm takes this value as a section, which is not supported here", offset)
        yield _Entry((*section, name), meant, offset + len(line) - len(line.lstrip()), is_list)


def _of_npm(text: Text, written: str, offset: int) -> Any:
    """A key or value as npm reads it: a text in quotes as JSON, if it is valid; another one without its comment."""
    bare = written.strip()
    if bare[:1] not in ("'", '"') or bare[-1] != bare[0]:
        return _SIGN_OF_NPM.sub(lambda sign: sign[1] or "", bare).strip()
    bare = bare[1:-1] if bare[0] == "'" else bare
    meant = json_or_text(bare)
    if isinstance(meant, str) and HALF_PAIR.search(meant):
        raise text.error("half of a surrogate pair, which no file can hold", offset)
    return meant


_ENTRIES: dict[str, Callable[[Text], Iterator[_Entry]]] = {"git": _git, "systemd": _systemd, "npm": _npm}
