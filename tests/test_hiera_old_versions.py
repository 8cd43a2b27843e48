"""hiera.yaml of versions 3 and 4, and what is none: each answer was asked of Puppet (7.23)."""

from pathlib import Path
from typing import Any

import pytest

from nodeattrs.hiera import BadData, Hiera, HieraError

GLOBAL = "version: 3\nbackends: yaml\nhierarchy: [common]\n"
NOTHING = "version: 5\nhierarchy: []\n"
DATA = {
    "global/data/common.yaml": "k: global\nm: {a: 1, l: [1]}\nt: \"%{lookup('k')} %{::environment}\"\n",
    "global/data/common.yml": "k: yml\n",
    "global/data/common.json": '{"k": "json", "j": 1}',
    "global/data/env/production.yaml": "m: {b: 2, l: [2]}\n",
    "environments/production/hiera.yaml": "version: 5\n",
    "environments/production/data/common.yaml": "k: environment\nm: {e: 5}\n",
    "environments/production/hieradata/common.yaml": "k: old place\n",
}


def hiera(place: Path, files: dict[str, str], **options: Any) -> Hiera:
    for name, text in {**DATA, **files}.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("PLACE", str(place)), encoding="utf-8")
    return Hiera(
        environmentpath=place / "environments", global_config=place / "global" / "hiera.yaml", root=place, **options
    )


def looked_up(scope: Any, key: str, **options: Any) -> Any:
    """The value, or the kind of the error in a tuple."""
    try:
        return scope.lookup(key, **options)
    except HieraError as error:
        return (error.kind,)


