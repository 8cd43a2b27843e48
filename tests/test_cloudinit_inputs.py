"""User-data as people have it is read as what it packs, machine by machine."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.cli import main
from nodeattrs.cloudinit import Blob, CloudConfigError, Given, given_in, merge, vendor_in
from nodeattrs.dialects.cloudinit.inputs import one_of

TEXT = "#cloud-config\npackages: [vim]\n"


def packed(text: str = TEXT, zipped: bool = False) -> str:
    data = text.encode()
    return base64.b64encode(gzip.compress(data, mtime=0) if zipped else data).decode()


def config_of(given: Given) -> Any:
    return merge(given.user).config


def plan(*resources: tuple[str, dict[str, Any]], **more: Any) -> str:
    rows = [{"address": address, "type": address.split(".")[0], "values": values} for address, values in resources]
    return json.dumps({"format_version": "1.2", "planned_values": {"root_module": {"resources": rows}}, **more})


class TestBase64:
    @pytest.mark.parametrize("zipped", [False, True])
    def test_what_terraform_packs_by_default_is_unpacked(self, zipped: bool) -> None:
        (one,) = given_in(packed(zipped=zipped))
        assert config_of(one) == {"packages": ["vim"]}

    def test_base64_of_something_else_stays_as_it_is(self) -> None:
        text = packed("hello")
        (one,) = given_in(text)
        assert one.user[0].content == text

    def test_lines_in_base64_may_be_broken(self) -> None:
        text = base64.encodebytes((TEXT * 1 + "a: " + "x" * 200).encode()).decode()
        assert config_of(given_in(text)[0])["packages"] == ["vim"]

    def test_a_line_of_what_was_packed_is_not_one_of_the_file(self, tmp_path: Path) -> None:
        file = tmp_path / "user-data"
        file.write_text(packed())
        merged = merge(given_in(file)[0].user)
        assert [str(at) for at in merged.origins("packages")] == [f"part-001:2 (part of {file.as_posix()})"]


class TestTerraform:
    def test_each_resource_is_a_machine_by_its_address(self) -> None:
        text = plan(
            ("aws_instance.web", {"user_data": TEXT}), ("azurerm_linux_virtual_machine.db", {"custom_data": packed()})
        )
        found = given_in(text)
        assert [one.address for one in found] == ["aws_instance.web", "azurerm_linux_virtual_machine.db"]
        assert [config_of(one) for one in found] == [{"packages": ["vim"]}] * 2

    def test_resources_of_modules_in_modules_are_found(self) -> None:
        row = {"address": "module.a.module.b.hcloud_server.x", "type": "hcloud_server", "values": {"user_data": TEXT}}
        tree = {"child_modules": [{"child_modules": [{"resources": [row]}]}]}
        (one,) = given_in(json.dumps({"format_version": "1.0", "values": {"root_module": tree}}))
        assert one.address == "module.a.module.b.hcloud_server.x"

    @pytest.mark.parametrize(
        "values",
        [
            {"user_data": TEXT},
            {"user_data_base64": packed()},
            {"metadata": {"user-data": TEXT}},
            {"metadata": {"user_data": packed()}},
            {"extra_config": {"guestinfo.userdata": packed(zipped=True)}},
            {"metadata": [{"user_data": packed()}]},
            {"config": {"cloud-init.user-data": TEXT}},
            {"config": {"user.user-data": TEXT}},
            {"user_data": {"cloud-init": TEXT}},
            {"deploy_params": [{"user_data": packed()}]},
            {"source_raw": [{"data": TEXT, "file_name": "u.yaml"}]},
            {"custom_data": packed(), "user_data": packed("anything")},
            {"user_data": "a" * 40, "user_data_base64": packed()},
        ],
    )
    def test_every_cloud_has_a_word_of_its_own(self, values: dict[str, Any]) -> None:
        (one,) = given_in(plan(("any_machine.x", values)))
        assert config_of(one) == {"packages": ["vim"]}

    def test_a_config_that_a_machine_is_given_is_that_machine_s(self) -> None:
        text = plan(("cloudinit_config.c", {"rendered": packed()}), ("aws_instance.web", {"user_data": packed()}))
        assert [one.address for one in given_in(text)] == ["aws_instance.web"]

    def test_a_config_that_no_machine_has_is_there_too(self) -> None:
        row = {
            "address": "data.cloudinit_config.c",
            "mode": "data",
            "type": "cloudinit_config",
            "values": {"rendered": packed()},
        }
        prior = {"values": {"root_module": {"resources": [row]}}}
        (one,) = given_in(plan(prior_state=prior))
        assert one.address == "data.cloudinit_config.c"

    def test_what_is_known_after_it_is_applied_is_unknown(self) -> None:
        changes = [{"address": "aws_instance.web", "change": {"after_unknown": {"user_data": True}}}]
        (one,) = given_in(plan(("aws_instance.web", {}), resource_changes=changes))
        assert (one.user, one.unknown) == ((), "is known after the plan is applied")

    def test_a_hash_is_unknown(self) -> None:
        (one,) = given_in(plan(("aws_instance.web", {"user_data": "a" * 40})))
        assert one.unknown == "only its hash is there"

    def test_it_is_said_on_which_line_a_resource_gives_it(self, tmp_path: Path) -> None:
        file = tmp_path / "plan.json"
        text = json.dumps(json.loads(plan(("aws_instance.web", {"user_data": TEXT}))), indent=1)
        file.write_text(text)
        line = next(number for number, row in enumerate(text.splitlines(), 1) if '"user_data"' in row)
        assert given_in(file)[0].origin.line == line

    @pytest.mark.parametrize(
        "values",
        [
            {"launch_specification": [{"user_data": TEXT}]},
            {"cicustom": "user=local:snippets/u.yaml"},
            {"initialization": [{"custom-data": TEXT}]},
        ],
    )
    def test_user_data_in_a_form_that_is_not_known_is_unknown(self, values: dict[str, Any]) -> None:
        (one,) = given_in(plan(("any_machine.x", values)))
        assert (one.address, one.unknown) == ("any_machine.x", "is written in a form that is not read here")

    @pytest.mark.parametrize(
        "values",
        [{"user_data": "", "user_data_replace_on_change": "x"}, {"cloudinit": "/var/a.iso"}, {"user_data_id": "5"}],
    )
    def test_a_key_that_only_looks_like_user_data_is_none(self, values: dict[str, Any]) -> None:
        with pytest.raises(CloudConfigError):
            given_in(plan(("any_machine.x", values)))

    def test_vendor_data_of_lxd_lies_below_its_user_data(self) -> None:
        config = {"cloud-init.user-data": TEXT, "cloud-init.vendor-data": "#cloud-config\nv: 1\n"}
        (one,) = given_in(plan(("lxd_instance.x", {"config": config})))
        assert (config_of(one), merge(one.vendor).config) == ({"packages": ["vim"]}, {"v": 1})

    def test_a_config_that_is_rendered_later_has_its_parts_in_the_plan(self) -> None:
        parts = [
            {"content": TEXT, "content_type": "text/cloud-config", "filename": "a", "merge_type": None},
            {"content": "#cloud-config\npackages: [git]\n", "content_type": None, "filename": None,
             "merge_type": "list(append)+dict(recurse_list)"},
        ]  # fmt: skip
        (one,) = given_in(plan(("cloudinit_config.c", {"part": parts})))
        assert config_of(one) == {"packages": ["vim", "git"]}

    def test_a_plan_without_user_data_is_an_error(self) -> None:
        with pytest.raises(CloudConfigError, match="no user-data is in it"):
            given_in(plan(("aws_instance.web", {})))

    def test_text_that_only_looks_like_json_is_text(self) -> None:
        (one,) = given_in("{ not: json")
        assert one.user[0].content == "{ not: json"

    def test_odd_addresses_are_none(self) -> None:
        rows = [{"address": {"a": 1}, "values": {"user_data": TEXT}}, "x", {"values": 5}]
        with pytest.raises(CloudConfigError):
            given_in(json.dumps({"format_version": "1", "values": {"root_module": {"resources": rows}}}))

    def test_a_resource_without_values_may_have_user_data_later(self) -> None:
        changes = [{"address": "a.x", "change": {"after_unknown": {"user_data": True}}}]
        tree = {"root_module": {"resources": [{"address": "a.x", "type": "a"}, {"address": "a.y", "values": None}]}}
        text = json.dumps({"format_version": "1.2", "planned_values": tree, "resource_changes": changes})
        assert [one.unknown for one in given_in(text)] == ["is known after the plan is applied"]

    def test_half_of_a_surrogate_pair_is_no_base64(self) -> None:
        assert given_in("\ud800")[0].user[0].content == "\ud800"


SECRET = """\
apiVersion: v1
kind: ConfigMap
data: {value: x}
---
apiVersion: v1
kind: Secret
metadata: {name: web-0, namespace: prod}
type: cluster.x-k8s.io/secret
data:
  format: %s
  value: %s
