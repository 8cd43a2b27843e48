"""Compose files with variables, `.env` files, included files, extended services and profiles.

tests/vectors/compose.jsonl has what Docker Compose makes of 84 projects; `tests.vectors.compose` describes them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.effort import examples
from tests.oracles import compose as oracle

InFolder = Callable[..., tuple[int, str, str]]
SHOP = {
    "compose.yaml": """include: [parts/db.yaml]
services:
  web:
    extends: {file: lib/base.yaml, service: base}
    image: shop:${TAG}
    hostname: ${HOST:-localhost}
  debug:
    image: debug:1
    profiles: [debug]
""",
    "lib/base.yaml": "services:\n  base:\n    image: base:1\n    user: ${OWNER}\n    restart: always\n",
    "parts/db.yaml": "services:\n  db:\n    image: db:${TAG}-${SIZE}\n",
    "parts/.env": "TAG=9\nSIZE=small\n",
    ".env": "# ours\nTAG=2\nOWNER=${TAG}000\n",
}


@pytest.mark.parametrize(
    ("key", "value", "wins", "comes_from"),
    [
        ("services.web.image", "shop:2", "compose.yaml:5", ["TAG, set at .env:2"]),
        ("services.web.restart", "always", "lib/base.yaml:5", []),
        ("services.web.user", "2000", "lib/base.yaml:4", ["OWNER, set at .env:3", "TAG, set at .env:2"]),
        ("services.db.image", "db:2-small", "parts/db.yaml:3", ["TAG, set at .env:2", "SIZE, set at parts/.env:2"]),
    ],
)
def test_a_value_has_its_file_and_line_and_those_of_its_variables(
    in_folder: InFolder, key: str, value: str, wins: str, comes_from: list[str]
) -> None:
    code, out, errors = in_folder(SHOP, "why", key)
    assert (code, errors) == (0, "")
    assert f'{key} = "{value}"' in out
    assert wins in out.partition("wins")[2].partition("\n")[0]
    assert all(one in out for one in comes_from)
    assert ("where the value comes from" in out) == bool(comes_from)


def test_an_extended_value_loses_to_the_service_that_extends_it(in_folder: InFolder) -> None:
    _, out, _ = in_folder(SHOP, "why", "services.web.image")
    assert "lib/base.yaml:3" in out.partition("loses")[2].partition("\n")[0]


@pytest.mark.parametrize(("separator", "variables"), [(":", ""), (";", "COMPOSE_PATH_SEPARATOR=;\n")])
def test_the_env_file_names_the_files_of_a_project(in_folder: InFolder, separator: str, variables: str) -> None:
    files = {
        "compose.yaml": "services: {web: {image: a:1}}\n",
        "compose.override.yaml": "services: {web: {image: b:2}}\n",
        "compose.prod.yaml": "services: {web: {image: c:3}}\n",
        ".env": f"{variables}COMPOSE_FILE=compose.yaml{separator}compose.prod.yaml\n",
    }
    code, out, _ = in_folder(files, "why", "services.web.image", "--on", "compose.yaml")
    assert (code, '= "c:3"' in out, "b:2" in out) == (0, True, False)


def test_a_compose_file_of_another_name_is_merged_as_one(in_folder: InFolder) -> None:
    files = {"docker-compose.prod.yml": "services: {web: {image: 'a:${TAG}'}}\n", ".env": "TAG=1\n"}
    code, out, _ = in_folder(files, "why", "services.web.image", "docker-compose.prod.yml")
    assert (code, '= "a:1"' in out) == (0, True)


@pytest.mark.parametrize("place", [".env", ".env:2"])
def test_where_names_the_values_that_depend_on_a_line_of_env(in_folder: InFolder, place: str) -> None:
    code, out, _ = in_folder(SHOP, "where", place)
    assert code == 0
    assert ".env:2  services.web.image: is a variable in compose.yaml:5" in out
    assert ".env:2  services.db.image: is a variable in parts/db.yaml:3" in out
    assert (".env:3  services.web.user" in out) == (place == ".env")


class TestUnsetVariables:
    def test_a_default_counts_and_the_answer_is_not_certain(
        self, in_folder: InFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOST", "from-this-machine")
        code, out, errors = in_folder(SHOP, "why", "services.web.hostname")
        assert (code, 'services.web.hostname = "localhost"' in out) == (5, True)
        assert "compose.yaml:6 (variable HOST) is not set in a file that was read" in errors
        assert in_folder({}, "why", "services.web.image")[0] == 0

    def test_a_stronger_file_without_the_variable_makes_the_answer_certain(self, in_folder: InFolder) -> None:
        over = {"compose.override.yaml": "services: {web: {hostname: shop}}\n"}
        assert in_folder(SHOP | over, "why", "services.web.hostname")[0] == 0
        assert in_folder({}, "why", "services.web.hostname", "compose.yaml")[0] == 5

    def test_strict_refuses_them(self, in_folder: InFolder) -> None:
        code, _, errors = in_folder(SHOP, "fold", "compose.yaml", "--policy", "compose", "--strict")
        assert (code, "the layer 'HOST' is unknown" in errors) == (1, True)

    def test_a_required_variable_stays_as_it_is_written(self, in_folder: InFolder) -> None:
        files = {"compose.yaml": "services: {web: {image: 'a:${TAG:?say it}'}}\n"}
        code, out, _ = in_folder(files, "why", "services.web.image")
        assert (code, '"a:${TAG:?say it}"' in out) == (5, True)

    def test_several_of_one_file_are_one_warning(self, in_folder: InFolder) -> None:
        files = {"compose.yaml": "services:\n  web:\n    image: $A\n    hostname: $B\n"}
        _, _, errors = in_folder(files, "blame")
        assert "compose.yaml (variables A, B) are not set" in errors

    def test_an_element_makes_its_list_uncertain(self, in_folder: InFolder) -> None:
        files = {"compose.yaml": "services: {web: {image: a, command: [a, '$B']}}\n"}
        assert in_folder(files, "why", "services.web.command")[0] == 5
        assert in_folder({}, "why", "services.web.image")[0] == 0


class TestKeysAlone:
    """`environment: [FOO]` and `{FOO: }` take the value of the variable FOO. Docker Compose 5.6.1 gave the answers."""

    @pytest.mark.parametrize(
        ("first", "second", "expected", "code"),
        [
            ("{FOO: x}", "{FOO: }", {"FOO": "bar"}, 0),
            ("{FOO: }", "{FOO: x}", {"FOO": "x"}, 0),
            ("[FOO=x]", "[FOO]", ["FOO=bar"], 0),
            ("[FOO=x]", "{FOO: }", {"FOO": "bar"}, 0),
            ("[FOO]", "{A: b}", {"FOO": "bar", "A": "b"}, 0),
            ("{NONE: x}", "{NONE: }", {"NONE": None}, 5),
            ("[NONE=x]", "[NONE]", ["NONE"], 5),
            ("[FOO]", "", ["FOO=bar"], 0),
        ],
    )
    def test_the_env_file_sets_them_and_without_it_the_environment_may(
        self, in_folder: InFolder, first: str, second: str, expected: object, code: int
    ) -> None:
        files = {
            "compose.yaml": f"services: {{a: {{image: i, environment: {first}}}}}\n",
            "compose.override.yaml": f"services: {{a: {{environment: {second}}}}}\n",
            ".env": "FOO=bar\n",
        }
        found, out, _ = in_folder(files, "why", "services.a.environment", "--format", "json")
        assert (found, json.loads(out)["answers"][0]["value"]) == (code, expected)

    def test_arguments_of_a_build_take_them_too(self, in_folder: InFolder) -> None:
        files = {"compose.yaml": "services:\n  a:\n    build:\n      args: {FOO: , NONE: }\n", ".env": "FOO=bar\n"}
        code, out, _ = in_folder(files, "why", "services.a.build.args.FOO")
        assert (code, '= "bar"' in out, "FOO, set at .env:1" in out) == (0, True, True)
        assert in_folder({}, "why", "services.a.build.args.NONE")[0] == 5

    def test_in_an_included_file_its_own_env_file_counts_for_lists_only(self, in_folder: InFolder) -> None:
        part = "services: {list: {image: i, environment: [FOO]}, map: {image: i, environment: {FOO: }}}\n"
        files = {"compose.yaml": "include: [inc/part.yaml]\n", "inc/part.yaml": part, "inc/.env": "FOO=bar\n"}
        assert '["FOO=bar"]' in in_folder(files, "why", "services.list.environment")[1]
        assert in_folder({}, "why", "services.map.environment.FOO")[0] == 5

    @pytest.mark.parametrize(
        ("path", "more"),
        [
            ("[inc/part.yaml, inc/more.yaml]", "services: {map: {environment: {B: 1}}}\n"),
            ("[inc/part.yaml, inc/more.yaml]", "services: {map: {environment: }}\n"),
            ("[inc/more.yaml]", "services: {map: {extends: {file: part.yaml, service: map}, environment: [B=1]}}\n"),
            ("[inc/more.yaml]", "include: [part.yaml]\nservices: {map: {environment: {}}}\n"),
        ],
        ids=["a map of another file", "null", "a service that extends it", "a file that includes it"],
    )
    def test_and_for_a_map_that_meets_another_one_in_the_included_files(
        self, in_folder: InFolder, path: str, more: str
    ) -> None:
        """As Docker Compose 5.6.1 does; the line of the file of variables is named."""
        files = {
            "compose.yaml": f"include: [{{path: {path}}}]\n",
            "inc/part.yaml": "services: {map: {image: i, environment: {FOO: }}}\n",
            "inc/more.yaml": more,
            "inc/.env": "FOO=bar\n",
        }
        code, out, _ = in_folder(files, "why", "services.map.environment.FOO", "--on", "compose.yaml")
        assert (code, 'FOO = "bar"' in out) == (0, True)
        assert "services.map.environment.FOO" in in_folder({}, "where", "inc/.env:1")[1]

    def test_null_replaces_a_label_and_leaves_other_values(self, in_folder: InFolder) -> None:
        files = {
            "compose.yaml": "services: {a: {image: i, labels: {A: x}}}\n",
            "compose.override.yaml": "services: {a: {image: , labels: {A: }}}\n",
        }
        _, out, _ = in_folder(files, "fold", *files, "--policy=compose", "--format=json")
        assert json.loads(out)["services"]["a"] == {"image": "i", "labels": {"A": None}}


class TestProfiles:
    def test_a_service_without_an_active_profile_is_not_there_and_why_names_its_profiles(
        self, in_folder: InFolder
    ) -> None:
        code, out, _ = in_folder(SHOP, "why", "services.debug.image")
        assert (code, "services.debug.image is not set" in out) == (5, True)
        assert "compose.yaml:9" in out.partition("profiles")[2].partition("\n")[0]
        assert "none of its profiles is active" in out
        assert "debug" not in in_folder({}, "fold", "compose.yaml", "--policy", "compose")[1]

    def test_where_the_env_file_names_profiles_it_is_certain_that_no_other_one_is_active(
        self, in_folder: InFolder
    ) -> None:
        code, out, _ = in_folder(SHOP | {".env": "COMPOSE_PROFILES=a\n"}, "why", "services.debug.image")
        assert (code, "services.debug.image is not set" in out) == (0, True)

    def test_a_change_of_a_service_that_the_environment_may_activate_is_not_known(self, in_folder: InFolder) -> None:
        service = "services: {web: {image: a}, debug: {image: %s, profiles: [debug]}}\n"
        files = {"old/compose.yaml": service % "b", "new/compose.yaml": service % "c"}
        code, out, _ = in_folder(files, "impact", "old", "new")
        assert (code, "nothing changes" in out, "compose.yaml was not run, or names what was not read" in out) == (
            5,
            False,
            True,
        )

    def test_impact_names_a_file_with_a_variable_of_the_environment_beside_the_values_that_it_changes(
        self, in_folder: InFolder
    ) -> None:
        text = "services: {web: {image: %s, command: '${X}'}}\n"
        code, out, _ = in_folder(
            {"old/compose.yaml": text % "a", "new/compose.yaml": text % "b"}, "impact", "old", "new"
        )
        assert (code, "not known: 1 file not run, or naming what was not read" in out.splitlines()[0]) == (5, True)
        assert "compose.yaml was not run, or names what was not read" in out

    def test_the_env_file_makes_profiles_active(self, in_folder: InFolder) -> None:
        code, out, _ = in_folder(SHOP | {".env": "COMPOSE_PROFILES=a, debug\n"}, "why", "services.debug.image")
        assert (code, '"debug:1"' in out) == (0, True)


@pytest.mark.parametrize(
    ("files", "place", "words"),
    [
        ({"compose.yaml": "include: [b.yaml]\n", "b.yaml": "include: [compose.yaml]\n"}, "b.yaml:1", "includes itself"),
        ({"compose.yaml": "services: {a: {extends: b}, b: {extends: a}}\n"}, "compose.yaml:1", "extends itself, by a"),
        ({"compose.yaml": "services: {a: {extends: b}}\n"}, "compose.yaml:1", "has no such service"),
        ({"compose.yaml": "services:\n  a:\n    image: ${\n"}, "compose.yaml:3", "${ is no variable"),
        ({"compose.yaml": "include: a.yaml\n"}, "compose.yaml:1", "include is a list of files"),
        ({"compose.yaml": "services: {a: {image: $A}}\n", ".env": "A='b\n"}, ".env:1", "never closed"),
        (
            {
                "compose.yaml": "services: {a: {extends: {file: b.yaml, service: b}}}\n",
                "b.yaml": "services: {b: {extends: {file: compose.yaml, service: a}}}\n",
            },
            "b.yaml:1",
            "extends itself, by a",
        ),
        (
            {"compose.yaml": "services: {a: {image: '" + "${A:-" * 200 + "}" * 200 + "'}}\n"},
            "compose.yaml:1",
            "variable",
        ),
    ],
)
def test_what_docker_compose_refuses_is_an_error_with_its_line(
    in_folder: InFolder, files: dict[str, str], place: str, words: str
) -> None:
    code, _, errors = in_folder(files, "fold", "compose.yaml", "--policy", "compose")
    assert (code, place in errors, words in errors) == (1, True, True)


def test_variables_that_multiply_are_an_error(in_folder: InFolder) -> None:
    lines = [f"A{n}=" + f"${{A{n - 1}}}" * 10 for n in range(1, 10)]
    files = {"compose.yaml": "services: {a: {image: $A9}}\n", ".env": "\n".join(["A0=xxxxxxxxxx", *lines])}
    code, _, errors = in_folder(files, "why", "services.a.image")
    assert (code, "more than 10,000,000 characters" in errors) == (1, True)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("no.yaml", "no.yaml is included, and was not found"),
        ("oci://registry/project", "is on another machine"),
        ("https://github.com/a/b.git", "is on another machine"),
        ("{path: [a.yaml, no.yaml]}", "no.yaml is included, and was not found"),
        ("{path: a.yaml, env_file: no.env}", "no.env is named, and was not found"),
        ("{}", "includes something that is no path"),
        ("1", "what is included is no path"),
        ("{path: a.yaml, env_file: {}}", "what is named is no path"),
        ("${DIR:-.}/a.yaml", "depends on DIR, which may come from the environment"),
        ("../outside.yaml", "lies outside of the repository"),
    ],
)
def test_an_include_that_is_not_read_makes_weaker_values_uncertain(
    in_folder: InFolder, tmp_path: Path, entry: str, reason: str
) -> None:
    outside = tmp_path.parent / "outside.yaml"
    outside.write_text("services: {}\n")
    files = {"compose.yaml": f"include:\n  - {entry}\nservices: {{web: {{image: a}}}}\n", "a.yaml": "services: {}\n"}
    code, _, errors = in_folder(files, "why", "services.web.hostname")
    outside.unlink()
    assert (code, reason in errors, "compose.yaml:2" in errors) == (5, True, True)
    assert in_folder({}, "why", "services.web.image")[0] == 0


@pytest.mark.parametrize("extends", ["{file: no.yaml, service: a}", "{file: ../../x.yaml, service: a}", "{service: 1}"])
def test_a_service_that_is_not_read_makes_one_service_uncertain(in_folder: InFolder, extends: str) -> None:
    files = {"compose.yaml": f"services:\n  web: {{image: a, extends: {extends}}}\n  db: {{image: d}}\n"}
    assert in_folder(files, "why", "services.web.hostname")[0] == 5
    assert in_folder({}, "why", "services.web.image")[0] == 0
    assert in_folder({}, "why", "services.db.hostname")[0] == 1


def test_another_policy_leaves_a_file_as_it_is_written(in_folder: InFolder) -> None:
    code, out, _ = in_folder(SHOP, "fold", "compose.yaml", "--format", "json")
    assert (code, json.loads(out)["services"]["web"]["image"]) == (5, "shop:${TAG}")


def test_a_link_of_env_that_leads_out_of_the_repository_is_not_read(in_folder: InFolder, tmp_path: Path) -> None:
    outside = tmp_path.parent / "outside.env"
    outside.write_text("TAG=stolen\n")
    in_folder({name: text for name, text in SHOP.items() if name != ".env"}, "list", "subjects")
    (tmp_path / ".env").symlink_to(outside)
    code, out, errors = in_folder({}, "why", "services.web.image")
    assert (code, "stolen" in out + errors) == (5, False)
    (tmp_path / "compose.yaml").write_text("services: {web: {image: a}, debug: {image: b, profiles: [debug]}}\n")
    assert in_folder({}, "fold", "compose.yaml", "--policy", "compose")[0] == 5
    outside.unlink()


def test_random_projects_are_folded_without_an_error_that_docker_compose_does_not_have(tmp_path: Path) -> None:
    for number in range(examples(40)):
        files, merged = oracle.project(random.Random(number))
        folder = tmp_path / str(number)
        oracle.write(folder, files)
        oracle.ours(folder, merged)


SECRETS = {
    "compose.yaml": """services:
  base: {image: a, environment: {PW: s3cret-1, A: b}}
  web: {extends: base, environment: ["PW=${PW}", "B=c"]}
  list: {image: a, environment: [PW=s3cret-2, A=b]}
