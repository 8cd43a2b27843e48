"""Find user-data in the files that people have: plain texts, base64, folders, images, and documents of platforms.

A document, such as a plan of Terraform or a secret of Kubernetes, may have the user-data of several machines. The
result is one `Given` for each machine, with the place of its user-data in the file. `unpacking` and `userdata` read the
user-data itself. A folder may have meta-data and a network-config beside it; `about_seed` finds errors in these.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby, takewhile
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nodeattrs.core.borders import checked_args
from nodeattrs.core.budget import Budget
from nodeattrs.core.claim import Origin
from nodeattrs.core.fold import Layer
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.core.tree import dig
from nodeattrs.dialects.cloudinit.codes import INPUT
from nodeattrs.dialects.cloudinit.faults import CloudConfigError, past_a_limit
from nodeattrs.dialects.cloudinit.forms import FORMS, IGNITION, Form, FormText, maps_in
from nodeattrs.dialects.cloudinit.kubeadm import GeneratedConfig
from nodeattrs.dialects.cloudinit.parts import load_yaml
from nodeattrs.dialects.cloudinit.sources import SOURCES, GivenUserData, source_of
from nodeattrs.dialects.cloudinit.templates import InstanceData
from nodeattrs.dialects.cloudinit.terraform import is_of_terraform, texts_in
from nodeattrs.dialects.cloudinit.unpacking import (
    Blob,
    BlockPlace,
    blob_of,
    read_bytes,
    read_document,
    type_of_text,
    unwrapped,
)
from nodeattrs.errors import BadArgument, DocumentError, MissingExtra, TooMuch, missing_extra
from nodeattrs.formats.documents import Document, Syntax, decoded, parse, parse_all
from nodeattrs.formats.yaml_writing import written as yaml_of

if TYPE_CHECKING:
    from pycdlib import PyCdlib

_LXD_KEYS = {
    "user": ("cloud-init.user-data", "user.user-data"),
    "vendor": ("cloud-init.vendor-data", "user.vendor-data"),
}
"""The keys of profiles and instances of LXD and Incus with user-data and vendor-data; the first one counts."""
_KEYS = ("value", "userData", "userdata")
"""The keys of secrets with user-data: of Cluster API, of OpenShift's machines, of KubeVirt."""
_FILES = {
    "user": ("user-data.txt", "user-data"),
    "vendor": ("vendor-data.txt", "vendor-data"),
    "vendor2": ("vendor-data2.txt",),
}
"""The file names in a folder of one machine, as cloud-init and the data source NoCloud have them."""

_LXD = re.compile(r"(?m)^(?:config|expanded_config|profiles):")
_NOTHING = "no user-data is in it"
_SECRET = re.compile(r"""(?m)^[^\S\n]*["']?kind["']?\s*:\s*["']?(?:Secret|List)\b""")


FORM_NAMES = (*(one.name for one in FORMS), *SOURCES)
"""The values of --input-form."""


class Given(NamedTuple):
    """The user-data of one machine, as it was found in a file or folder.

    address:  the resource or secret with the user-data; "" for a whole file or folder
    origin:   the place of the user-data
    user:     its user-data, in order; () if it cannot be read
    vendor:   the vendor-data found with it; () for none
    vendor2:  likewise, for the second vendor-data
    unknown:  the reason why the user-data cannot be read; "" if it can
    data:     instance data for templates, from the meta-data of a folder or image; None for none
    settings: key -> text, for a profile or an instance of LXD; None for anything else
    added:    unknown layers that the platform adds to the user-data; the document does not have them

    `sources` is *user* with *added*, or one unknown layer if the user-data cannot be read.
    """

    address: str
    origin: Origin
    user: tuple[Blob, ...]
    vendor: tuple[Blob, ...] = ()
    vendor2: tuple[Blob, ...] = ()
    unknown: str = ""
    data: InstanceData | None = None
    settings: Mapping[str, Blob] | None = None
    added: tuple[Layer, ...] = ()

    @property
    def sources(self) -> tuple[Blob | Layer, ...]:
        """The user-data for `unpack`: *user* with the added layers, or an unknown layer where it cannot be read."""
        if self.unknown:
            return (Layer.unknown(self.address, self.origin, self.unknown),)
        return (*self.user, *self.added)


