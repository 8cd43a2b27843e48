"""Warnings about the text of one part: its first line, its type, its headers, markup of templates, repeated keys.

The module does not know other parts, and the meaning of keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nodeattrs.codes import Kind
from nodeattrs.core.tree import spell
from nodeattrs.dialects.cloudinit.codes import (
    BLANK_LINES_FIRST,
    BYTE_ORDER_MARK,
    CRLF_SCRIPT,
    EMPTY,
    FIRST_LINE,
    HEADER_CASE,
    HEADER_ON_GZIP,
    INCLUDE_NOT_FOLLOWED,
    REPEATED_KEY,
    UNDEFINED_VARIABLE,
    UNEXPANDED,
    UNKNOWN_TYPE,
)
from nodeattrs.dialects.cloudinit.lints.warned import Severity, Warned
from nodeattrs.dialects.cloudinit.parts import CLOUD_CONFIG, SCRIPTS, CloudPart
from nodeattrs.dialects.cloudinit.secrets import veiled
from nodeattrs.dialects.cloudinit.steps import PartReport
from nodeattrs.dialects.cloudinit.templates import MISSING
from nodeattrs.dialects.cloudinit.unpacking import type_of_text
from nodeattrs.errors import DocumentError


def markup_kinds(*patterns: str) -> tuple[re.Pattern[str], ...]:
    """The patterns of some kinds of markup. The group `end` is the sign that closes it.

    Where that is missing, a pattern matches the rest of the line without it: no markup of this kind is there.
    """
    return tuple(re.compile(one, re.M) for one in patterns)


_OTHERS = re.compile(
    r"#ps1|rem cmd\b|<(powershell|script|persist|runAsLocalSystem)>|\[settings\b|\{\s*\"ignition\"", re.I
)
"""The beginning of user-data for other programs: on Windows, Bottlerocket, Flatcar."""

_FORMS = tuple(
    (re.compile(pattern, re.M), what, way)
    for pattern, what, way in (
        (r"""^ *["']?(?:cloud-init|user)\.(?:user|vendor)-data\b""", "an LXD profile or instance",
         "write the text of its key cloud-init.user-data into a file"),
        (r"^kind: *(?:AWS|Kubeadm|[A-Z])\w+\s*$", "an object of Kubernetes", "write the user-data in it into a file"),
        (r"""AWSTemplateFormatVersion|^ *["']?Type["']?: *["']?AWS::""", "a template of CloudFormation",
         "write its UserData into a file"),
        (r'"(?:LaunchTemplateVersions|InstanceId)"', "an answer of the AWS CLI", "give the value of UserData alone"),
        (r"^cicustom:", "a configuration of Proxmox", "name the snippet that cicustom names"),
        (r"^(?:instance-id|local-hostname):", "the meta-data of a machine", "name the user-data beside it"),
        (r"^ *(?:ethernets|bonds|vlans|bridges|wifis):", "a network-config", "name the user-data beside it"),
        (r"^autoinstall:", "a file of the installer", "below #cloud-config it is user-data with the key autoinstall"),
        (r"^resource \w+ 'Microsoft\.", "a file of Bicep", "give the template that `az bicep build` makes of it"),
        (r"^variant: *\w+\s*$", "for Butane, which makes Ignition of it", "cloud-init does not read it"),
        (r"\x00", "UTF-16 or no text at all", "save the file as UTF-8"),
    )
)  # fmt: skip
"""Files of other programs: a pattern of their text, what they are, and the way out."""

_BY_NAME = {"meta-data": "the meta-data of a machine", "network-config": "a network-config"}

_TEMPLATE_NEARLY = re.compile(r"#+[ \t]*template\b[ \t]*+(?::[ \t]*+)?jinja2?[ \t]*", re.I)
_NEARLY = re.compile(r"#+[ \t]*cloud[-_ ]?(?:config|conf|init|boothook)[-_\w]*[ \t]*", re.I)
_TAGS = (r"%\{ *(?:if|for|else|end)(?P<end>)", r"\{%.*?(?:(?P<end>%\})|$)", r"<%.*?(?:(?P<end>%>)|$)")
MARKUP = markup_kinds(*_TAGS, r"\$\{[^}\n]*+(?P<end>\})?", r"\{\{.*?(?:(?P<end>\}\})|$)")
INSTANCE_DATA = markup_kinds(r"\{\{-?[ \t]*(?:ds|v\d|merged_cfg|sys_info)\b[^}\n]*+(?P<end>\}\})?")
"""Markup that asks for instance data; cloud-init fills it in only in templates."""
_BLOCKS = markup_kinds(*_TAGS, r"\{\{-? *(?:if|range|end|with)\b(?P<end>)")
_LINES = 20
_LOOKED_AT = 4096
"""The characters at the beginning of a text that are searched for the kind of its file."""


