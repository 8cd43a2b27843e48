"""Collect which variables the files of a repository set, and which its templates, conditions and programs mention.

Every file is read as text, YAML also as data. Nothing runs, and no host is considered. `static` makes findings from
these variables.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from nodeattrs.core.claim import Origin
from nodeattrs.core.tree import Path as Steps
from nodeattrs.dialects.ansible.faults import CONDITION, INI_COMMENT, AnsibleError, new_warning
from nodeattrs.dialects.ansible.files import VariableFiles
from nodeattrs.dialects.ansible.keywords import PLAY, ROLE, TASK
from nodeattrs.dialects.ansible.levels import MAGIC
from nodeattrs.formats.documents import Document
from nodeattrs.formats.jinja import module
from nodeattrs.formats.nearest import absent_submodules

_PASSED = frozenset(("venv", "node_modules", "__pycache__"))
_YAML = (".yml", ".yaml", ".json")
_READ = frozenset(("group_vars", "host_vars", "playbooks", "tasks", "handlers", "vars", "defaults", "meta"))
TEST_FOLDERS = frozenset(("tests", "molecule", "example", "examples"))
"""_READ: folders whose YAML Ansible reads. PLAYED: folders with YAML of tests and examples."""
_OF_ROLE = frozenset(("tasks", "handlers", "vars", "defaults", "meta", "templates", "files", "library"))
_PAGES = (".md", ".rst", ".adoc", ".lock", ".svg", ".html", ".css", ".png", ".pem", ".crt")
_MOST_FILES, _MOST_BYTES = 20_000, 1_000_000
_WORD = re.compile(r"[A-Za-z_]\w*")
_ASSIGNED = re.compile(r"(?<![\w.\"'])([A-Za-z_]\w*)\s*=(?!=)")
_WRITTEN = re.compile(r"^(?:[#|*-]|[^\S\n])*+`?([A-Za-z_]\w*)`?\s*[:|]", re.MULTILINE)
_GUARD = re.compile(
    r"\bdefault\b|\bd\(|\bdefined\b|\bundefined\b|\bomit\b|\blookup\b|\bvarnames\b|\bvars\b|\bignore_errors\b"
)
_INDIRECT = re.compile(
    r"\b(?:vars|hostvars\s*\[[^\]]{0,999}\])\s*\[([^\]]{0,999})\]"
    r"|\b(?:lookup|query|q)\(\s*'(?:vars|varnames)'([^)]{0,999})\)"
)
_GIVEN = re.compile(r"(?:--extra-vars|\s-e)[ =]+[\"']?([A-Za-z_]\w*)=")
_GIVEN_FILE = re.compile(r"(?:--extra-vars|\s-e)[ =]*[\"']?@([\w./~-]+)")
_BEGUN = re.compile(r"\b([A-Za-z]\w{2,}_)(?:\{(?!\{)|['\"]\s*[+~%.])")
_REMARK = re.compile(r"^[^\S\n]*+#(.*)", re.MULTILINE)
_COMMENT = re.compile(r"#(.*)$", re.MULTILINE)
_SETTING = re.compile(r"\b([A-Za-z_]\w*)(?:`|[\"']?\s*[:=])")
_ANCHORED = re.compile(r"^(\w+):\s*&(\w+)", re.MULTILINE)
_FOREIGN = re.compile(r"^(?:apiVersion|kind|site_name):", re.MULTILINE)
_KEPT_BACK = re.compile(
    r"(?i)(?:group|host)_vars(?:/|$)|(?:secret|vault|private|cred|passw)[^/]{0,255}\.(?:ya?ml|json)$"
)
"""_FOREIGN: a key of a YAML file that is no playbook. _KEPT_BACK: names in .gitignore of files with variables."""
_ALONE = re.compile(r"\{\{\s*(?!not\b)([A-Za-z_]\w*)\s*\}\}", re.ASCII)
"""A template that is one name, as most are."""
_ONE = re.compile(r"\{\{(?:(?!\}\}).)*\}\}", re.DOTALL)
_SECTION = re.compile(r"\[([^\]]+)\]")
_INVENTORY = re.compile(r"^\[[^\]\n]+:(?:vars|children)\]", re.MULTILINE)
_KEY = re.compile(r"\w+")
_CUT = re.compile(r"^[^'\"#]*?\s(\w+)=([^'\"\s#]+)#\S")
"""_ONE: one template. _SECTION: the header of a section in INI. _INVENTORY: a section that only inventories have.
_CUT: a variable of a host with a `#` in its value.
"""
_MACRO = re.compile(r"\{%-?\s*macro\s+(\w+)")
_LITERAL = re.compile(r"'(\w+)'|\"(\w+)\"")
_TASK_LISTS = frozenset(
    ("block", "rescue", "always", "tasks", "pre_tasks", "post_tasks", "handlers", "roles", "dependencies")
)
"""Keys whose lists hold tasks or roles."""
_BARE = frozenset(
    ("when", "failed_when", "changed_when", "until", "that", "assert", "loop", "var", "if", "environment")
)
"""Keys whose texts are expressions of their own, or may be a name alone."""
_NAMES = frozenset(("register", "loop_var", "index_var", "extended_loop_var", "name", "key"))
"""Keys whose texts may be the name of a variable that a task sets."""
_FREE = frozenset(
    ("set_fact", "add_host", "include_vars", "group_by", "include", "include_tasks", "import_tasks", "import_playbook")
)
_OWN_TEXT = """
    item ansible_managed template_host template_path template_uid q query lookup now undef loop self caller range dict
    lipsum cycler joiner namespace varargs kwargs super packages services mount_points zuul nodepool context true
    false none True False None"""
OWN = MAGIC.union(_OWN_TEXT.split())
"""Names that need not be set."""
WORDS = PLAY | ROLE | TASK
"""The keywords of plays and tasks, which may also be names of variables."""


@dataclass(frozen=True, slots=True)
class VariableDefinition:
    """A variable that a file of variables sets.

    name:   the name of the variable
    origin: the line that sets it
    role:   the role of the file; "." for a repository that is a role, "" outside of roles
    """

    name: str
    origin: Origin
    role: str


@dataclass
class VariableReferences:
    """What the files of a repository set and mention. The constructor reads nothing. `read` fills the fields; call it
    once.

    root:             the folder of the repository
    files:            reads the files
    definitions:      the variables that files of variables set
    settable:         names that are a key anywhere, or that a task, a program or an inventory may set
    words:            words that are not keys, in YAML, templates and programs
    mentions:         name -> the first template or condition that mentions it
    guarded:          names that may be undefined: a mention is beside `default`, `is defined` or the like
    name_parts:       parts of variable names, from expressions such as `vars['app_' + x]` -> first place
    computed:         places of expressions that may give any variable name
    roles:            the roles that the repository has
    used_roles:       role that is used -> first place
    vars_files:       (role, name) for each file of variables that YAML or a call of a program names. The role is the
                      one that names the file; "" outside of roles
    vars_file_places: (role, name) in `vars_files` -> first place
    paths:            name of a file, without folders -> its paths
    faults:           the errors of files that cannot be parsed
    encrypted:        encrypted files; each may set and mention any variable
    warnings:         warnings about conditions and comments

    `part_in` and `is_made` say whether an expression may compose a name. `role_of` gives the role that a file belongs
    to, or "". `is_file_there` looks a name up in `paths`. `missing_roles` are used and absent,
    `roles_with_absent_files` name an absent file, and `absent_submodules` are not checked out.
    """

    root: Path
    files: VariableFiles
    definitions: list[VariableDefinition] = field(default_factory=list)
    settable: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    mentions: dict[str, Origin] = field(default_factory=dict)
    guarded: set[str] = field(default_factory=set)
    name_parts: dict[str, Origin] = field(default_factory=dict)
    roles: set[str] = field(default_factory=set)
    used_roles: dict[str, Origin] = field(default_factory=dict)
    _called_roles: dict[str, Origin] = field(default_factory=dict)  # used in plays whose hosts come from -e
    vars_files: set[tuple[str, str]] = field(default_factory=set)
    _naming_keys: set[str] = field(default_factory=set)  # keys whose texts are names that set_fact sets
    _texts_by_key: dict[str, set[str]] = field(default_factory=dict)  # key -> texts that may be names
    _made_names: set[tuple[str, str]] = field(default_factory=set)  # beginning and end of names that set_fact composes
    _named_files: dict[str, set[str]] = field(default_factory=dict)  # key -> names of YAML or JSON files
    paths: dict[str, list[str]] = field(default_factory=dict)
    faults: list[AnsibleError] = field(default_factory=list)
    encrypted: list[str] = field(default_factory=list)
    computed: list[Origin] = field(default_factory=list)
    vars_file_places: dict[tuple[str, str], Origin] = field(default_factory=dict)
    warnings: list[AnsibleError] = field(default_factory=list)

    @cached_property
    def missing_roles(self) -> dict[str, Origin]:
        """Role -> the first place that uses it, for each used role that the repository does not have."""
        known = {one.rpartition("/")[2] for one in self.roles}
        asked = {**self._called_roles, **self.used_roles}
        return {one: at for one, at in asked.items() if one.rpartition("/")[2] not in known and "{{" not in one}

    @cached_property
    def roles_with_absent_files(self) -> set[str]:
        """The roles that name a file of variables that the repository does not have. "" means files outside of roles.

        Such a file may set any variable.
        """
        return {role for role, name in self.vars_files for one in self._possible_files(name) if not self._is_there(one)}

    @cached_property
    def absent_submodules(self) -> Mapping[str, int]:
        """Folder -> its line in .gitmodules, for Git submodules that are not checked out; {} without .gitmodules."""
        return absent_submodules(self.root)

    def is_file_there(self, name: str) -> bool:
        """Whether the repository has a file of that name. For a name with templates: whether it has each file that the
        name may mean.
        """
        return all(map(self._is_there, self._possible_files(name)))

    def _possible_files(self, name: str) -> Iterator[str]:
        """Yield the names that a name may mean. A variable with known file names is filled in; any other template
        becomes `*`.
        """
        known = next((found for found in _ALONE.finditer(name) if found[1] in self._named_files), None)
        values = ["*"] if known is None else self._named_files[known[1]]
        for value in values:
            first, *rest = (name if known is None else name.replace(known[0], value)).split("{{")
            yield "".join([first, *("*" + one.partition("}}")[2] if "}}" in one else "{{" + one for one in rest)])

    def _is_there(self, pattern: str) -> bool:
        *above, last = [step for step in pattern.split("/") if step not in ("", ".", "..")] or ["*"]
        known = [path for name, its in self.paths.items() if fnmatchcase(name, last) for path in its]
        if not pattern.startswith("/"):
            return any(fnmatchcase(f"/{path}", f"*/{'/'.join((*above, last))}") for path in known)
        # The repository may lie there. Of a name with a template at least one folder has to be the same.
        suffixes = ["/".join((*above[count:], last)) for count in range(len(above) + ("*" not in last))]
        return any(fnmatchcase(path, suffix) for path in known for suffix in suffixes)

    def read(self, count: Callable[[str], object]) -> VariableReferences:
        """Read all files below the root into the fields, and return the object itself.

        Files that cannot be parsed are added to `faults`, and nothing is raised for them.

        count: called with the name of each file, relative to the root
        cost:  reads each file once or twice; at most 20,000 files, none above one megabyte
        """
        for number, line in enumerate(_readable(self.root / ".gitignore").splitlines(), 1):
            if line[:1] not in "!#" and _KEPT_BACK.search(line.strip()):
                self._note_named_file("", line.strip(), Origin("file", "", ".gitignore", number))
        for path in _files_below(self.root):
            relative = path.relative_to(self.root)
            count(relative.as_posix())
            self.paths.setdefault(path.name, []).append(relative.as_posix())
            role, inside = _role_folders(relative)
            self.roles.update({"/".join(role)} if _OF_ROLE.intersection(inside[:1]) else ())
            is_bare = not path.suffix and self._holds_variables(relative)
            if (path.suffix in _YAML or is_bare) and not {"templates", "files"} & set(relative.parts):
                self._yaml(path, relative)
            elif path.suffix.lower() not in _PAGES or "templates" in relative.parts or "files" in relative.parts:
                self._text(path)
            else:
                self._given(_readable(path), relative)
        for key in self._naming_keys:
            self.settable.update(self._texts_by_key.get(key, ()))
        return self

    def role_of(self, relative: Path) -> str:
        """The name of the role that a file belongs to, without the folders above the role.

        "" for a file outside of roles; "." if the repository itself is the role.

        relative: the path of the file below the root
        """
        role, _ = _role_folders(relative)
        if role:
            return role[-1]
        return "." if relative.parts[0] in _OF_ROLE and self._is_role else ""

    def _holds_variables(self, relative: Path) -> bool:
        """Whether a file is a file of variables: of group_vars, host_vars, a role, or a folder `vars`."""
        parts = relative.parts[:-1]
        if "group_vars" in parts or "host_vars" in parts:
            return "templates" not in parts and "files" not in parts
        role, inside = _role_folders(relative)
        if not role and self._is_role:
            inside = parts
        return inside[:1] in (("defaults",), ("vars",)) or (not role and parts[-1:] == ("vars",))

    @cached_property
    def _is_role(self) -> bool:
        return is_role(self.root)

    def _yaml(self, path: Path, relative: Path) -> None:
        try:
            document = self.files.document(path)
        except AnsibleError as error:
            is_play = len(relative.parts) == 1 and not _FOREIGN.search(_readable(path))
            if is_play or (_READ & set(relative.parts) and not TEST_FOLDERS & set(relative.parts)):
                self.faults.append(error)
            self._text(path)
            return
        if document is None:
            self.encrypted.append(relative.as_posix())
            return
        if path.suffix == ".json" and not _READ & set(relative.parts):  # of other programs, such as dashboards
            self._text(path)
            return
        written = _readable(path)
        self._note_parts(written, relative)
        self.words.update(name for name, anchor in _ANCHORED.findall(written) if f"*{anchor}" in written)
        comments = "\n".join(_COMMENT.findall(written))
        self.settable.update(_SETTING.findall(comments), _GIVEN.findall(written))  # variables that a user may give
        shown = (one.partition("{{")[2].rpartition("}}")[0] for one in _REMARK.findall(written))
        self.words.update(word for text in shown for word in _WORD.findall(text))
        place = self.role_of(relative)
        if self._holds_variables(relative) and isinstance(document.tree, dict):
            locator = document.locator("variables", place)
            names = (name for name in document.tree if isinstance(name, str))
            self.definitions += [VariableDefinition(name, locator.at((name,)), place) for name in names]
        _DocumentWalk(self, document).value(document.tree, ())

    def _text(self, path: Path) -> None:
        text = _readable(path)
        self.words.update(_WORD.findall(text))
        self._note_parts(text, path.relative_to(self.root))
        self._given(text, path.relative_to(self.root))
        if path.suffix == ".py":
            self.settable.update(_WORD.findall(text))
        name = self.files.shown(path)
        shown = text if "{%" in text or "{{" in text else ""
        self._note_computed_names(
            shown, lambda part: Origin("template", "", name, text[: text.find(part)].count("\n") + 1)
        )
        self.warnings += _comment_doubts(text, name)
        if path.suffix in (".j2", ".jinja", ".jinja2") or "templates" in path.parts:
            self._template(path, text)

    def _note_parts(self, text: str, relative: Path) -> None:
        """Note the beginnings of names that a text composes, such as `web_{`."""
        for found in _BEGUN.finditer(text):
            if found[1] not in self.name_parts:
                line = text[: found.start()].count("\n") + 1
                self.name_parts[found[1]] = Origin("template", "", relative.as_posix(), line)

    def _note_named_file(self, role: str, name: str, origin: Origin) -> None:
        """Note that a role ("" for none) names a file of variables; the first place counts."""
        self.vars_files.add((role, name))
        self.vars_file_places.setdefault((role, name), origin)

    def _given(self, text: str, relative: Path) -> None:
        """Note the variables that a text asks its readers to give.

        They are written as `name=value`, `name: value`, a table row, or a file with -e.
        """
        self.settable.update(_ASSIGNED.findall(text), _WRITTEN.findall(text), _GIVEN.findall(text))
        for found in _GIVEN_FILE.finditer(text):
            line = text[: found.start(1)].count("\n") + 1
            self._note_named_file(self.role_of(relative), found[1], Origin("file", "", relative.as_posix(), line))

    def _template(self, path: Path, text: str) -> None:
        if "{{" not in text and "{%" not in text:
            return
        name = self.files.shown(path)
        self.settable.update(_MACRO.findall(text))
        is_guarded = bool(_GUARD.search(text))
        for one in _names_needed(text):
            line = text[: max(text.find(one), 0)].count("\n") + 1
            self._note_mention(one, Origin("template", "", name, line), is_guarded)

    def _note_mention(self, name: str, origin: Origin, is_guarded: bool) -> None:
        """Note that a template or a condition mentions a name; the first place counts.

        is_guarded: beside a word on its absence
        """
        if is_guarded:
            self.guarded.add(name)
        self.mentions.setdefault(name, origin)

    def part_in(self, name: str) -> str:
        """The first of `name_parts` that *name* contains: an expression may compose the name. "" for none."""
        return next((part for part in self.name_parts if part and part in name), "")

    def is_made(self, name: str) -> bool:
        """Whether a task may compose the name: it begins and ends like a name in a set_fact with a template."""
        return any((begin or end) and name.startswith(begin) and name.endswith(end) for begin, end in self._made_names)

    def _note_computed_names(self, text: str, where: Callable[[str], Origin]) -> None:
        """Note the expressions of a text that compose names of variables, such as `vars['a' + b]`.

        Literals in an expression are added to `name_parts`. An expression without a literal is added to `computed`.

        where: called with the text of an expression, returns its origin
        """
        for found in _INDIRECT.finditer(text):
            literals = [one or other for one, other in _LITERAL.findall(found[1] or found[2] or "")]
            origin = where(found[0])
            for literal in literals:
                self.name_parts.setdefault(literal, origin)
            self.computed += [] if literals else [origin]


class _DocumentWalk:
    """Goes through the data of one YAML document and notes what it finds in a `VariableReferences`."""

    def __init__(self, found: VariableReferences, document: Document) -> None:
        self.found, self.document = found, document

    def value(self, value: Any, at: Steps, key: str = "") -> None:
        if isinstance(value, dict):
            self._map(value, at)
        elif isinstance(value, list):
            for index, entry in enumerate(value):
                self.value(entry, (*at, index), key)
        elif isinstance(value, str):
            self._text(str(value), at, key)

    def _map(self, value: dict[Any, Any], at: Steps) -> None:
        for key, entry in value.items():
            name = str(key)
            self.found.settable.add(name)
            if "{{" in name:
                self._text(name, at, "")
                if at and str(at[-1]).endswith("set_fact"):
                    self.found._naming_keys.update(_WORD.findall(name))
                    self.found._made_names.add((name.partition("{{")[0], name.rpartition("}}")[2]))
            if isinstance(entry, str) and entry.isidentifier():
                self.found._texts_by_key.setdefault(name, set()).add(entry)
            elif isinstance(entry, str) and entry.endswith(_YAML) and "{{" not in entry:
                self.found._named_files.setdefault(name, set()).add(entry)
            plain = name.rpartition(".")[2]
            is_called = "{{" in str(value.get("hosts"))  # such hosts come from -e
            if plain in ("roles", "dependencies") and isinstance(entry, list):
                self._ask(_roles_named(entry), (*at, key), is_called=is_called)
            if plain in ("vars_files", "include_vars") and not TEST_FOLDERS & set(Path(self.document.file).parts):
                role = self.found.role_of(Path(self.document.file))
                for one in _files_named(entry):
                    origin = self.document.locator("vars file", "", (*at, key)).at(())
                    self.found._note_named_file(role, one, origin)
            self._condition(name, entry, (*at, key))
            if plain in _FREE and isinstance(entry, str):
                self.found.settable.update(_ASSIGNED.findall(entry))
            if plain in ("include_role", "import_role") and isinstance(entry, dict):
                self._ask(_roles_named([entry]), (*at, key))
            if name in _NAMES and isinstance(entry, str):
                self.found.settable.update(_WORD.findall(entry) if "{{" in entry else [entry])
            self.value(entry, (*at, key), plain if plain.startswith("with_") else name)

    def _ask(self, roles: set[str], at: Steps, *, is_called: bool = False) -> None:
        """Note roles that are used. is_called: in a play whose hosts come from -e"""
        asked = self.found._called_roles if is_called else self.found.used_roles
        for role in roles - asked.keys():
            asked[role] = self.document.locator("role", role, at).at(())

    def _condition(self, name: str, entry: Any, at: Steps) -> None:
        is_of_task = len(at) > 1 and all(isinstance(step, int) or step in _TASK_LISTS for step in at[:-1])
        if name == "when" and is_of_task and isinstance(entry, str) and _ONE.fullmatch(entry.strip()):
            line = self.document.place(at)[0]
            self.found.warnings.append(new_warning(CONDITION, f"{entry} is a template", self.document.file, line))

    def _text(self, text: str, at: Steps, key: str) -> None:
        found = self.found
        found.words.update(_WORD.findall(text))
        is_bare = key in _BARE or key.startswith("with_")
        if "{{" not in text and "{%" not in text:
            if not is_bare or key in ("loop", "var", "environment") or key.startswith("with_"):
                return
            text = f"{{{{ {text} }}}}"
        found._note_computed_names(text, lambda part: self.document.locator("template", "", ()).at(at))
        is_guarded = bool(_GUARD.search(text))
        names = _names_needed(text)
        if not names:
            return
        place = found.mentions.keys() >= set(names)
        origin = Origin("template", "") if place else self.document.locator("template", "", ()).at(at)
        for name in names:
            found._note_mention(name, origin, is_guarded)


def _comment_doubts(text: str, name: str) -> Iterator[AnsibleError]:
    """Yield warnings for an inventory in INI: values that end at a `#`, and values with a comment behind them."""
    section = ""
    for number, line in enumerate(text.splitlines(), 1) if _INVENTORY.search(text) else ():
        head = _SECTION.match(line)
        section = head[1] if head else section
        key = _key_with_comment(line) if section.endswith(":vars") else ""
        if key:
            yield new_warning(INI_COMMENT, f"the comment belongs to the value of {key}", name, number)
        cut = None if head or section.endswith(":vars") or line[:1] in "#;" else _CUT.search(line)
        if cut:
            yield new_warning(
                INI_COMMENT, f"{cut[1]} is {cut[2]!r} here: a comment begins within the word", name, number
            )


def _key_with_comment(line: str) -> str:
    """The key of a line whose unquoted value is followed by blanks and a `#`; "" for any other line."""
    setting, mark, _ = line.partition("#")
    key, _, value = setting.partition("=")
    is_tailed = mark and value.strip() and value != value.rstrip() and not {"'", '"'} & set(setting)
    return key.rstrip() if is_tailed and _KEY.fullmatch(key.rstrip()) and not _is_literal(value.strip()) else ""


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _role_folders(relative: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The folders between `roles` and a file: those that name its role, then those within it; two empty ones elsewhere.

    >>> _role_folders(Path("roles/network/cilium/defaults/main.yml"))
    (('network', 'cilium'), ('defaults',))
    """
    if "roles" not in relative.parts[:-2]:
        return (), ()
    below = relative.parts[relative.parts.index("roles") + 1 : -1]
    end = next((index for index, name in enumerate(below) if index and name in _OF_ROLE), 1)
    return below[:end], below[end:]