class TestVersion3:
    """It counts in the global layer: one level for each backend."""

    IN_PLACE = "yaml:\n  datadir: PLACE/global/data\n"

    @pytest.mark.parametrize(
        ("text", "key", "found"),
        [
            (GLOBAL + IN_PLACE, "k", "global"),
            (GLOBAL + IN_PLACE, "t", "global production"),
            (":backends: [yaml]\n:hierarchy: common\n:yaml:\n  :datadir: PLACE/global/data\n", "k", "global"),
            (GLOBAL + IN_PLACE + "  extension: yml\n", "k", "yml"),
            (GLOBAL.replace("common", "common.yaml") + IN_PLACE, "k", "global"),
            (GLOBAL + "yaml: {datadir: 'PLACE/global/%{nope}data'}\n", "k", "global"),
            ("version: 3\nbackends: ~\nhierarchy: ~\n" + IN_PLACE, "k", "global"),
            (GLOBAL.replace("yaml", "[json, yaml]") + IN_PLACE + "json: {datadir: PLACE/global/data}\n", "k", "json"),
            (GLOBAL.replace("yaml", "[yaml, json]") + IN_PLACE + "json: {datadir: PLACE/global/data}\n", "k", "global"),
            (GLOBAL.replace("yaml", "[yaml, json]") + IN_PLACE + "json: {datadir: PLACE/global/data}\n", "j", 1),
            (GLOBAL.replace("[common]", "[]") + IN_PLACE, "k", "environment"),
            (GLOBAL + "yaml: {datadir: ~}\n", "k", "environment"),
            (GLOBAL + IN_PLACE + "merge_behavior: deeper\nlogger: console\n", "m", {"a": 1, "l": [1]}),
            (GLOBAL.replace("yaml", "[yaml, yaml]") + IN_PLACE, "k", ("config_invalid",)),
            (GLOBAL + IN_PLACE + "extra: 1\n", "k", ("config_invalid",)),
            (GLOBAL + IN_PLACE + "json: {datadir: x}\n", "k", ("config_invalid",)),
            (GLOBAL + IN_PLACE + "merge_behavior: array\n", "k", ("config_invalid",)),
            (GLOBAL + IN_PLACE + "logger: [console]\n", "k", ("config_invalid",)),
            (GLOBAL + "yaml: ~\n", "k", ("config_invalid",)),
            (GLOBAL + "yaml: {datadir: 1}\n", "k", ("config_invalid",)),
            (GLOBAL.replace("common", '""') + IN_PLACE, "k", ("config_invalid",)),
            (GLOBAL.replace("common", "{a: b}") + IN_PLACE, "k", ("config_invalid",)),
            (GLOBAL.replace("3", "'3'") + IN_PLACE, "k", ("unsupported_version",)),
            (GLOBAL.replace("3", "3.0") + IN_PLACE, "k", ("unsupported_version",)),
            (GLOBAL + "yaml: {datadir: \"PLACE/global/data%{lookup('k')}\"}\n", "k", ("method_not_allowed_here",)),
        ],
    )
    def test_a_key_is_found_in_the_global_layer(self, tmp_path: Path, text: str, key: str, found: Any):
        """
        Keys with a colon, as Ruby writes them, are the same.
        """
        assert found == looked_up(hiera(tmp_path, {"global/hiera.yaml": text}).scope(), key)

    @pytest.mark.parametrize(
        ("merge", "found"),
        [
            ("first", {"b": 2, "l": [2]}),
            ("hash", {"e": 5, "a": 1, "l": [2], "b": 2}),
            ("deep", {"e": 5, "a": 1, "l": [1, 2], "b": 2}),
        ],
    )
    def test_what_it_says_of_merges_counts_for_no_lookup(self, tmp_path: Path, merge: str, found: Any):
        """
        Only for Puppet's old function hiera_hash.
        """
        text = GLOBAL.replace("[common]", "['env/%{::environment}', common]") + self.IN_PLACE + "merge_behavior: deep\n"

        assert found == hiera(tmp_path, {"global/hiera.yaml": text}).scope().lookup("m", merge=merge)

    def test_without_a_datadir_it_looks_into_the_folder_of_all_code(self, tmp_path: Path):
        """
        Into each environment there.
        """
        conf = tmp_path / "puppet.conf"
        conf.write_text(f"[main]\ncodedir = {tmp_path}\n")

        assert "old place" == hiera(tmp_path, {"global/hiera.yaml": GLOBAL}, puppet_conf=conf).scope().lookup("k")
        assert "environment" == hiera(tmp_path, {"global/hiera.yaml": GLOBAL}).scope().lookup("k")

    def test_a_relative_datadir_counts_from_where_one_stands(self, tmp_path: Path, monkeypatch):
        """
        Version 5 counts from the folder of hiera.yaml.
        """
        tree = hiera(tmp_path, {"global/hiera.yaml": GLOBAL + "yaml: {datadir: global/data}\n"})
        monkeypatch.chdir(tmp_path)

        assert "global" == tree.scope().lookup("k")

    def test_an_encrypted_value_is_decrypted_where_one_asks_for_it(self, tmp_path: Path):
        """
        The settings of the backend are the options of the level.
        """
        files = {
            "global/hiera.yaml": "version: 3\nbackends: [eyaml]\nhierarchy: [common]\n"
            "eyaml: {datadir: PLACE/global/data, extension: yaml, pkcs7_private_key: keys/private.pem}\n",
            "global/data/common.yaml": "k: ENC[PKCS7,MIIa]\n",
        }

        assert "ENC[PKCS7,MIIa] opened" == (
            hiera(tmp_path, files, decrypt=lambda text: f"{text} opened", sensitive=str).scope().lookup("k")
        )

    def test_a_backend_that_nobody_has_is_a_level_that_cannot_be_read(self, tmp_path: Path):
        """
        The others answer, and where it might decide that is said.
        """
        text = GLOBAL.replace("yaml", "[yaml, mongo]") + self.IN_PLACE
        scope = hiera(tmp_path, {"global/hiera.yaml": text}).scope()

        assert "global" == scope.lookup("k")
        with pytest.raises(HieraError, match="mongo"):
            scope.lookup("nope")

    @pytest.mark.parametrize(
        ("hierarchy", "found"),
        [
            ("'nodes/%{environment}'", "plain"),
            ("'nodes/%{dc}'", "one ending"),
            ("'nodes/%{dc}.yaml'", "two endings"),
        ],
    )
    def test_an_ending_is_added_to_a_name_that_has_none_once_it_is_filled_in(
        self, tmp_path: Path, hierarchy: str, found: Any
    ):
        files = {"production": "plain", "x": "one ending", "x.yaml": "two endings"}
        data = {f"global/data/nodes/{name}.yaml": f"n: {value}\n" for name, value in files.items()}
        config = f"version: 3\nhierarchy: [{hierarchy}]\n" + self.IN_PLACE
        scope = hiera(tmp_path, {"global/hiera.yaml": config, **data}).scope(variables={"dc": "x.yaml"})
        assert looked_up(scope, "n") == found

    def test_the_line_of_the_backend_is_where_its_level_stands(self, tmp_path: Path):
        """
        In messages about it.
        """
        scope = hiera(tmp_path, {"global/hiera.yaml": GLOBAL + self.IN_PLACE}).scope()

        assert ("global/hiera.yaml", 4) == next((place.config, place.line) for place in scope.places(None))

    @pytest.mark.parametrize("place", ["", "modules/k/"])
    def test_elsewhere_it_has_no_data_and_a_warning_of_puppet_7(self, tmp_path: Path, place: str):
        """
        It is checked all the same.
        """
        file = f"environments/production/{place}hiera.yaml"
        files = {"global/hiera.yaml": "version: 5\n", file: "backends: [yaml, yaml]\nhierarchy: common\n"}
        tree = hiera(tmp_path, files, puppet_version=7)
        tree.scope().lookup("k::x", default_value=None)

        assert [(file, "unsupported_version")] == [(one.file, one.kind) for one in tree.warnings]
        with pytest.raises(BadData, match="unknown key 'extra'"):
            hiera(tmp_path, {file: "hierarchy: common\nextra: 1\n"}).scope().lookup("k::x", default_value=None)


