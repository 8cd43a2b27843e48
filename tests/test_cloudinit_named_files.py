"""User-data that lies in a file beside its document: what Terraform names, and what an image of a CD has."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs.cli import main
from nodeattrs.cloudinit import merge
from nodeattrs.core.budget import limited
from nodeattrs.dialects.cloudinit.inputs import Given, given_in
from nodeattrs.dialects.cloudinit.unpacking import blob_of
from nodeattrs.errors import NodeattrsError

TEXT = "#cloud-config\npackges: [a]\n"


def machine(folder: Path, value: str) -> Given:
    """What a resource with this user-data is given."""
    (folder / "sub").mkdir(exist_ok=True)
    (folder / "sub" / "u.yaml").write_text(TEXT)
    (folder / "main.tf").write_text(f'resource "aws_instance" "web" {{\n  user_data = {value}\n}}\n')
    (found,) = given_in(folder / "main.tf")
    return found


@pytest.mark.parametrize(
    "value",
    [
        'file("sub/u.yaml")',
        'file("./sub/u.yaml")',
        'file("${path.module}/sub/u.yaml")',
        'filebase64("${path.module}/sub/u.yaml")',
        'base64encode(file("sub/u.yaml"))',
        '"${file("${path.module}/sub/u.yaml")}"',
        'templatefile("${abspath(path.root)}/sub/u.yaml", { a = 1 })',
        'templatefile("sub/u.yaml", {\n    a = 1\n  })',
        'base64encode(templatefile(\n    "sub/u.yaml", {}\n  ))',
    ],
)
def test_the_file_that_terraform_names_is_read_with_its_lines(value: str, tmp_path: Path) -> None:
    given = machine(tmp_path, value)
    merged = merge(given.user)
    assert (given.unknown, merged.config) == ("", {"packges": ["a"]})
    assert str(merged.trace("packges").claims[0].origin).startswith(f"{tmp_path}/sub/u.yaml:2")


@pytest.mark.parametrize(
    "value",
    [
        'file("../u.yaml")',
        'file("sub/missing.yaml")',
        'file("sub/link.yaml")',
        'file("${var.folder}/u.yaml")',
        'file("sub/u.yaml") == "" ? "a" : "b"',
        'join("", [file("sub/u.yaml")])',
    ],
)
def test_a_file_outside_of_the_folder_or_of_an_unknown_name_is_unread(value: str, tmp_path: Path) -> None:
    outside = tmp_path / "u.yaml"
    outside.write_text(TEXT)
    folder = tmp_path / "module"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "link.yaml").symlink_to(outside)
    given = machine(folder, value)
    assert given.user == ()
    assert given.unknown.startswith("is made by an expression: ")


BICEP = """param init string = loadTextContent('./u.yaml')
var lines = '''
#cloud-config
packges: [a]
'''
var row = '#cloud-config\\npackges: [a] # it\\'s ${x} \\${Y}\\n'
resource vm 'Microsoft.Compute/virtualMachines@2021-11-01' = {
  properties: {
    osProfile: {
      customData: VALUE
    }
  }
}
"""


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("base64(lines)", "main.bicep:4"),
        ("init", "u.yaml:2"),
        ("loadFileAsBase64('u.yaml')", "u.yaml:2"),
        ("base64(row)", "part-001:2"),
        ("base64('''\n#cloud-config\npackges: [a]\n''')", "main.bicep:12"),
    ],
)
def test_the_user_data_of_bicep_is_read_with_its_lines(value: str, place: str, tmp_path: Path) -> None:
    (tmp_path / "u.yaml").write_text(TEXT)
    (tmp_path / "main.bicep").write_text(BICEP.replace("VALUE", value))
    (found,) = given_in(tmp_path / "main.bicep")
    merged = merge(found.user)
    assert (found.address, merged.config) == ("vm", {"packges": ["a"]})
    assert place in str(merged.trace("packges").claims[0].origin)


@pytest.mark.parametrize("value", ["format('{0}', x)", "concat(init, lines)", "unknown", "''"])
def test_an_expression_of_bicep_is_named(value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "main.bicep").write_text(BICEP.replace("VALUE", value))
    assert main(["cloud-config", "check", str(tmp_path / "main.bicep")]) == 5
    assert "is made by an expression of Bicep" in capsys.readouterr().out


def image(label: str, **files: str) -> bytes:
    """An image of a CD with these files, in the folders that `__` in their names says."""
    made = pytest.importorskip("pycdlib").PyCdlib()
    made.new(interchange_level=3, rock_ridge="1.09", vol_ident=label)
    for at, (name, text) in enumerate(files.items()):
        *folders, last = name.split("__")
        for depth in range(len(folders)):
            path = "".join(f"/{one.upper()}" for one in folders[: depth + 1])
            if at == 0:
                made.add_directory(path, rr_name=folders[depth])
        data = text.encode()
        above = "".join(f"/{one.upper()}" for one in folders)
        made.add_fp(io.BytesIO(data), len(data), f"{above}/F{at}.;1", rr_name=last)
    out = io.BytesIO()
    made.write_fp(out)
    return out.getvalue()


def written(folder: Path, content: bytes) -> Path:
    file = folder / "seed.iso"
    file.write_bytes(content)
    return file


def test_the_image_of_a_seed_is_read_like_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "user-data": f"{TEXT}hostname: a\n",
        "vendor-data": "#cloud-config\nv: 1\n",
        "meta-data": "instance-id: i\n",
    }
    (found,) = given_in(written(tmp_path, image("cidata", **files)))
    assert merge(found.user).config == {"packges": ["a"], "hostname": "a"}
    assert merge(found.vendor).config == {"v": 1}
    assert main(["cloud-config", "check", str(tmp_path / "seed.iso")]) == 1
    assert f"{tmp_path}/seed.iso/user-data:2:1: warning: packges" in capsys.readouterr().out


def test_a_template_in_an_image_has_the_meta_data_beside_it(tmp_path: Path) -> None:
    template = "## template: jinja\n#cloud-config\nhostname: {{ ds.meta_data.local_hostname }}\n"
    files = {"user-data": template, "meta-data": "instance-id: i\nlocal-hostname: h1\n"}
    (found,) = given_in(written(tmp_path, image("CIDATA", **files)))
    assert merge(found.user, instance_data=found.data).config == {"hostname": "h1"}


def test_the_drive_of_openstack_is_read(tmp_path: Path) -> None:
    (found,) = given_in(written(tmp_path, image("config-2", openstack__latest__user_data=TEXT)))
    assert merge(found.user).config == {"packges": ["a"]}


def test_an_image_without_user_data_and_a_broken_one_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = image("cidata", **{"user-data": TEXT})
    assert main(["cloud-config", "check", str(written(tmp_path, image("ubuntu", readme="x")))]) == 5
    assert main(["cloud-config", "check", str(written(tmp_path, whole[:0x8100]))]) == 1
    assert (
        main(
            ["cloud-config", "check", str(written(tmp_path, image("cidata", **{"user-data": TEXT, "meta-data": "[]"})))]
        )
        == 1
    )
    shown = capsys.readouterr().out
    assert "has no user-data for cloud-init" in shown
    assert "is a broken image of a CD" in shown
    assert "meta-data is a map" in shown


@settings(max_examples=60, deadline=None)
@given(st.integers(0x8000, 0xC000), st.binary(min_size=1, max_size=4))
def test_no_byte_of_an_image_ends_the_reading(at: int, written_there: bytes) -> None:
    """Any other error would be the failure."""
    content = bytearray(image("cidata", **{"user-data": TEXT}))
    content[at : at + len(written_there)] = written_there
    with contextlib.suppress(NodeattrsError):
        assert len(given_in(bytes(content))) == 1


def test_a_text_without_a_folder_reads_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(tmp_path, 'file("sub/u.yaml")')
    monkeypatch.chdir(tmp_path)
    (found,) = given_in((tmp_path / "main.tf").read_text())
    assert found.user == ()
    assert found.unknown


def test_the_folder_of_a_file_counts_and_not_the_name_that_messages_show(tmp_path: Path) -> None:
    machine(tmp_path, 'file("sub/u.yaml")')
    blob = blob_of(tmp_path / "main.tf")
    blob.file = "modules/main.tf"
    ((found,),) = [one.user for one in given_in(blob)]
    assert (found.content, found.file) == (TEXT.encode(), "modules/sub/u.yaml")


@pytest.mark.parametrize("name", ["a" * 300, "sub/" * 2_000, "a\0b", "main.tf/u.yaml"])
def test_a_name_that_no_file_can_have_is_unread(name: str, tmp_path: Path) -> None:
    assert machine(tmp_path, f'file("{name}")').unknown.startswith("is made by an expression: ")


def test_all_files_that_one_source_names_have_one_limit(tmp_path: Path) -> None:
    rows = (f'resource "aws_instance" "w{number}" {{\n  user_data = file("u.yaml")\n}}\n' for number in range(30))
    (tmp_path / "main.tf").write_text("".join(rows))
    (tmp_path / "u.yaml").write_text(TEXT + "#" * 1_000)
    with limited(bytes=4_000), pytest.raises(NodeattrsError, match="the sum of the named files is larger than 4000"):
        given_in(tmp_path / "main.tf")


def test_resources_that_share_a_large_variable_have_one_limit() -> None:
    value = "customData: x\n" * 30
    with limited(bytes=4_000), pytest.raises(NodeattrsError, match="is larger than 4000"):
        given_in(f"var x = '''\n{'a' * 1_000}\n'''\nresource v 'Microsoft.x'\n{value}")


@pytest.mark.parametrize("meta", ["", "# none\n"])
def test_an_image_may_have_empty_meta_data(meta: str, tmp_path: Path) -> None:
    (found,) = given_in(written(tmp_path, image("cidata", **{"user-data": TEXT, "meta-data": meta})))
    assert merge(found.user).config == {"packges": ["a"]}
    assert found.data is not None


def test_of_the_vendor_data_of_openstack_what_is_under_cloud_init_is_read(tmp_path: Path) -> None:
    files = {
        "openstack__latest__user_data": TEXT,
        "openstack__latest__vendor_data.json": '{"cloud-init": "#cloud-config\\nv: 1\\n", "other": 2}',
        "openstack__latest__vendor_data2.json": '{"cloud-init": "#cloud-config\\nv: 2\\n"}',
    }
    (found,) = given_in(written(tmp_path, image("config-2", **files)))
    assert [merge(blobs).config for blobs in (found.vendor, found.vendor2)] == [{"v": 1}, {"v": 2}]