@checked_args(budget=Budget | None, form=str | None)
def given_in(source: Path | Blob | str | bytes, budget: Budget | None = None, form: str | None = None) -> list[Given]:
    """The user-data in a file, folder or text: one Given for each machine of a document, and one for anything else.

    A text in base64 is decoded. A text that is no known document is one machine's user-data, and is not checked.

    source: a path, a Blob, or the content itself
    budget: limits the reading; None: a new one
    form:   one of `FORM_NAMES`: the document is read as this form. None: its shape decides
    raises: CloudConfigError, for a file that cannot be read, and a document without user-data; BadArgument, for *form*

    >>> [(one.address, one.user[0].content) for one in given_in("I2Nsb3VkLWNvbmZpZwphOiAxCg==")]
    [('', b'#cloud-config\\na: 1\\n')]
    """
    if isinstance(source, Path) and source.is_dir():
        return [_folder(source)]
    blob = blob_of(source)
    try:
        found = _collected(blob, budget or Budget(blob.file or "user-data"), form)
    except TooMuch as error:
        raise past_a_limit(error, "the file").located(blob.file) from None
    except CloudConfigError:
        raise
    except DocumentError as error:
        raise CloudConfigError(INPUT, error.reason, file=error.file, line=error.line, column=error.column) from error
    if found is None:
        return [Given("", Origin("file", "", blob.file, 1), (unwrapped(blob),))]
    if not found:
        raise CloudConfigError(INPUT, _NOTHING, file=blob.file, hint="name a file that has some")
    return found


def _form_named(name: str) -> Form:
    """The form of that name. raises: BadArgument, for a name that no form has"""
    for form in FORMS:
        if form.name == name:
            return form
    raise BadArgument(f"there is no form {name!r}", hint=f"it is one of {', '.join(FORM_NAMES)}")


def choose_machine(found: list[Given], address: str | None = None) -> Given:
    """The machine with an address, chosen from those in one file. Without an address it is the only one.

    found:   the machines, at least one. A Given for a whole file has no address, and any address chooses it
    address: the resource or secret; None: there must be only one machine
    raises:  CloudConfigError, if no machine or several are left; it lists all addresses
    """
    wanted = [one for one in found if address in (None, one.address) or not one.address]
    if len(wanted) == 1:
        return wanted[0]
    names = ", ".join(sorted(one.address for one in found))
    what = "is user-data of several machines" if wanted else f"has nothing called {address}"
    raise CloudConfigError(INPUT, f"{what}: {names}", file=found[0].origin.file, hint="name one with --resource")


def joined_profiles(found: Iterable[Given]) -> list[Given]:
    """The inputs of one machine, in order. All profiles and instances of LXD among them are joined to one Given.

    The joined one is at the place of the first profile. If several profiles set a key, the last one wins, as in LXD.
    Without profiles the inputs are returned as they are.

    raises: CloudConfigError, if no profile has user-data or vendor-data
    """
    machines, settings = list(found), dict[str, Blob]()
    profiles = [one for one in machines if one.settings is not None]
    if not profiles:
        return machines
    for one in profiles:
        settings |= one.settings or {}
    whole = _of_settings(profiles[-1], settings)
    if not (whole.user or whole.vendor):
        raise CloudConfigError(INPUT, _NOTHING, file=whole.origin.file, hint="name the profile or instance that has it")
    first = profiles[0]
    return [whole if one is first else one for one in machines if one is first or one.settings is None]