class TestVersion4:
    """It counts in environments and modules."""

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("", "environment"),
            ("hierarchy: []\n", ("not_found",)),
            ("hierarchy: [{name: common, backend: yaml}]\n", "environment"),
            ("hierarchy: [{name: a, backend: yaml, path: common}]\n", "environment"),
            ("hierarchy: [{name: a, backend: yaml, path: common.yaml}]\n", "environment"),
            ("hierarchy: [{name: a, backend: yaml, path: x, paths: [y, common]}]\n", "environment"),
            ("hierarchy: [{name: a, backend: yaml, paths: []}]\n", ("not_found",)),
            ("hierarchy: [{name: common, backend: yaml, datadir: hieradata}]\n", "old place"),
            ("datadir: hieradata\n", "old place"),
            ("hierarchy: [{name: common, backend: json, datadir: ../../global/data}]\n", "json"),
            ("hierarchy: [{name: common}]\n", ("config_invalid",)),
            ("hierarchy: [{name: common, backend: eyaml}]\n", ("config_invalid",)),
            ("hierarchy: [{name: a, backend: yaml, path: ~}]\n", ("config_invalid",)),
            ("hierarchy: common\n", ("config_invalid",)),
            ("datadir: 1\n", ("config_invalid",)),
            ("extra: 1\n", ("config_invalid",)),
            ("hierarchy: [{name: a, backend: yaml}, {name: a, backend: json}]\n", ("duplicate_hierarchy_name",)),
            (
                "hierarchy: [{name: a, backend: yaml, paths: []}, {name: a, backend: yaml}]\n",
                ("duplicate_hierarchy_name",),
            ),
        ],
    )
    def test_a_key_is_found_in_the_environment(self, tmp_path: Path, text: str, found: Any):
        """
        The ending of the backend is added to each path that has none.
        """
        files = {"global/hiera.yaml": NOTHING, "environments/production/hiera.yaml": f"version: 4\n{text}"}

        assert found == looked_up(hiera(tmp_path, files).scope(), "k")

    def test_an_ending_is_added_to_a_name_that_has_none_once_it_is_filled_in(self, tmp_path: Path):
        config = "version: 4\nhierarchy: [{name: n, backend: json, path: '%{dc}'}]\n"
        folder = "environments/production/"
        files = {
            "global/hiera.yaml": NOTHING,
            folder + "hiera.yaml": config,
            folder + "data/x.json": '{"k": "one ending"}',
        }
        scope = hiera(tmp_path, files).scope(variables={"dc": "x.json"})
        assert looked_up(scope, "k") == "one ending"

    def test_in_a_module_too_and_nowhere_else(self, tmp_path: Path):
        """
        In the global layer Puppet refuses it.
        """
        module = "environments/production/modules/m"
        files = {f"{module}/hiera.yaml": "version: 4\n", f"{module}/data/common.yaml": "m::k: 7\n"}
        files["global/hiera.yaml"] = "version: 5\n"

        assert 7 == hiera(tmp_path, files).scope().lookup("m::k")
        with pytest.raises(BadData, match=r'(?s)version 4 is not read in the global layer.*write {"version": 5, "hier'):
            hiera(tmp_path, {"global/hiera.yaml": "version: 4\n"}).scope().lookup("k")