class _Found(NamedTuple):
    """A warning about a text, with its line and column there."""

    name: Kind
    message: str
    hint: str
    line: int | None = None
    column: int = 1
    severity: Severity = "warning"


def about_part(report: PartReport, has_handler: bool) -> Iterator[Warned]:
    """Yield the warnings about the text of one part.

    has_handler: True: the user-data has a part handler, so a part of an unknown type gives no warning
    """
    for one in _found(report, has_handler):
        place = None if one.line is None else (one.line, one.column)
        yield Warned(one.name, one.message, report.number, report.title, None, one.hint, one.severity, place)


def _found(report: PartReport, has_handler: bool) -> Iterator[_Found]:
    part = report.part
    if report.status == "include":
        message = f"the include {veiled(part.text.strip())!r} was not followed"
        hint = "nothing is fetched; put a copy into a folder and name it with --include-root"
        yield _Found(INCLUDE_NOT_FOLLOWED, message, hint)
    elif report.is_foreign and not has_handler:
        yield from _about_unknown(part)
    elif part.type in SCRIPTS:
        yield from _about_script(part)
    elif part.lines:
        yield from _about_rendered(part.text)
    elif report.kind == EMPTY:
        yield from _about_template(report)
    for one in report.repeated:
        message = f"{spell(one.path)} is written a second time in one mapping: the value above is not used"
        yield _Found(REPEATED_KEY, message, "remove one of the two", one.line, one.column)
    if part.type == CLOUD_CONFIG:
        yield from _about_beginning(part)


def _about_template(report: PartReport) -> Iterator[_Found]:
    """Yield the warning about broken YAML that has blocks of a template, or markup near the line that is broken."""
    part, error = report.part, report.error
    assert isinstance(error, DocumentError)
    line = (error.line or 1) - (part.line or 1) + 1
    near = "\n".join(part.text.splitlines()[max(line - 2, 0) : line])
    markup = markup_in(part.text, _BLOCKS) or markup_in(near)
    if markup is not None:
        message = f"holds {markup}, which cloud-init does not fill in; unfilled it is {error.reason}"
        yield _Found(UNEXPANDED, message, "check what the template is filled in to", line, error.column or 1)


def _about_rendered(text: str) -> Iterator[_Found]:
    """Yield a warning for each variable that a rendered template lacked: its name is in the text."""
    for found in re.finditer(rf"{MISSING}([\w.]+)", text):
        message = f"the template asks for {found[1]}, which the instance data do not have"
        hint = "`cloud-init query --all` shows what there is; write {{ name | default('x') }} for what may be missing"
        yield _Found(UNDEFINED_VARIABLE, message, hint, text.count("\n", 0, found.start()) + 1)


def _about_beginning(part: CloudPart) -> Iterator[_Found]:
    blank = part.text.count("\n", 0, len(part.text) - len(part.text.lstrip()))
    if part.line == 1 and blank:
        message = f"{blank} blank line{'s' * (blank > 1)} before the first line"
        hint = "cloud-init passes over them, its command `cloud-init schema` did not before 23.2"
        yield _Found(BLANK_LINES_FIRST, message, hint, 1, 1, "note")
    for header in part.headers:
        if header.lower() in ("merge-type", "x-merge-type") and header not in ("Merge-Type", "X-Merge-Type"):
            yield _Found(
                HEADER_CASE, f"the header {header} is not seen", f"write {header.title()}, in exactly this case"
            )
    for header in part.lost:
        message = f"the header {header} was lost when the part was unpacked"
        yield _Found(HEADER_ON_GZIP, message, "write merge_how into the body of the part")