@checked_args(blob=Blob)
def vendor_in(blob: Blob) -> list[Blob]:
    """The parts of vendor-data, as a list of blobs: one blob, or the texts in a JSON file of OpenStack.

    A blob in base64 is decoded. A text that begins with "{" is read as JSON; if it cannot be parsed, it is returned as
    it is. Its key `cloud-init` has a text, or a list; elements of the list that are no texts are left out. [] without
    the key, and for an empty text or any other value under it.
    """
    text = _text(blob)
    if not text.lstrip().startswith("{"):
        return [unwrapped(blob)]
    try:
        tree = parse(text, blob.file or "vendor-data", "json").tree
    except DocumentError:
        return [blob]
    written = tree.get("cloud-init") if isinstance(tree, dict) else None
    if isinstance(written, str):
        written = [written] if written else []
    texts = written if isinstance(written, list) else []  # cloud-init ignores other types
    return [Blob(one, blob.file, packed=True) for one in texts if type(one) is str]


def _text(blob: Blob) -> str:
    return blob.content if isinstance(blob.content, str) else blob.content.decode("utf-8", "replace")


# --- folders ----------------------------------------------------------------------------


def _folder(folder: Path) -> Given:
    """The user-data of a folder: of the files with known names, else all files in the order of their names."""
    found = {layer: _first(folder, names) for layer, names in _FILES.items()}
    if not found["user"]:
        files = [path for path in sorted(folder.iterdir()) if path.is_file() and path.name[0] != "."]
        if not files:
            raise CloudConfigError(INPUT, "is a folder without files", file=folder.as_posix())
        return Given("", Origin("folder", "", folder.as_posix()), tuple(unwrapped(blob_of(path)) for path in files))
    origin, data = Origin("folder", "", folder.as_posix()), seed_data(folder)
    return Given("", origin, found["user"], found["vendor"], found["vendor2"], data=data)


def _first(folder: Path, names: Iterable[str]) -> tuple[Blob, ...]:
    path = next((folder / name for name in names if (folder / name).is_file()), None)
    return () if path is None else (blob_of(path),)


# --- files beside user-data, as the data source NoCloud has them

META_DATA, NETWORK_CONFIG = "meta-data", "network-config"
_DEVICES = ("ethernets", "bonds", "bridges", "vlans", "wifis")


def seed_data(folder: Path) -> InstanceData | None:
    """The instance data in the meta-data of a folder; None where the file is missing or broken."""
    file = folder / META_DATA
    return None if not file.is_file() or _meta_data_fault(file) else InstanceData.read(file)


def about_seed(folder: Path) -> Iterator[CloudConfigError]:
    """Yield an error for a broken meta-data and a broken network-config of a folder; missing files are in order."""
    for name, fault_of in ((META_DATA, _meta_data_fault), (NETWORK_CONFIG, _network_fault)):
        if (folder / name).is_file() and (fault := fault_of(folder / name)) is not None:
            yield fault


def _meta_data_fault(file: Path) -> CloudConfigError | None:
    try:
        tree = read_document(file, syntax="yaml").tree
    except CloudConfigError as error:
        return error
    is_map = isinstance(tree, dict) or tree is None
    return None if is_map else CloudConfigError(INPUT, "meta-data is a map", file=file.as_posix(), line=1)


def _network_fault(file: Path) -> CloudConfigError | None:
    try:
        document = read_document(file, syntax="yaml")
    except CloudConfigError as error:
        return error
    tree: Any = document.tree
    above: TreePath = ()
    if isinstance(tree, dict) and isinstance(tree.get("network"), dict):
        tree, above = tree["network"], ("network",)
    if not isinstance(tree, dict):
        return _fault(document, above, "a network-config is a map")
    if tree.get("version") not in (1, 2):
        return _fault(
            document, (*above, "version"), f"the version of a network-config is 1 or 2, not {tree.get('version')!r}"
        )
    kind: type = list if tree["version"] == 1 else dict
    for key in ("config",) if tree["version"] == 1 else _DEVICES:
        if key in tree and not isinstance(tree[key], kind):
            return _fault(document, (*above, key), f"{key} has to be a {'list' if kind is list else 'map'}")
    return None


def _fault(document: Document, path: TreePath, message: str) -> CloudConfigError:
    line, column = document.place(path)
    return CloudConfigError(INPUT, message, file=document.file, line=line, column=column)


# --- documents that hold user-data of several machines ----------------------------------


