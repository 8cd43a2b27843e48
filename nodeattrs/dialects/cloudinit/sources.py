"""Read user-data from source files of other programs: HCL of Terraform and Packer, Bicep, Vagrant, Proxmox, Multipass.

Each reader finds the keys for user-data by patterns, and does not parse the language. It reads literal texts, and the
names of files in functions that load a file. Any other expression gives no text, with a reason.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import NamedTuple

from nodeattrs.dialects.cloudinit.other_templates import BICEP, TERRAFORM, Language

_HEADER = re.compile(r' ?(resource|data|source|build|variable|locals|module)\b(?: "([\w.-]+)")?(?: "([\w.-]+)")? ?\{')
_DEFINED = re.compile(r""" ?\w+\.vm\.define [:"']([\w.-]+)""")
_KEY = re.compile(r"""["']?(?:user[-_]data|custom_data|user_data_base64|cloudinit_userdata)["']?\s?(?:=>?|:)(?!=)""")
_KEYS_OF = {
    "cloudinit_config": re.compile(r"content\s?=(?!=)"),
    "proxmox_virtual_environment_file": re.compile(r"\bdata\s?=(?!=)"),
}
"""The end of a resource's type -> its key for user-data, if it is no key that machines have."""
_INLINE = re.compile(r"\binline ?(?:=>?|:)")
_PATH = re.compile(r"""\bpath ?(?:=>?|:) ?(?:["']([^"'#$\\]+)["'])?""")
_BLOCK = re.compile(r"\bdo(?: \|\w+\|)?$")
_HEREDOC = re.compile(r"""<<([-~]?)["']?(\w+)["']?""")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_NOTHING = ("null", "", "false")
_BLANKS = re.compile(r"[ \t]+")
_PACKED = re.compile(r"(?:base64encode ?\(|base64gzip ?\(|\$\{)?")
"""The beginning of a line before a heredoc whose text is the user-data itself."""
_FILLED = re.compile(r"\s*[$#]\{[^{}]*\}\s*")
"""A text that is one expression and nothing else."""
_TEXTS = re.compile(r""""(?:[^"\\]|\\.)*"?|'[^']*'?""")


class GivenUserData(NamedTuple):
    """The user-data of one machine in a source file of another program.

    name:        the name of the machine; "" if the file gives none
    text:        the user-data; None if the file does not have it as a literal text
    line:        the line of its key, from 1; 0 for a whole file
    why:         the reason for a missing text; "" for none
    is_headless: whether the line `#cloud-config` was added before the text, which begins on the line below *line*
    language:    the template language of the text; None for a text without markup
    path:        the file with the text, relative to the folder of the source file; "" if the source file has the text
    """

    name: str
    text: str | None
    line: int
    why: str = ""
    is_headless: bool = False
    language: Language | None = None
    path: str = ""


def _of_hcl(text: str) -> Iterator[GivenUserData]:
    """The user-data of each resource, and the parts of each `cloudinit_config`, of Terraform and Packer."""
    name, wanted = "", _KEY
    rows = list(_rows(text))
    for at, (line, row, body) in enumerate(rows):
        if header := _HEADER.match(row):
            name = ".".join(word for word in header.groups()[1:] if word)
            wanted = next((key for end, key in _KEYS_OF.items() if (header[2] or "").endswith(end)), _KEY)
        elif key := wanted.search(row):
            written = row[key.end() :].strip()
            if written.endswith("(") and at + 1 < len(rows):
                written += rows[at + 1][1].strip()
            for one in _value(written, body, line, name):
                yield one if one.path else one._replace(language=TERRAFORM)


_OF_BICEP = re.compile(
    r"(?m)^[ \t]*(?:(?:var|param) (?P<variable>\w+)(?: string)? = |resource (?P<resource>\w+) |customData: )"
)
_LOADED = re.compile(r"(?:base64\( *)?load(?:TextContent|FileAsBase64)\( *'(?P<path>[^'$\\]+)'")
_LINES = re.compile(r"(?:base64\( *)?'''\n?(?P<text>.*?)'''", re.S)
_IN_A_LINE = re.compile(r"(?:base64\( *)?'(?P<text>(?:[^'\\\n]|\\[^\n])*+)'[ )\t]*$", re.M)
_ESCAPED = re.compile(r"\\([ntr\\'])|\\\$\{")
_BLANKS_OF = {"n": "\n", "t": "\t", "r": "\r"}
_VARIABLE = re.compile(r"(?:base64\( *+)?(?P<name>\w++)[ \t]*+\)?[ \t]*+$", re.M)


