"""python -m tests.oracles.cloudinit_sources [--source DIR]

Documents of platforms, beside cloud-init's own data sources. Each text is put into a document as people keep it, and
into what the platform serves to the machine, which the data source reads. What we take out of the document has to be
what the data source hands on. Ends with `N passed, M failed`.

How a platform makes the one from the other is documented on the page that each row names. The data source is Debian's,
or that of the folder that --source names.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pycdlib import PyCdlib

from nodeattrs.cloudinit import given_in
from nodeattrs.dialects.cloudinit.inputs import Given
from tests.oracles.cloudinit import Peer, fetched

MESSAGE = (
    'Content-Type: multipart/mixed; boundary="b"\nMIME-Version: 1.0\n\n--b\nContent-Type: text/cloud-config\n\n'
    "#cloud-config\na: 1\n--b\nContent-Type: text/x-shellscript\n\n#!/bin/sh\ntrue\n--b--\n"
)
TEXTS = (
    "#cloud-config\npackages: [vim]\nruncmd:\n- echo hi\n",
    "#cloud-config\nhostname: no-line-feed",
    "#cloud-config\nmotd: Grüße ☃\n",
    "#cloud-config\n\n\n# blank lines\n\nhostname: a\n\n\n",
    "#!/bin/sh\necho hi\n",
    "## template: jinja\n#cloud-config\nhostname: {{ v1.local_hostname }}\n",
    "#cloud-config-archive\n- '#cloud-config\n\n  a: 1\n\n  '\n",
    "#include\nhttps://example.com/a\n",
    MESSAGE,
    base64.b64encode(b"#cloud-config\npacked: true\n").decode(),
)
"""What people write. The last one is in base64 already: each platform says whether that is unpacked."""


class Served(NamedTuple):
    """A document, and what the platform makes of it.

    platform: whose data source is asked
    document: as people keep it: a text, or the files of a folder or of an image
    served:   what the data source reads
    layer:    what is compared
    """

    platform: str
    document: str | bytes | dict[str, bytes]
    served: Any
    layer: str = "user"


def packed(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def cases() -> Iterator[Served]:
    for text in TEXTS:
        yield from _of_gce(text)
        yield from _of_lxd(text)
        yield from _of_vmware(text)
        yield from _of_azure(text)
        yield from _of_seeds(text)
        # docs.hetzner.cloud, Create a Server: user_data is handed on as it is, and the data source unpacks base64
        request = {"name": "h", "server_type": "cx22", "user_data": text}
        yield Served("hetzner", json.dumps(request), text)


def _of_gce(text: str) -> Iterator[Served]:
    """cloud.google.com/compute/docs, custom metadata: items are attributes of the instance."""
    plain = {"user-data": text}
    encoded = {"user-data": packed(text), "user-data-encoding": "base64"}
    for one in (plain, encoded):
        items = [{"key": key, "value": value} for key, value in one.items()]
        yield Served("gce", json.dumps({"kind": "compute#instance", "name": "i", "metadata": {"items": items}}), one)
        yield Served("gce", _plan("google_compute_instance", {"metadata": one}), one)


def _plan(kind: str, values: Any) -> str:
    resource = {"address": f"{kind}.a", "type": kind, "name": "a", "values": values}
    return json.dumps({"format_version": "1.2", "planned_values": {"root_module": {"resources": [resource]}}})


def _of_lxd(text: str) -> Iterator[Served]:
    """documentation.ubuntu.com/lxd, devLXD: configuration keys are served as they are."""
    new, old = {"cloud-init.user-data": text}, {"user.user-data": text}
    for one in (new, old, {**old, "cloud-init.user-data": f"{text}\n# the newer key\n"}):
        yield Served("lxd", json.dumps({"config": one, "devices": {}}), one)
        yield Served("lxd", _plan("lxd_instance", {"config": one}), one)


def _of_vmware(text: str) -> Iterator[Served]:
    """docs.cloud-init.io, VMware: guestinfo.userdata and guestinfo.userdata.encoding of the machine's extraConfig."""
    zipped = packed(gzip.compress(text.encode(), mtime=0))
    for encoding, written in (("", text), ("base64", packed(text)), ("gzip+base64", zipped)):
        info = {"guestinfo.userdata": written} | ({"guestinfo.userdata.encoding": encoding} if encoding else {})
        yield Served("vmware", _plan("vsphere_virtual_machine", {"extra_config": info}), info)


