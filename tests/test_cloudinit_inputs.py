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
from nodeattrs.dialects.cloudinit.inputs import choose_machine

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
            {"extra_config": {"guestinfo.userdata": packed(zipped=True), "guestinfo.userdata.encoding": "gzip+base64"}},
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

    @pytest.mark.parametrize(
        ("values", "content"),
        [
            ({"metadata": {"user-data": packed()}}, packed()),
            ({"metadata": {"user-data": packed("any"), "user-data-encoding": "base64"}}, b"any"),
            ({"config": {"cloud-init.user-data": packed()}}, packed()),
            ({"extra_config": {"guestinfo.userdata": packed()}}, packed()),
            ({"extra_config": {"guestinfo.userdata": "#cloud-config\na: |\n  b\n\n"}}, "#cloud-config\na: |\n  b"),
            ({"custom_data": packed("any")}, b"any"),
        ],
    )
    def test_base64_is_unpacked_where_the_platform_or_the_data_source_does_it(
        self, values: dict[str, Any], content: str | bytes
    ) -> None:
        """`python -m tests.oracles.cloudinit_sources` asks the data sources."""
        (one,) = given_in(plan(("any_machine.x", values)))
        assert one.user[0].content == content

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

    def test_a_droplet_has_its_user_data_as_it_is(self) -> None:
        """Source: cloud-init, DataSourceDigitalOcean, which unpacks no base64."""
        (one,) = given_in(plan(("digitalocean_droplet.x", {"user_data": packed()})))
        assert one.user[0].content == packed()

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

    @pytest.mark.parametrize("other", ["name: {{ .Values.name }}\n", "a: [\n", "\ta: 1\n"])
    def test_a_broken_document_that_has_no_user_data_does_not_matter(self, other: str) -> None:
        secret = SECRET % (packed("cloud-config"), packed())
        for text in (f"{other}---\n{secret}", f"{secret}---\n{other}"):
            (one,) = given_in(text)
            line = text[: text.index("  value: ")].count("\n") + 1
            assert (one.address, one.origin.line, config_of(one)) == ("prod/web-0", line, {"packages": ["vim"]})

    def test_a_broken_secret_beside_a_secret_is_an_error_at_its_line(self) -> None:
        text = f"{SECRET % (packed('cloud-config'), packed())}---\nkind: Secret\ndata: [\n"
        with pytest.raises(CloudConfigError, match=r"user-data:1[0-9]"):
            given_in(text)

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

    @pytest.mark.parametrize(
        ("text", "hostname"),
        [
            ("{{ ds.meta_data.local_hostname }}", "web.example.org"),
            ("{{ ds['meta_data']['local-hostname'] }}", "web.example.org"),
            ("{{ v1.local_hostname }}-{{ instance_id }}", "web-i1"),
            ("{{ ds.meta_data.zone | default('none') }}{% set a = 1 %}{{ a }}{{ range(2) | list | length }}", "none12"),
        ],
    )
    def test_templates_are_rendered_with_the_meta_data_of_their_folder(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, hostname: str
    ) -> None:
        (tmp_path / "user-data").write_text(f"## template: jinja\n#cloud-config\nhostname: {text}\n")
        (tmp_path / "meta-data").write_text("instance-id: i1\nlocal-hostname: web.example.org\n")
        assert main(["cloud-config", "merge", str(tmp_path), "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"hostname": hostname}

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("{{ v1.distro }}", "v1.distro"),
            ("{% if distro == 'ubuntu' %}a{% else %}b{% endif %}", "distro"),
            ("{% for key in v1 %}{{ key }}{% endfor %}", "v1"),
            ("{{ ds[ds.meta_data.kind] }}", "ds"),
            ("{{ v1.region | default('here') }}", "v1.region"),
        ],
    )
    def test_a_template_that_asks_for_more_than_the_meta_data_say_is_an_unknown_layer(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, name: str
    ) -> None:
        (tmp_path / "user-data").write_text(f"## template: jinja\n#cloud-config\nhostname: {text}\n")
        (tmp_path / "meta-data").write_text("instance-id: i1\n")
        assert main(["cloud-config", "merge", str(tmp_path)]) == 5
        assert f"asks for {name}, which the meta-data do not say" in capsys.readouterr().err

    def test_meta_data_may_be_named_as_instance_data(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        template, data = tmp_path / "a.yaml", tmp_path / "meta-data"
        template.write_text("## template: jinja\n#cloud-config\nhostname: {{ ds.meta_data.name }}\n")
        for text in ("name: h\n", '{"instance-id": "i", "name": "h"}'):
            data.write_text(text)
            assert main(["cloud-config", "merge", str(template), "--instance-data", str(data), "--format", "json"]) == 0
            assert json.loads(capsys.readouterr().out) == {"hostname": "h"}

    @pytest.mark.parametrize(
        ("name", "text", "place"),
        [
            ("meta-data", "instance-id i\n  name: [\n", "2:"),
            ("meta-data", "- a\n", "1:"),
            ("network-config", "version: 3\n", "1:"),
            ("network-config", "network:\n  version: 2\n  ethernets: oops\n", "3:"),
            ("network-config", "version: 1\nconfig: {}\n", "2:"),
            ("network-config", "a: [\n", "2:"),
        ],
    )
    def test_check_names_what_is_broken_beside_user_data(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, place: str
    ) -> None:
        (tmp_path / "user-data").write_text(TEXT)
        (tmp_path / name).write_text(text)
        assert main(["cloud-config", "check", str(tmp_path)]) == 1
        assert f"{name}:{place}" in capsys.readouterr().out

    @pytest.mark.parametrize(
        "files",
        [
            {"meta-data": "", "network-config": "version: 2\nethernets: {eth0: {dhcp4: true}}\n"},
            {"meta-data": '{"instance-id": "i"}', "network-config": "version: 1\nconfig: [{type: physical, name: a}]"},
            {"network-config": "network: {version: 2}\n"},
        ],
    )
    def test_check_passes_a_folder_that_is_sound(self, tmp_path: Path, files: dict[str, str]) -> None:
        for name, text in {"user-data": TEXT, **files}.items():
            (tmp_path / name).write_text(text)
        assert main(["cloud-config", "check", str(tmp_path)]) == 0

    def test_meta_data_and_network_config_are_known_by_their_names(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        files = [tmp_path / "meta-data", tmp_path / "network-config"]
        for file in files:
            file.write_text("x: 1\n")
        assert main(["cloud-config", "check", "--each", *map(str, files)]) == 1
        out = capsys.readouterr().out
        assert "begin it with" not in out
        assert out.count("name the user-data beside it") == 2

    def test_an_empty_folder_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(CloudConfigError, match="without files"):
            given_in(tmp_path)


class TestOtherForms:
    @pytest.mark.parametrize(
        ("resource", "later"),
        [
            (("xenorchestra_vm.x", {"cloud_config": TEXT}), {}),
            (("foo_thing.x", {"startup": [{"script": packed()}]}), {}),
            (("lxd_instance.x", {}), {"config": True}),
            (("linode_instance.x", {}), {"metadata": [{"user_data": True}]}),
            (("linode_instance.x", {}), {"metadata": True}),
        ],
    )
    def test_what_may_be_user_data_under_any_key_is_an_unknown_layer(
        self, resource: tuple[str, dict[str, Any]], later: dict[str, Any]
    ) -> None:
        change = {"address": resource[0], "change": {"after_unknown": later}}
        (one,) = given_in(plan(resource, resource_changes=[change]))
        assert (one.address, bool(one.unknown)) == (resource[0], True)

    def test_what_is_no_machine_may_have_metadata_that_come_later(self) -> None:
        change = {"address": "helm_release.x", "change": {"after_unknown": {"metadata": True}}}
        text = plan(("helm_release.x", {}), ("a.y", {"user_data": TEXT}), resource_changes=[change])
        assert [one.address for one in given_in(text)] == ["a.y"]


class TestLxd:
    """Profiles and instances of LXD and Incus: of two that have one key the later counts."""

    BASE = "name: default\ndevices: {}\nconfig:\n  cloud-init.user-data: |\n    #cloud-config\n    a: 1\n"
    VENDOR = "name: v\ndevices: {}\nconfig: {user.vendor-data: '#cloud-config\n\n    v: 1'}\n"
    OWN = "name: own\ndevices: {}\nconfig:\n  user.user-data: |\n    #cloud-config\n    b: 2\n"
    LATER = "name: me\ndevices: {}\nconfig:\n  cloud-init.user-data: |\n    #cloud-config\n    c: 3\n"
    EMPTY = "name: e\ndevices: {root: {type: disk}}\nconfig: {}\n"
    INSTANCE = (
        '{"name": "i", "devices": {}, "config": {}, "expanded_config": {"user.user-data": "#cloud-config\\nd: 4"}}'
    )
    PRESEED = (
        "config: {}\nprofiles:\n- name: p\n  devices: {}\n  config: {user.user-data: '#cloud-config\n\n    e: 5'}\n"
    )

    @pytest.mark.parametrize(
        ("texts", "config"),
        [
            ([BASE], {"a": 1}),
            ([BASE, LATER], {"c": 3}),
            ([BASE, VENDOR], {"a": 1, "v": 1}),
            ([VENDOR, BASE], {"a": 1, "v": 1}),
            ([BASE, OWN], {"a": 1}),
            ([EMPTY, OWN], {"b": 2}),
            ([BASE, EMPTY], {"a": 1}),
            ([VENDOR], {"v": 1}),
            ([INSTANCE], {"d": 4}),
            ([PRESEED], {"e": 5}),
        ],
    )
    def test_profiles_and_an_instance_of_lxd_are_one_machine(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], texts: list[str], config: dict[str, int]
    ) -> None:
        files = [tmp_path / f"{index}.yaml" for index in range(len(texts))]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text)
        assert main(["cloud-config", "merge", *map(str, files), "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out) == config

    def test_what_stands_before_and_after_them_keeps_its_place(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        texts = ["#cloud-config\nx: 1\nc: 0\n", self.BASE, self.LATER, "#cloud-config\ny: 2\nc: 4\n"]
        files = [tmp_path / f"{index}.yaml" for index in range(len(texts))]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text)
        assert main(["cloud-config", "merge", *map(str, files), "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"x": 1, "c": 4, "y": 2}

    def test_one_without_user_data_alone_is_an_error(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "e.yaml").write_text(self.EMPTY)
        assert main(["cloud-config", "check", str(tmp_path / "e.yaml")]) == 1
        assert "no user-data is in it" in capsys.readouterr().out


class TestVendorData:
    def test_openstack_keeps_it_under_a_key(self) -> None:
        assert [[]] * 3 == [vendor_in(Blob(json.dumps({"cloud-init": one}))) for one in (5, True, {"k": TEXT})]
        assert [blob.content for blob in vendor_in(Blob(json.dumps({"cloud-init": TEXT})))] == [TEXT]
        assert [blob.content for blob in vendor_in(Blob(json.dumps({"cloud-init": [TEXT, "x"]})))] == [TEXT, "x"]

    def test_json_without_that_key_is_none(self) -> None:
        assert vendor_in(Blob('{"other": 1}')) == []


class TestOneOfSeveral:
    def test_one_of_several_machines_is_chosen_by_its_address(self) -> None:
        found = given_in(plan(("a.x", {"user_data": TEXT}), ("a.y", {"user_data": TEXT})))
        assert choose_machine(found, "a.y").address == "a.y"
        with pytest.raises(CloudConfigError, match=r"several machines: a\.x, a\.y"):
            choose_machine(found)
        with pytest.raises(CloudConfigError, match="nothing called z"):
            choose_machine(found, "z")

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
        assert "it cannot be read" in capsys.readouterr().err

    def test_the_command_line_asks_for_it(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = tmp_path / "plan.json"
        file.write_text(plan(("a.x", {"user_data": TEXT}), ("a.y", {"user_data": "#cloud-config\nb: 1\n"})))
        assert main(["cloud-config", "merge", str(file)]) == 1
        assert "a.x, a.y" in capsys.readouterr().err
        assert main(["cloud-config", "merge", str(file), "--resource", "a.y"]) == 0
        assert capsys.readouterr().out == "#cloud-config\nb: 1\n"
