"""conf.d folders, and the layers of a running system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nodeattrs.cloudinit import (
    CloudConfigError,
    CloudPart,
    InstanceData,
    config_of_cmdline,
    merge,
    merge_confd,
    merge_layers,
    read_confd,
)
from nodeattrs.errors import MergeConflict

APPEND = "merge_how: list(append)+dict(recurse_list)\n"


@pytest.fixture
def etc(tmp_path: Path) -> Path:
    (tmp_path / "cloud.cfg").write_text("a: main\nb: main\n")
    folder = tmp_path / "cloud.cfg.d"
    folder.mkdir()
    (folder / "10.cfg").write_text("a: ten\nc: ten\n")
    (folder / "20.cfg").write_text("c: twenty\n")
    (folder / "30.cfg.off").write_text("c: thirty\n")
    (folder / "40.cfg").mkdir()
    return tmp_path


class TestConfd:
    def test_the_last_name_wins_and_all_beat_the_main_file(self, etc: Path):
        """Read from a disk, with the line of each."""
        merged = read_confd(etc / "cloud.cfg")

        assert merged.config == {"c": "twenty", "a": "ten", "b": "main"}
        assert str(merged.origins("b")[0]) == f"{etc}/cloud.cfg:2 (file)"
        assert [stated.claim.value for stated in merged.trace("c").claims] == ["twenty", "ten"]

    def test_a_folder_alone_is_read_too(self, etc: Path):
        """There may be no main file."""
        assert read_confd(etc / "cloud.cfg.d").config == {"c": "twenty", "a": "ten"}

    @pytest.mark.parametrize(
        ("said", "config"),
        [
            ("''", {"conf_d": "", "a": 1}),
            ("' '", {"conf_d": " ", "a": 1}),
            ("cloud.cfg.d", {"c": "twenty", "a": "ten", "conf_d": "cloud.cfg.d"}),
            ("nope", {"conf_d": "nope", "a": 1}),
        ],
    )
    def test_the_main_file_may_name_another_folder_or_none(self, etc: Path, said: str, config: dict[str, Any]):
        """`conf_d` stays in the config."""
        (etc / "other.cfg").write_text(f"conf_d: {said}\na: 1\n")

        assert read_confd(etc / "other.cfg").config == config

    def test_a_template_names_its_folder_by_what_it_is_rendered_to(self, etc: Path):
        """The text before that is no YAML."""
        block = "l:\n{% for x in v1.l %}\n- {{ x }}\n{% endfor %}\n"
        (etc / "cloud.cfg").write_text(f"## template: jinja\n{block}conf_d: nope\n")

        merged = read_confd(etc / "cloud.cfg", instance_data=InstanceData({"v1": {"l": ["x"]}}))

        assert merged.config == {"l": ["x"], "conf_d": "nope"}

    def test_a_template_that_is_not_rendered_names_its_folder_as_it_is(self, etc: Path):
        """A file in the usual folder is not read, so that it stops nothing."""
        (etc / "cloud.cfg").write_text("## template: jinja\na: '{{ v1.a }}'\nconf_d: nope\n")
        (etc / "cloud.cfg.d" / "90.cfg").write_text("merge_how: odd\n")

        assert [1] == list(read_confd(etc / "cloud.cfg").unknown)

    def test_a_folder_name_that_is_no_text_is_an_error(self):
        """As in cloud-init."""
        with pytest.raises(CloudConfigError, match="conf_d"):
            merge_confd("conf_d: [x]", {})
        with pytest.raises(CloudConfigError, match="conf_d"):
            merge_confd("conf_d: [x]")

    def test_a_broken_file_is_reported_and_counts_as_empty(self):
        """The rest goes on."""
        merged = merge_confd("a: 1", {"10.cfg": "b: ["})

        assert (merged.config, merged.ok) == ({"a": 1}, False)
        assert "10.cfg" in str([report.error for report in merged.parts if report.error])

    def test_a_broken_definition_stops_everything_and_names_the_file(self):
        """cloud-init stops, too."""
        with pytest.raises(CloudConfigError, match=r"10\.cfg"):
            merge_confd("a: 1", {"10.cfg": "merge_how: append\na: 1"})

    def test_a_missing_file_is_an_error(self, tmp_path: Path):
        """With its name."""
        with pytest.raises(CloudConfigError, match="nope"):
            read_confd(tmp_path / "nope.cfg")


class TestLayers:
    def test_the_order_is_that_of_the_stages(self):
        """Each layer says what all stronger ones say, and a key of its own."""
        names = ["env", "user", "vendor2", "vendor", "datasource", "cmdline", "runtime", "confd", "builtin"]
        said: dict[str, Any] = {name: dict.fromkeys(names[: at + 1], name) for at, name in enumerate(names)}

        assert merge_layers(**said).config == {name: name for name in names}
        assert merge_layers(extra=[{"env": 1}, {"env": 2, "x": 2}], **said).config == {
            **{name: name for name in names},
            "env": 1,
            "x": 2,
        }
        without = [name for name in names if not name.startswith("vendor")]
        config = merge_layers(**said, include_vendor=False).config
        assert config is not None
        assert [config[name] for name in without] == without

    def test_lists_of_user_and_vendor_never_join(self):
        """The definitions are spent by then."""
        user, vendor = (merge([f"#cloud-config\n{APPEND}l: [{name}]"]) for name in ("u", "v"))

        assert merge_layers(user=user, vendor=vendor).config == {"l": ["u"]}

    def test_a_part_with_both_keys_leaves_a_definition_behind(self):
        """The hole that section 5 of the research tells of."""
        both = "#cloud-config\nmerge_how: dict()\nmerge_type: list(append)+dict(recurse_list)\nl: [v]"
        merged = merge_layers(user=merge(["#cloud-config\nl: [u]"]), vendor=merge([both]))

        assert merged.config == {"l": ["u", "v"]}

    def test_who_said_what_is_known_through_all_layers(self):
        """Parts of user-data and vendor-data, files of conf.d, loaded values."""
        user = merge(["#cloud-config\nn: {u: 1}", "#cloud-config\nmerge_how: dict()\nn: {w: 1}"])
        merged = merge_layers(
            user=user,
            vendor=merge(["#cloud-config\nn: {u: 2, v: 2}"]),
            datasource={"n": {"d": 1}},
            confd=merge_confd("n: {c: 1}"),
        )

        assert merged.config == {"n": {"u": 1, "w": 1, "v": 2, "d": 1, "c": 1}}
        assert [str(merged.origins(f"n.{key}")[0]) for key in "uwvdc"] == [
            "part-001:2 (part)",
            "part-002:3 (part)",
            "part-001:2 (part)",
            "layer data source",
            "main file:1 (file)",
        ]
        assert [(stated.claim.rank, stated.outcome.value) for stated in merged.trace("n.u").claims] == [
            (1, "wins"),
            (3, "loses"),
        ]

    def test_inputs_are_not_changed_and_nothing_is_shared(self):
        """Loaded layers belong to the caller."""
        source = {"merge_how": "dict()", "l": [1]}
        merged = merge_layers(base=source)
        assert merged.config is not None
        merged.config["l"].append(2)
        source["l"].append(3)  # type: ignore[attr-defined]

        assert (merge_layers(base={"l": [1]}).config, merged.config) == ({"l": [1]}, {"l": [1, 2]})
        assert source == {"merge_how": "dict()", "l": [1, 3]}

    def test_a_conflict_stops_everything(self):
        """There is nobody to go on for."""
        with pytest.raises(MergeConflict):
            merge_layers(user={"a": "x"}, base={"merge_how": "dict()+str(append)", "a": {"b": 1}})

    @pytest.mark.parametrize(
        ("cmdline", "text"),
        [
            ("ro quiet", ""),
            ("cc: a: 1 end_cc ro", "a: 1 "),
            ("cc:a: 1\\nb: 2", "a: 1\nb: 2"),
            ("cc:a:%201 end_cc x cc:b: 2 end_cc", "a: 1 \nb: 2 "),
        ],
    )
    def test_the_kernel_command_line_carries_a_config(self, cmdline: str, text: str):
        """Between two words, with escaped line breaks."""
        assert config_of_cmdline(cmdline) == text

    def test_a_text_may_know_its_file(self):
        """So that explanations name it."""
        merged = merge_layers(env=CloudPart("a: 1", filename="env.cfg", file="etc/env.cfg"))

        assert str(merged.origins("a")[0]) == "etc/env.cfg:1 (file)"