def _of_azure(text: str) -> Iterator[Served]:
    """learn.microsoft.com, virtual machines, osProfile.customData: its base64 is CustomData of ovf-env.xml."""
    schema = "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"
    quoted = text.replace("'", "''")
    for written in (packed(text), f"[base64('{quoted}')]"):
        machine = {"type": "Microsoft.Compute/virtualMachines", "name": "vm"}
        machine["properties"] = {"osProfile": {"customData": written}}  # type: ignore[assignment]
        yield Served("azure", json.dumps({"$schema": schema, "resources": [machine]}), packed(text))
    yield Served("azure", _plan("azurerm_linux_virtual_machine", {"custom_data": packed(text)}), packed(text))


def _of_seeds(text: str) -> Iterator[Served]:
    """docs.cloud-init.io, NoCloud and Config drive: files of a folder, or of an image with a label."""
    seed = {"user-data": text.encode(), "meta-data": b"instance-id: i\n"}
    yield Served("nocloud", seed, seed)
    yield Served("nocloud", _image("cidata", seed), seed)
    above = "openstack/latest"
    drive = {f"{above}/meta_data.json": b'{"uuid": "u"}', f"{above}/user_data": text.encode()}
    for number, layer in (("", "vendor"), ("2", "vendor2")):
        drive[f"{above}/vendor_data{number}.json"] = json.dumps({"cloud-init": f"{text}\n# {layer}\n"}).encode()
    image = _image("config-2", drive)
    for layer, platform in (("user", "config-drive"), ("vendor", "config-drive vendor"),
                            ("vendor2", "config-drive vendor2")):  # fmt: skip
        yield Served(platform, image, drive, layer)


def _image(label: str, files: dict[str, bytes]) -> bytes:
    image, out = PyCdlib(), io.BytesIO()
    image.new(interchange_level=3, vol_ident=label, rock_ridge="1.09", joliet=3)
    made: dict[str, str] = {"": ""}
    for number, (name, content) in enumerate(files.items()):
        above = ""
        for step in name.split("/")[:-1]:
            path = f"{above}/{step}"
            if path not in made:
                made[path] = f"{made[above]}/D{len(made)}"
                image.add_directory(made[path], rr_name=step, joliet_path=path)
            above = path
        stem = name.rpartition("/")[2]
        image.add_fp(io.BytesIO(content), len(content), f"{made[above]}/F{number}.;1", rr_name=stem,
                     joliet_path=f"{above}/{stem}")  # fmt: skip
    image.write_fp(out)
    return out.getvalue()


def ours(case: Served) -> bytes | None:
    """What we take out of the document."""
    if not isinstance(case.document, dict):
        return _content(given_in(case.document), case.layer)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in case.document.items():
            (Path(folder) / name).write_bytes(content)
        return _content(given_in(Path(folder)), case.layer)


def _content(found: list[Given], layer: str) -> bytes | None:
    (one,) = found
    blobs = getattr(one, layer)
    content = blobs[0].content if blobs else None
    content = content.encode() if isinstance(content, str) else content
    is_zipped = content is not None and content[:2] == b"\x1f\x8b"
    return gzip.decompress(content) if content is not None and is_zipped else content


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.cloudinit_sources", description=__doc__)
    parser.add_argument("--source", type=Path, help="a folder with a cloudinit package (default: Debian's, fetched)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        libraries = fetched(Path(name))
        peer = Peer(*([options.source] if options.source else []), libraries)
        print(f"cloud-init {peer.version}")
        passed = failed = 0
        for case in cases():
            outcome, theirs = peer.ask("served", {"platform": case.platform, "served": case.served})
            mine = ours(case)
            if outcome == "ok" and theirs == mine:
                passed += 1
                continue
            failed += 1
            print(f"{case.platform} {str(case.document)[:300]}\n  {outcome} {theirs!r:.300}\n  we {mine!r:.300}")
        peer.close()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
