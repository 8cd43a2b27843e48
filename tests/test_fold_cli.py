"""`nodeattrs fold`: which files, what comes out, and with which exit code. docs/fold.md runs in tests/test_cli.py."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import pytest
import yaml

from nodeattrs import fold, read_layer
from nodeattrs.cli import main
from nodeattrs.policies import NAMES

FILES = {
    "base.yaml": "http:\n  port: 80\n  hosts: [a]\nlog: info\n",
    "prod.yaml": "http:\n  port: 443\n  hosts: [b]\n",
    "conf.d/20.json": '{"log": "debug"}',
    "conf.d/10.toml": 'log = "warn"\n',
    "conf.d/.hidden.yaml": "log: hidden\n",
    "conf.d/readme.txt": "no layer",
    "conf.d/deep/30.yaml": "log: deep\n",
    "two.yaml": "a: 1\n---\na: 2\n",
    "vault.yml": "$ANSIBLE_VAULT;1.1;AES256\n3139\n",
    "secret.yaml": "db:\n  password: ENC[PKCS7,MIIBeQ==]\n",
    "app.env": "LOG=debug\n",
    "plain": "log: none\n",
}


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def tree(self) -> Any:
        return yaml.safe_load(self.out)

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Call = Callable[..., Done]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs `nodeattrs fold` beside the files."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def called(line: str, stdin: str = "") -> Done:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(stdin.encode())))
        capsys.readouterr()
        code = main(["fold", *line.split()])
        return Done(code, *capsys.readouterr())

    return called


class TestTheSameInPython:
    """`nodeattrs.fold` of files gives what the command prints for them."""

    def test_fold_in_python_without_a_policy_gives_the_value_of_the_command(self, call: Call):
        layers = [read_layer("base.yaml"), read_layer("prod.yaml")]

        assert fold(layers).value == call("base.yaml prod.yaml").tree
        assert [one.value for one in fold(layers).trace("http.hosts").losers] == [["a"]]

    @pytest.mark.parametrize("name", NAMES)
    def test_under_each_policy_with_a_name(self, call: Call, name: str):
        layers = [read_layer("base.yaml"), read_layer("prod.yaml"), read_layer("conf.d/20.json")]
        traced = call(f"base.yaml prod.yaml conf.d/20.json --policy {name} --explain http.hosts -F json").data

        assert fold(layers, name).value == call(f"base.yaml prod.yaml conf.d/20.json --policy {name}").tree
        assert [one.why for one in fold(layers, name).trace("http.hosts").claims] == [
            one["why"] for one in traced["traces"][0]["claims"]
        ]

    def test_rules_for_paths_hold_under_a_name(self, call: Call):
        layers = [read_layer("base.yaml"), read_layer("prod.yaml")]

        assert fold(layers, "helm", rules={"http.hosts": "append"})["http"]["hosts"] == ["a", "b"]


class TestFiles:
    def test_later_ones_are_stronger(self, call: Call):
        assert {"http": {"port": 443, "hosts": ["b"]}, "log": "info"} == call("base.yaml prod.yaml").tree

    def test_a_folder_stands_for_its_files_by_name(self, call: Call):
        """
        Those whose ending is known; hidden ones, and folders in it, are left out.
        """
        assert {"log": "debug"} == call("conf.d").tree
        assert ["warn", "debug"] == [
            one["value"] for one in reversed(call("conf.d --explain log -F json").data["traces"][0]["claims"])
        ]

    def test_a_pattern_stands_for_what_it_fits_by_path(self, call: Call):
        assert {"log": "deep"} == call("conf.d/**/*.yaml").tree
        assert {"log": "warn"} == call("conf.d/20.json conf.d/1*.toml").tree

    def test_a_pattern_that_fits_nothing_is_an_error(self, call: Call):
        done = call("base.yaml env/*.yaml")

        assert (1, "") == (done.code, done.out)
        assert "no file matches env/*.yaml [NA0211]" in done.err

    def test_a_dash_is_standard_input(self, call: Call):
        assert {"log": "x"} == call("conf.d -", stdin="log: x\n").tree
        assert {"log": "y"} == call("- --syntax env", stdin="log=y\n").tree

    def test_documents_are_layers_or_chosen(self, call: Call):
        assert [{"a": 2}, {"a": 1}, {"a": 1}] == [
            call(line).tree for line in ("two.yaml", "two.yaml#1", "two.yaml --document 1")
        ]
        assert "[NA0331]" in call("two.yaml#3").err

    def test_a_name_without_an_ending_is_yaml(self, call: Call):
        assert "none" == call("base.yaml plain").tree["log"]

    @pytest.mark.parametrize(
        ("name", "text", "tree"),
        [
            (".gitconfig", "[user]\n\tname = A B\n", {"user": {"name": "A B"}}),
            ("nix.conf", "# c\nmax-jobs = 4\nfeatures = a b\n", {"max-jobs": "4", "features": "a b"}),
            ("Cargo.lock", "version = 3\n[a]\nb = [1]\n", {"version": 3, "a": {"b": [1]}}),
            ("exports", "export LOG='a b'\n", {"LOG": "a b"}),
            ("list", "[a]\nb\n", {"a": {"b": None}}),
            ("data", '\ufeff\n {"a": [1]}', {"a": [1]}),
            ("flow", "{a: [1]}", {"a": [1]}),
            ("plays", "---\n# c\na: b=c\n", {"a": "b=c"}),
            ("nothing", "# only a comment\n", {}),
        ],
    )
    @pytest.mark.parametrize("by", ["name", "pipe"])
    def test_a_pipe_or_a_name_that_says_nothing_is_judged_by_its_content(
        self, call: Call, by: str, name: str, text: str, tree: Any
    ):
        Path(name).write_text(text, encoding="utf-8")
        if by == "pipe":
            reads, writes = os.pipe()
            os.write(writes, text.encode())
            os.close(writes)
            name = f"/dev/fd/{reads}"

        assert tree == (call(name).tree or {})

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("hello world\n", "odd:1:1: a layer is a map, and this is a str"),
            ("a:\n\tb: 1\n", "indent with spaces"),
            ('{"a": 1,', "odd:1:9: the text ends here"),
        ],
    )
    def test_an_error_in_a_file_whose_name_says_nothing_names_the_option(self, call: Call, text: str, said: str):
        Path("odd").write_text(text)
        done = call("odd")

        assert 1 == done.code
        assert said in done.err
        assert "--syntax says it" in done.err
        assert "--syntax says it" not in call("odd --syntax yaml").err

    def test_a_pipe_that_a_repository_names_is_refused(self, call: Call):
        """Nobody may write to it, and the fold would wait for ever."""
        Path("nodeattrs.toml").write_text('[fold.x]\nfiles = ["pipe"]\n')
        os.mkfifo("pipe")

        assert "pipe: is not a regular file" in call("--name x").err

    def test_what_is_wrong_names_file_and_line(self, call: Call):
        done = call("base.yaml -", stdin="a:\n  - [\n")

        assert 1 == done.code
        assert done.err.startswith("error: -:3:1: ")

    def test_a_file_that_is_not_there_is_named(self, call: Call):
        assert "gone.yaml: cannot be read: No such file" in call("base.yaml gone.yaml").err

    def test_without_anything_to_fold_it_is_not_understood(self, call: Call):
        assert 2 == call("").code


class TestSet:
    def test_option_set_is_the_last_layer_of_a_fold(self, call: Call):
        assert 8080 == call("base.yaml prod.yaml --set http.port=8080").tree["http"]["port"]

    @pytest.mark.parametrize(
        ("written", "value"), [("1", 1), ("[1,2]", [1, 2]), ("x=y", "x=y"), ("", ""), ("null", None), ('"1"', "1")]
    )
    def test_a_value_is_json_or_text(self, call: Call, written: str, value: Any):
        assert value == call(f"--set a.b={written} -F json").data["a"]["b"]

    @pytest.mark.parametrize("word", ["a", "=1", "l.0=1"])
    def test_values_of_option_set_that_set_nothing_are_refused(self, call: Call, word: str):
        assert "[NA0004]" in call(f"base.yaml --set {word}").err

    def test_explanations_name_the_option(self, call: Call):
        assert "option --set log" in call("base.yaml --set log=x --explain log").out


class TestReports:
    def test_blame_has_a_place_for_every_value(self, call: Call):
        assert call("base.yaml prod.yaml --blame").out == (
            "             http:\n"
            "prod.yaml:2    port: 443\n"
            "               hosts:\n"
            "prod.yaml:3      - b\n"
            "base.yaml:4  log: info\n"
        )

    def test_blame_counts_who_else_has_set_an_element(self, call: Call):
        line, text = "base.yaml - --policy inside --blame", "http: {hosts: [a]}\n"
        assert "base.yaml:3 +1" in call(line, stdin=text).out
        data = call(f"{line} -F json", stdin=text).data
        places = {one["path"]: [by["file"] for by in one["set_by"]] for one in data["leaves"]}
        assert ["base.yaml", "-"] == places["http.hosts.0"]

    def test_origins_stand_behind_and_the_text_stays_yaml(self, call: Call):
        done = call("base.yaml prod.yaml --origins")

        assert "port: 443  # prod.yaml:2 (file prod)" in done.out
        assert done.tree == call("base.yaml prod.yaml").tree

    def test_explain_names_the_losers_and_the_rule(self, call: Call):
        out = call("base.yaml prod.yaml --explain http.port").out

        assert ["wins", "loses"] == [line.split()[0] for line in out.splitlines() if ".yaml:" in line]
        assert "the stronger one replaces the weaker one (across)" in out

    def test_explain_of_a_path_that_nobody_sets_names_a_near_one(self, call: Call):
        done = call("base.yaml --explain http.prt")

        assert 1 == done.code
        assert "did you mean http.port?" in done.err

    def test_diff_last_names_both_sides(self, call: Call):
        assert call("base.yaml prod.yaml --diff-last").out == (
            "~ http.port: 80  (base.yaml:2) -> 443  (prod.yaml:2)\n"
            '~ http.hosts: ["a"]  (base.yaml:3) -> ["b"]  (prod.yaml:3)\n'
        )
        assert "changes nothing" in call("base.yaml base.yaml --diff-last").out

    def test_diff_last_needs_two_layers(self, call: Call):
        assert 1 == call("base.yaml --diff-last").code

    def test_policies_are_printed(self, call: Call):
        out = call("--policies").out

        assert "helm" in out
        assert "services.*.ports" in out
        assert "compose" in [one["name"] for one in call("--policies -F json").data["policies"]]

    @pytest.mark.parametrize("report", ["--blame", "--explain log", "--diff-last"])
    def test_a_report_is_no_toml(self, call: Call, report: str):
        assert 2 == call(f"base.yaml prod.yaml {report} --format toml").code

    def test_only_one_report_at_a_time(self, call: Call):
        assert 2 == call("base.yaml --blame --origins").code

    def test_colours_are_for_terminals(self, call: Call):
        assert "\x1b" not in call("base.yaml --blame").out
        assert "\x1b" in call("base.yaml --blame --color always").out


class TestPolicies:
    def test_one_is_chosen_by_its_name(self, call: Call):
        assert ["a", "b"] == call("base.yaml prod.yaml --policy inside").tree["http"]["hosts"]

    def test_a_name_that_is_misspelt_names_a_near_one(self, call: Call):
        assert "did you mean inside?" in call("base.yaml --policy insid").err

    def test_a_file_has_a_policy_and_rules(self, call: Call):
        Path("p.toml").write_text('policy = "helm"\n[merge]\n"http.hosts" = "prepend"\n')
        done = call("base.yaml prod.yaml - --policy p.toml", stdin="log: null\n")

        assert {"http": {"port": 443, "hosts": ["b", "a"]}} == done.tree

    def test_a_fault_in_a_policy_file_has_its_line(self, call: Call):
        Path("p.toml").write_text('policy = "helm"\n[merge]\n"http.hosts" = "prepen"\n')

        assert "p.toml:3:1" in call("base.yaml --policy p.toml").err
        Path("p.toml").write_text('policy = "hlm"\n')
        assert "p.toml:1:1: there is no policy 'hlm'" in call("base.yaml --policy p.toml").err


class TestFormats:
    def test_each_says_the_same(self, call: Call):
        import tomllib

        line = "base.yaml prod.yaml"
        tree = call(line).tree
        assert tree == call(f"{line} -F json").data == tomllib.loads(call(f"{line} -F toml").out)
        assert "http_port=443\nhttp_hosts_0=b\nlog=info\n" == call(f"{line} -F env").out

    def test_toml_has_no_null(self, call: Call):
        done = call("base.yaml --set log=null -F toml")

        assert 1 == done.code
        assert "log" in done.err

    def test_two_values_of_one_name_are_refused(self, call: Call):
        assert "http_port" in call("base.yaml --set http_port=1 -F env").err


class TestSecrets:
    def test_a_value_that_is_encrypted_ends_with_5(self, call: Call):
        for report in ("", "--blame", "--explain db", "-F json", "-F env", "-F toml"):
            done = call(f"base.yaml secret.yaml {report}")
            assert 5 == done.code
            assert "ENC[" not in done.out + done.err
            assert "secret.yaml:2 (value db.password) is encrypted, and may be anything: hiera-eyaml" in done.err

    def test_a_layer_that_cannot_be_read_ends_with_5(self, call: Call):
        done = call("base.yaml vault.yml --explain log")

        assert 5 == done.code
        assert "unknown" in done.out
        assert "vault.yml:1" in done.err

    def test_strict_refuses_it(self, call: Call):
        done = call("base.yaml vault.yml --strict")

        assert (1, "") == (done.code, done.out)
        assert "[NA0203]" in done.err

    def test_paths_that_the_settings_call_sensitive_are_withheld(self, call: Call):
        Path("nodeattrs.toml").write_text('sensitive = ["db.*"]\n')
        for report in ("", "--blame", "--explain db.pin", "--diff-last", "-F json", "-F env"):
            done = call(f"base.yaml - --set db.key=hush {report}", stdin="db: {pin: 1234}\n")
            assert "1234" not in done.out + done.err
            assert "hush" not in done.out + done.err


class TestNamed:
    SETTINGS = '[fold.site]\nfiles = ["base.yaml", "prod.yaml"]\npolicy = "inside"\n'

    def test_a_named_fold_is_that_of_the_settings(self, call: Call):
        Path("nodeattrs.toml").write_text(self.SETTINGS)

        assert ["a", "b"] == call("--name site").tree["http"]["hosts"]

    def test_files_count_from_the_repository_and_further_ones_from_here(
        self, call: Call, monkeypatch: pytest.MonkeyPatch
    ):
        Path("nodeattrs.toml").write_text(self.SETTINGS)
        monkeypatch.chdir("conf.d")

        assert "debug" == call("--name site 20.json").tree["log"]

    def test_a_policy_that_is_not_there_has_its_line(self, call: Call):
        Path("nodeattrs.toml").write_text(self.SETTINGS.replace("inside", "insid"))

        assert call("--name site").err.startswith("error: nodeattrs.toml:3:1: there is no policy 'insid' [NA0301]")

    def test_what_is_doubtful_in_its_files_is_a_warning(self, call: Call):
        Path("nodeattrs.toml").write_text(self.SETTINGS)
        Path("prod.yaml").write_text("a: 1\na: 2\n")

        done = call("--name site")

        assert (0, 1) == (done.code, done.err.count("duplicate key a"))

    def test_another_policy_counts_more(self, call: Call):
        Path("nodeattrs.toml").write_text(self.SETTINGS)

        assert ["b"] == call("--name site --policy across").tree["http"]["hosts"]

    def test_a_name_that_is_not_there_is_an_error(self, call: Call):
        assert "[NA0210]" in call("--name site").err
        Path("nodeattrs.toml").write_text(self.SETTINGS)
        assert "did you mean site?" in call("--name sit").err


class TestStart:
    def test_it_loads_no_dialect_that_it_does_not_need(self, call: Call, tmp_path: Path):
        """Of another dialect only the module that declares it."""
        program = (
            "import sys; from nodeattrs.cli import main; code = main(['fold', 'app.env']);"
            "names = [name.split('.')[2:] for name in sys.modules if name.startswith('nodeattrs.dialects.')];"
            "print(code, [name for name in names if name[0] != 'files' and len(name) > 1 and name[1] != 'dialect'])"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True)

        assert "LOG: debug\n0 []\n" == done.stdout


class TestHelm:
    def test_set_is_read_as_helm_reads_it(self, call: Call) -> None:
        words = "base.yaml prod.yaml --policy helm --set http.hosts[1]=c,tag=1.10"
        assert call(words).tree == {"http": {"port": 443, "hosts": ["b", "c"]}, "log": "info", "tag": "1.10"}
        assert "prod.yaml:3" in call(f"{words} --explain http.hosts.0").out
        assert 'wins   3   "c"    option --set http.hosts[1], tag' in call(f"{words} --explain http.hosts.1").out
        assert call("base.yaml --policy helm --set http.hosts[1]=c").tree["http"]["hosts"] == [None, "c"]
        assert call("base.yaml --policy helm --set log").code == 1

    def test_the_folder_of_a_chart_is_its_values(self, call: Call) -> None:
        Path("chart").mkdir()
        Path("chart/Chart.yaml").write_text("name: c\nversion: 1.0.0\n")
        assert call("chart prod.yaml --policy helm").tree == call("prod.yaml").tree
        Path("chart/values.yaml").write_text("log: info\nold: 1\n")
        Path("site.yaml").write_text("old: null\n")
        assert call("chart site.yaml --policy helm").tree == {"log": "info"}
        Path("chart/Chart.yaml").write_text("name: c\ndependencies: [{name: redis}]\n")
        assert "subchart redis) is not in charts/, so its values were not read" in call("chart --policy helm").err

    def test_in_a_fold_of_the_settings_too(self, call: Call) -> None:
        Path("chart").mkdir()
        Path("chart/Chart.yaml").write_text("name: c\n")
        Path("chart/values.yaml").write_text("log: info\n")
        Path("nodeattrs.toml").write_text('[fold.site]\nfiles = ["chart", "prod.yaml"]\npolicy = "helm"\n')
        assert call("--name site").tree == {"log": "info", "http": {"port": 443, "hosts": ["b"]}}


@pytest.mark.parametrize(
    "words",
    [
        "base.yaml --policy replace prod.yaml",
        "--policy replace base.yaml prod.yaml",
        "base.yaml --strict prod.yaml --policy replace",
    ],
)
def test_files_and_options_come_in_any_order(call: Call, words: str) -> None:
    assert call(words).tree == call("base.yaml prod.yaml --policy replace").tree


class TestSpring:
    """What Spring reads otherwise is not certain."""

    @pytest.mark.parametrize(
        "second",
        [
            "spring.config.activate.on-profile: docker",
            "spring: {config: {activate: {on-profile: docker}}}",
            "spring: {config.activate: {onProfile: [docker]}}",
            "spring: {profiles: docker}",
        ],
    )
    def test_a_document_of_a_profile_never_wins(self, call: Call, second: str) -> None:
        Path("application.yml").write_text(f"server: {{port: 8080}}\n---\n{second}\nserver: {{port: 9999, x: 1}}\n")
        done = call("application.yml --explain server.port")
        assert (done.code, "server.port = 8080" in done.out) == (5, True)
        assert "application.yml:4" in done.err
        assert "counts under the profile docker alone" in done.err
        assert call("application.yml").tree == {"server": {"port": 8080}}

    def test_a_key_with_dots_under_a_profile_is_the_path_that_spring_makes_of_it(self, call: Call) -> None:
        Path("application.yml").write_text("server: {port: 1}\n---\nspring.profiles: docker\nserver.port: 2\n")
        assert call("application.yml --explain server.port").code == 5

    def test_a_document_that_is_named_counts(self, call: Call) -> None:
        Path("application.yml").write_text("a: 1\n---\nspring.config.activate.on-profile: docker\na: 2\n")
        assert (call("application.yml#1").code, call("application.yml#2").tree["a"]) == (0, 2)

    @pytest.mark.parametrize(
        ("second", "code"),
        [
            ("spring.config.activate.on-cloud-platform: kubernetes", 5),
            ("spring: {profiles: {active: docker}}", 0),
            ("spring.config.activate.on-profile: ''", 0),
        ],
    )
    def test_only_a_condition_makes_a_document_uncertain(self, call: Call, second: str, code: int) -> None:
        Path("application.yml").write_text(f"a: 1\n---\n{second}\na: 2\n")
        assert call("application.yml --explain a").code == code

    def test_properties_under_a_profile_do_not_win(self, call: Call) -> None:
        Path("application.properties").write_text("a=1\n#---\nspring.config.activate.on-profile=docker\na=2\n")
        done = call("application.properties --explain a")
        assert (done.code, "a is not set" in done.out) == (5, True)

    def test_a_key_with_dots_beside_its_path_is_named(self, call: Call) -> None:
        Path("application.yml").write_text("server: {port: 8080}\n")
        Path("prod.yml").write_text("server.port: 9090\nother.key: 1\n")
        done = call("application.yml prod.yml")
        assert 'prod.yml:1:1: "server.port" is a key of its own' in done.err
        assert "other.key" not in done.err


class TestOtherReaders:
    """Files of programs whose syntax is near to INI."""

    FILES: ClassVar = {
        ".gitconfig": ("[user]\n  name = a\n    mail = b\n", "user.name", "Git"),
        ".gitmodules": ('[submodule "x"]\n  path = a\n', "a", "Git"),
        "web.service": ("[Service]\nEnvironment=A=1\nEnvironment=B=2\n", "Service.Environment", "systemd"),
        ".npmrc": ("ca[]=a\nca[]=b\n", "ca", "npm"),
    }

    @pytest.mark.parametrize("file", FILES)
    def test_no_value_is_certain(self, call: Call, file: str) -> None:
        text, key, program = self.FILES[file]
        Path(file).write_text(text)
        done = call(f"{file} --syntax ini --explain {key}")
        assert (done.code, f"is read as INI, and {program}" in done.err) == (5, True)

    @pytest.mark.parametrize("second", ["web.service.d", "web.service.d/10.conf"])
    def test_a_drop_in_is_read_and_not_certain(self, call: Call, second: str) -> None:
        Path("web.service.d").mkdir()
        Path("web.service").write_text("[Service]\nEnvironment=A=1\n")
        Path("web.service.d/10.conf").write_text("[Service]\nEnvironment=B=2\n")
        done = call(f"web.service {second} --explain Service.Environment")
        assert (done.code, "web.service.d/10.conf:2" in done.out) == (5, True)
        assert "systemd joins" in done.err

    def test_the_policy_of_git_reads_a_file_of_any_name(self, call: Call) -> None:
        text = '[core]\n  editor = "vi" # c\n'
        Path("config").write_text(text)
        for file in ("config", "-"):
            assert call(f"{file} --policy git", stdin=text).tree == {"core": {"editor": "vi"}}

    def test_the_policy_of_git_names_what_a_file_of_any_name_includes(self, call: Call) -> None:
        text = "[a]\n  b = 1\n[include]\n  path = other\n"
        Path("config").write_text(text)
        Path("other").write_text("[a]\n  b = 2\n")
        done = call("config --policy git --explain a.b")
        assert (done.code, 'a.b = "2"' in done.out, "other:2" in done.out) == (0, True, True)
        done = call("- --policy git --explain a.b", stdin=text)
        assert (done.code, "-:4 (file include.path)" in done.err) == (5, True)

    def test_a_file_of_another_name_is_certain(self, call: Call) -> None:
        Path("web.ini").write_text("[Service]\nEnvironment=A=1\n")
        assert call("web.ini").code == 0


class TestJsonWithComments:
    TEXT = '{\n  // shared\n  "a": "http://x", /* of\n  two lines */ "l": [1, 2,],\n}\n'

    @pytest.mark.parametrize(
        "name", ["tsconfig.base.json", ".vscode/settings.json", "appsettings.Production.json", "a.jsonc"]
    )
    def test_files_of_programs_that_read_it_are_read(self, call: Call, name: str) -> None:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(self.TEXT)
        done = call(f"{name} --explain l.1")
        assert (done.code, f"{name}:4" in done.out) == (0, True)
        assert call(name).tree == {"a": "http://x", "l": [1, 2]}

    @pytest.mark.parametrize("text", ['{"a": 1 /* open', '{"a": 1,, }', '{"a": "open // ,}', "// only"])
    def test_broken_json_with_comments_is_an_error(self, call: Call, text: str) -> None:
        Path("tsconfig.json").write_text(text)
        assert call("tsconfig.json").code == 1

    def test_other_json_has_no_comments(self, call: Call) -> None:
        Path("other.json").write_text(self.TEXT)
        assert call("other.json").code == 1


class TestVariables:
    """Variables with a prefix are a layer over the files."""

    def test_variables_lie_over_files_and_set_over_variables(self, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
        Path("base.yaml").write_text("db: {port: 1, hosts: [a], user: u}\n")
        Path(".env").write_text("SHOP_DB__PORT=2\nSHOP_DB__USER=v\nOTHER=1\n")
        monkeypatch.setenv("SHOP_DB__PORT", "3")
        monkeypatch.setenv("SHOP_DB__HOSTS", '["b"]')
        words = "base.yaml .env --env-prefix SHOP_"
        assert call(words).tree == {"db": {"port": "3", "hosts": ["b"], "user": "v"}}
        lines = call(f"{words} --set db.port=4 --explain db.port").out.splitlines()[2:6]
        places = ("--set db.port", "variable SHOP_DB__PORT", ".env:1", "base.yaml:1")
        assert [place in line for place, line in zip(places, lines, strict=True)] == [True] * 4

    def test_the_text_between_keys_can_be_another_one(self, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
        Path("base.yaml").write_text("db: {port: 1}\n")
        monkeypatch.setenv("SHOP_DB_PORT", "3")
        assert call("base.yaml --env-prefix SHOP_ --nested _").tree == {"db": {"port": "3"}}

    @pytest.mark.parametrize(
        "text", ["$ANSIBLE_VAULT;1.1;AES256\n3132\n", "SHOP_A=ENC[AES256_GCM,data:a,iv:b,tag:c,type:str]\nsops_mac=x\n"]
    )
    def test_variables_that_are_encrypted_are_not_certain(self, call: Call, text: str) -> None:
        Path(".env").write_text(text)
        done = call(".env --env-prefix SHOP_")
        assert (done.code, "is not decrypted here" in done.err) == (5, True)

    def test_a_variable_below_another_one_is_an_error(self, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
        Path("base.yaml").write_text("db: {port: 1}\n")
        monkeypatch.setenv("SHOP_DB", "3")
        monkeypatch.setenv("SHOP_DB__PORT", "3")
        done = call("base.yaml --env-prefix SHOP_")
        assert (done.code, "SHOP_DB__PORT and SHOP_DB set a value and one below it" in done.err) == (1, True)