def _collected(blob: Blob, budget: Budget, form: str | None = None) -> list[Given] | None:
    """The machines of a document or image; None for a text that is no document. form: as in `given_in`"""
    file = blob.file or "user-data"
    if isinstance(blob.content, bytes) and blob.content[_CD : _CD + 5] == b"CD001":
        return [_of_image(blob.content, file, budget)]
    if isinstance(blob.content, bytes) and any(blob.content[at : at + len(mark)] == mark for at, mark in _IMAGES):
        return [Given("", Origin("file", "", file), (), unknown=_IMAGE)]
    text = _text(blob).removeprefix("\ufeff")
    if form in SOURCES:
        return list(_of_source(text, blob, form, budget))
    if form is not None:
        return _of_documents(text, file, _form_named(form), budget)
    if text.lstrip().startswith("{"):
        found = _of_json(text, file, budget)
        return found if found is not None else _of_any_form(text, file, budget)
    if type_of_text(text) is not None:
        return None
    if (source := source_of(text)) and (given := list(_of_source(text, blob, source, budget))):
        return given
    if found := _of_any_form(text, file, budget):
        return found
    if _LXD.search(text):
        with suppress(DocumentError):  # a text of some other kind
            document = parse(text, file, "yaml", budget)
            return list(_of_lxd(document, file)) if _is_lxd(document.tree) else None
    return None


_MAY_HAVE = re.compile(
    r"(?i)(?:user|custom)[-_]?data|cloud_?(?:init|config)|autoinstall|kind\"?: *[\w\"]*(?:Config|Kubeadm)"
)
"""A word that a document with user-data has somewhere. A text without it is not parsed."""


def _of_any_form(text: str, file: str, budget: Budget) -> list[Given] | None:
    """The machines of a document by its shape; None where no form fits. raises: DocumentError, for broken secrets"""
    if _SECRET.search(text) and "apiVersion" in text:
        return _of_documents(text, file, None, budget)
    if _MAY_HAVE.search(text):
        with suppress(DocumentError):  # a text of some other kind
            return _of_documents(text, file, None, budget) or None
    return None


_CD, _IMAGES = 0x8001, ((54, b"FAT1"), (82, b"FAT32"))
"""_CD: the offset of the mark in the image of a CD. _IMAGES: (offset, mark) of other images."""
_IMAGE = "is an image of a disk: unpack its user-data into a folder, and name that"


def _of_image(content: bytes, file: str, budget: Budget) -> Given:
    """The seed in an image of a CD; its files are named as if the image were a folder."""
    origin = Origin("file", "", file)
    try:
        seed = _seed_in(content, file, budget)
    except MissingExtra:
        return Given("", origin, (), unknown=f"{_IMAGE}, or install nodeattrs[images]")
    blobs = {layer: tuple(_in_image(Blob(data, f"{file}{path}"))) for layer, (path, data) in seed.items()}
    if "user" not in blobs:
        return Given("", origin, (), unknown="is an image of a CD that has no user-data for cloud-init")
    data = None
    if "meta" in blobs:
        meta = parse(decoded(seed["meta"][1], file), f"{file}/meta-data", "yaml", budget).tree
        if not isinstance(meta, dict | None):
            raise CloudConfigError(INPUT, "meta-data is a map", file=f"{file}/meta-data", line=1)
        data = InstanceData.of_meta_data(meta or {})
    return Given("", origin, blobs["user"], blobs.get("vendor", ()), blobs.get("vendor2", ()), data=data)


def _in_image(blob: Blob) -> list[Blob]:
    """The parts of a file of an image; of a JSON file with vendor-data those that `vendor_in` finds."""
    return vendor_in(blob) if (blob.file or "").endswith(".json") else [blob]


_BROKEN = (struct.error, ValueError, IndexError, KeyError, AttributeError, TypeError, OverflowError, RecursionError)
"""Exceptions of pycdlib for an image that is cut off, besides its own errors."""

_SEEDS: dict[str, dict[str, str]] = {
    "cidata": {"user": "/user-data", "vendor": "/vendor-data", "meta": "/meta-data"},
    "config-2": {
        "user": "/openstack/latest/user_data",
        "vendor": "/openstack/latest/vendor_data.json",
        "vendor2": "/openstack/latest/vendor_data2.json",
    },
}
"""The label of the image -> what is read -> its path: of NoCloud, and of OpenStack's ConfigDrive."""


