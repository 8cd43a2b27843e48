"""Unpack user-data to parts: gzip, mail messages, archives and includes, as cloud-init does.

Python's `email` reads messages, as in cloud-init, so that odd messages give the same parts. Nothing is fetched, and no
included file outside of the include folder is read. The module does not read merge definitions.
"""

from __future__ import annotations

import base64
import binascii
import email
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from email.message import Message
from email.mime.base import MIMEBase
from email.mime.nonmultipart import MIMENonMultipart
from email.mime.text import MIMEText
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from nodeattrs.codes import Kind
from nodeattrs.core.borders import A_PATH, checked_args
from nodeattrs.core.budget import Budget
from nodeattrs.dialects.cloudinit.body_search import BodySearch
from nodeattrs.dialects.cloudinit.codes import ARCHIVE as BAD_ARCHIVE
from nodeattrs.dialects.cloudinit.codes import DECOMPRESS, EMPTY, ENCODING, INPUT, TOO_LARGE
from nodeattrs.dialects.cloudinit.faults import CloudConfigError, past_a_limit
from nodeattrs.dialects.cloudinit.other_templates import Language, language_of_file
from nodeattrs.dialects.cloudinit.parts import (
    ARCHIVE,
    CLOUD_CONFIG,
    INCLUDES,
    JINJA,
    JSONP,
    SCRIPTS,
    CloudPart,
    load_yaml,
)
from nodeattrs.errors import BadArgument, DocumentError, TooMuch, wrong_argument
from nodeattrs.formats.documents import Document, Syntax, content_of, decoded, parse

_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/= \t\r\n"
_NOT_MULTIPART = "text/x-not-multipart"
_TYPED_BY_TEXT = ("text/plain", _NOT_MULTIPART, "text/x-shellscript")
_GZIP_TYPES = tuple(
    f"application/{name}"
    for name in (
        "gzip", "gzip-compressed", "gzipped", "x-compress", "x-compressed", "x-gunzip", "x-gzip", "x-gzip-compressed",
    )
)  # fmt: skip
_PER_PART, _PER_MESSAGE = 100, 1_000
"""The steps of the budget that a part counts, alone and in a message, about."""
_COPIED_A_STEP = 5_000
_WITH_PARAMETERS = re.compile(rb"(?im)^content-(?:type|disposition):[^\n]*(?:\n[ \t][^\n]*)*")
_INCLUDE = re.compile(r"(?i)^#include(-once)?")
_MAX_INCLUDES = 20
"""The number of includes that may be nested."""


_FIRST_LINES = {
    "#include": "text/x-include-url",
    "#include-once": "text/x-include-once-url",
    "#!": "text/x-shellscript",
    "#cloud-config": CLOUD_CONFIG,
    "#part-handler": "text/part-handler",
    "#cloud-boothook": "text/cloud-boothook",
    "#cloud-config-archive": ARCHIVE,
    "#cloud-config-jsonp": JSONP,
    "## template: jinja": JINJA,
}
_LONGEST_FIRST = sorted(_FIRST_LINES, key=len, reverse=True)


