"""What an entry of an archive is as a message, as cloud-init makes it; and at which entries it stops."""

from __future__ import annotations

from email.message import Message
from email.mime.base import MIMEBase
from email.mime.text import MIMEText
from typing import Any

from nodeattrs.adapters.cloudinit.parts import CLOUD_CONFIG, JINJA, JSONP, SCRIPTS, type_of_text

_ENTRY_KEYS = (
    "content", "filename", "type", "launch-index", "content-disposition", "number-attachments", "content-type",
)  # fmt: skip


def set_filename(part: Message, name: Any) -> None:
    """Call a part something."""
    del part["Content-Disposition"]
    part.add_header("Content-Disposition", "attachment", filename=str(name))


def from_entry(entry: dict[Any, Any]) -> Message:
    """A part of its own. raises: whatever stops cloud-init, too"""
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
        set_filename(part, entry["filename"])
    if "launch-index" in entry:
        part.add_header("Launch-Index", str(entry["launch-index"]))
    for header, value in entry.items():
        if header.lower() not in _ENTRY_KEYS:
            part.add_header(header, value)
    return part


def stops_as(part: Message, content: Any) -> bool:
    """Whether cloud-init stops when it wants to show an entry that is no text, since nobody handles its type."""
    if not content or isinstance(content, (str, bytes)):
        return False
    if isinstance(content, list):
        return True
    # What is declared as several parts, and has none, is never looked at.
    known = part.get_content_type() in (CLOUD_CONFIG, JSONP, JINJA, *SCRIPTS)
    return not known and part.get_content_maintype() != "multipart"


def _text_or_bytes(content: Any) -> str | bytes:
    if not isinstance(content, (str, bytes)):
        raise TypeError(f"its content is a {type(content).__name__}")
    return content