def _of_bicep(text: str) -> Iterator[GivenUserData]:
    """The `customData` of each resource: a text of several lines, a file that is loaded, or a variable with one."""
    name, variables, known = "", {}, dict[int, GivenUserData]()
    feeds = [at for at, sign in enumerate(text) if sign == "\n"]
    for found in _OF_BICEP.finditer(text):
        if found["variable"]:
            variables[found["variable"]] = found.end()
        elif found["resource"]:
            name = found["resource"]
        else:
            at = found.end()
            if (named := _VARIABLE.match(text, at)) and named["name"] in variables:
                at = variables[named["name"]]
            if at not in known:  # several resources may name one variable
                known[at] = _bicep_value(text, at, bisect_left(feeds, at) + 1)
            yield known[at]._replace(name=name)


def _bicep_value(text: str, at: int, line: int) -> GivenUserData:
    """The value at an offset of a file of Bicep, which is on that line."""
    if loaded := _LOADED.match(text, at):
        return GivenUserData("", None, line, f"is in the file {loaded['path']}", path=loaded["path"])
    if lines := _LINES.match(text, at):
        return GivenUserData("", lines["text"], line)
    if (quoted := _IN_A_LINE.match(text, at)) and quoted["text"]:
        return GivenUserData("", _ESCAPED.sub(_of_escape, quoted["text"]), line, language=BICEP)
    return GivenUserData("", None, line, "is made by an expression of Bicep")


def _of_escape(found: re.Match[str]) -> str:
    """The character of an escape in Bicep. An escaped `${` stays escaped, as `${!`."""
    return _BLANKS_OF.get(found[1], found[1]) if found[1] else "${!"


def _of_vagrant(text: str) -> Iterator[GivenUserData]:
    """The texts of `config.vm.cloud_init` that stand in a Vagrantfile; one that has a path is in another file."""
    name, is_cloud_init, is_block = "", False, False
    for line, row, body in _rows(text):
        if machine := _DEFINED.match(row):
            name = machine[1]
        is_cloud_init = is_cloud_init or ".vm.cloud_init" in row
        if is_cloud_init and (inline := _INLINE.search(row)):
            yield from map(_with_first_line, _value(row[inline.end() :].strip(), body, line, name))
        elif is_cloud_init and (path := _PATH.search(row)):
            yield GivenUserData(name, None, line, "is in the file that the Vagrantfile names", path=path[1] or "")
        is_block = is_cloud_init and (is_block or _BLOCK.search(row) is not None) and row.strip() != "end"
        is_cloud_init = is_block or (is_cloud_init and row.rstrip().endswith((",", "cloud_init")))


def _of_proxmox(text: str) -> Iterator[GivenUserData]:
    """The snippets that `cicustom` of a machine names: they lie in a storage, and are not read."""
    for at, row in enumerate(text.split("\n"), 1):
        key, _, value = row.partition(":")
        for entry in value.split(",") if key == "cicustom" else ():
            layer, _, volume = entry.strip().partition("=")
            if layer in ("user", "vendor"):
                yield GivenUserData("", None, at, f"is in the snippet {volume}")


def _of_multipass(text: str) -> Iterator[GivenUserData]:
    """The whole file, which Multipass takes with or without its first line."""
    yield _with_first_line(GivenUserData("", text, 0))


def _with_first_line(one: GivenUserData) -> GivenUserData:
    """A copy with the line `#cloud-config` before the text. Unchanged if the text has a first line of user-data."""
    if one.text is None or one.text.lstrip().startswith(("#", "MIME-", "Content-Type:")):
        return one
    return one._replace(text=f"#cloud-config\n{one.text}", is_headless=True)


