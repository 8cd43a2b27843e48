"""Jinja templates among parts and conf.d files: rendered as cloud-init does it, or unknown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.cli import main
from nodeattrs.cloudinit import CloudConfigError, InstanceData, Merged, merge, merge_confd, pack

DATA = InstanceData(
    {
        "v1": {"local-hostname": "web", "region": "eu-1"},
        "ds": {"meta_data": {"public-keys": ["k1", "k2"], "v2.0": 5}},
        "merged_cfg": {"a": 1},
    }
)
FIRST = "## template: jinja\n#cloud-config\n"


def rendered(body: str, first: str = FIRST, **more: Any) -> Merged:
    return merge([first + body], instance_data=DATA, **more)


class TestRendering:
    @pytest.mark.parametrize(
        ("body", "config"),
        [
            ("h: {{ v1.local_hostname }}", {"h": "web"}),
            ("h: {{ v1['local-hostname'] }}", {"h": "web"}),
            ("h: {{ local_hostname }}", {"h": "web"}),
            ("k: {{ ds.meta_data.public_keys }}", {"k": ["k1", "k2"]}),
            ("n: {{ ds.meta_data.v2_0 }}", {"n": 5}),
            ("{% if region == 'eu-1' %}\na: 1\n{% endif %}\n", {"a": 1}),
            ("a: {{ nope }}", {"a": "CI_MISSING_JINJA_VAR/nope"}),
            ("{% do 1 %}a: 1", {"a": 1}),
        ],
    )
    def test_instance_data_have_the_layout_of_cloud_init(self, body: str, config: dict[str, Any]):
        """Keys of `v1` stand at the top, too, and operators in keys are underscores as well."""
        assert rendered(body).config == config

    def test_a_template_joins_by_its_definition(self):
        """It is merged in its place."""
        body = "merge_how: dict(recurse_list)+list(append)\nl: [{{ region }}]"
        assert merge(["#cloud-config\nl: [a]", FIRST + body], instance_data=DATA).config == {"l": ["a", "eu-1"]}

    @pytest.mark.parametrize(
        ("first", "body", "status", "kind"),
        [
            (FIRST, "a: {% if", "failed", "template"),
            (FIRST, "a: {{ nope.more }}", "failed", "template"),
            (FIRST, "a: {{ v1.a-b }}", "failed", "template"),
            (FIRST, "a: {{ 1 // 0 }}", "failed", "template"),
            (FIRST, "a: [", "rejected", "empty"),
            (f"\n{FIRST}", "a: 1", "failed", "template"),
            ("## template: jinja2\n#cloud-config\n", "a: 1", "failed", "template"),
            ("## template: jinja\n#!/bin/sh\n", "echo", "script", None),
            ("## template: jinja\n", "{% if nope %}#cloud-config{% endif %}", "empty", None),
            ("## template: jinja\n", "text", "ignored", None),
            (
                "## template: jinja\n#cloud-config-jsonp\n",
                '[{"op": "add", "path": "/a", "value": 1}]',
                "rejected",
                "empty",
            ),
        ],
    )
    def test_a_rendered_template_becomes_a_part_of_its_kind(self, first: str, body: str, status: str, kind: str | None):
        """A patch behind a template is read as a config, as in cloud-init."""
        (part,) = rendered(body, first).parts
        assert (part.status, part.kind) == (status, kind)

    def test_nothing_leaves_the_sandbox(self):
        """Not under the rules of releases that had none, either."""
        for release in ("22.4", "26.2"):
            body = "a: {{ ''.__class__.__mro__ }}\nb: 1"
            assert "<class" not in str(rendered(body, cloud_init=release).config)

    def test_a_template_that_takes_too_much_fails(self):
        """A loop in a loop ends at the limit of steps."""
        loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
        (part,) = rendered(loops).parts
        assert part.kind == "too-large"

    def test_redacted_data_give_no_config(self):
        """What everybody may read has no secrets in it."""
        data = InstanceData({"ds": {"token": "redacted for non-root user"}})
        merged = merge([FIRST + "t: {{ ds.token }}"], instance_data=data)
        assert (merged.parts[0].status, merged.value) == ("template", {})


class TestLines:
    def test_a_value_has_the_line_of_the_template(self, tmp_path: Path):
        """Whatever was rendered before it."""
        file = tmp_path / "web.yaml"
        file.write_text(
            FIRST + "{% if region %}\na: 1\n{% endif %}\nl:\n{% for k in ds.meta_data.public_keys %}\n- {{ k }}\n"
            "{% endfor %}\nb: 2\n"
        )
        merged = merge([file], instance_data=DATA)
        lines = {path: [at.line for at in merged.origins(path)] for path in ("a", "l.0", "l.1", "b")}
        assert lines == {"a": [4], "l.0": [8], "l.1": [8], "b": [10]}

    def test_an_error_has_the_line_of_the_template(self, tmp_path: Path):
        """The one to mend."""
        file = tmp_path / "web.yaml"
        file.write_text(FIRST + "{% if region %}\na: 1\n{% endif %}\nb: [\n")
        (part,) = merge([file], instance_data=DATA).parts
        assert str(part.error).startswith(f"{file.as_posix()}:6:")
        file.write_text(FIRST + "a: 1\nb: {% oh %}\n")
        (part,) = merge([file], instance_data=DATA).parts
        assert str(part.error).startswith(f"{file.as_posix()}:4: the template cannot be rendered")

    def test_a_value_of_several_lines_moves_none(self):
        """The lines behind it are still known."""
        data = InstanceData({"text": "one\n  two"})
        merged = merge([FIRST + "t: |\n  {{ text }}\nb: 1\n"], instance_data=data)
        assert merged.origins("b")[0].line == 5


class TestWarnings:
    def test_a_variable_that_is_not_there_is_named_with_its_line(self, tmp_path: Path):
        """cloud-init writes its name into the config, and goes on."""
        file = tmp_path / "web.yaml"
        file.write_text(FIRST + "{% if region %}\na: 1\n{% endif %}\nb: {{ nope }}\n")
        merged = merge([file], instance_data=DATA)
        (warning,) = merged.warnings
        assert (warning.name, merged.place_of(warning).line) == ("undefined-variable", 6)
        assert "asks for nope" in warning.message


class TestWithoutData:
    def test_a_template_is_an_unknown_layer(self):
        """It may override whatever there is."""
        merged = merge(["#cloud-config\na: 1", FIRST + "a: {{ b }}"])
        assert (merged.config, [part.status for part in merged.parts]) == ({"a": 1}, ["merged", "template"])
        (claim,) = merged.trace("a").unknown
        assert claim.why == "is a template, and there is no instance data"

    def test_alone_it_gives_no_config(self):
        """Nobody can say whether there is one."""
        assert merge([FIRST + "a: {{ b }}"]).config is None

    def test_the_exit_code_says_so(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        """With --strict it is an error."""
        base, template, data = tmp_path / "base.yaml", tmp_path / "t.yaml", tmp_path / "data.json"
        base.write_text("#cloud-config\na: 1\nb: 1\n")
        template.write_text(FIRST + "a: {{ v1.region }}\n")
        data.write_text(json.dumps(dict(DATA.tree)))
        files = [str(base), str(template)]
        assert main(["cloud-config", "merge", *files]) == 5
        assert "is a template" in capsys.readouterr().err
        assert main(["cloud-config", "merge", *files, "--strict"]) == 1
        assert main(["cloud-config", "merge", *files, "--instance-data", str(data)]) == 0
        assert "a: eu-1" in capsys.readouterr().out

    def test_a_message_holds_what_it_was_rendered_to(self):
        """As what it is then; without data it stays a template."""
        for data, config in ((DATA, {"a": "eu-1"}), (None, None)):
            text = pack([part.part for part in merge([FIRST + "a: {{ region }}\n"], instance_data=data).parts])
            assert merge([text]).config == config
            assert merge([text], instance_data=DATA).config == {"a": "eu-1"}


class TestInstanceData:
    def test_instance_data_must_be_a_map_of_json(self, tmp_path: Path):
        """With the place of what is wrong."""
        file = tmp_path / "data.json"
        for text, message in (("[1]", "is a map"), ("{", "data.json:1"), ("\udcff", "UTF-8")):
            file.write_bytes(text.encode("utf-8", "surrogateescape"))
            with pytest.raises(CloudConfigError, match=message) as caught:
                InstanceData.read(file)
            assert caught.value.kind in ("instance-data", "template")

    def test_what_is_packed_in_base64_is_unpacked(self):
        """Where the data name it under the key that cloud-init reads."""
        data = InstanceData({"ds": {"k": "aGk="}, "base64-encoded-keys": ["ds/k"]})
        assert data.render("{{ ds.k }}") == "hi"


class TestConfd:
    def test_files_of_conf_d_may_be_templates(self):
        """The main file, too."""
        files = {"10.cfg": "## template: jinja\na: {{ region }}"}
        merged = merge_confd("## template: jinja\nb: {{ region }}", files, instance_data=DATA)
        assert merged.config == {"a": "eu-1", "b": "eu-1"}
        assert [part.status for part in merge_confd("b: 1", files).parts] == ["merged", "template"]

    @pytest.mark.parametrize(
        ("text", "outcomes"),
        [
            ("a: 1 # {% if", ["stops", "stops", {"a": 1}, {"a": 1}]),
            ("{% if nope %}a: 1{% endif %}", [{}, {}, {}, "stops"]),
            ("a: {{ nope.more }}", [{}, {}, {}, "stops"]),
            ("a: {{ 1 // 0 }}", ["stops", "stops", "stops", "stops"]),
        ],
    )
    def test_what_a_broken_one_does_is_the_release_s(self, text: str, outcomes: list[Any]):
        """From 22.4 to 26.2."""
        found: list[Any] = []
        for release in ("22.4", "23.4", "24.1", "26.2"):
            try:
                found.append(merge_confd(f"## template: jinja\n{text}", instance_data=DATA, cloud_init=release).config)
            except CloudConfigError:
                found.append("stops")
        assert found == outcomes