def is_role(folder: Path) -> bool:
    """Whether a folder is a role: it has tasks/main, and defaults, meta or vars."""
    return any(folder.glob("tasks/main.y*ml")) and any(
        (folder / name).is_dir() for name in ("defaults", "meta", "vars")
    )


def _roles_named(entries: list[Any]) -> set[str]:
    """The roles that the entries of a list name."""
    names = (one.get("role", one.get("name")) if isinstance(one, dict) else one for one in entries)
    return {name for name in names if isinstance(name, str) and name}


def _files_named(entry: Any) -> Iterator[str]:
    """Yield the files that `vars_files` or `include_vars` name; of alternatives only the last."""
    for one in entry if isinstance(entry, list) else [entry]:
        name = one.get("file") if isinstance(one, dict) else one
        name = name[-1] if isinstance(name, list) and name else name
        if isinstance(name, str) and "=" not in name:
            yield name


@lru_cache(maxsize=4096)
def _names_needed(text: str) -> frozenset[str]:
    """The names that a template needs from outside, without Ansible's own; empty where it cannot be parsed. Cached.

    raises: MissingExtra, without Jinja2
    """
    environment = _environment()
    alone = _ALONE.fullmatch(text)
    if alone is not None:
        found = {alone[1]}
    else:
        import jinja2.meta

        try:
            code = jinja2.meta.TrackingCodeGenerator(environment)
            code.optimizer = None  # its time grows with the cube of the depth of an expression
            code.visit(environment.parse(text))
            found = code.undeclared_identifiers
        except (jinja2.TemplateError, RecursionError, ValueError):  # a ValueError for a number of too many digits
            return frozenset()
    return frozenset(name for name in found if name not in OWN and not name.startswith("ansible_"))


@cache
def _environment() -> Any:
    return module().Environment(extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"])


def _files_below(root: Path) -> Iterator[Path]:
    left = _MOST_FILES
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _PASSED and not name.startswith("."))
        is_template = "templates" in Path(folder).parts
        for name in sorted(name for name in names if is_template or not name.startswith(".")):
            path = Path(folder, name)
            left -= 1
            if left >= 0 and path.is_file() and not path.is_symlink() and path.stat().st_size <= _MOST_BYTES:
                yield path


def _readable(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