def markup_in(text: str, kinds: Iterable[re.Pattern[str]] = MARKUP) -> str | None:
    """The first markup of a template in a text, such as `${name}`; None where there is none."""
    found = _first(text, kinds)
    return None if found is None else found[0]


def _first(text: str, kinds: Iterable[re.Pattern[str]]) -> re.Match[str] | None:
    """The first markup of these kinds that is closed, or None. cost: linear, also if no markup is closed"""
    closed = (next((one for one in kind.finditer(text) if one["end"] is not None), None) for kind in kinds)
    return min((one for one in closed if one is not None), key=lambda one: one.start(), default=None)


def _about_unknown(part: CloudPart) -> Iterator[_Found]:
    """Yield the warning about a part of an unknown type: its first line is nearly right, or it is no user-data."""
    text = part.text
    if text.startswith("\ufeff"):
        message = (
            "a byte order mark is before the first line, so cloud-init does not recognize it and the part is ignored"
        )
        yield _Found(BYTE_ORDER_MARK, message, "save the file as UTF-8 without a byte order mark", 1)
        return
    for number, row in enumerate(text.splitlines()[:_LINES], 1):
        if not row.strip():
            continue
        if _TEMPLATE_NEARLY.fullmatch(row.strip()):
            message = f"the first line is {row.strip()!r}, which makes no template for cloud-init: the part is ignored"
            yield _Found(FIRST_LINE, message, "write ## template: jinja", number)
            return
        if type_of_text(row) == CLOUD_CONFIG:
            message = f"#cloud-config is on line {number}, and only the first line counts: the part is ignored"
            yield _Found(FIRST_LINE, message, "move it to the top", number)
            return
        if _NEARLY.fullmatch(row.strip()):
            message = f"the first line is {row.strip()!r}, which says nothing to cloud-init: the part is ignored"
            yield _Found(FIRST_LINE, message, "write #cloud-config, without a blank", number)
            return
        if not row.lstrip().startswith("#"):
            break
    if not is_for_another(text):
        yield _Found(UNKNOWN_TYPE, *why_ignored(part))


def is_for_another(text: str) -> bool:
    """Whether a text begins like user-data for another program, such as a script of PowerShell."""
    return _OTHERS.match(text.lstrip()) is not None


def why_ignored(part: CloudPart) -> tuple[str, str]:
    """Returns (why cloud-init ignores a part, what the user can do). The part has a type that cloud-init does not know.

    The first text names the kind of file that the part looks like, or else the type of the part.
    """
    what = _BY_NAME.get((part.file or "").rpartition("/")[2].partition(".")[0])
    if what is not None:
        return f"is {what}, and no user-data: cloud-init ignores it", "name the user-data beside it"
    for pattern, what, way in _FORMS:
        if pattern.search(part.text[:_LOOKED_AT]):
            return f"is {what}, and no user-data: cloud-init ignores it", way
    message = f"nothing is done with a part of type {part.type}"
    if is_for_another(part.text):
        return f"{message}: it is for another program", "cloud-init does not read it"
    if "mime-version:" in part.text[:_LOOKED_AT].lower():
        return message, "a message begins with its headers: nothing may stand before them, not even a blank line"
    return message, "begin it with #cloud-config, or give it the type text/cloud-config"


def _about_script(part: CloudPart) -> Iterator[_Found]:
    text = part.text
    if text[:1].isspace() and text.lstrip().startswith("#!"):
        message = "blank lines before #! : the kernel looks at the first two bytes, so the script is not started"
        yield _Found(BLANK_LINES_FIRST, message, "begin with #!", 1)
    if markup := _first(text, INSTANCE_DATA):
        message = f"holds {markup[0]}, which cloud-init does not fill in"
        line = text.count("\n", 0, markup.start()) + 1
        yield _Found(UNEXPANDED, message, "begin the script with ## template: jinja", line)
    first, _, rest = text.partition("\n")
    if not first.endswith("\r") and "\r\n" in rest:
        line = text.count("\n", 0, text.index("\r\n")) + 1
        message = "some lines end with a carriage return, and the first one does not: they stay in the script"
        yield _Found(CRLF_SCRIPT, message, "save it with line feeds alone", line)
