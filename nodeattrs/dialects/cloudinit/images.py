"""Read the files of a seed from the image of a CD, without mounting it.

A *seed* is the input of the data sources NoCloud and ConfigDrive: user-data, vendor-data and meta-data. Used by
`inputs`; needs `pycdlib`. The module does not read what the files say.
"""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING, Any

from nodeattrs.core.budget import Budget
from nodeattrs.dialects.cloudinit.codes import INPUT
from nodeattrs.dialects.cloudinit.faults import CloudConfigError
from nodeattrs.errors import missing_extra

if TYPE_CHECKING:
    from pycdlib import PyCdlib

_BROKEN = (struct.error, ValueError, IndexError, KeyError, AttributeError, TypeError, OverflowError, RecursionError)
"""What pycdlib raises for an image that is cut off, beside its own errors."""

_SEEDS: dict[str, dict[str, str]] = {
    "cidata": {"user": "/user-data", "vendor": "/vendor-data", "meta": "/meta-data"},
    "config-2": {
        "user": "/openstack/latest/user_data",
        "vendor": "/openstack/latest/vendor_data.json",
        "vendor2": "/openstack/latest/vendor_data2.json",
    },
}
"""The label of the image -> what is read -> its path: of NoCloud, and of OpenStack's ConfigDrive."""


def seed_in(content: bytes, file: str, budget: Budget) -> dict[str, tuple[str, bytes]]:
    """The files of a seed in an image of a CD: "user", "vendor", "vendor2" or "meta" -> (path in the image, bytes).

    A missing file is left out. The label of the image decides which files are looked for. {} if no data source uses
    images with its label.

    content: the bytes of the image
    file:    the name of the image, for errors
    budget:  limits the sizes of the files
    raises:  CloudConfigError, for a broken image; MissingExtra, without pycdlib; TooMuch
    """
    try:
        from pycdlib import PyCdlib
        from pycdlib.pycdlibexception import PyCdlibException
    except ImportError as error:
        raise missing_extra("pycdlib", "images", "reading the image of a CD") from error
    image = PyCdlib()
    try:
        image.open_fp(io.BytesIO(content))
        label = image.pvd.volume_identifier.decode("ascii", "replace").strip().lower()
        names = _SEEDS.get(label, {})
        found = {layer: (path, _read(image, path, budget)) for layer, path in names.items()}
        return {layer: (path, data) for layer, (path, data) in found.items() if data is not None}
    except (PyCdlibException, *_BROKEN) as error:
        reason = f"is a broken image of a CD: {error}" if str(error) else "is a broken image of a CD"
        raise CloudConfigError(INPUT, reason, file=file) from error


def _read(image: PyCdlib, path: str, budget: Budget) -> bytes | None:
    """The bytes of a file, by the name that Rock Ridge or Joliet has for it; None where it is not there."""
    from pycdlib.pycdlibexception import PyCdlibInvalidInput

    way: dict[str, Any] = {"rr_path": path} if image.has_rock_ridge() else {"joliet_path": path}
    try:
        budget.bytes(image.get_record(**way).get_data_length())
        stream = io.BytesIO()
        image.get_file_from_iso_fp(stream, **way)
    except PyCdlibInvalidInput:
        return None
    return stream.getvalue()
