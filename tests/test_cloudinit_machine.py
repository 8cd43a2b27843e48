"""A whole machine: switches of vendor-data, releases, kernel command lines, odd files, and what it differs in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.cli import main
from nodeattrs.cloudinit import (
    CloudConfigError,
    InstanceData,
    config_of_cmdline,
    kind_of,
    merge,
    merge_confd,
    merge_layers,
    read_confd,
    read_instance,
    release_of,
    url_of_cmdline,
)
from nodeattrs.errors import BadArgument

VENDOR = "#cloud-config\nvendor: 1\n"


class TestSwitches:
    @pytest.mark.parametrize(
        ("switch", "is_read"),
        [
            ("vendor_data: {enabled: true}", True),
            ("vendor_data: {enabled: 'on'}", True),
            ("vendor_data: {prefix: [x]}", True),
            ("vendor_data: {enabled: false}", False),
            ("vendor_data: {enabled: nope}", False),
            ("vendor_data: no", False),
            ("vendor_data: [x]", False),
            ("vendor_data: {disabled_handlers: [text/cloud-config]}", False),
            ("vendor_data: {disabled_handlers: [text/x-shellscript]}", True),
            ("vendor_data: {disabled_handlers: text/cloud-config-archive}", False),
            ("vendor_data2: {enabled: false}", True),
        ],
    )
    def test_a_stronger_layer_turns_vendor_data_off(self, switch: str, is_read: bool):
        """A text of types is searched for them, as in cloud-init."""
        merged = merge_layers(user=merge([f"#cloud-config\n{switch}"]), vendor=merge([VENDOR]))
        assert ("vendor" in merged.value) is is_read
        assert ("disabled" in [part.status for part in merged.parts]) is not is_read

    @pytest.mark.parametrize("layer", ["confd", "runtime", "cmdline", "env", "builtin"])
    def test_each_layer_of_the_system_may(self, layer: str):
        """Whoever made the image does, too."""
        layers: dict[str, Any] = {layer: "vendor_data2: {enabled: false}"}
        merged = merge_layers(vendor=merge([VENDOR]), vendor2=merge(["#cloud-config\nvendor: 2\n"]), **layers)
        assert merged.value["vendor"] == 1

    def test_user_data_may_be_off(self):
        """Its switches with it."""
        user = merge(["#cloud-config\na: 1\nvendor_data: {enabled: false}"])
        merged = merge_layers(user=user, vendor=merge([VENDOR]), confd="allow_userdata: no")
        assert merged.value == {"vendor": 1, "allow_userdata": False}

    def test_only_parts_of_the_types_are_left_out(self):
        """The others are merged as if they had not been there."""
        vendor = merge(["#cloud-config\na: 1", '#cloud-config-jsonp\n[{"op": "add", "path": "/b", "value": 1}]'])
        switch = "vendor_data: {disabled_handlers: [text/cloud-config-jsonp]}"
        merged = merge_layers(user=merge([f"#cloud-config\n{switch}"]), vendor=vendor)
        assert merged.value["a"] == 1
        assert "b" not in merged.value

    def test_a_template_is_merged_where_another_type_is_left_out(self):
        """Rendered once more, with its lines."""
        data = InstanceData({"v1": {"region": "eu"}})
        vendor = merge(["## template: jinja\n#cloud-config\na: {{ v1.region }}", "#!/bin/sh\n"], instance_data=data)
        switch = "vendor_data: {disabled_handlers: [text/x-shellscript]}"
        merged = merge_layers(user=merge([f"#cloud-config\n{switch}"]), vendor=vendor, instance_data=data)
        assert (merged.value["a"], merged.parts[2].status) == ("eu", "disabled")

    @pytest.mark.parametrize("disabled", ["[text/x-include-url, text/cloud-config]", "5"])
    def test_an_include_stays_an_unknown_layer(self, disabled: str):
        """It is followed before any type is left out, and may lead to a config or to nothing."""
        vendor = merge(["#include\nhttp://none.invalid/x\n"])
        merged = merge_layers(user=f"vendor_data: {{disabled_handlers: {disabled}}}", vendor=vendor)
        assert [2] == list(merged.unknown)

    def test_a_setting_at_which_cloud_init_stops_is_an_error(self):
        """It asks a number whether it holds a type."""
        with pytest.raises(CloudConfigError) as caught:
            merge_layers(user="vendor_data: {disabled_handlers: 5}", vendor=merge([VENDOR]))
        assert caught.value.kind == "vendor-switch"


class TestReleases:
    def test_a_release_that_is_not_known_is_refused(self):
        """With those that are."""
        with pytest.raises(BadArgument, match=r"20\.1"):
            merge(["#cloud-config\na: 1"], cloud_init="20.1")
        with pytest.raises(BadArgument):
            release_of("")

    @pytest.mark.parametrize(("release", "noted"), [("22.4", False), ("23.1", False), ("23.4", True), ("26.2", True)])
    def test_the_merged_file_notes_rejected_parts_since_23_3(self, release: str, noted: bool):
        merged = merge(["#cloud-config\na: ["], cloud_init=release)
        assert ("SCHEMA_ERROR" in merged.text) is noted

    def test_each_has_its_built_in_values(self):
        sources = [release_of(name).builtin["datasource_list"] for name in ("22.4", "23.4", "24.1", "26.2")]
        assert [len(names) for names in sources] == [28, 29, 30, 31]
        assert all(names[0] == "NoCloud" and names[-1] == "None" for names in sources)

    def test_the_command_line_asks_for_them(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        file = tmp_path / "a.yaml"
        file.write_text("#cloud-config\na: !!python/unicode x\n")
        assert main(["cloud-config", "merge", str(file), "--cloud-init", "22.4", "--builtin", "22.4"]) == 0
        out = capsys.readouterr().out
        assert "a: x" in out
        assert "def_log_file: /var/log/cloud-init.log" in out


class TestCommandLine:
    @pytest.mark.parametrize(
        ("line", "new", "old"),
        [
            ("root=UUID=1 ro quiet", "", ""),
            ("ifname=net0:52:54:00:cc:ab:cd", "", "ab:cd"),
            ("ro cc: a: 1 end_cc quiet", "a: 1 ", "a: 1 "),
            ("cc:a: 1", "a: 1", "a: 1"),
            ("cc:a:%201 end_cc cc:b: 2", "a: 1 \nb: 2", "a: 1 \nb: 2"),
            ("cc:a: 1 end_ccx cc:b: 1", "a: 1 \nb: 1", "a: 1 \nb: 1"),
        ],
    )
    def test_a_config_begins_a_word_since_23_4(self, line: str, new: str, old: str):
        assert (config_of_cmdline(line), config_of_cmdline(line, "22.4")) == (new, old)

    def test_an_ordinary_one_is_empty(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        """As /proc/cmdline of most machines is, and no fault."""
        (tmp_path / "a.yaml").write_text("#cloud-config\na: 1\n")
        (tmp_path / "cmdline").write_text("root=UUID=1 ro quiet\n")
        words = [str(tmp_path / "a.yaml"), "--cmdline", str(tmp_path / "cmdline")]
        assert main(["cloud-config", "merge", *words]) == 0
        assert capsys.readouterr() == ("#cloud-config\na: 1\n", "")

    def test_a_config_url_of_the_kernel_command_line_is_an_unknown_layer(self):
        """Unless it is among the files already."""
        url = url_of_cmdline("ro cloud-config-url=http://10.0.0.1/c quiet")
        merged = merge_layers(user="a: 1", config_url=url)
        assert [layer.value.reason for layer in merged.unknown.values()] == ["it is fetched from http://10.0.0.1/c"]
        there = merge_confd("b: 1", {"91_kernel_cmdline_url.cfg": "a: 2"})
        assert not merge_layers(user="a: 1", config_url=url, confd=there).unknown


class TestOddFiles:
    @pytest.mark.parametrize("text", ["", "# later\n", "---\n", "null\n"])
    def test_a_conf_d_file_without_a_word_is_empty(self, text: str):
        merged = merge_confd("a: 1", {"10.cfg": text})
        assert (merged.ok, [part.status for part in merged.parts]) == (True, ["merged", "empty"])

    @pytest.mark.parametrize("named", ["5", "true", "[x]", "{a: b}"])
    def test_a_folder_that_is_no_text_is_an_error(self, named: str):
        with pytest.raises(CloudConfigError, match="conf_d"):
            merge_confd(f"conf_d: {named}", {"10.cfg": "a: 1"})

    @pytest.mark.parametrize("named", ["''", "null", "false", "0"])
    def test_none_is_read_where_it_is_nothing(self, named: str):
        assert "a" not in merge_confd(f"conf_d: {named}", {"10.cfg": "a: 1"}).value

    def test_a_folder_without_a_main_file_is_read(self, tmp_path: Path):
        (tmp_path / "cloud.cfg.d").mkdir()
        (tmp_path / "cloud.cfg.d" / "10.cfg").write_text("a: 1")
        assert read_confd(tmp_path / "cloud.cfg").config == {"a": 1}

    @pytest.mark.parametrize(
        ("text", "kind"),
        [(b"a: caf\xe9", "encoding"), (b"a: !!bool maybe", "value"), (b"## template: odd\n", "template")],
    )
    def test_at_these_cloud_init_stops(self, tmp_path: Path, text: bytes, kind: str):
        from nodeattrs.cloudinit import InstanceData

        (tmp_path / "cloud.cfg").write_bytes(text)
        with pytest.raises(CloudConfigError) as caught:
            read_confd(tmp_path / "cloud.cfg", instance_data=InstanceData({"a": 1}))
        assert (caught.value.kind, caught.value.file) == (kind, (tmp_path / "cloud.cfg").as_posix())

    @pytest.mark.parametrize(
        ("data", "status"),
        [
            (b"#!/bin/sh\necho caf\xe9\n", "script"),
            (b"#cloud-boothook\n\xe9", "script"),
            (b"#cloud-config\na: caf\xe9\n", "rejected"),
            (b"\xe9", "ignored"),
        ],
    )
    def test_a_byte_of_latin_1_hides_no_first_line(self, data: bytes, status: str):
        assert merge([data]).parts[0].status == status

    @pytest.mark.parametrize("tag", ["!!timestamp x", "!!bool maybe", "!!int ''", "!!float ''"])
    def test_a_scalar_that_its_tag_cannot_mean_fails_its_part_alone(self, tag: str):
        merged = merge(["#cloud-config\na: 1", f"#cloud-config\nb: {tag}", "#cloud-config\nc: 1"])
        assert (merged.config, merged.parts[1].status, merged.parts[1].kind) == ({"a": 1, "c": 1}, "failed", "value")

    @pytest.mark.parametrize(
        "text", ["a: !!int x", "a: {x: !!bool maybe}\nb: !!int x", "a: !!bool maybe\nb: [", "{a: b}: !!int x"]
    )
    def test_where_the_yaml_is_broken_first_it_is_rejected(self, text: str):
        assert merge([f"#cloud-config\n{text}"]).parts[0].status == "rejected"

    def test_half_of_a_surrogate_pair_is_read(self):
        merged = merge(['#cloud-config\na: "\\ud800"'])
        assert merged.config == {"a": "\ud800"}
        assert 'a: "\\uD800"' in merged.text

    def test_of_two_headers_in_differing_case_the_first_is_read(self):
        headers = "MIME-Version: 1.0\nContent-Type: text/cloud-config\nMERGE-TYPE: dict(replace)\nMerge-Type: list()"
        assert str(merge([f"{headers}\n\na: 1\n"]).parts[0].definition) == "dict(replace)"

    def test_what_a_message_holds_has_the_name_under_which_it_is_attached(self):
        inner = "Content-Type: text/cloud-config\n\n#cloud-config\na: 1\n"
        message = f"MIME-Version: 1.0\nContent-Type: message/rfc822\n\n{inner}"
        assert [part.filename for part in merge([message]).parts] == ["part-001", "part-002", "part-002"]

    def test_where_a_scalar_fails_first_the_part_fails(self):
        merged = merge(["#cloud-config\na: {{ v1 }}\nb: !!float ''"])
        assert merged.parts[0].status == "failed"

    @pytest.mark.parametrize("content", ["{a: 1}", "5", "[x]"])
    def test_an_entry_of_an_archive_that_nobody_can_show_stops_everything(self, content: str):
        with pytest.raises(CloudConfigError) as caught:
            merge([f"#cloud-config-archive\n- {{content: {content}, type: application/odd}}"])
        assert caught.value.kind == "archive"

    @pytest.mark.parametrize("content", ["{a: 1}", "5"])
    def test_an_entry_that_is_several_parts_and_has_none_is_passed_over(self, content: str):
        archive = f"#cloud-config-archive\n- {{content: {content}, type: multipart/mixed}}\n- '#cloud-config\n\n  a: 1'"
        assert merge([archive]).config == {"a": 1}

    @pytest.mark.parametrize("content", ["[]", "5"])
    def test_a_part_that_has_no_text_fails(self, content: str):
        merged = merge([f"#cloud-config-archive\n- {{content: {content}, type: Text/Cloud-Config}}"])
        assert [kind_of(part.error) for part in merged.parts if part.error] == ["value"]


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """The root of a disk."""
    instance = tmp_path / "var/lib/cloud/instances/i-1"
    instance.mkdir(parents=True)
    (tmp_path / "var/lib/cloud/instance").symlink_to(instance)
    (instance / "user-data.txt").write_text("#cloud-config\nhostname: web\npackages: [vim, git]\n")
    (instance / "vendor-data.txt").write_text("#cloud-config\nntp: {enabled: true}\n")
    (instance / "vendor-data2.txt").write_text("")
    (tmp_path / "etc/cloud/cloud.cfg.d").mkdir(parents=True)
    (tmp_path / "etc/cloud/cloud.cfg").write_text("users: [default]\nsystem_info: {distro: debian}\n")
    (tmp_path / "etc/cloud/cloud.cfg.d/90.cfg").write_text("## template: jinja\nregion: {{ v1.region }}\n")
    run = tmp_path / "run/cloud-init"
    run.mkdir(parents=True)
    (run / "instance-data-sensitive.json").write_text('{"v1": {"region": "eu-1"}}')
    has = read_instance(tmp_path).merged.value
    (run / "combined-cloud-config.json").write_text(json.dumps(has | {"_doc": "x", "features": {}}, indent=1))
    return tmp_path


def changed(machine: Path, change: Any) -> None:
    file = machine / "run/cloud-init/combined-cloud-config.json"
    tree = json.loads(file.read_text())
    change(tree)
    file.write_text(json.dumps(tree, indent=1))


class TestInstance:
    def test_a_machine_has_what_its_files_give(self, machine: Path):
        instance = read_instance(machine)
        assert list(instance.differing()) == []
        assert instance.merged.value["region"] == "eu-1"

    @pytest.mark.parametrize("end", ["", "var/lib/cloud/instance", "var/lib/cloud/instances/i-1"])
    def test_an_instance_is_read_from_any_of_its_folders(self, machine: Path, end: str):
        assert read_instance(machine / end).merged.value["users"] == ["default"]

    def test_each_difference_has_both_lines(self, machine: Path):
        def change(tree: dict[str, Any]) -> None:
            tree["packages"][1] = "htop"
            del tree["ntp"]
            tree["extra"] = 1

        changed(machine, change)
        found = {one.path: one for one in read_instance(machine).differing()}
        assert list(found) == [("packages", 1), ("ntp",), ("extra",)]
        one = found["packages", 1]
        assert (one.given, one.has, one.origins[0].line) == ("git", "htop", 3)
        text = (machine / "run/cloud-init/combined-cloud-config.json").read_text().splitlines()
        assert "htop" in text[(one.place.line or 0) - 1]

    def test_the_command_line_says_where(self, machine: Path, capsys: pytest.CaptureFixture[str]):
        words = ["cloud-config", "explain", "--instance", str(machine)]
        assert main(words) == 0
        assert "the machine has what its files give" in capsys.readouterr().out
        changed(machine, lambda tree: tree.update(hostname="db"))
        assert main([*words, "--path", "hostname"]) == 0
        out = capsys.readouterr().out
        assert '~ replaced  hostname: "web" -> "db"' in out
        assert "user-data.txt:2 (part); the machine has it at" in out
        assert main([*words, "--format", "json"]) == 0
        rows = json.loads(capsys.readouterr().out)["machine"]["differing"]
        assert [(row["path"], row["given"], row["has"]) for row in rows] == [("hostname", "web", "db")]

    def test_copies_of_the_files_will_do(self, machine: Path, tmp_path: Path):
        folder = tmp_path / "copies"
        folder.mkdir()
        for name in ("var/lib/cloud/instance/user-data.txt", "run/cloud-init/combined-cloud-config.json"):
            (folder / Path(name).name).write_text((machine / name).read_text())
        assert {one.path[0] for one in read_instance(folder).differing()} >= {"users", "ntp", "region"}

    def test_without_its_own_file_there_is_nothing_to_compare(self, machine: Path, capsys: pytest.CaptureFixture[str]):
        (machine / "run/cloud-init/combined-cloud-config.json").unlink()
        assert main(["cloud-config", "explain", "--instance", str(machine)]) == 0
        assert "nothing to compare with" in capsys.readouterr().out

    def test_a_folder_of_something_else_is_an_error(self, tmp_path: Path):
        with pytest.raises(CloudConfigError) as caught:
            read_instance(tmp_path)
        assert caught.value.kind == "input"
        (tmp_path / "combined-cloud-config.json").write_text("[1]")
        with pytest.raises(CloudConfigError, match="a merged config is a map"):
            read_instance(tmp_path)

    def test_files_and_a_machine_are_not_named_together(self, tmp_path: Path):
        assert main(["cloud-config", "explain", "a.yaml", "--instance", str(tmp_path)]) == 2
        assert main(["cloud-config", "explain"]) == 2