def _seed_in(content: bytes, file: str, budget: Budget) -> dict[str, tuple[str, bytes]]:
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
        found = {layer: (path, _read_file(image, path, budget)) for layer, path in names.items()}
        return {layer: (path, data) for layer, (path, data) in found.items() if data is not None}
    except (PyCdlibException, *_BROKEN) as error:
        reason = f"is a broken image of a CD: {error}" if str(error) else "is a broken image of a CD"
        raise CloudConfigError(INPUT, reason, file=file) from error


def _read_file(image: PyCdlib, path: str, budget: Budget) -> bytes | None:
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


_OF_PLAN = re.compile(r'"format_version"\s*:')


def _of_json(text: str, file: str, budget: Budget) -> list[Given] | None:
    try:
        document = parse(text, file, "json", budget)
    except DocumentError as error:
        if _OF_PLAN.search(text):
            what = f"is a plan or a state of Terraform, and no JSON: {error.reason}"
            raise CloudConfigError(INPUT, what, file=file, line=error.line, column=error.column) from error
        return None  # no JSON, but a text of some other kind
    tree = document.tree
    if is_of_terraform(tree):
        return list(_of_terraform(_OuterDocument(document, file), budget))
    if _is_lxd(tree):
        return list(_of_lxd(document, file))
    return _of_documents(text, file, None, budget) if tree.get("kind") in ("Secret", "List") else None


def _of_terraform(outer: _OuterDocument, budget: Budget) -> Iterator[Given]:
    """The user-data of each resource of a plan or state. A `cloudinit_config` that a machine has, too, is left out."""
    seen = set()
    for is_config, text, vendor in texts_in(outer.document.tree):
        one = _of_text(outer, (), text, budget)
        content = one.user and one.user[0].content
        if is_config and one.user and content in seen:
            continue
        seen.add(content)
        yield one._replace(vendor=tuple(Blob(row, outer.file, packed=True) for row in vendor))


class _OuterDocument(NamedTuple):
    """A document with texts in it.

    rows:  the lines of the file; empty for JSON, where no text is a block of lines
    """

    document: Document
    file: str
    rows: Sequence[str] = ()


# --- profiles and instances of LXD


def _is_lxd(tree: Any) -> bool:
    """Whether a document is a profile, an instance, or several profiles; they need not have user-data."""
    keys = {key for keys in _LXD_KEYS.values() for key in keys}
    return isinstance(tree, dict) and all(
        isinstance(config := row.get("config"), dict) and ("devices" in row or keys & config.keys())
        for row in maps_in(tree.get("profiles")) or [tree]
    )


def _of_lxd(document: Any, file: str) -> Iterator[Given]:
    profiles = maps_in(document.tree.get("profiles"))
    rows: list[tuple[TreePath, Any]] = [(("profiles", at), one) for at, one in enumerate(profiles)]
    for path, row in rows or [((), document.tree)]:
        config = row.get("expanded_config") or row["config"]
        settings = {
            key: Blob(config[key], file, packed=True)
            for keys in _LXD_KEYS.values()
            for key in keys
            if isinstance(config.get(key), str) and config[key]
        }
        address = str(row.get("name", "")) if path else ""
        line, column = document.place(path)
        yield _of_settings(Given(address, Origin("resource", address, file, line, column), ()), settings)


def _of_settings(one: Given, settings: Mapping[str, Blob]) -> Given:
    user, vendor = (
        tuple(settings[key] for key in keys if key in settings)[:1] for keys in (_LXD_KEYS["user"], _LXD_KEYS["vendor"])
    )
    return one._replace(user=user, vendor=vendor, settings=settings)


# --- files that are no documents


