"""Files that name another file: a tsconfig.json is followed, and other files that are not read are named."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

from tests.effort import examples
from tests.oracles import eslint, repeated
from tests.oracles import ruff as oracle

InFolder = Callable[..., tuple[int, str, str]]


def tsconfig(**keys: object) -> str:
    return json.dumps(keys)


CHAIN = {
    "tsconfig.json": """{
  // ours
  "extends": ["./tsconfig.base", "@org/kit"],
  "compilerOptions": {"lib": ["dom"]}
}
""",
    "tsconfig.base.json": tsconfig(
        compilerOptions={"strict": True, "lib": ["es5"], "paths": {"a": ["b"]}}, include=["src"], references=[]
    ),
    "node_modules/@org/kit/package.json": tsconfig(name="@org/kit", tsconfig="base.json"),
    "node_modules/@org/kit/base.json": tsconfig(compilerOptions={"strict": False, "paths": {"c": ["d"]}}) + " // kit",
}


class TestTsconfig:
    @pytest.mark.parametrize(
        ("key", "value", "line"),
        [
            ("compilerOptions.strict", "false", "node_modules/@org/kit/base.json:1"),
            ("compilerOptions.lib", '["dom"]', "tsconfig.json:4"),
            ("compilerOptions.paths", '{"c": ["d"]}', "node_modules/@org/kit/base.json:1"),
            ("include", '["src"]', "tsconfig.base.json:1"),
        ],
    )
    def test_a_value_has_its_line_in_a_file_that_is_extended(
        self, in_folder: InFolder, key: str, value: str, line: str
    ) -> None:
        code, out, errors = in_folder(CHAIN, "why", key, "tsconfig.json")
        assert (code, errors) == (0, "")
        assert f"{key} = {value}" in out
        assert line in out.partition("wins")[2].partition("\n")[0]

    def test_references_are_not_taken_from_a_file_that_is_extended(self, in_folder: InFolder) -> None:
        code, _, errors = in_folder(CHAIN, "why", "references", "tsconfig.json")
        assert (code, "references is not set" in errors) == (1, True)

    def test_null_removes_an_option(self, in_folder: InFolder) -> None:
        files = {
            "a.json": tsconfig(compilerOptions={"strict": True, "lib": ["es5"]}),
            "tsconfig.json": tsconfig(extends="./a.json", compilerOptions={"strict": None}),
        }
        code, out, _ = in_folder(files, "fold", "tsconfig.json", "--policy", "tsconfig", "--format", "json")
        assert (code, json.loads(out)["compilerOptions"]) == (0, {"lib": ["es5"]})

    def test_a_package_that_is_not_there_may_set_what_the_file_does_not(self, in_folder: InFolder) -> None:
        files = {"tsconfig.json": tsconfig(extends="@org/kit", compilerOptions={"strict": True})}
        code, _, errors = in_folder(files, "why", "compilerOptions.target", "tsconfig.json")
        assert (code, "@org/kit is extended, and was not found" in errors) == (5, True)
        assert in_folder(files, "why", "compilerOptions.strict", "tsconfig.json")[0] == 0

    def test_files_that_extend_each_other_are_an_error_with_the_line(self, in_folder: InFolder) -> None:
        files = {"tsconfig.json": tsconfig(extends="./a.json"), "a.json": tsconfig(extends="./tsconfig")}
        code, _, errors = in_folder(files, "why", "include", "tsconfig.json")
        assert (code, "a.json:1" in errors, "extends itself, by ./tsconfig" in errors) == (1, True, True)

    def test_files_that_multiply_end_with_an_error(self, in_folder: InFolder) -> None:
        files = {f"t{n}.json": tsconfig(extends=[f"./t{n + 1}.json"] * 2) for n in range(30)}
        files |= {"t30.json": "{}", "tsconfig.json": tsconfig(extends="./t0.json")}
        code, _, errors = in_folder(files, "why", "include", "tsconfig.json")
        assert (code, "leads to more than 100 files" in errors) == (1, True)

    @pytest.mark.parametrize(
        ("extends", "exports", "value"),
        [
            ("k", "./a.json", "a"),
            ("k", {".": "./a.json"}, "a"),
            ("k/x", {"./x": "./a.json"}, "a"),
            ("k/a", {"./*": "./*.json"}, "a"),
            ("k/f/a.json", {"./*": "./*", "./f/*": "./*"}, "a"),
            ("k/a", None, "a"),
            ("k", {"./x": "./a.json"}, None),
            ("k/a", {"./*": "./*"}, None),
            ("k/a.json", {}, None),
            ("k/a.json", {"./x": "./a.json"}, None),
            ("k", {".": {"require": "./a.json"}}, None),
            ("k", "../../secret.json", None),
        ],
    )
    def test_the_exports_of_a_package_say_which_file_is_meant(
        self, in_folder: InFolder, extends: str, exports: object, value: str | None
    ) -> None:
        package = "node_modules/k/"
        files = {
            f"{package}package.json": tsconfig(tsconfig="b.json", exports=exports),
            f"{package}a.json": tsconfig(compilerOptions={"jsxFactory": "a"}),
            f"{package}b.json": tsconfig(compilerOptions={"jsxFactory": "b"}),
            "tsconfig.json": tsconfig(extends=extends),
        }
        code, out, _ = in_folder(files, "why", "compilerOptions.jsxFactory", "tsconfig.json", "--format", "json")
        found = json.loads(out)["answers"][0]
        assert (code, found["value"]) == (5 if value is None else 0, value)

    @pytest.mark.parametrize(
        "odd", [5, 1.5, True, {"a": 1}, "", ".", "/", "./", "a\0b", "./" + "a" * 300, "a" * 5000, [5]]
    )
    def test_an_entry_that_names_no_file_may_set_what_the_file_does_not(self, in_folder: InFolder, odd: object) -> None:
        files = {"tsconfig.json": tsconfig(extends=odd, x=1)}
        assert in_folder(files, "fold", "tsconfig.json", "--policy", "tsconfig")[0] == 5
        assert in_folder(files, "why", "x", "tsconfig.json")[0] == 0

    @pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000])
    def test_a_package_json_that_cannot_be_read_may_name_any_file(self, in_folder: InFolder, text: str) -> None:
        files = {
            "node_modules/k/package.json": text,
            "node_modules/k/tsconfig.json": "{}",
            "tsconfig.json": tsconfig(extends="k", x=1),
        }
        assert in_folder(files, "fold", "tsconfig.json", "--policy", "tsconfig")[0] == 5

    def test_null_extends_nothing(self, in_folder: InFolder) -> None:
        files = {"tsconfig.json": tsconfig(extends=None, x=1)}
        assert in_folder(files, "fold", "tsconfig.json", "--policy", "tsconfig")[0] == 0

    def test_many_files_that_are_not_there_end_with_an_error(self, in_folder: InFolder) -> None:
        files = {"tsconfig.json": tsconfig(extends=[f"./{number}" for number in range(200)])}
        code, _, errors = in_folder(files, "why", "x", "tsconfig.json")
        assert (code, "leads to more than 100 files" in errors) == (1, True)

    def test_a_file_outside_of_the_folder_is_not_read(self, in_folder: InFolder) -> None:
        files = {
            "secret.json": tsconfig(compilerOptions={"jsxFactory": "s3cret"}),
            "r/tsconfig.json": tsconfig(extends="../secret.json"),
        }
        code, out, errors = in_folder(files, "why", "compilerOptions.jsxFactory", "r/tsconfig.json", "--repo", "r")
        assert (code, "s3cret" in out + errors) == (5, False)


RUFF = {
    "base.toml": 'line-length = 90\n[lint]\nextend-select = ["E"]\nignore = ["E501"]\n[lint.isort]\nx = 1\ny = 1\n',
    "pkg/pyproject.toml": '[project]\nname = "k"\n[tool.ruff]\nextend = "../base.toml"\n'
    '[tool.ruff.lint]\nextend-select = ["W"]\n[tool.ruff.lint.isort]\ny = 2\n',
    "ruff.toml": 'extend = "pkg/pyproject.toml"\nline-length = 100\n',
    ".ruff.toml": 'extend = "base.toml"\n[lint]\nselect = ["F"]\n',
}


class TestRuff:
    @pytest.mark.parametrize(
        ("file", "key", "value", "line"),
        [
            ("ruff.toml", "line-length", "100", "ruff.toml:2"),
            ("ruff.toml", "lint.isort.x", "1", "base.toml:6"),
            ("ruff.toml", "lint.isort.y", "2", "pkg/pyproject.toml:8"),
            ("ruff.toml", "lint.extend-select", '["E", "W"]', "pkg/pyproject.toml:6"),
            ("pkg/pyproject.toml", "tool.ruff.line-length", "90", "base.toml:1"),
            ("pkg/pyproject.toml", "tool.ruff.lint.ignore", '["E501"]', "base.toml:4"),
            ("pkg/pyproject.toml", "project.name", '"k"', "pkg/pyproject.toml:2"),
            (".ruff.toml", "lint.select", '["F"]', ".ruff.toml:3"),
        ],
    )
    def test_a_value_has_its_line_in_a_file_that_is_extended(
        self, in_folder: InFolder, file: str, key: str, value: str, line: str
    ) -> None:
        code, out, errors = in_folder(RUFF, "why", key, file)
        assert (code, errors) == (0, "")
        assert f"{key} = {value}" in out
        assert line in out

    @pytest.mark.parametrize("key", ["lint.ignore", "lint.extend-select", "extend"])
    def test_select_makes_the_lists_of_extended_files_void(self, in_folder: InFolder, key: str) -> None:
        _, out, _ = in_folder(RUFF, "why", key, ".ruff.toml")
        assert "base.toml:" not in out

    @pytest.mark.parametrize(
        "word", ["~/ruff.toml", "$HOME/ruff.toml", "${X}.toml", "missing.toml", "", ".", "a\\u0000b", "a" * 5000]
    )
    def test_a_file_that_is_not_followed_may_set_what_the_file_does_not(self, in_folder: InFolder, word: str) -> None:
        file = {
            "ruff.toml": f'extend = "{word}"\nx = 1\n',
            "pyproject.toml": f'x = 1\n[tool.ruff]\nextend = "{word}"\n',
        }
        assert in_folder(file, "why", "line-length", "ruff.toml")[0] == 5
        assert in_folder(file, "why", "x", "ruff.toml")[0] == 0
        assert in_folder(file, "why", "tool.ruff.line-length", "pyproject.toml")[0] == 5
        assert in_folder(file, "why", "x", "pyproject.toml")[0] == 0
        code, _, errors = in_folder(file, "why", "other", "pyproject.toml")
        assert (code, "other is not set" in errors) == (1, True)

    def test_files_that_extend_each_other_are_an_error_with_the_line(self, in_folder: InFolder) -> None:
        files = {"ruff.toml": 'extend = "a.toml"\n', "a.toml": 'x = 1\nextend = "ruff.toml"\n'}
        code, _, errors = in_folder(files, "why", "x", "ruff.toml")
        assert (code, "a.toml:2" in errors, "extends itself, by ruff.toml" in errors) == (1, True, True)

    def test_a_file_outside_of_the_folder_is_not_read(self, in_folder: InFolder) -> None:
        files = {"a.toml": 'x = "s3cret"\n', "r/ruff.toml": 'extend = "../a.toml"\n'}
        code, out, errors = in_folder(files, "why", "x", "r/ruff.toml", "--repo", "r")
        assert (code, "s3cret" in out + errors) == (5, False)

    @pytest.mark.skipif(not Path(oracle.RUFF).exists(), reason="Ruff is not installed")
    @pytest.mark.parametrize("seed", range(examples(3)))
    def test_random_chains_are_what_ruff_reads(self, seed: int) -> None:
        assert oracle.main(["--count", "1", "--seed", f"{seed}"]) == 0


LINTED = {
    ".eslintrc.yml": """root: true