SOURCES: dict[str, Callable[[str], Iterator[GivenUserData]]] = {
    "hcl": _of_hcl,
    "bicep": _of_bicep,
    "vagrant": _of_vagrant,
    "proxmox": _of_proxmox,
    "multipass": _of_multipass,
}
"""A word of --input-form -> the reader: a function from the text of a file to its user-data."""
_SHAPES = (
    ("vagrant", re.compile(r"(?m)^Vagrant\.configure\b")),
    ("proxmox", re.compile(r"(?m)^cicustom: ?\w+=")),
    ("bicep", re.compile(r"(?m)^[ \t]*resource \w+ 'Microsoft\.")),
    ("hcl", re.compile(r'(?m)^(?:module|(?:resource|data|source) "[\w-]+") "[\w-]+" \{')),
)


def source_of(text: str) -> str | None:
    """The name of the reader in `SOURCES` for a text, by its shape; None for any other text."""
    return next((name for name, shape in _SHAPES if shape.search(text)), None)


def _rows(text: str) -> Iterator[tuple[int, str, str | None]]:
    """Yield (number, line with single blanks, text of the heredoc that begins on it or None) for each line outside of
    heredocs and comments.
    """
    rows, at = text.split("\n"), 0
    while at < len(rows):
        row, first = _BLANKS.sub(" ", rows[at]), at + 1
        bare = row.lstrip()
        if bare.startswith(("#", "//", "/*")):
            ends = (number for number in range(at, len(rows)) if "*/" in rows[number])
            at = next(ends, len(rows)) + 1 if bare.startswith("/*") else first
            continue
        heredoc = _HEREDOC.search(row)
        if heredoc is None:
            yield first, row, None
            at = first
            continue
        end = next((number for number in range(first, len(rows)) if rows[number].strip() == heredoc[2]), len(rows))
        yield first, row, _body(rows[first:end], bool(heredoc[1]))
        at = end + 1


def _body(rows: list[str], is_dedented: bool) -> str:
    indents = [len(row) - len(row.lstrip(" ")) for row in rows if row.strip()]
    cut = min(indents, default=0) if is_dedented else 0
    return "".join(f"{row[cut:]}\n" for row in rows)


def _value(written: str, body: str | None, line: int, name: str) -> Iterator[GivenUserData]:
    """The value behind a key: a heredoc, a quoted text, or an expression."""
    quoted = _QUOTED.fullmatch(written.rstrip(","))
    if body is not None and _PACKED.fullmatch(written.partition("<<")[0].strip()):
        found = GivenUserData(name, body, line)
    elif quoted is not None:
        found = _of_quoted(quoted[0], name, line)
    elif written not in _NOTHING:
        found = _made(written, name, line)
    else:
        return
    yield _made(found.text or "", name, line) if _FILLED.fullmatch(found.text or "") else found


_CALL = re.compile(
    r'(?:"?\$\{)? ?(?:base64encode ?\( ?|base64gzip ?\( ?)?(?P<function>file|filebase64|templatefile) ?\( ?'
    r'"(?:\$\{(?:abspath\()?path\.(?:module|root)\)?\}/)?(?P<path>[^"$%\\]+)" ?(?P<end>[,)])(?P<rest>[ )}"]*)'
)
"""A function of Terraform that reads a file whose name is literal."""


def _made(written: str, name: str, line: int) -> GivenUserData:
    """The user-data that an expression makes: a path, or none. The reason leaves out texts, which may be secrets."""
    shown = _TEXTS.sub('"…"', written.strip())[:60]
    why = f"is made by an expression: {shown}"
    call = _CALL.match(written)
    if call is not None and (call["end"] == "," or call.end() == len(written.rstrip(", "))):
        language = TERRAFORM if call["function"] == "templatefile" else None
        return GivenUserData(name, None, line, why, language=language, path=call["path"])
    return GivenUserData(name, None, line, why)


def _of_quoted(written: str, name: str, line: int) -> GivenUserData:
    try:
        return GivenUserData(name, str(json.loads(written)), line)
    except ValueError:
        return GivenUserData(name, None, line, "is written in a form that is not read here")