"""


class TestSecrets:
    def test_a_bootstrap_secret_of_cluster_api_is_one_machine(self) -> None:
        (one,) = given_in(SECRET % (packed("cloud-config"), packed()))
        assert (one.address, one.origin.line, config_of(one)) == ("prod/web-0", 11, {"packages": ["vim"]})

    def test_ignition_is_not_ours(self) -> None:
        (one,) = given_in(SECRET % (packed("ignition"), packed("{}")))
        assert one.unknown == "is for Ignition, not for cloud-init"

    def test_a_list_of_secrets_is_several_machines(self) -> None:
        rows = [{"kind": "Secret", "metadata": {"name": name}, "stringData": {"userData": TEXT}} for name in ("a", "b")]
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": rows})
        assert [one.address for one in given_in(text)] == ["a", "b"]

    def test_a_cloud_config_that_writes_a_secret_is_a_cloud_config(self) -> None:
        text = "#cloud-config\nwrite_files:\n- content: |\n    apiVersion: v1\n    kind: Secret\n"
        (one,) = given_in(text)
        assert one.address == ""
        assert one.user[0].content == text


class TestFolders:
    def test_a_folder_of_files_is_read_in_the_order_of_their_names(self, tmp_path: Path) -> None:
        for name in ("b.yaml", "a.yaml", ".hidden"):
            (tmp_path / name).write_text(f"#cloud-config\nwho: {name}\n")
        (one,) = given_in(tmp_path)
        assert [Path(str(blob.file)).name for blob in one.user] == ["a.yaml", "b.yaml"]

    @pytest.mark.parametrize("end", ["", ".txt"])
    def test_a_folder_of_one_machine_has_its_vendor_data_beside(self, tmp_path: Path, end: str) -> None:
        (tmp_path / f"user-data{end}").write_text(TEXT)
        (tmp_path / f"vendor-data{end}").write_text("#cloud-config\na: 1\n")
        (tmp_path / "meta-data").write_text("instance-id: i\n")
        (one,) = given_in(tmp_path)
        assert (len(one.user), len(one.vendor), one.vendor2) == (1, 1, ())

    def test_an_empty_folder_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(CloudConfigError, match="without files"):
            given_in(tmp_path)


class TestVendorData:
    def test_openstack_keeps_it_under_a_key(self) -> None:
        assert [blob.content for blob in vendor_in(Blob(json.dumps({"cloud-init": TEXT})))] == [TEXT]
        assert [blob.content for blob in vendor_in(Blob(json.dumps({"cloud-init": [TEXT, "x"]})))] == [TEXT, "x"]

    def test_json_without_that_key_is_none(self) -> None:
        assert vendor_in(Blob('{"other": 1}')) == []


class TestOneOfSeveral:
    def test_it_is_named_by_its_address(self) -> None:
        found = given_in(plan(("a.x", {"user_data": TEXT}), ("a.y", {"user_data": TEXT})))
        assert one_of(found, "a.y").address == "a.y"
        with pytest.raises(CloudConfigError, match=r"several machines: a\.x, a\.y"):
            one_of(found)
        with pytest.raises(CloudConfigError, match="nothing called z"):
            one_of(found, "z")

    def test_one_that_nobody_can_read_is_an_unknown_layer(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file, base = tmp_path / "plan.json", tmp_path / "base.yaml"
        file.write_text(plan(("a.x", {"user_data": "a" * 40})))
        base.write_text(TEXT)
        assert main(["cloud-config", "merge", str(base), str(file)]) == 5
        assert "only its hash is there" in capsys.readouterr().err
        assert main(["cloud-config", "merge", str(base), str(file), "--strict"]) == 1
        assert main(["cloud-config", "merge", str(base), str(file), "--format", "mime"]) == 1
        assert "nobody can read it" in capsys.readouterr().err

    def test_the_command_line_asks_for_it(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = tmp_path / "plan.json"
        file.write_text(plan(("a.x", {"user_data": TEXT}), ("a.y", {"user_data": "#cloud-config\nb: 1\n"})))
        assert main(["cloud-config", "merge", str(file)]) == 1
        assert "a.x, a.y" in capsys.readouterr().err
        assert main(["cloud-config", "merge", str(file), "--resource", "a.y"]) == 0
        assert capsys.readouterr().out == "#cloud-config\nb: 1\n"