def _of_source(text: str, outer: Blob, name: str, budget: Budget) -> Iterator[Given]:
    """The machines of a source file, such as HCL: all texts with one name are of one machine."""
    machines: dict[str, list[GivenUserData]] = {}
    file, rows = outer.file or "user-data", text.split("\n")
    for one in SOURCES[name](text):
        budget.bytes(len(one.text or ""))  # several machines may have one text
        machines.setdefault(one.name, []).append(one)
    for address, literals in machines.items():
        blobs = [_named(one, outer, budget) if one.path else _literal(rows, one, file) for one in literals]
        unread = next((one for one, blob in zip(literals, blobs, strict=True) if blob is None), None)
        first = unread or literals[0]
        given = Given(address, Origin("resource", address, file, first.line), (), unknown=first.why)
        yield given if unread else given._replace(user=tuple(blob for blob in blobs if blob), unknown="")


def _named(one: GivenUserData, outer: Blob, budget: Budget) -> Blob | None:
    """The file that a source names, below the folder of the source; None where it is missing.

    Standard input has no folder, so nothing is read for a file that it names.
    """
    if outer.folder is None or (path := _below(outer.folder, one.path)) is None:
        return None
    blob = Blob(read_bytes(path, budget), (Path(outer.file or "").parent / one.path).as_posix())
    blob.language = one.language
    return unwrapped(blob)


def _below(folder: Path, name: str) -> Path | None:
    """The file of that name below a folder; None for a file that is missing or outside, and for a name too long."""
    path = folder / name
    try:
        is_below = path.is_file() and path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        return None
    return path if is_below else None


def _literal(rows: Sequence[str], one: GivenUserData, file: str) -> Blob | None:
    if one.text is None:
        return None
    text = one.text
    if one.is_headless:
        return Blob(text, file, packed=True, within=BlockPlace(one.line, indent=0))
    blob = _block(rows, max(one.line, 1), unwrapped(Blob(text, file, packed=True)))
    blob.language = one.language
    return blob


# --- documents of the table of forms


def _of_documents(text: str, file: str, form: Form | None, budget: Budget) -> list[Given]:
    """The machines in a stream of documents: by each form that fits a document, and in secrets of Kubernetes.

    If the stream is broken YAML, it is read once more without the documents that cannot have user-data.

    form:   the only form to read by; None: any form that fits
    raises: DocumentError
    """
    syntax: Syntax = "json" if text.lstrip().startswith(("{", "[")) else "yaml"
    found: list[Given] = []
    rows = text.split("\n") if syntax == "yaml" else ()
    try:
        documents = parse_all(text, file, syntax, budget, {})
    except DocumentError:
        if form is not None or syntax == "json":
            raise
        documents = parse_all(_that_may_have(text), file, syntax, budget, {})
    for document in documents:
        outer = _OuterDocument(document, file, rows)
        for above, tree in _objects(document.tree):
            if form is None and isinstance(tree, dict) and tree.get("kind") == "Secret":
                found += _of_secret(outer, above, tree, budget)
            for one in [form] if form else FORMS:
                if form or one.fits(tree):
                    found += (_of_text(outer, above, text_of, budget) for text_of in one.texts(tree))
    return found


_DOCUMENTS = re.compile(r"(?m)^---(?=\s)")


def _that_may_have(text: str) -> str:
    """A stream with only those documents that may have user-data; empty lines replace the others."""
    pieces = _DOCUMENTS.split(text)
    is_wanted = [_SECRET.search(piece) or _MAY_HAVE.search(piece) for piece in pieces]
    kept = (piece if is_kept else "\n" * piece.count("\n") for piece, is_kept in zip(pieces, is_wanted, strict=True))
    return "---".join(kept)


def _objects(tree: Any) -> list[tuple[TreePath, Any]]:
    """A document, or the objects in a list of Kubernetes."""
    if isinstance(tree, dict) and str(tree.get("kind")).endswith("List") and maps_in(tree.get("items")):
        return [(("items", at), one) for at, one in enumerate(maps_in(tree["items"]))]
    return [((), tree)]


