"""Pack parts of user-data into one MIME message, each with its merge header. `unpacking` is the opposite."""

from __future__ import annotations

import io
from collections.abc import Iterable
from email.encoders import encode_base64
from email.generator import Generator
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

from nodeattrs.core.borders import ListLike, checked_args
from nodeattrs.dialects.cloudinit.faults import CloudConfigError
from nodeattrs.dialects.cloudinit.mergers import HEADERS, Definition, take_definition
from nodeattrs.dialects.cloudinit.parts import CLOUD_CONFIG, CloudPart, load_config
from nodeattrs.dialects.cloudinit.unpacking import type_of_text
from nodeattrs.errors import BadArgument
from nodeattrs.formats.places import HALF_PAIR


@checked_args(parts=ListLike)
def pack(parts: Iterable[CloudPart], how: Definition | None = None) -> str:
    """The text of a MIME message with all parts, in order; the same parts give the same text.

    A merge header of a part is kept. A part without a file name is called part-001 and so on.
    how:    the definition for cloud-config parts that have none of their own; None: they get no header
    raises: BadArgument, without parts; also for a part without a type, and for a header that cannot be written

    >>> print(pack([CloudPart("a: 1", filename="a.cfg")]).splitlines()[0])
    Content-Type: multipart/mixed; boundary="=-=nodeattrs-1=-="
    """
    rows = list(parts)
    if not rows:
        raise BadArgument("there is nothing to pack", hint="name at least one file")
    message = MIMEMultipart(boundary=_boundary(rows))
    for number, row in enumerate(rows, 1):
        main, slash, sub = _type_of(row).partition("/")
        if not slash:
            raise BadArgument(f"{row.filename or 'a part'} cannot be packed: it cannot be read", hint="leave it out")
        part: MIMEBase
        if HALF_PAIR.search(row.text):  # the part has bytes that are no text
            part = MIMEBase(main, sub)
            part.set_payload(row.text.encode("utf-8", "surrogateescape"))
            encode_base64(part)
        elif main == "text":
            part = MIMEText(row.text, sub, "us-ascii" if _survives(row.text) else "utf-8")
        else:
            part = MIMEBase(main, sub)
            part.set_payload(row.text)
        part.add_header("Content-Disposition", "attachment", filename=row.filename or f"part-{number:03d}")
        try:
            own = {key: str(row.headers[key]) for key in HEADERS if row.headers.get(key)}
        except UnicodeEncodeError as error:
            what = f"{row.filename or 'a part'} cannot be packed: its merge header cannot be written"
            raise BadArgument(what, hint="write the definition into the body of the part") from error
        if not own and how is not None and row.type == CLOUD_CONFIG and not _asks(row):
            own = {"Merge-Type": str(how)}
        for key, value in own.items():
            part[key] = value
        message.attach(part)
    out = io.StringIO()
    Generator(out, mangle_from_=False, maxheaderlen=0).flatten(message)
    return out.getvalue()


def _type_of(row: CloudPart) -> str:
    """The type of a part; of a template that was rendered that of its text."""
    return type_of_text(row.text, row.type) or row.type if row.lines else row.type


def _survives(text: str) -> bool:
    """Whether mail carries a text as it is; what it would change is encoded."""
    return text.isascii() and "\r" not in text and max(map(len, text.split("\n"))) < 900


def _asks(row: CloudPart) -> bool:
    """Whether the body of a part has a definition of its own."""
    try:
        return bool(take_definition(load_config(row.text))[0])
    except CloudConfigError:
        return False


def _boundary(rows: list[CloudPart]) -> str:
    """A boundary that no part contains."""
    number = 1
    while any(f"=-=nodeattrs-{number}=-=" in row.text for row in rows):
        number += 1
    return f"=-=nodeattrs-{number}=-="