class TestTheWayOut:
    @pytest.mark.parametrize(
        ("config", "file"),
        [
            (
                ":backends: [yaml]\n:hierarchy: ['node/%{::n}', common]\n:yaml:\n  :datadir: data\n",
                "data/node/web.yaml",
            ),
            (":backends: json\n:hierarchy: 'node/%{n}'\n:json:\n  :datadir: h\n  :extension: js\n", "h/node/web.js"),
            ("hierarchy: [a, 'node/%{n}', a]\n", "hieradata/node/web.yaml"),
            ("backends: [json, yaml]\nhierarchy: [a, 'node/%{n}', a]\n", "hieradata/node/web.json"),
            (
                ":backends: [eyaml]\n:hierarchy: ['node/%{n}']\n:eyaml:\n  :pkcs7_private_key: /k\n",
                "hieradata/node/web.eyaml",
            ),
            (
                "hierarchy: 'node/%{n}'\nyaml: {datadir: '/etc/puppetlabs/code/environments/%{::environment}/h'}\n",
                "h/node/web.yaml",
            ),
            ("version: 4\nhierarchy: [{name: b, backend: json, path: 'node/%{n}'}]\n", "data/node/web.json"),
        ],
    )
    def test_the_warning_shows_the_hiera_yaml_of_version_5_that_gives_the_same(self, tmp_path: Path, config, file):
        """
        To be pasted as it is.
        """
        environment = tmp_path / "site"
        (environment / file).parent.mkdir(parents=True)
        (environment / file).write_text('{"k": 1}\n')
        (environment / "hiera.yaml").write_text(config)
        before = Hiera(environment, puppet_version=7)
        before.scope().lookup("k", default_value=0)
        warning = before.warnings[0]
        (environment / "hiera.yaml").write_text(warning.hint.removeprefix("write "))

        assert 1 == Hiera(environment).scope(variables={"n": "web"}).lookup("k")

    @pytest.mark.parametrize("text", ["hierarchy: []\n", "backends: [yaml, yaml]\nhierarchy: a\n"])
    def test_where_nothing_can_be_shown_there_is_a_rule(self, tmp_path: Path, text: str):
        """
        No hierarchy, or one with a fault that Puppet does not see there.
        """
        (tmp_path / "hiera.yaml").write_text(text)
        tree = Hiera(tmp_path, puppet_version=7)
        tree.scope().lookup("k", default_value=0)

        assert "write `version: 5` and a hierarchy" in str(tree.warnings[0])

    def test_a_hiera_yaml_of_version_3_is_deprecated(self, tmp_path: Path):
        """
        As Puppet says it; where one is strict that is an error.
        """
        found = GLOBAL + "yaml: {datadir: PLACE/global/data}\n"
        files = {"global/hiera.yaml": found, "environments/production/hiera.yaml": "version: 4\n"}
        tree = hiera(tmp_path, files)
        tree.scope().lookup("k")

        assert [("global/hiera.yaml", "old_version"), ("environments/production/hiera.yaml", "old_version")] == [
            (one.file, one.kind) for one in tree.warnings
        ]
        with pytest.raises(BadData, match="version 3 is deprecated"):
            hiera(tmp_path, files, strict=True).scope().lookup("k")


@pytest.mark.parametrize("text", ["", "- 1\n", "x\n"])
def test_what_is_no_map_counts_for_puppet_7_as_version_3_that_says_nothing(tmp_path: Path, text: str):
    """
    In the global layer; an environment has no data then. Each with a warning.
    """
    conf = tmp_path / "puppet.conf"
    conf.write_text(f"[main]\ncodedir = {tmp_path}\n")
    files = {"global/hiera.yaml": text, "environments/production/hiera.yaml": text}
    tree = hiera(tmp_path, files, puppet_conf=conf, puppet_version=7)

    assert "old place" == tree.scope().lookup("k")
    assert ["global/hiera.yaml", "environments/production/hiera.yaml"] == [one.file for one in tree.warnings][:2]
