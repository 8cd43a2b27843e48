"""Parsers of texts with one entry a line: .env, .ini, Java's .properties, Git's config, units of systemd, and .npmrc.

All values are text. A key without a value is null. `${HOME}` stays as it is written, and a dot in a key is part of its
name.

If a key of .env, .ini or .properties is written twice, the last value counts, and there is a warning. Git, systemd and
npm take some keys as lists. Such a key has a list of its texts; an empty one makes the earlier ones void, and leaves
None as the first element. In .npmrc an empty text is an element like any other, and `key[]` makes a list. Of any other
key the last text counts.
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
from nodeattrs.errors import DocumentError
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
    """One assignment, or the beginning of a section.

    value:   its text; None for a key alone, and {} for a section; npm also has numbers, true, false and null
    offset:  of its key
    is_list: whether its key is a list
    group:   `voided_together` of its key; "" in a file of another program than systemd
    """

    path: Path
    value: Any
    offset: int
    is_list: bool = False
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
    """Parse a text with one entry a line; an empty text is {}.

    syntax: "env": `KEY=value`, `export KEY='as it is'`, `KEY="with \\n" # and a comment`
            "ini": a map for each section, parsed as by Python's configparser. Keys keep their case; keys before the
            first section are beside the sections
            "properties": as Java reads them
            "git", "systemd" or "npm": as these programs read them
    raises: DocumentError, also for a section and a key of one name; TooMuch
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
    root, voids, warnings = Mark(0), _VoidGroups(), []
    for entry in entries:
        budget.values(1)
        holder, mark = tree, root
        *above, key = entry.path
        for step in above:
            holder, mark = holder.setdefault(step, {}), mark.parts.setdefault(step, Mark(entry.offset))
            if not isinstance(holder, dict):
                raise text.error(f"{step} is a key and a section", entry.offset, path=entry.path)
        before = mark.parts.get(key)
        if before is not None and isinstance(entry.value, dict) != isinstance(holder[key], dict):
            hint = "give one of the two another name"
            raise text.error(f"{key} is a section and a key", entry.offset, path=entry.path, hint=hint)
        if isinstance(entry.value, dict):  # a section that comes again goes on
            holder.setdefault(key, {})
            mark.parts.setdefault(key, Mark(entry.offset))
        elif syntax == "npm" and (entry.is_list or isinstance(holder.get(key), list)):
            _append(holder, mark, entry)
        elif not entry.is_list:
            if before is not None and syntax in _WRITTEN_ONCE:
                warnings.append(text.repeated(entry.path, before.offset, entry.offset))
            mark.parts[key] = Mark(entry.offset, before=None if before is None else (holder[key], before))
            holder[key] = entry.value
        elif entry.value != "" or not _DEPENDENCIES.fullmatch(".".join(entry.path)):
            voids.extend(holder, mark, entry)
    return ParsedText(tree, lambda: root, tuple(warnings), 4)


# --- .env

_ENV = re.compile(
    r"""[^\S\n]*(?:export[^\S\n]+)?(?:'([^'\n]+)'|([^=\#\s'"][^=\#\s]*))[^\S\n]*   # 1, 2: the key
        (?:(=)(?:[^\S\n]*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")|([^\n]*)))?""",  # 3: there is a value, 4, 5, 6
    re.VERBOSE | re.DOTALL,
)
_ENV_BLANK = re.compile(r"\s*(?:#[^\n]*\s*)*")
_REST = re.compile(r"[^\S\n]*(?:#[^\n]*)?(?:\n|$)")
_ENV_COMMENT = re.compile(r"(?<!\s)\s+#.*")
_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "a": "\a", "b": "\b", "v": "\v"}


def _env(text: Text) -> Iterator[_Entry]:
    offset = 0
    while (offset := text.after(_ENV_BLANK, offset)) < len(text.text):
        found = _ENV.match(text.text, offset)
        if found is None:
            raise _no_entry(text, offset, "KEY=value")
        end = _REST.match(text.text, found.end())
        if end is None:
            open_quote = found[6] is None and found[3] is not None
            what = "there is text after the closing quote" if open_quote else "a key is followed by ="
            raise text.error(what, found.end(), hint="put a # before a comment")
        key = found[1] or found[2]
        yield _Entry((key,), _env_value(text, found), found.start(1 if found[1] else 2))
        offset = end.end()


def _env_value(text: Text, found: re.Match[str]) -> str | None:
    _, _, equals, plain, escaped, bare = found.groups()
    if equals is None:
        return None
    if plain is not None:
        return re.sub(r"\\([\\'])", r"\1", plain)
    if escaped is not None:
        return re.sub(r"""\\([\\'"abfnrtv])""", lambda sign: _SIGNS.get(sign[1], sign[1]), escaped)
    if bare.lstrip()[:1] in ("'", '"'):
        raise text.error("a quote is opened here and never closed", found.start(6))
    return _ENV_COMMENT.sub("", bare).strip()


def _no_entry(text: Text, offset: int, wanted: str) -> DocumentError:
    return text.error("a line that says nothing", offset, hint=f"write {wanted}, or a # before a comment")


# --- .ini