""",
    "compose.override.yaml": "services: {list: {environment: !override {PW: s3cret-3, A: b}}}\n",
    ".env": "PW=s3cret-4\n",
    "nodeattrs.toml": 'sensitive = ["services.*.environment.PW"]\n'
    '[fold.x]\nfiles = ["compose.yaml", "compose.override.yaml"]\npolicy = "compose"\n',
}


@pytest.mark.parametrize(
    "words",
    [
        ("fold", "--name", "x"),
        ("fold", "--name", "x", "--blame"),
        ("why", "services.web.environment"),
        ("why", "services.list.environment", "compose.yaml", "compose.override.yaml"),
        ("why", "services.list.environment", "compose.yaml"),
        ("where", ".env:1"),
        ("blame",),
    ],
)
def test_a_secret_variable_of_a_service_is_withheld_in_a_list_and_under_a_tag(
    in_folder: InFolder, words: tuple[str, ...]
) -> None:
    code, out, errors = in_folder(SECRETS, *words)
    assert (code, "s3cret" in out + errors) == (0, False)


def test_a_list_with_a_secret_meets_a_map_key_by_key(in_folder: InFolder) -> None:
    _, out, _ = in_folder(SECRETS, "fold", "compose.yaml", "--policy", "compose", "--format", "json")
    environment = json.loads(out)["services"]["web"]["environment"]
    assert [*environment] == ["PW", "A", "B"]
    assert environment["B"] == "c"


def test_a_text_that_is_no_variable_is_not_printed(in_folder: InFolder) -> None:
    files = {"compose.yaml": "services: {a: {image: $A}}\n", ".env": "A=${s3cret word\n"}
    code, out, errors = in_folder(files, "why", "services.a.image")
    assert (code, ".env:1" in errors, "s3cret" in out + errors) == (1, True, False)


def test_further_files_belong_to_the_project_of_a_named_fold(in_folder: InFolder) -> None:
    files = SHOP | {
        "nodeattrs.toml": '[fold.shop]\nfiles = ["compose.yaml"]\npolicy = "compose"\n',
        "more/over.yaml": "services: {web: {extends: {file: lib/base.yaml, service: base}, hostname: 'h$TAG'}}\n",
    }
    code, out, errors = in_folder(files, "fold", "--name", "shop", "more/over.yaml", "--format", "json")
    assert (code, "was not found" in errors, json.loads(out)["services"]["web"]["hostname"]) == (5, False, "h2")


def test_many_levels_of_files_are_an_error(in_folder: InFolder) -> None:
    files = {f"{number}.yaml": f"include: [{number + 1}.yaml]\n" for number in range(480)}
    code, _, errors = in_folder(files | {"compose.yaml": "include: [0.yaml]\n"}, "why", "services.a.image")
    assert (code, "more than 100 levels" in errors) == (1, True)


def test_the_env_file_names_a_file_by_its_absolute_path(in_folder: InFolder, tmp_path: Path) -> None:
    files = {
        "compose.yaml": "services: {web: {image: a:1}}\n",
        "b.yaml": "services: {web: {image: b:2}}\n",
        ".env": f"COMPOSE_FILE={tmp_path}/b.yaml\n",
    }
    code, out, _ = in_folder(files, "why", "services.web.image")
    assert (code, '= "b:2"' in out) == (0, True)


def test_encrypted_names_of_files_are_no_fault(in_folder: InFolder) -> None:
    variables = "COMPOSE_FILE=ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]\n"
    files = {"compose.yaml": "services: {web: {image: a:1}}\n", ".env": variables}
    assert in_folder(files, "why", "services.web.image")[0] == 0


@pytest.mark.parametrize(
    "services",
    ["{web: !override {extends: {file: compose.yaml, service: db}}}", "!override {web: {image: b, profiles: [p]}}"],
)
def test_extends_and_profiles_under_a_tag_make_one_service_uncertain(in_folder: InFolder, services: str) -> None:
    files = {
        "compose.yaml": "services: {web: {image: a}, db: {image: d}}\n",
        "compose.override.yaml": f"services: {services}\n",
    }
    code, _, errors = in_folder(files, "why", "services.web.image")
    assert (code, "under a tag, which were not read" in errors) == (5, True)