def type_of_text(text: str | bytes, default: str | None = None) -> str | None:
    """The content type of user-data by its first line; *default* for an unknown one, and for bytes that are not UTF-8.

    Case and leading white space do not count.

    >>> type_of_text("#Cloud-Config-JSONP")
    'text/cloud-config-jsonp'
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError:
            return default
    start = text.lstrip()[:40].lower()
    return next((_FIRST_LINES[mark] for mark in _LONGEST_FIRST if start.startswith(mark)), default)


class BlockPlace(NamedTuple):
    """The place of user-data in a document that has it as a block of lines.

    line:   the line of the document on which *text* begins; with an indent, the line on which the block begins
    text:   lines of the document in which `unpack` looks for the block
    indent: the indent of the block; None: it is looked for
    """

    line: int
    text: str = ""
    indent: int | None = None


class Blob:
    """User-data before it is unpacked: the content of a file, or a text out of a document.

    content:  text or bytes; BadArgument for anything else
    file:     the name of the file, as messages show it; None without a file
    packed:   True: the file has the content in another form, such as base64, so it has no lines in the file
    within:   the place in a document that has the content as a block of lines; None if it is not a block of lines
    language: the language of a template that another program fills in; None if there is no such program
    folder:   the folder of the file on the disk, to find files that the content names; None without a file, and by
              default
    lines:    the line of the file for each line of a content that a platform makes from a document; () for any other
    """

    def __init__(
        self, content: str | bytes, file: str | None = None, *, packed: bool = False, within: BlockPlace | None = None
    ) -> None:
        if not isinstance(content, (str, bytes)):
            raise wrong_argument("the content of a blob", "text or bytes", content, 'Blob("#cloud-config...")')
        self.content = content
        self.file = file
        self.packed = packed
        self.within = within
        self.language: Language | None = None
        self.folder: Path | None = None
        self.lines: tuple[int, ...] = ()


def blob_of(source: Any) -> Blob:
    """A Blob of a text, of bytes, or of a file, which is read; a Blob is returned unchanged.

    raises: CloudConfigError, for a file that cannot be read or is too large; BadArgument, for another type
    """
    if isinstance(source, Blob):
        return source
    if isinstance(source, (str, bytes)):
        return Blob(source)
    if isinstance(source, Path):
        blob = Blob(read_bytes(source), source.as_posix())
        blob.language = language_of_file(source.name)
        blob.folder = source.parent
        return blob
    raise BadArgument(
        f"user-data is a text, bytes, a path or a CloudPart, not a {type(source).__name__}",
        hint="a config that is already loaded goes to merge_many",
    )


def unwrapped(blob: Blob, is_packed: bool | None = None) -> Blob:
    """A new Blob with the decoded content of a blob in base64; the blob itself where it is not base64.

    is_packed: True: the content is base64; False: it is not; None: it is only decoded if the result is user-data of a
               known type, gzip or a message
    """
    if is_packed is False:
        return blob
    data = blob.content if isinstance(blob.content, bytes) else blob.content.encode("utf-8", "surrogatepass")
    if data.translate(None, _BASE64):
        return blob
    try:
        content = base64.b64decode(data)
    except binascii.Error:
        return blob
    is_known = (
        is_packed or content[:2] == b"\x1f\x8b" or type_of_text(content) or b"mime-version:" in content[:4096].lower()
    )
    return Blob(content, blob.file, packed=True) if is_known else blob


def read_bytes(path: Path, budget: Budget | None = None) -> bytes:
    """The content of a regular file.

    budget: limits the sum of all files that one document names; None: a new one for this file
    raises: CloudConfigError, for a file that is missing, not readable or larger than the limit
    """
    try:
        return content_of(path, path.as_posix(), budget)
    except TooMuch as error:
        what = "the file" if budget is None else "the sum of the named files"
        raise past_a_limit(error, what).located(path.as_posix()) from None
    except DocumentError as error:
        raise CloudConfigError(EMPTY, error.reason, file=error.file) from error


def read_document(path: Path, kind: Kind = INPUT, syntax: Syntax | None = None) -> Document:
    """A file of JSON or YAML that is no user-data, such as the meta-data of a machine.

    kind:   of the error for a file that cannot be parsed
    syntax: "json" or "yaml"; None: JSON for a text that begins with a brace
    raises: CloudConfigError, for a file that cannot be read or parsed
    """
    name = path.as_posix()
    content = read_bytes(path)
    try:
        text = decoded(content, name)
        return parse(text, name, syntax or ("json" if text.lstrip().startswith("{") else "yaml"))
    except DocumentError as error:
        raise CloudConfigError(kind, error.reason, file=name, line=error.line, column=error.column) from error


@checked_args(launch_index=int | None, include_root=A_PATH | None, budget=Budget | None)
def unpack(
    sources: Iterable[Any],
    *,
    launch_index: int | None = None,
    include_root: Path | None = None,
    budget: Budget | None = None,
) -> list[CloudPart]:
    """Read and unpack user-data: its parts, in the order of the sources.

    A text becomes one part; a message, an archive or an include becomes several, also nested ones. No part is merged or
    rendered.
    sources:      texts, bytes, paths, blobs; a `CloudPart` and an unknown `Layer` are returned as they are
    launch_index: keep the parts for this index and those without one; None: all
    include_root: the folder in which includes are looked up; None: an include stays a part with its address
    budget:       limits the number of parts and the unpacked bytes, of all sources together
    raises:       CloudConfigError of kind "decompress", "archive", "encoding" or "too-large", for an error that stops
                  cloud-init, too, or would fill its memory; BadArgument
    source:       docs/cloudinit.md, "Parts"
    """
    if isinstance(sources, (str, bytes)) or not isinstance(sources, Iterable):
        raise wrong_argument("user-data", "a list of parts", sources, 'merge(["#cloud-config\\n..."]), or a Path in it')
    unpacking = _Unpacking(launch_index, include_root, budget or Budget("user-data"))
    found: list[Any] = []
    for source in sources:
        is_taken = isinstance(source, CloudPart) or hasattr(source, "origin")  # a layer: most merges load no folds
        found += [source] if is_taken else unpacking.blob(blob_of(source))
    return found


class _MessagePart(NamedTuple):
    """A part of a message. packed: "gzip" if it was unpacked, else ""; lost: merge headers that unpacking removed"""

    part: Message
    packed: str
    lost: tuple[str, ...]


class _Unpacking:
    """Unpacks blobs one after the other (`blob`). All blobs share the budget and the numbers in the names of parts.

    attached: the number of parts of messages and texts so far
    walked:   the number of leaves so far; it gives parts in a message their numbers
    included: the files of the includes that are open
    """

    def __init__(self, launch_index: int | None, include_root: Path | None, budget: Budget) -> None:
        self.launch_index = launch_index
        self.include_root = include_root
        self.attached = self.walked = 0
        self.budget = budget
        self.included: list[Path] = []
        self.blob_now = Blob("")
        self.search = BodySearch("", budget)

    def blob(self, blob: Blob) -> list[CloudPart]:
        """The parts of one blob. raises: CloudConfigError"""
        before = self.blob_now, self.search
        self.blob_now = blob
        try:
            data = self._unpacked(blob.content)
            if b"mime-version:" in data[:4096].lower():
                for header in _WITH_PARAMETERS.finditer(data):
                    self._draw_for_parameters(header[0])
                return self._leaves(self._parts_of(_message(data)))
            return self._leaves(self._single(data))
        except CloudConfigError as error:
            raise error.located(blob.file) from error
        except TooMuch as error:
            raise past_a_limit(error, "what is unpacked").located(blob.file) from None
        except RecursionError:
            raise CloudConfigError(TOO_LARGE, "messages are nested too deeply", file=blob.file) from None
        finally:
            self.blob_now, self.search = before

    # --- packing ------------------------------------------------------------------------

    def _unpacked(self, content: str | bytes) -> bytes:
        """The bytes of a blob, one layer of gzip removed."""
        try:
            data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
        except UnicodeEncodeError as error:
            raise CloudConfigError(ENCODING, "half of a surrogate pair, which no file can hold") from error
        if len(data) > self.budget.limits.bytes:
            raise self.budget.exceeded("bytes")
        if data[:2] == b"\x1f\x8b":
            self.search = BodySearch("", self.budget)
            return self._gunzipped(data, data)
        within = self.blob_now.within
        if within is not None:
            self.search = BodySearch(within.text, self.budget, within.line)
        else:
            self.search = BodySearch("" if self.blob_now.packed else data.decode("utf-8", "replace"), self.budget)
        return data

    def _leaves(self, found: Iterable[CloudPart | _MessagePart]) -> list[CloudPart]:
        """The parts of all attached messages. *found* is read to its end first: a nested message changes its parent."""
        rows: list[CloudPart] = []
        for one in list(found):
            if isinstance(one, CloudPart):
                rows.append(one)
            else:
                rows += [self._part(leaf, one) for leaf in _selected(one.part, self.launch_index)]
        return rows

    def _single(self, data: bytes) -> Iterator[CloudPart | _MessagePart]:
        """The parts of a text that is not a message; most are one part, for which no message is made."""
        body = data.decode("utf-8", "surrogateescape")
        kind = type_of_text(body) or _NOT_MULTIPART
        if kind in (*INCLUDES, ARCHIVE):
            message = MIMEBase(*_NOT_MULTIPART.split("/"))
            message.set_payload(data)
            yield from self._parts_of(message)
            return
        self._count(_PER_PART)
        index = _index_in(data, self.budget) if self.launch_index is not None and kind == CLOUD_CONFIG else None
        if index not in (None, self.launch_index):
            return
        self.walked += 1
        name = f"part-{self.attached:03d}"
        headers = {"MIME-Version": "1.0", "Content-Disposition": f'attachment; filename="{name}"', "Content-Type": kind}
        line, indent = self._whole(body)
        blob = self.blob_now
        yield CloudPart(
            body, kind, name, headers, blob.file, line, indent=indent, lines=blob.lines, language=blob.language
        )

    def _whole(self, body: str) -> tuple[int | None, int | None]:
        """The line on which a blob that is one part begins, and its indent."""
        if self.blob_now.lines:
            return 1, None
        within = self.blob_now.within
        if within is None:
            return (1 if self.search.text else None), 0
        return self.search.find_block(body) if within.indent is None else (within.line, within.indent)

    def _gunzipped(self, data: bytes, otherwise: bytes | None) -> bytes:
        """Unpacked data. For data that are no gzip: *otherwise*, or if that is None, an error."""
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
                content = packed.read(self.budget.remaining("bytes") + 1)
        except (OSError, EOFError, zlib.error) as error:
            if otherwise is not None:
                return otherwise
            raise CloudConfigError(
                DECOMPRESS,
                f"a part says it is gzip and cannot be unpacked: {error}",
                hint="pack it again, or give it its real type",
            ) from error
        self.budget.bytes(len(content))
        return content

    # --- the walk -----------------------------------------------------------------------

    def _parts_of(self, base: Message) -> Iterator[CloudPart | _MessagePart]:
        for part in base.walk():
            if part.get_content_maintype() == "multipart":
                continue
            declared = part.get_content_type()
            payload = self._payload(part)
            packed = declared in _GZIP_TYPES
            if packed:
                payload = self._unpacked_text(payload)
                declared = "text/plain"
            kind = type_of_text(payload) if declared in _TYPED_BY_TEXT and payload is not None else None
            kind = kind or declared
            lost: tuple[str, ...] = ()
            if packed:
                lost = tuple(key for key, _ in part.items() if key.lower() in ("merge-type", "x-merge-type"))
                part = _rewrapped(part, kind, payload)
            elif kind != part.get_content_type():
                _set_header(part, "Content-Type", kind)
            if kind in INCLUDES:
                yield from self._included(part, payload or "", kind)
            elif kind == ARCHIVE:
                yield from self._archived(payload or "")
            else:
                # As in cloud-init, each part sets the type of the whole message. The walk does not depend on it.
                _set_header(base, "Content-Type", kind)
                yield self._attached(part, "gzip" if packed else "", lost)

    def _payload(self, part: Message) -> Any:
        content = _decoded(part)
        if part.get_content_maintype() != "text" or not isinstance(content, bytes):
            return content
        codec = getattr(part.get_charset(), "input_codec", None) or "utf-8"
        try:
            return content.decode(codec, "surrogateescape")
        except (LookupError, UnicodeError) as error:
            raise CloudConfigError(ENCODING, f"a part cannot be read as {codec}") from error

    def _unpacked_text(self, payload: Any) -> str:
        data = payload if isinstance(payload, bytes) else str(payload or "").encode("utf-8", "surrogateescape")
        try:
            return self._gunzipped(data, None).decode("utf-8")
        except UnicodeDecodeError as error:
            raise CloudConfigError(DECOMPRESS, "a gzip part is not UTF-8 text", hint="pack text") from error

    def _count(self, steps: int) -> None:
        self.attached += 1
        self.budget.steps(steps)

    def _draw_for_parameters(self, header: bytes) -> None:
        # For each parameter of a header `email` copies what follows it.
        self.budget.steps(header.count(b";") * len(header) // _COPIED_A_STEP)

    def _attached(self, part: Message, packed: str = "", lost: tuple[str, ...] = ()) -> _MessagePart:
        self._count(_PER_MESSAGE)
        for value in part.values():
            with suppress(UnicodeEncodeError):  # `email` reads no parameters of a header that it cannot write
                self._draw_for_parameters(str(value).encode("utf-8", "surrogatepass"))
        if not part.get_filename():
            _set_filename(part, f"part-{self.attached:03d}")
        if self.launch_index is not None:
            _add_launch_index(part, self.budget)
        return _MessagePart(part, packed, lost)

    def _part(self, leaf: Message, attached: _MessagePart) -> CloudPart:
        payload = self._payload(leaf)
        body = payload if isinstance(payload, (str, bytes)) else b""  # else: a list of parts, or a number in an archive
        kind = leaf.get_content_type()
        name = leaf.get_filename() or f"part-{self.walked:03d}"  # a message in a part has no name; numbers begin at 0
        self.walked += 1
        first: dict[str, Any] = {}
        for key, value in leaf.items():
            first.setdefault(key.lower(), value)
        headers: dict[str, Any] = {key: first[key.lower()] for key in leaf}
        headers["Content-Type"] = kind
        line, indent = (None, 0) if attached.packed or not isinstance(body, str) else self.search.find_block(body)
        return CloudPart(body, kind, name, headers, self.blob_now.file, line, attached.packed, attached.lost, indent)

    # --- archives -----------------------------------------------------------------------

    def _archived(self, text: str) -> Iterator[_MessagePart]:
        try:
            entries = load_yaml(text, self.budget.renewed())
        except CloudConfigError as error:
            if error.kind != EMPTY:
                raise
            return  # cloud-init reads an archive with broken YAML as an empty one
        if isinstance(entries, set):
            entries = sorted(entries, key=str)  # the order of a set differs from run to run
        for number, entry in enumerate(entries if isinstance(entries, list) else (), 1):
            if isinstance(entry, str):
                entry = {"content": entry}
            if not isinstance(entry, dict):
                continue
            content = entry.get("content")
            self.budget.bytes(len(content) if isinstance(content, (str, bytes)) else 0)
            try:
                part = _from_entry(entry)
            except Exception as error:  # wrong types, headers and texts raise many exceptions
                raise CloudConfigError(
                    BAD_ARCHIVE,
                    f"entry {number} of the archive cannot be made a part: {error}",
                    hint="content and headers are texts; a type is written like text/cloud-config",
                ) from error
            if _is_wanted(part, self.launch_index) and _stops_as(part, content):
                raise CloudConfigError(BAD_ARCHIVE, f"entry {number} of the archive is a {type(content).__name__}")
            yield self._attached(part)

    # --- includes -----------------------------------------------------------------------

    def _included(self, part: Message, text: str, kind: str) -> Iterator[CloudPart]:
        for line in text.splitlines():
            stripped = _INCLUDE.sub("", line).lstrip()
            url = stripped.strip()
            if not url or url.startswith("#"):
                continue
            found = self._found(url)
            if found is None or found in self.included or len(self.included) >= _MAX_INCLUDES:
                yield CloudPart(
                    url, kind, part.get_filename() or "include", {}, self.blob_now.file, self.search.find(line)
                )
                continue
            self.included.append(found)
            try:
                yield from self.blob(Blob(read_bytes(found), f"{url}"))
            finally:
                self.included.pop()

    def _found(self, url: str) -> Path | None:
        """The file below the include folder that a URL names; None where there is none."""
        if self.include_root is None:
            return None
        try:
            parts = urlsplit(url)
        except ValueError:
            return None
        host = parts.hostname or "" if parts.scheme in ("http", "https") else ""
        root = self.include_root.resolve()
        try:
            path = (root / host / unquote(parts.path).lstrip("/")).resolve()
            return path if path.is_file() and path.is_relative_to(root) else None
        except (OSError, ValueError):
            return None


def _message(data: bytes) -> Message:
    try:
        return email.message_from_string(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        before = data[: error.start].count(b"\n") + 1
        raise CloudConfigError(
            ENCODING, "the message is not UTF-8 text", line=before, hint="encode its parts as base64"
        ) from error


def _decoded(part: Message) -> Any:
    """The payload of a part, decoded as its header says. raises: CloudConfigError, where `email` cannot do it"""
    try:
        return part.get_payload(decode=True)
    except UnicodeEncodeError as error:
        raise CloudConfigError(ENCODING, "a part has bytes that are no text beside other letters") from error


def _set_header(part: Message, key: str, value: str) -> None:
    del part[key]
    part[key] = value


def _rewrapped(part: Message, kind: str, payload: str) -> Message:
    """A new message for an unpacked part. Of the old headers it has only the file name and the launch index."""
    new = MIMENonMultipart(*kind.split("/", 1))
    new.set_payload(payload)
    name = part.get_filename()
    if name:
        _set_filename(new, name)
    if "Launch-Index" in part:
        _set_header(new, "Launch-Index", str(part["Launch-Index"]))
    return new


def _add_launch_index(part: Message, budget: Budget) -> None:
    """Add the index of the header as a number, or that in the body of a cloud-config."""
    index = _number(part.get("Launch-Index"))
    if "Launch-Index" not in part and part.get_content_type() == CLOUD_CONFIG:
        index = _index_in(_decoded(part), budget)
    if index is not None:
        part.add_header("Launch-Index", str(index))


def _index_in(content: Any, budget: Budget) -> int | None:
    """The `launch-index` of a cloud-config; None for one without it, and for anything that is no config."""
    try:
        config = load_yaml(content.decode("utf-8"), budget.renewed()) if isinstance(content, bytes) else None
    except (CloudConfigError, UnicodeDecodeError):
        return None
    return _number(config.get("launch-index")) if isinstance(config, dict) else None


def _selected(part: Message, wanted: int | None) -> Iterator[Message]:
    """Yield the leaves of a part that the launch index lets through. A message in a part is a leaf and has leaves."""
    if not _is_wanted(part, wanted):
        return
    if part.get_content_maintype() != "multipart":
        yield part
    if part.is_multipart():
        for inner in part.get_payload():
            if isinstance(inner, Message):
                yield from _selected(inner, wanted)


def _is_wanted(part: Message, wanted: int | None) -> bool:
    """Whether a launch index lets a part through, as it does one without an index."""
    index = part.get("Launch-Index")
    return wanted is None or index is None or _number(index) == wanted


def _number(text: Any) -> int | None:
    try:
        return int(text)
    except (TypeError, ValueError):
        return None


# --- an entry of an archive as a message, as cloud-init makes it ---------------------------

_ENTRY_KEYS = (
    "content", "filename", "type", "launch-index", "content-disposition", "number-attachments", "content-type",
)  # fmt: skip


def _set_filename(part: Message, name: Any) -> None:
    """Set the file name of a part."""
    del part["Content-Disposition"]
    part.add_header("Content-Disposition", "attachment", filename=str(name))


def _from_entry(entry: dict[Any, Any]) -> Message:
    """A message for an entry of an archive. raises: any exception, where cloud-init stops at the entry, too"""
    content = entry.get("content", "")
    kind = entry.get("type")
    if not kind:
        default = "application/octet-stream" if isinstance(content, bytes) else CLOUD_CONFIG
        kind = type_of_text(_text_or_bytes(content), default) or default
    main, sub = kind.split("/", 1)
    part: Message
    if main == "text":
        part = MIMEText(content.decode() if isinstance(content, bytes) else content, _subtype=sub)
    else:
        part = MIMEBase(main, sub)
        part.set_payload(content)
    if "filename" in entry:
        _set_filename(part, entry["filename"])
    if "launch-index" in entry:
        part.add_header("Launch-Index", str(entry["launch-index"]))
    for header, value in entry.items():
        if header.lower() not in _ENTRY_KEYS:
            part.add_header(header, value)
    return part


def _stops_as(part: Message, content: Any) -> bool:
    """Whether cloud-init stops at an entry of an archive: its content is neither a text nor bytes."""
    if not content or isinstance(content, (str, bytes)):
        return False
    if isinstance(content, list):
        return True
    # cloud-init never looks at an entry that is declared as multipart and has no parts.
    known = part.get_content_type() in (CLOUD_CONFIG, JSONP, JINJA, *SCRIPTS)
    return not known and part.get_content_maintype() != "multipart"


def _text_or_bytes(content: Any) -> str | bytes:
    if not isinstance(content, (str, bytes)):
        raise TypeError(f"its content is a {type(content).__name__}")
    return content