def _of_text(outer: _OuterDocument, above: TreePath, one: FormText, budget: Budget) -> Given:
    budget.bytes(len(one.text or ""))  # several machines may have one text
    path = (*above, *one.path)
    line, column = outer.document.place(path)
    origin = Origin("resource", one.name, outer.file, line, column)
    if one.is_config:
        return Given(one.name, origin, (_of_mapping(outer, path),))
    if one.made is not None:
        return _of_made(outer, path, one.made, origin, budget)
    if one.text is None:
        return Given(one.name, origin, (), unknown=one.why)
    blob = _within(outer, line, one.text, one.is_packed)
    blob.language = one.language
    return Given(one.name, origin, (blob,))


def _of_made(outer: _OuterDocument, path: TreePath, made: GeneratedConfig, origin: Origin, budget: Budget) -> Given:
    """A cloud-config that the platform makes, as a Given. A row has the line of its value; in a block, its own line."""
    user = []
    for rows in made.parts:
        lines: list[int] = []
        for below, group in groupby(rows, key=itemgetter(1)):
            first = outer.document.place((*path, *below))[0]
            for number, (text, _) in enumerate(group):
                is_in_block = [row.strip() for row in outer.rows[first + number - 1 : first + number]] == [text.strip()]
                lines.append(first + number if is_in_block else first)
        user.append(Blob("".join(f"{text}\n" for text, _ in rows), outer.file, packed=True))
        budget.bytes(len(user[-1].content))
        user[-1].lines = tuple(lines)
    added = []
    for one in made.unread:
        line, column = outer.document.place((*path, *one.at))
        place = origin._replace(line=line, column=column)
        added.append(Layer.unknown(one.name, place, one.reason, dict.fromkeys(one.sets, line)))
    return Given(origin.name, origin, tuple(user), added=tuple(added))


def _within(outer: _OuterDocument, line: int, text: str, is_packed: bool | None = None) -> Blob:
    """A text of a document as a Blob, with its lines if the text is a block there. line: the line of its key"""
    blob = unwrapped(Blob(text, outer.file, packed=True), is_packed)
    return _block(outer.rows, line, blob) if blob.content == text else blob


_BESIDE = 5
"""The most lines from a key to the end of the comments before its block."""


def _block(rows: Sequence[str], line: int, blob: Blob) -> Blob:
    """Give a blob the lines of the file below its key, where `unpacking` looks for its text; returns the blob."""
    count = blob.content.count("\n") if isinstance(blob.content, str) else 0
    blob.within = BlockPlace(line, "\n".join(rows[line - 1 : line + count + _BESIDE]))
    return blob


def _of_mapping(outer: _OuterDocument, path: TreePath) -> Blob:
    """A mapping that is the cloud-config itself, as a text with a first line; that line counts as the line of its key.

    The text is taken from the file where it is a block of YAML, and else written anew.
    """
    value, file = dig(outer.document.tree, path), outer.file
    line, column = outer.document.place(path)
    below = (outer.rows[at] for at in range(line, len(outer.rows)))
    block = list(takewhile(lambda row: not row.strip() or len(row) - len(row.lstrip(" ")) >= column, below))
    indent = min((len(row) - len(row.lstrip(" ")) for row in block if row.strip()), default=0)
    body = "".join(f"{row[indent:]}\n" for row in block)
    try:
        is_block = load_yaml(body) == value
    except CloudConfigError:
        is_block = False
    if is_block:
        return Blob(f"#cloud-config\n{body}", file, packed=True, within=BlockPlace(line, indent=indent))
    return Blob(f"#cloud-config\n{yaml_of(value)}", file, packed=True)


# --- secrets of Kubernetes


def _of_secret(outer: _OuterDocument, path: TreePath, secret: Any, budget: Budget) -> Iterator[Given]:
    names = [dig(secret, ("metadata", key)) for key in ("namespace", "name")]
    address = "/".join(name for name in names if isinstance(name, str))
    for under, key in ((under, key) for under in ("stringData", "data") for key in _KEYS):
        written = dig(secret, (under, key))
        if isinstance(written, str) and written:
            is_ignition = dig(secret, (under, "format")) in ("ignition", "aWduaXRpb24=")
            text = None if is_ignition else written
            at = (*path, under, key)
            yield _of_text(outer, (), FormText(at, text, address, IGNITION, is_packed=under == "data"), budget)
            return