extends: [eslint:recommended, ./base, kit, "@org"]
rules:
  no-alert: off
  quotes: warn
  semi: [error, always]
plugins: [one]
globals: {a: off, b: true}
""",
    "base.json": """{ // ours
  "rules": {"quotes": ["error", "double"], "semi": ["warn", "never"],
    "indent": [
      "error"
    ]},
  "plugins": ["two", "one"],
  "ignorePatterns": "dist",
  "settings": {"l": [{"a": 1}, 2]},
  "overrides": [{"files": "*.ts"}]
}
""",
    "node_modules/eslint-config-kit/package.json": '{"main": "lib"}',
    "node_modules/eslint-config-kit/lib/index.json": """{
  "extends": "./more", "ignorePatterns": ["lib"],
  "settings": {"l": [{"b": 3}]},
  "overrides": [{"files": "*.vue"}]
}
""",
    "node_modules/eslint-config-kit/lib/more.json": '{"env": {"node": true}}',
    "node_modules/@org/eslint-config/index.json": '{"env": {"browser": true}, "parser": null}',
}


class TestEslint:
    @pytest.mark.parametrize(
        ("key", "value", "line"),
        [
            ("rules.no-alert", '"off"', ".eslintrc.yml:4"),
            ("rules.quotes", '["warn", "double"]', ".eslintrc.yml:5"),
            ("rules.quotes", '["warn", "double"]', "base.json:2"),
            ("rules.semi", '["error", "always"]', ".eslintrc.yml:6"),
            ("plugins", '["two", "one"]', "base.json:6"),
            ("globals.a", '"off"', ".eslintrc.yml:8"),
            ("globals.b", "true", ".eslintrc.yml:8"),
            ("ignorePatterns", '["dist", "lib"]', "base.json:7"),
            ("settings.l", '[{"a": 1, "b": 3}, 2]', "lib/index.json:3"),
            ("overrides.1.files", '"*.vue"', "lib/index.json:4"),
            ("env.node", "true", "node_modules/eslint-config-kit/lib/more.json:1"),
            ("env.browser", "true", "node_modules/@org/eslint-config/index.json:1"),
        ],
    )
    def test_a_value_has_its_line_in_a_file_that_is_extended(
        self, in_folder: InFolder, key: str, value: str, line: str
    ) -> None:
        code, out, _ = in_folder(LINTED, "why", key, ".eslintrc.yml")
        assert (code, f"{key} = {value}" in out, line in out) == (0, True, True)

    def test_a_severity_in_a_list_has_the_line_of_the_severity(self, in_folder: InFolder) -> None:
        out = in_folder(LINTED, "fold", "base.json", "--policy", "eslint", "--blame")[1]
        assert [line.split()[0] for line in out.splitlines() if line.endswith("indent: error")] == ["base.json:4"]

    def test_what_eslint_recommends_sets_rules_alone_and_no_options(self, in_folder: InFolder) -> None:
        codes = {
            key: in_folder(LINTED, "why", key, ".eslintrc.yml")[0] for key in ("rules.x", "rules.no-alert", "env.x")
        }
        assert codes == {"rules.x": 5, "rules.no-alert": 0, "env.x": 1}

    @pytest.mark.parametrize("word", ["plugin:vue/base", "airbnb", "./gone", "./code", "./package.json", "../../up"])
    def test_a_config_that_is_not_read_may_have_the_options_of_a_rule(self, in_folder: InFolder, word: str) -> None:
        files = {
            ".eslintrc.json": tsconfig(root=True, extends=word, rules={"a": "off", "b": ["off", 1]}, env={"c": True}),
            "code.js": "module.exports = {};\n",
            "code.json": "{}",
            "package.json": tsconfig(eslintConfig={}),
        }
        codes = {key: in_folder(files, "why", key, ".eslintrc.json")[0] for key in ("rules.a", "rules.b", "env.c", "x")}
        assert codes == {"rules.a": 5, "rules.b": 0, "env.c": 0, "x": 5}

    @pytest.mark.parametrize(("root", "code"), [(True, 1), (False, 5), (None, 5)])
    @pytest.mark.parametrize("above", [".eslintrc.js", ".eslintrc", "package.json"])
    def test_a_config_in_a_folder_above_may_set_what_the_file_does_not(
        self, in_folder: InFolder, above: str, root: bool | None, code: int
    ) -> None:
        files = {"a/b/.eslintrc.json": tsconfig(root=root, x=1), above: tsconfig(eslintConfig={})}
        assert in_folder(files, "why", "y", "a/b/.eslintrc.json")[0] == code
        assert in_folder(files, "why", "x", "a/b/.eslintrc.json")[0] == 0

    def test_a_package_json_above_without_settings_of_eslint_sets_nothing(self, in_folder: InFolder) -> None:
        files = {"a/.eslintrc.json": tsconfig(x=1), "package.json": tsconfig(name="x")}
        assert in_folder(files, "why", "y", "a/.eslintrc.json")[0] == 1

    def test_overrides_that_extend_in_a_base_make_all_overrides_uncertain(self, in_folder: InFolder) -> None:
        files = {
            ".eslintrc.json": tsconfig(extends="./base.json", overrides=[{"files": "b"}]),
            "base.json": tsconfig(overrides=[{"files": "a", "extends": "airbnb"}], env={"x": True}),
        }
        codes = {key: in_folder(files, "why", key, ".eslintrc.json")[0] for key in ("overrides.1.files", "env.x")}
        assert codes == {"overrides.1.files": 5, "env.x": 0}

    def test_files_that_extend_each_other_are_an_error_with_the_line(self, in_folder: InFolder) -> None:
        files = {".eslintrc": "extends: ./a.yml\n", "a.yml": "env: {}\nextends: ./.eslintrc\n"}
        code, _, errors = in_folder(files, "why", "x", ".eslintrc")
        assert (code, "a.yml:2" in errors, "extends itself, by ./.eslintrc" in errors) == (1, True, True)

    def test_standard_input_extends_files_of_the_folder(
        self, in_folder: InFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b'{"extends": "./a.json"}')))
        code, out, _ = in_folder(
            {"a.json": tsconfig(env={"x": True})}, "fold", "-", "--policy", "eslint", "--format", "json"
        )
        assert (code, json.loads(out)["env"]) == (0, {"x": True})

    def test_a_map_does_not_meet_a_list(self, in_folder: InFolder) -> None:
        files = {
            ".eslintrc.json": tsconfig(extends="./a.json", settings={"x": [1]}),
            "a.json": tsconfig(settings={"x": {"y": 1}}),
        }
        code, _, errors = in_folder(files, "why", "settings.x", ".eslintrc.json")
        assert (code, "ESLint mixes a map and a list here at settings.x" in errors) == (1, True)

    def test_a_file_outside_of_the_folder_is_not_read(self, in_folder: InFolder) -> None:
        files = {
            "a.json": tsconfig(env={"s3cret": True}),
            "r/.eslintrc.json": tsconfig(root=True, extends="../a.json"),
        }
        code, out, errors = in_folder(files, "why", "env.x", "r/.eslintrc.json", "--repo", "r")
        assert (code, "s3cret" in out + errors) == (5, False)

    @pytest.mark.skipif(not eslint.ESLINT, reason="ESLINT names no folder of the package")
    def test_random_chains_are_what_eslint_reads(self) -> None:
        assert eslint.main(["--count", str(examples(5, 1)), "--seed", "3"]) == 0


class TestOtherTools:
    def test_an_override_of_eslint_that_extends_others_is_not_known(self, in_folder: InFolder) -> None:
        text = '{"rules": {"x": 1}, "overrides": [{"files": "a"}, {"extends": "airbnb", "rules": {"y": 1}}]}'
        file = {".eslintrc.json": text}
        for key, code in {"rules.x": 0, "overrides.1.rules.y": 5, "overrides.1.rules.z": 5}.items():
            assert (key, in_folder(file, "why", key, ".eslintrc.json")[0]) == (key, code)

    def test_a_fold_under_another_policy_says_which_override_is_not_known(self, in_folder: InFolder) -> None:
        file = {"x/.eslintrc.json": '{"overrides": [{"files": "a"}, {"extends": "airbnb", "rules": {"y": 1}}]}'}
        for key, code in {"overrides.0.files": 0, "overrides.1.rules.y": 5}.items():
            words = ("fold", "x/.eslintrc.json", "--policy", "across", "--explain", key)
            assert (key, in_folder(file, *words)[0]) == (key, code)

    @pytest.mark.parametrize(
        ("file", "text", "path"),
        [
            (".stylelintrc.json", '{"extends": "airbnb", "x": 1}', "extends"),
            ("renovate.json", '{"extends": ["config:base"], "x": 1}', "extends"),
            ("biome.jsonc", '{"extends": ["./b.json"], "x": 1}', "extends"),
            ("mkdocs.yml", "INHERIT: ../mkdocs.yml\nx: 1\n", "INHERIT"),
            (".gitlab-ci.yml", "include: other.yml\nx: 1\n", "include"),
        ],
    )
    def test_a_key_that_only_other_files_may_set_is_not_known(
        self, in_folder: InFolder, file: str, text: str, path: str
    ) -> None:
        code, _, errors = in_folder({file: text}, "why", "other", file)
        assert (code, f"(file {path}) may set anything: names other files" in errors) == (5, True)
        assert in_folder({file: text}, "why", "x", file)[0] == 0

    @pytest.mark.parametrize(
        ("file", "text"),
        [
            ("application.yml", "x: 1\nspring: {config: {import: other.yml}}\n"),
            ("application.yml", "x: 1\nspring.config.import: other.yml\n"),
            ("application.properties", "x=1\nspring.config.import[0]=other.yml\n"),
            ("gitconfig", "[Include]\npath = ~/other\n"),
            ("gitconfig", "[Include]\npath = %(prefix)/other\n"),
            ("gitconfig", "[Include]\npath = .\n"),
            ("gitconfig", "[Include]\npath =\n"),
            ("gitconfig", '[x]\ny = 1\n[includeIf "gitdir:~/a.b/"]\npath = other\n'),
        ],
    )
    def test_what_overrides_the_file_makes_every_key_uncertain(self, in_folder: InFolder, file: str, text: str) -> None:
        assert in_folder({file: text}, "why", "x", file)[0] == 5

    @pytest.mark.parametrize("empty", ["[]", "null", "{}", '""'])
    def test_an_entry_that_names_nothing_is_certain(self, in_folder: InFolder, empty: str) -> None:
        file = {".eslintrc.json": f'{{"extends": {empty}, "x": 1}}'}
        assert in_folder(file, "fold", ".eslintrc.json")[0] == 0

    def test_a_fold_says_it_too(self, in_folder: InFolder) -> None:
        code, out, errors = in_folder({"ruff.toml": 'extend = "a.toml"\n'}, "fold", "ruff.toml")
        assert (code, out) == (5, "extend: a.toml\n")
        assert "ruff.toml:1 (file extend) may set anything" in errors

    def test_a_file_of_the_name_without_such_a_key_is_certain(self, in_folder: InFolder) -> None:
        assert in_folder({"ruff.toml": "x = 1\n"}, "why", "x", "ruff.toml")[0] == 0


UNIT = ("web.service", "web.service.d/10.conf")
CONFIGS = ("system/gitconfig", ".gitconfig")


REPEATED = {
    "web.service": "[Unit]\nAfter=a.target\n[Service]\nExecStart=/bin/a \\\n  -x\nEnvironment=A=1\nType=simple\n",
    "web.service.d/10.conf": "[Unit]\nAfter=\n[Service]\n# note\nExecStart=\nExecStart=/bin/b\nEnvironment=B=2\n",
    "system/gitconfig": '[credential]\n\thelper = store\n[Remote "Origin"]\n\tURL = "a ; b" # c\n\tmirror\n',
    ".gitconfig": '[credential]\n\thelper =\n\thelper = cache\n[remote "Origin"]\n\turl = d\n\tmirror = no\n',
}


class TestRepeatedKeys:
    @pytest.mark.parametrize(
        ("key", "files", "value", "line"),
        [
            ("Service.ExecStart", UNIT, '["/bin/b"]', "web.service.d/10.conf:5"),
            ("Service.Environment", UNIT, '["A=1", "B=2"]', "web.service:6"),
            ("Service.Type", UNIT, '"simple"', "web.service:7"),
            ("Unit.After", UNIT, '["a.target"]', "web.service:2"),
            ("credential.helper", CONFIGS, '["cache"]', ".gitconfig:2"),
            ("remote.Origin.url", CONFIGS, '["a ; b", "d"]', "system/gitconfig:4"),
            ("remote.Origin.mirror", CONFIGS, '"no"', ".gitconfig:6"),
        ],
    )
    def test_keys_that_are_lists_follow_each_other_until_an_empty_text(
        self, in_folder: InFolder, key: str, files: tuple[str, ...], value: str, line: str
    ) -> None:
        code, out, errors = in_folder(REPEATED, "why", key, *files)
        assert (code, errors, f"{key} = {value}" in out, line in out) == (0, "", True, True)

    @pytest.mark.parametrize(
        ("key", "base", "drop_in", "value", "line"),
        [
            ("Timer.OnBootSec", "[Timer]\nOnBootSec=1\n", "[Timer]\nOnCalendar=\n", "[]", "d/10.conf:2"),
            ("Timer.OnBootSec", "[Timer]\nOnBootSec=1\nOnCalendar=\nOnBootSec=2\n", "", '["2"]', "web.service:4"),
            ("Timer.OnBootSec", "[Timer]\nOnBootSec=1\n", "[Timer]\nOnCalendar=\nOnBootSec=2\n", '["2"]', "10.conf:3"),
            ("Timer.OnClockChange", "[Timer]\nOnClockChange=no\nOnCalendar=\n", "", '"no"', "web.service:2"),
            ("Unit.ConditionHost", "[Unit]\nConditionHost=a\n", "[Unit]\nAssertHost=\n", '["a"]', "web.service:2"),
            ("Service.IOSchedulingClass", "[Service]\nIOSchedulingClass=idle\n",
             "[Service]\nIOSchedulingClass=best-effort\n", '"best-effort"', "10.conf:2"),
            ("Service.StandardInputText", "[Service]\nStandardInputText=a\n", "[Service]\nStandardInputData=\n", "[]",
             "d/10.conf:2"),
            ("Service.User", "[Service]\nExecStart=/bin/a \\\\\nUser=u\n", "", '"u"', "web.service:3"),
        ],
    )  # fmt: skip
    def test_units_are_read_as_systemd_reads_them(
        self, in_folder: InFolder, key: str, base: str, drop_in: str, value: str, line: str
    ) -> None:
        code, out, errors = in_folder(dict(zip(UNIT, (base, drop_in), strict=True)), "why", key, *UNIT)
        assert (code, errors, f"{key} = {value}" in out, line in out) == (0, "", True, True)

    @pytest.mark.parametrize(
        ("written", "value"),
        [("x\\\n  ", "x"), ("\\\n    y", "y"), ('"" x', "x"), ('x ""', "x "), ('" x "', " x "), ('"\\\n z"', " z")],
    )
    def test_blanks_around_a_value_of_git_are_left_out(self, in_folder: InFolder, written: str, value: str) -> None:
        out = in_folder({"gitconfig": f"[a]\n  b = {written}\n  c = 1\n"}, "why", "a.b", "gitconfig")[1]
        assert f'a.b = "{value}"\n' in out

    @pytest.mark.parametrize(
        ("file", "text", "error"),
        [
            ("gitconfig", "x = 1\n", "1:1: a line that says nothing"),
            ("gitconfig", '[a]\nx = "b\n', "a quote is opened here"),
            ("gitconfig", "[a]\nx = \\q\n", "Git knows no escape"),
            ("gitconfig", "[a]\nb = 1\n[a.b]\nc = 1\n", "4:1: b is a key and a section"),
            ("gitconfig", "[a.b]\nc = 1\n[a]\nb = 1\n", "4:1: b is a section and a key"),
            ("a.service", "Type=simple\n", "1:1: a line that says nothing"),
            ("a.service", "[Service]\nType\n", "2:1: a line that says nothing"),
        ],
    )
    def test_what_the_program_refuses_is_an_error_of_the_line(
        self, in_folder: InFolder, file: str, text: str, error: str
    ) -> None:
        code, _, errors = in_folder({file: text}, "why", "a.b", file)
        assert (code, error in errors) == (1, True)

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("ca[]=a\nca[] = b ; note\n", ["a", "b"]),
            ("ca=a\nca[]=b\nca=c\n", ["a", "b", "c"]),
            ("ca[]=\n", [""]),
            ("ca=a\nca=b\n", "b"),
            ("ca = true\n", True),
            ("ca\n", True),
            ("ca='1'\n", 1),
            ('ca="1"\n', "1"),
            ("ca='a ; b'\n", "a ; b"),
            ("ca=a\\;b\\c\n", "a;b\\c"),
            ('ca="a\n', '"a'),
        ],
    )
    def test_a_npmrc_is_read_as_npm_reads_it(self, in_folder: InFolder, text: str, value: object) -> None:
        code, out, errors = in_folder({".npmrc": text}, "why", "ca", ".npmrc", "--format", "json")
        assert (code, errors, json.loads(out)["answers"][0]["value"]) == (0, "", value)

    def test_elements_of_a_npmrc_have_their_lines(self, in_folder: InFolder) -> None:
        out = in_folder({".npmrc": "ca=a\n; note\nca[]=b\n"}, "fold", ".npmrc", "--blame")[1]
        assert [line.split()[0] for line in out.splitlines()[1:]] == [".npmrc:1", ".npmrc:3"]

    def test_a_later_npmrc_has_its_whole_list(self, in_folder: InFolder) -> None:
        files = {"etc/.npmrc": "ca[]=a\nca[]=b\n", ".npmrc": "ca[]=c\n"}
        assert 'ca = ["c"]' in in_folder(files, "why", "ca", "etc/.npmrc", ".npmrc")[1]

    @pytest.mark.parametrize(
        ("text", "codes"),
        [("a=${X}\nb=1\n", (5, 0)), ("a[]=${X}\nb=1\n", (5, 0)), ("//${X}/:a=1\na=1\nb=1\n", (5, 5))],
    )
    def test_variables_in_a_npmrc_are_not_known(self, in_folder: InFolder, text: str, codes: tuple[int, int]) -> None:
        found = tuple(in_folder({".npmrc": text}, "why", key, ".npmrc")[0] for key in ("a", "b"))
        assert found == codes

    @pytest.mark.parametrize("key", ["_auth", "_authToken", "//npm.example.com/:_authToken", "//a/:_password", "key"])
    def test_tokens_and_passwords_of_npm_are_withheld(self, in_folder: InFolder, key: str) -> None:
        files = {".npmrc": f"{key}=npm-secret\nuser=plain\n"}
        for words in (["why", f'"{key}"', ".npmrc"], ["fold", ".npmrc"], ["fold", ".npmrc", "--blame"]):
            _, out, errors = in_folder(files, *words)
            assert "npm-secret" not in out + errors
        assert "plain" in in_folder({}, "fold", ".npmrc")[1]

    def test_a_variable_in_place_of_a_token_of_npm_is_shown(self, in_folder: InFolder) -> None:
        assert "${TOKEN}" in in_folder({".npmrc": "_authToken=${TOKEN}\n"}, "fold", ".npmrc")[1]

    @pytest.mark.parametrize("text", ["a.b=null\n", "[a.b]\nc=1\n", "'1'=a\n", "a='{}'\n", "a=1\n[a]\nb=1\n"])
    def test_what_npm_takes_apart_is_an_error_of_the_line(self, in_folder: InFolder, text: str) -> None:
        code, _, errors = in_folder({".npmrc": text}, "why", "a", ".npmrc")
        assert (code, ".npmrc:" in errors) == (1, True)

    @pytest.mark.parametrize(
        "key",
        ["CPUAffinity", "LogFilterPatterns", "ImportCredential", "RestrictNamespaces", "Delegate", "BPFProgram",
         "ExtensionDirectories", "AllowedCPUs", "NFTSet", "StandardInputText"],
    )  # fmt: skip
    def test_settings_of_systemd_that_are_lists_follow_each_other(self, in_folder: InFolder, key: str) -> None:
        files = {UNIT[0]: f"[Service]\n{key}=a\n", UNIT[1]: f"[Service]\n{key}=b\n"}
        assert f'{key} = ["a", "b"]' in in_folder(files, "why", f"Service.{key}", *UNIT)[1]
        files[UNIT[1]] = f"[Service]\n{key}=\n{key}=b\n"
        assert f'{key} = ["b"]' in in_folder(files, "why", f"Service.{key}", *UNIT)[1]

    INCLUDING: ClassVar = {
        ".gitconfig": "[a]\nx = 1\ny = 1\n[include]\npath = sub/inc\n[a]\ny = 3\nz = 3\n",
        "sub/inc": "[a]\nx = 2\ny = 2\n[include]\npath = more\n",
        "sub/more": "[a]\nw = 4\nz = 4\n",
    }

    @pytest.mark.parametrize(
        ("key", "value", "line"),
        [("x", "2", "sub/inc:2"), ("y", "3", ".gitconfig:7"), ("z", "3", ".gitconfig:8"), ("w", "4", "sub/more:2")],
    )
    def test_an_included_file_of_git_counts_where_its_line_stands(
        self, in_folder: InFolder, key: str, value: str, line: str
    ) -> None:
        code, out, errors = in_folder(self.INCLUDING, "why", f"a.{key}", ".gitconfig")
        assert (code, errors, f'a.{key} = "{value}"' in out) == (0, "", True)
        assert line in out.partition("wins")[2].partition("\n")[0]

    def test_an_included_file_that_is_not_there_may_override_what_stands_before_it(self, in_folder: InFolder) -> None:
        """Git passes over it; where Git reads the config, it may be there."""
        files = {".gitconfig": "[a]\nx = 1\n[include]\npath = gone\n[a]\ny = 1\n"}
        found = {key: in_folder(files, "why", f"a.{key}", ".gitconfig") for key in ("x", "y")}
        assert {key: one[0] for key, one in found.items()} == {"x": 5, "y": 0}
        assert "gone is included, and was not found" in found["x"][2]

    def test_a_file_under_a_condition_may_override_what_stands_before_it(self, in_folder: InFolder) -> None:
        files = {
            ".gitconfig": '[a]\nx = 1\n[includeIf "gitdir:~/w/"]\npath = inc\n[a]\ny = 1\n',
            "inc": "[a]\nx = 2\ny = 2\n",
        }
        codes = {key: in_folder(files, "why", f"a.{key}", ".gitconfig")[0] for key in ("x", "y")}
        assert codes == {"x": 5, "y": 0}

    @pytest.mark.parametrize(
        "name", [".gitconfig-work", "gitconfig.symlink", "dot_gitconfig", "config/git/config", "a/.gitconfig.local"]
    )
    def test_configs_of_git_have_many_names(self, in_folder: InFolder, name: str) -> None:
        files = {name: '[a]\n  x = "b" # c\n'}
        code, out, _ = in_folder(files, "why", "a.x", name)
        assert (code, 'a.x = "b"' in out) == (0, True)
        assert in_folder(files, "fold", name, "--syntax", "ini")[0] == 5

    def test_git_includes_nothing_for_gitmodules(self, in_folder: InFolder) -> None:
        files = {".gitmodules": "[a]\nx = 1\n[include]\npath = inc\n", "inc": "[a]\nx = 2\n"}
        code, out, _ = in_folder(files, "why", "a.x", ".gitmodules")
        assert (code, 'a.x = "1"' in out) == (0, True)

    @pytest.mark.parametrize("command", ["why a.x .gitconfig", "fold .gitconfig --policy git --explain a.x"])
    @pytest.mark.parametrize("path", ["../secret", "/etc/hostname", "/nowhere/at/all"])
    def test_git_includes_nothing_from_outside_of_the_repository(
        self, in_folder: InFolder, path: str, command: str
    ) -> None:
        files = {"secret": "[a]\nx = s3cret\n", "r/.gitconfig": f"[a]\nx = 1\n[include]\npath = {path}\n"}
        words = command.replace(".gitconfig", "r/.gitconfig").split()
        code, out, errors = in_folder(files, *words, "--repo", "r")
        assert (code, "s3cret" in out + errors) == (5, False)

    @pytest.mark.parametrize(
        "files",
        [
            {".gitconfig": "[include]\npath = .gitconfig\n"},
            {".gitconfig": "[include]\n" + "path = inc\n" * 200, "inc": "[a]\nx = 1\n"},
        ],
    )
    def test_configs_of_git_that_multiply_end_with_an_error(self, in_folder: InFolder, files: dict[str, str]) -> None:
        code, _, errors = in_folder(files, "why", "a.x", ".gitconfig")
        assert (code, "leads to more than 10 levels or 100 files" in errors) == (1, True)

    def test_a_config_of_git_has_no_documents(self, in_folder: InFolder) -> None:
        code, _, errors = in_folder(self.INCLUDING, "why", "a.x", ".gitconfig#2", "--policy", "git")
        assert (code, "a config of Git has no documents" in errors) == (1, True)

    def test_random_chains_of_git_are_what_git_reads(self, tmp_path: Path) -> None:
        for number in range(examples(20, 3)):
            assert repeated.of_git(tmp_path / str(number), random.Random(number))

    def test_random_units_are_what_systemd_reads(self, tmp_path: Path) -> None:
        for number in range(examples(20, 3)):
            assert repeated.of_systemd(tmp_path, random.Random(number), number)
