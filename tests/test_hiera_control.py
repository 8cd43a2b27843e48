"""Control repositories as they are: environment.conf, puppet.conf, Puppetfile, and levels that nobody can read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

import pytest

from nodeattrs.cli import main
from nodeattrs.core.budget import limited
from nodeattrs.errors import BadArgument, TooMuch, UnknownLayer
from nodeattrs.hiera import BadData, BadLookup, Hiera, KeyNotFound
from tests.hiera_trees import written

MODULE = "version: 5\n"


def module(folder: str, name: str, text: str) -> dict[str, str]:
    """The files of a module with one level."""
    return {f"{folder}/{name}/hiera.yaml": MODULE, f"{folder}/{name}/data/common.yaml": text}


@pytest.fixture
def said(tmp_path: Path, monkeypatch, capsys):
    """Writes files, runs `nodeattrs hiera` beside them: exit code, what was printed, what was complained of."""
    monkeypatch.chdir(tmp_path)

    def run(files: dict[str, str], *words: str) -> tuple[int, str, str]:
        written(tmp_path, files)
        code = main(["hiera", *words])
        out, err = capsys.readouterr()
        return code, out, " ".join(err.split())

    return run


class TestEnvironmentConf:
    @pytest.mark.parametrize(
        ("line", "found"),
        [
            ("modulepath = site:modules", "site"),
            ("modulepath = modules:site", "modules"),
            ('modulepath = "site-modules:$basemodulepath"', "site-modules"),
            ("modulepath = $basemodulepath:site", "base"),
            ("modulepath = s*-modules", "site-modules"),
            ("modulepath = {none,sit?-modules,[m]odules}", "site-modules"),
            ("modulepath = ${codedir}x:/nowhere:site", "site"),
            ("# modulepath = site\nenvironment_timeout = 3m", "modules"),
            ("[other]\nmodulepath = site\n[main]\nmodulepath = base", "base"),
            ("modulepath = site\nmodulepath = modules", "site"),
        ],
    )
    def test_environment_conf_names_the_folders_of_modules(self, tmp_path: Path, line: str, found: str):
        """
        In order; the first folder that has the module counts. Other settings, and sections, do not.
        """
        files = {"environment.conf": line + "\n"}
        for folder in ("site", "modules", "site-modules", "base"):
            files |= module(folder, "m", f"m::k: {folder}\n")
        hiera = Hiera(written(tmp_path, files), basemodulepath=[tmp_path / "base"])

        assert found == hiera.scope().lookup("m::k")

    @pytest.mark.parametrize(
        ("conf", "limits"),
        [
            ("modulepath = a:b:c:d:e:f:g\n", {"values": 5}),
            ("modulepath = " + "$basemodulepath" * 40 + "\n", {"bytes": 900}),
            ("modulepath = */*/*\n", {"steps": 500}),
            (
                "environment_timeout = 0" + " " * 100_000 + "x" + " " * 100_000 + "x\n" + "modulepath = a:b",
                {"values": 1},
            ),
        ],
    )
    def test_folders_of_environment_conf_draw_on_the_budget(self, tmp_path: Path, conf: str, limits: dict[str, int]):
        """
        Parts of the path, what settings make of them, and what globs look at.
        """
        tree = written(tmp_path, {"environment.conf": "", **module("a/b", "m", "m::k: 1\n")})
        (tree / "environment.conf").write_text(conf)
        hiera = Hiera(tree, basemodulepath=[tmp_path / "base"])

        with limited(**limits), pytest.raises(TooMuch):
            hiera.modulepath("production")

    def test_without_it_there_is_modules_and_what_is_for_all(self, tmp_path: Path):
        """
        As Puppet's own default.
        """
        files = module("base", "m", "m::k: 1\n") | module("more", "n", "n::k: 2\n")
        hiera = Hiera(written(tmp_path, files), basemodulepath=[tmp_path / "base"], modulepath=[tmp_path / "more"])

        assert (1, 2) == (hiera.scope().lookup("m::k"), hiera.scope().lookup("n::k"))
        assert ["m", "n"] == hiera.modules("production")

    def test_it_makes_a_folder_a_tree_that_has_no_hiera_yaml_of_its_own(self, tmp_path: Path, monkeypatch, capsys):
        """
        Its modules have data all the same, as for Puppet.
        """
        written(tmp_path, {"environment.conf": "modulepath = site\n"} | module("site", "m", "m::k: 1\n"))
        (tmp_path / "hiera.yaml").unlink()
        monkeypatch.chdir(tmp_path)

        assert main(["hiera", "lookup", "m::k"]) == 0
        out, err = capsys.readouterr()
        assert out == "1\n"
        assert "hiera.yaml: is not there: the environment layer has no data [NA1044]" in err

    def test_a_setting_that_is_not_here_is_a_warning(self, tmp_path: Path):
        """
        That part of the path is left out.
        """
        hiera = Hiera(written(tmp_path, {"environment.conf": "modulepath = $vardir/x:modules\n"}), root=tmp_path)

        assert [tmp_path / "modules"] == hiera.modulepath("production")
        assert ["environment.conf:1: '$vardir/x' needs a setting that is not here"] == [
            str(one).splitlines()[0] for one in hiera.warnings
        ]

    def test_a_line_that_is_no_setting_is_an_error_with_its_place(self, tmp_path: Path):
        """
        Puppet does not load such an environment.
        """
        hiera = Hiera(written(tmp_path, {"environment.conf": "\nmodulepath site\n"}), root=tmp_path)

        with pytest.raises(BadData, match=r"environment\.conf:2: is no setting"):
            hiera.scope().lookup("m::k")

    def test_options_of_a_module_there_count(self, tmp_path: Path):
        """
        How its keys merge is said by the module itself.
        """
        files = {"environment.conf": "modulepath = site\n", "data/common.yaml": "m::k: [a]\n"}
        files |= module("site", "m", "m::k: [b]\nlookup_options: {m::k: {merge: unique}}\n")

        assert ["a", "b"] == Hiera(written(tmp_path, files)).scope().lookup("m::k")


class TestPuppetConf:
    def test_puppet_conf_names_the_folders_of_hiera(self, tmp_path: Path):
        """
        With settings in each other, the section of the server first.
        """
        files = {
            "etc/puppet.conf": "[main]\nhiera_config = $confdir/h.yaml\nenvironmentpath = nowhere\n"
            f"codedir = {tmp_path}/code\n"
            "[server]\nenvironmentpath = $codedir/envs:$codedir/more\nbasemodulepath = ${codedir}/base\n",
            "etc/h.yaml": "version: 5\nhierarchy: [{name: g, path: g.yaml}]\n",
            "etc/data/g.yaml": "g: 1\n",
            "code/envs/dev/data/common.yaml": "k: dev\n",
            "code/more/production/hiera.yaml": MODULE,
            "code/more/production/data/common.yaml": "k: production\n",
        } | module("code/base", "m", "m::k: base\n")
        hiera = Hiera(puppet_conf=written(tmp_path, files) / "etc")

        assert ["dev", "production"] == hiera.environments()
        assert ["production", 1, "base"] == [hiera.scope().lookup(key) for key in ("k", "g", "m::k")]

    def test_folders_that_puppet_conf_leaves_out_are_beside_it(self, tmp_path: Path):
        """
        The folders of both kinds of packages; arguments go before.
        """
        files = {"puppet/puppet.conf": "", "code/environments/production/hiera.yaml": MODULE} | {
            "code/environments/production/data/common.yaml": "k: 1\n",
            "code/hiera.yaml": MODULE,
            "puppet/hiera.yaml": "version: 4\n",
        }
        root = written(tmp_path, files)

        assert 1 == Hiera(puppet_conf=root / "puppet/puppet.conf").scope().lookup("k")
        assert 1 == Hiera(puppet_conf=root / "puppet").scope().lookup("k")
        with pytest.raises(KeyNotFound):
            Hiera(root / "hiera.yaml", puppet_conf=root / "puppet").scope().lookup("k")
        with pytest.raises(BadArgument, match="there is no"):
            Hiera(puppet_conf=root / "nowhere")

    def test_on_the_command_line(self, said):
        """
        --confdir, as Puppet calls it.
        """
        files = {"p/code/environments/production/hiera.yaml": MODULE}
        files["p/code/environments/production/data/common.yaml"] = "k: 1\n"

        assert (0, "1\n", "") == said(files, "lookup", "k", "--confdir", "p")
        assert 1 == said(files, "lookup", "k", "--puppet-conf", "q")[0]


class TestEnvironments:
    def test_a_folder_that_has_them_and_is_none_is_one_of_them(self, tmp_path: Path, said):
        """
        Named, or where the command is given.
        """
        (tmp_path / "code").mkdir()
        files = {"code/environments/dev/hiera.yaml": MODULE, "code/environments/dev/data/common.yaml": "k: 1\n"}

        assert (0, "1\n", "") == said(files, "lookup", "k", "--hiera", "code", "--environment", "dev")
        (tmp_path / "hiera.yaml").unlink()
        (tmp_path / "environments").symlink_to("code/environments")
        assert 1 == Hiera(tmp_path).scope(environment="dev").lookup("k")


class TestPuppetfile:
    PUPPETFILE = "forge 'x'\n# mod 'a/commented'\nmod 'puppetlabs/apache', '1.0'\nmod(\"n\")\nmod 'x-m', :latest\n"

    def test_a_module_that_is_named_and_not_installed_may_have_any_key_of_its_own(self, tmp_path: Path):
        """
        The others answer; below the first one found its lookup_options alone may matter.
        """
        files = {"Puppetfile": self.PUPPETFILE, "data/common.yaml": "apache::k: 1\n"}
        files |= module("modules", "m", "m::k: 1")
        scope = Hiera(written(tmp_path, files), root=tmp_path).scope()

        assert 1 == scope.lookup("apache::k") == scope.lookup("m::k")
        assert [True] == [one.is_merge for one in scope.unknown_levels("apache::k")]
        told = ["level 'module apache' (Puppetfile:3): it is named there and not installed"]
        assert told == list(map(str, scope.unknown_levels("apache::k", merge="unique")))
        with pytest.raises(KeyNotFound, match=r"n::k may be in level 'module n' \(Puppetfile:4\)"):
            scope.lookup("n::k")
        with pytest.raises(KeyNotFound, match=r"\A(?!(.|\n)*may be)"):
            scope.lookup("commented::k")

    def test_the_options_of_an_absent_module_meet_no_others(self, tmp_path: Path):
        """A key that is no text would be an error where two maps meet; nobody knows whether the module has one."""
        files = {"Puppetfile": self.PUPPETFILE}
        files["data/common.yaml"] = "apache::k: 1\nlookup_options: {3: {merge: hash}, 'apache::o': {merge: unique}}\n"
        scope = Hiera(written(tmp_path, files), root=tmp_path).scope()

        assert 1 == scope.lookup("apache::k")
        assert [True] == [one.is_merge for one in scope.unknown_levels("apache::k")]
        explained = scope.explain_options("apache::o")
        assert (None, {"merge": "unique"}) == (explained.error, explained.value["apache::o"])

    def test_a_data_function_with_the_name_of_an_absent_module_is_not_asked_for_its_keys(self, tmp_path: Path):
        files = {"Puppetfile": self.PUPPETFILE, "data/common.yaml": "k: 1\n"}
        tree = Hiera(written(tmp_path, files), functions={"apache": lambda key, options: "asked"})
        scope = tree.scope()

        assert "default" == scope.lookup("apache::k", default_value="default")
        assert ["module apache"] == [one.name for one in scope.unknown_levels("apache::k")]

    def test_what_only_ruby_can_say_is_a_warning(self, tmp_path: Path):
        """
        It is not run.
        """
        files = {"Puppetfile": "\n%w[a b].each do |m|\n  mod m, :latest\nend\n"}
        hiera = Hiera(written(tmp_path, files), root=tmp_path)

        assert 7 == hiera.scope().lookup("a::k", default_value=7)
        assert "Puppetfile:3: which module this is only Ruby can say" in [
            str(one).partition(",")[0] for one in hiera.warnings
        ]


class TestFilesThatAreFetched:
    GITMODULES = '[submodule "x"]\n\tpath = sub\n\turl = https://example.org/x.git\n'
    AT_SUBMODULE = r"is of the submodule sub, which is not here \(\.gitmodules:2\)"

    @pytest.mark.parametrize("is_folder", [False, True])
    @pytest.mark.parametrize(
        "level", ["datadir: sub, path: c.yaml", "datadir: ., path: sub/c.yaml", "datadir: sub/a, glob: '*.yaml'",
                  "datadir: ., globs: ['sub/%{x}/*.yaml']"]
    )  # fmt: skip
    def test_a_level_in_a_submodule_that_is_not_checked_out_may_have_any_key(self, tmp_path, level: str, is_folder):
        """Git leaves an empty folder there, or none."""
        text = f"{MODULE}hierarchy: [{{name: n, {level}}}]\n"
        written(tmp_path, {".gitmodules": self.GITMODULES, "hiera.yaml": text})
        if is_folder:
            (tmp_path / "sub").mkdir()

        with pytest.raises(KeyNotFound, match=rf"k may be in level 'n' \(hiera.yaml:2\): sub\S* {self.AT_SUBMODULE}"):
            Hiera(tmp_path, root=tmp_path).scope().lookup("k")

    def test_where_no_key_is_known_a_level_that_is_not_here_may_set_anything(self, tmp_path, monkeypatch, capsys):
        text = f"{MODULE}hierarchy: [{{name: n, datadir: sub, path: c.yaml}}]\n"
        monkeypatch.chdir(written(tmp_path, {".gitmodules": self.GITMODULES, "hiera.yaml": text}))

        assert 5 == main(["blame", "--dialect", "hiera"])
        assert "hiera.yaml:2 (level n) may set anything" in capsys.readouterr().err

    def test_a_submodule_that_is_checked_out_is_read_and_leaves_nothing_open(self, tmp_path):
        files = {".gitmodules": self.GITMODULES, "sub/c.yaml": "k: 1\n"}
        files["hiera.yaml"] = f"{MODULE}hierarchy: [{{name: n, datadir: sub, paths: [none.yaml, c.yaml]}}]\n"
        scope = Hiera(written(tmp_path, files), root=tmp_path).scope()

        assert (1, []) == (scope.lookup("k"), list(scope.unknown_levels("k")))
        with pytest.raises(KeyNotFound, match=r"\A(?!(.|\n)*may be)"):
            scope.lookup("l")

    def test_an_environment_below_the_root_of_git_has_its_submodules_too(self, tmp_path):
        files = {".gitmodules": self.GITMODULES.replace("sub", "environments/production/data")}
        written(tmp_path, files | {"environments/production/hiera.yaml": MODULE})

        with pytest.raises(KeyNotFound, match=r"which is not here \(\.gitmodules:2\)"):
            Hiera(environmentpath=tmp_path / "environments", root=tmp_path).scope().lookup("k")

    def test_a_module_whose_submodule_is_not_checked_out_may_have_any_key_of_its_own(self, tmp_path):
        files = {".gitmodules": self.GITMODULES.replace("sub", "modules/ntp"), "data/common.yaml": "k: 1\n"}
        (tmp_path / "modules/ntp").mkdir(parents=True)
        tree = Hiera(written(tmp_path, files), root=tmp_path)

        assert 1 == tree.scope().lookup("k")
        assert ["data/common.yaml"] == [one.file for one in tree.data_files("production")]
        with pytest.raises(KeyNotFound, match=r"ntp::k may be in level 'module ntp' \(.gitmodules:2\)"):
            tree.scope().lookup("ntp::k")

    def test_a_datadir_in_a_module_that_is_not_installed_may_have_any_key(self, tmp_path):
        """As of control repositories whose data is a module of the Puppetfile."""
        level = "{name: n, datadir: modules/hieradata/data, path: common.yaml}"
        files = {"Puppetfile": "mod 'example/hieradata'\n", "hiera.yaml": f"{MODULE}hierarchy: [{level}]\n"}
        told = r"is of the module hieradata, which is not here \(Puppetfile:1\)"

        with pytest.raises(KeyNotFound, match=told):
            Hiera(written(tmp_path, files), root=tmp_path).scope().lookup("k")


LEVELS = """\
version: 5
hierarchy:
- {name: node, path: node.yaml}
- {name: Vault, ENTRY}
- {name: common, path: common.yaml}
"""
ENTRIES = [
    "lookup_key: hiera_http, uris: ['http://localhost/%{::x}', 'http://other/']",
    "data_hash: vault_hash, uri: 'https://vault/'",
    "data_dig: own::function",
    "data_hash: hocon_data, path: common.yaml",
    "hiera3_backend: redis",
    "v4_data_hash: own::data",
]


class TestLevelsThatNobodyCanRead:
    @pytest.mark.parametrize("entry", ENTRIES)
    def test_the_others_answer(self, tmp_path: Path, entry: str):
        """
        And whoever asks is told where that level might decide.
        """
        files = {"hiera.yaml": LEVELS.replace("ENTRY", entry), "data/node.yaml": "n: 1\n", "data/common.yaml": "k: 2\n"}
        scope = Hiera(written(tmp_path, files), root=tmp_path).scope()

        assert (1, 2) == (scope.lookup("n"), scope.lookup("k"))
        assert [True] == [one.is_merge for one in scope.unknown_levels("n")]
        assert {("Vault", 4)} == {(one.name, one.origin.line) for one in scope.unknown_levels("k")}
        strict = Hiera(tmp_path, strict=True).scope()
        assert 1 == strict.lookup("n")
        with pytest.raises(UnknownLayer):
            strict.lookup("k")

    def test_the_password_of_a_uri_is_not_in_an_explanation(self, tmp_path: Path, capsys):
        uri = "lookup_key: http, uris: ['https://me:s3cret@h/%{x}?password=s3cret']"
        files = {"hiera.yaml": LEVELS.replace("ENTRY", uri), "data/common.yaml": "k: 2\n"}
        written(tmp_path, files)
        for form in ("text", "json"):
            assert main(["hiera", "explain", "k", "--hiera", str(tmp_path), "--set", "x=f", "--format", form]) == 5
            shown = "".join(capsys.readouterr())
            assert "s3cret" not in shown
            assert "https://me@h/f" in shown

    @pytest.mark.parametrize("entry", ENTRIES)
    def test_where_no_other_level_has_the_key_the_error_is_what_it_lacks(self, tmp_path: Path, entry: str):
        """
        With its line; a default answers all the same.
        """
        scope = Hiera(written(tmp_path, {"hiera.yaml": LEVELS.replace("ENTRY", entry), "data/common.yaml": "x: 1\n"}))
        scope = scope.scope()

        words = r"hiera.yaml:4: the entry 'Vault' names(.|\n)*no other level has 'k'"
        with pytest.raises(BadData, match=words) as caught:
            scope.lookup("k")
        assert "unknown_data_function" == caught.value.kind
        assert 7 == scope.lookup("k", default_value=7)

    def test_a_slip_of_the_pen_is_still_an_error(self, tmp_path: Path):
        """
        Which the other levels do not hide.
        """
        config = LEVELS.replace("ENTRY", "data_hash: yamldata, path: a.yaml")
        files = {"hiera.yaml": config, "data/node.yaml": "k: 1\n"}

        with pytest.raises(BadData, match="did you mean yaml_data"):
            Hiera(written(tmp_path, files)).scope().lookup("k")

    def test_a_function_is_called_for_each_uri(self, tmp_path: Path):
        """
        The URI, filled in, is an option.
        """
        config = LEVELS.replace("ENTRY", "lookup_key: http, uris: ['h://a/%{x}', 'h://b/']")
        asked = []

        def http(key, options):
            asked.append(options["uri"])
            raise KeyError(key)

        scope = Hiera(written(tmp_path, {"hiera.yaml": config}), functions={"http": http}).scope({"x": 7})
        assert 0 == scope.lookup("k", default_value=0)
        assert {"h://a/7", "h://b/"} == set(asked)

    def test_a_level_may_be_left_out(self, tmp_path: Path, said):
        """
        By its name; a name that no level has is told.
        """
        files = {"hiera.yaml": LEVELS.replace("ENTRY", ENTRIES[0]), "data/node.yaml": "x: 1\n"}
        files["data/common.yaml"] = "k: 2\n"

        code, out, err = said(files, "lookup", "k")
        assert (5, "2\n") == (code, out)
        assert "hiera.yaml:4 (level Vault) may set k: its data function 'hiera_http' does not exist here" in err
        assert (0, "2\n", "") == said(files, "lookup", "k", "--skip-level", "Vault")
        assert "left out" in said(files, "explain", "k", "--skip-level", "Vault")[1]
        assert "no level of the hierarchy is called 'Consul'" in said(files, "lookup", "x", "--skip-level", "Consul")[2]

    def test_a_level_left_out_does_not_take_another_with_the_same_file_along(self, tmp_path: Path):
        """
        They are told apart by their names.
        """
        config = LEVELS.replace("ENTRY", "path: common.yaml")
        files = {"hiera.yaml": config, "data/common.yaml": "k: 1\n"}

        assert 1 == Hiera(written(tmp_path, files), skip_levels=["Vault"]).scope().lookup("k")
        with pytest.raises(KeyNotFound):
            Hiera(tmp_path, skip_levels=["Vault", "common"]).scope().lookup("k")


MERGED = {
    "hiera.yaml": LEVELS.replace("ENTRY", ENTRIES[0]),
    "data/node.yaml": "k: [1]\none: 1\nset: [1]\nlookup_options: {set: {merge: unique}}\n",
    "data/common.yaml": "k: [2]\nset: [2]\n",
}


class TestHowItMerges:
    def test_lookup_options_of_such_a_level_might_merge_what_was_found(self, tmp_path: Path):
        """
        Unless the call says how, or a stronger level does.
        """
        scope = Hiera(written(tmp_path, MERGED), root=tmp_path).scope()
        told = {key: [one.is_merge for one in scope.explain(key).unknown] for key in ("k", "one", "set")}

        assert {"k": [True], "one": [True], "set": [False]} == told
        assert () == scope.unknown_levels("k", merge="first")
        assert ["merge"] == [one["decides"] for one in scope.explain("k").to_dict()["unknown"]]

    def test_on_the_command_line(self, said):
        """
        A sentence of its own, also in an explanation.
        """
        words = "its lookup_options may merge or convert it"

        code, out, err = said(MERGED, "lookup", "k")
        assert (5, "- 1\n", True) == (code, out, words in err)
        explained = " ".join(said(MERGED, "explain", "k")[1].split())
        assert "k may be merged otherwise by lookup_options of level 'Vault' (hiera.yaml:4)" in explained
        (unread,) = json.loads(said(MERGED, "lookup", "k", "--format", "json")[1])["unread"]
        assert ("hiera.yaml:4", True) == (unread["place"], words in unread["reason"])


def test_uris_take_no_file_function(tmp_path: Path):
    """
    What reads a file needs one.
    """
    config = LEVELS.replace("ENTRY", "uri: 'https://vault/'")

    with pytest.raises((BadData, BadLookup), match="yaml_data needs to know a file"):
        Hiera(written(tmp_path, {"hiera.yaml": config})).scope().lookup("k")


def test_paths_below_a_folder_that_is_not_there_are_one_row(said):
    """A level may have fifty of them."""
    far = {
        "name": "far",
        "datadir": "nowhere/%{environment}",
        "paths": ["%{trusted.certname}.yaml", "a.yaml", "b.yaml"],
    }
    config = json.dumps({"version": 5, "hierarchy": [far, {"name": "near", "path": "c.yaml"}]})
    code, out, _ = said({"hiera.yaml": config, "data/c.yaml": "k: 1\n"}, "explain", "k", "--node", "web1")

    assert code == 0
    rows = [line.split() for line in out.splitlines() if " environment " in line]
    assert rows == [
        ["environment", "far", "nowhere/production/", "no", "such", "folder", "for", "3", "paths"],
        ["environment", "near", "data/c.yaml", "found"],
    ]


class TestModuleDataThatAFactChooses:
    """A path of a module with a fact that is not known may name a file, as one of the environment may."""

    FILES: ClassVar = {
        "hiera.yaml": MODULE + "hierarchy: [{name: c, path: common.yaml}]\n",
        "data/common.yaml": "m::above: 1\nother::k: 1\n",
        "modules/m/hiera.yaml": MODULE
        + "hierarchy: [{name: os, path: 'os/%{facts.os.family}.yaml'}, {name: c, path: common.yaml}]\n"
        + "default_hierarchy: [{name: d, path: 'd/%{facts.d}.yaml'}, {name: e, path: e.yaml}]\n",
        "modules/m/data/os/Debian.yaml": "m::above: 2\nm::k: 2\nm::only: 2\nother::k: 2\n",
        "modules/m/data/common.yaml": "m::k: 1\nm::rest: 1\n",
        "modules/m/data/d/x.yaml": "m::rest: 2\nm::default: 2\n",
        "modules/m/data/e.yaml": "m::default: 1\n",
    }

    @pytest.mark.parametrize(
        ("key", "code", "place"),
        [
            ("m::k", 5, "os/Debian"),  # the file is above the one that has the value
            ("m::only", 5, "os/Debian"),  # nothing else has it
            ("m::default", 5, "d/x"),
            ("m::rest", 0, ""),  # the default hierarchy is for keys that nothing else has
            ("m::above", 0, ""),  # the environment is above each module
            ("other::k", 0, ""),  # a module has keys of its own only
            ("m::none", 3, ""),
        ],
    )
    def test_it_may_change_keys_of_the_module_and_no_others(self, said, key: str, code: int, place: str):
        got, _, err = said(self.FILES, "lookup", key)

        assert code == got
        assert [f"modules/m/data/{place}.yaml"] * bool(place) == [one for one in err.split() if "modules/m" in one]

    def test_with_the_fact_it_is_certain(self, said, tmp_path):
        files = {**self.FILES, "facts.json": '{"os": {"family": "Debian"}, "d": "y"}'}
        assert (0, "2\n", "") == said(files, "lookup", "m::k", "--facts", "facts.json")

    def test_patterns_in_its_lookup_options_are_about_the_keys_of_the_module(self, said):
        files = {**self.FILES, "modules/m/data/os/Debian.yaml": "lookup_options: {'^m::': {merge: unique}}\n"}

        assert [5, 0] == [said(files, "lookup", key)[0] for key in ("m::above", "other::k")]

    def test_unused_names_the_files_of_modules_and_of_nodes_that_may_be_read(self, said):
        files = {"hiera.yaml": MODULE + "hierarchy: [{name: n, path: 'nodes/%{trusted.certname}.yaml'}]\n"}
        code, _, err = said({**self.FILES, **files, "data/nodes/web1.yaml": "k: 1\n"}, "unused")

        assert 5 == code
        for file in ("data/nodes/web1.yaml", "modules/m/data/os/Debian.yaml", "modules/m/data/d/x.yaml"):
            assert f"{file} may count as" in err