_SECTION = re.compile(r"\s*\[(.+)\]")
_DELIMITER = re.compile(r"[=:]")


def _ini(text: Text) -> Iterator[_Entry]:
    section: Path = ()
    held: _Entry | None = None
    more: list[str] = []  # the lines that go on with its value
    indent = 0
    for offset, line in _lines(text):
        bare = line.strip()
        here = len(line) - len(line.lstrip())
        if not bare or bare[0] in "#;":
            if not bare and held is not None and held.value is not None:
                more.append("")
            continue
        if held is not None and here > indent and held.value is not None:
            more.append(bare)
            continue
        indent = here
        if held is not None:
            yield _kept(held, more)
            held, more = None, []
        header = _SECTION.match(line)
        if header is not None:
            section = (header[1],)
            yield _Entry(section, {}, offset + header.start(1) - 1)
            continue
        held = _option(text, section, offset, line)
    if held is not None:
        yield _kept(held, more)


def _option(text: Text, section: Path, offset: int, line: str) -> _Entry:
    found = _DELIMITER.search(line)
    key = (line[: found.start()] if found else line).strip()
    if not key:
        raise _no_entry(text, offset, "key = value")
    indent = len(line) - len(line.lstrip())
    return _Entry((*section, key), line[found.end() :].strip() if found else None, offset + indent)


def _kept(entry: _Entry, more: list[str]) -> _Entry:
    """An entry with the further lines of its value."""
    return entry if entry.value is None else entry._replace(value="\n".join([entry.value, *more]).rstrip())


def _lines(text: Text) -> Iterator[tuple[int, str]]:
    offset = 0
    for line in text.text.split("\n"):
        yield offset, line.removesuffix("\r")
        offset += len(line) + 1


# --- .properties

_PROPERTY = re.compile(r"((?:\\.|[^\\=:\s])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|u|.)", re.DOTALL)


def _properties(text: Text) -> Iterator[_Entry]:
    held: list[str] = []
    begin = 0
    for offset, line in _lines(text):
        bare = line.lstrip(" \t\f")
        if not held:
            if not bare or bare[0] in "#!":
                continue
            begin = offset + len(line) - len(bare)
        goes_on = (len(bare) - len(bare.rstrip("\\"))) % 2
        held.append(bare[:-1] if goes_on else bare)
        if not goes_on:
            yield from _property(text, "".join(held), begin)
            held = []
    if held:
        yield from _property(text, "".join(held), begin)


def _property(text: Text, line: str, offset: int) -> Iterator[_Entry]:
    if not line:
        return
    found = _PROPERTY.match(line)
    assert found is not None
    key, value = (_ESCAPE.sub(lambda sign: _unescaped(text, sign[1], offset), part) for part in found.groups())
    try:
        key, value = map(_paired, (key, value))
    except UnicodeDecodeError:
        raise text.error("half of a surrogate pair, which no file can hold", offset) from None
    yield _Entry((key,), value, offset)


def _paired(text: str) -> str:
    """The text with each escaped surrogate pair as one character. raises: UnicodeDecodeError, for half of a pair"""
    return text.encode("utf-16", "surrogatepass").decode("utf-16") if HALF_PAIR.search(text) else text


def _unescaped(text: Text, sign: str, offset: int) -> str:
    if sign == "u":
        raise text.error("a \\u escape without four hexadecimal digits", offset)
    return chr(int(sign[1:], 16)) if sign[0] == "u" else {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}.get(sign, sign)


# --- Git

INCLUDE: Path = ("include", "path")
INCLUDE_IF = 'includeif "'
"""The beginning of the section of a conditional include."""
_HEADER = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\[^\n])*)")?\s*\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[^\S\n]*(=)?[^\S\n]*")
_VALUE = re.compile(r'(?:[^"\\\n#;]|\\(?:\r?\n|[^\n])|"(?:[^"\\\n]|\\(?:\r?\n|[^\n]))*")*')
_BLANK = re.compile(r"(?:\s|[#;][^\n]*)*")
_WORD = re.compile(r'"|\\(\r?\n|[^\n])|(\s+)|[^"\\\s]+')
_SIGNS_OF_GIT = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\", "\n": "", "\r\n": ""}


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
        if word[1] and word[1] not in _SIGNS_OF_GIT:
            raise text.error(f"Git knows no escape {word[0]}", word.start())
        is_quoted ^= word[0] == '"'
        meant = "" if word[0] == '"' else _SIGNS_OF_GIT[word[1]] if word[1] else word[0]
        parts += filter(None, (blank, meant))
        blank = ""
    return "".join(parts)


# --- systemd


def _systemd(text: Text) -> Iterator[_Entry]:
    section = ""
    begin = 0
    held: list[str] = []
    for offset, line in [*_lines(text), (len(text.text), "")]:
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


_WRITTEN_ONCE = ("env", "ini", "properties")
"""Syntaxes in which a key that is written twice is a mistake."""
_ENTRIES: dict[str, Callable[[Text], Iterator[_Entry]]] = {
    "env": _env,
    "ini": _ini,
    "properties": _properties,
    "git": _git,
    "systemd": _systemd,
    "npm": _npm,
}
