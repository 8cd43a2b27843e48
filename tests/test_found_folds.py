"""Charts of Helm and Compose files that are found in a folder without settings, and files that a question names."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.dialects.files.found import found_folds
from nodeattrs.dialects.files.git_sources import GitSources

InFolder = Callable[..., tuple[int, str, str]]

CHART = {
    "charts/shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
    "charts/shop/values.yaml": "port: 80\nimage:\n  tag: '1'\n",
    "charts/shop/values-prod.yaml": "port: 8080\n",
    "charts/shop/ci/test-values.yaml": "port: 81\n",
    "charts/shop/templates/values-odd.yaml": "port: 82\n",
    "charts/shop/charts/redis/Chart.yaml": "apiVersion: v2\nname: redis\nversion: 1.0.0\n",
    "charts/shop/charts/redis/values.yaml": "size: 1\n",
}


def data(in_folder: InFolder, files: dict[str, str], *words: str) -> Any:
    return json.loads(in_folder(files, *words, "--format", "json")[1])


def test_a_chart_is_a_subject_and_one_more_with_each_values_file_beside_it(in_folder: InFolder) -> None:
    _, out, _ = in_folder(CHART, "list", "subjects")
    assert out.split("\n")[:-1] == [
        "folds charts/shop",
        "folds charts/shop/ci/test-values.yaml",
        "folds charts/shop/values-prod.yaml",
    ]


def test_the_line_that_wins_in_a_chart_is_found_without_settings(in_folder: InFolder) -> None:
    code, out, _ = in_folder(CHART, "why", "port", "--on", "charts/shop/values-prod.yaml")
    assert (code, "8080  charts/shop/values-prod.yaml:1" in out, "80  charts/shop/values.yaml:1" in out) == (
        0,
        True,
        True,
    )


def test_a_line_of_a_subchart_sets_a_value_below_its_key(in_folder: InFolder) -> None:
    code, out, _ = in_folder(CHART, "where", "charts/shop/charts/redis/values.yaml:1")
    assert (code, "redis.size = 1" in out, "wins on 3 of 3" in out) == (0, True, True)


def test_check_reads_a_fold_without_files(in_folder: InFolder) -> None:
    files = {"nodeattrs.toml": "[fold.site]\npolicy = 'helm'\n", "roles/web.json": '{"name": "web", "run_list": []}'}
    code, _, err = in_folder(files, "check")
    assert (code, err) == (0, "")


WITH_VARIABLES = {
    "base.yaml": "db:\n  port: 1\n  user: a\n",
    ".env": "APP_DB__USER=b\n",
    "nodeattrs.toml": "[fold.site]\nfiles = ['base.yaml', '.env']\n",
}


@pytest.mark.parametrize("files", [("base.yaml", ".env"), ()])
@pytest.mark.parametrize(
    ("key", "value", "place"), [("db.port", "7", "variable APP_DB__PORT"), ("db.user", "b", ".env:1")]
)
def test_variables_override_the_files_of_a_question(
    in_folder: InFolder, monkeypatch: pytest.MonkeyPatch, files: tuple[str, ...], key: str, value: str, place: str
) -> None:
    monkeypatch.setenv("APP_DB__PORT", "7")
    code, out, errors = in_folder(WITH_VARIABLES, "why", key, *files, "--env-prefix", "APP_")
    assert (code, errors, f'{key} = "{value}"' in out) == (0, "", True)
    assert place in out.partition("wins")[2].partition("\n")[0]


def test_where_names_the_variable_that_overrides_a_line(in_folder: InFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APP_DB_PORT", "7")
    _, out, _ = in_folder(WITH_VARIABLES, "where", "base.yaml:2", "--env-prefix", "APP_", "--nested", "_")
    assert "overridden by variable APP_DB_PORT" in out


@pytest.mark.parametrize("command", ["why db.port base.yaml", "where base.yaml:2", "fold base.yaml"])
def test_nested_without_a_prefix_is_refused(in_folder: InFolder, command: str) -> None:
    code, _, errors = in_folder(WITH_VARIABLES, *command.split(), "--nested", "_")
    assert (code, "add --env-prefix PREFIX" in errors) == (2, True)


@pytest.mark.parametrize(("text", "value"), [("[NaN]", "[NaN]"), ("[1e999]", "[1e999]"), ("[1.5]", [1.5])])
def test_a_variable_is_no_number_that_json_cannot_hold(
    in_folder: InFolder, monkeypatch: pytest.MonkeyPatch, text: str, value: object
) -> None:
    monkeypatch.setenv("APP_X", text)
    out = in_folder(WITH_VARIABLES, "fold", "base.yaml", "--env-prefix", "APP_", "--format", "json")[1]
    assert json.loads(out)["x"] == value


HOME = "web/src/main/resources"
SPRING = {
    f"{HOME}/application.yml": "spring: {application: {name: shop}}\nserver: {port: 1, servletPath: /a}\n"
    "logging.level: {org.foo: INFO}\nhosts: [a, b]\n---\n"
    'spring.config.activate.on-profile: "prod, stage"\nserver.port: 2\n---\n'
    "spring.config.activate.on-profile: '!prod'\nserver.address: local\n---\n"
    "spring.config.activate.on-profile: prod & eu\nserver.ssl: on\n",
    f"{HOME}/application.properties": "server.max-threads=3\n",
    f"{HOME}/application-prod.yml": "server.maxThreads: 4\nhosts: null\n",
    f"{HOME}/config/application-prod.properties": "server.servlet-path=/b\nlogging.level.org.foo.bar=DEBUG\n"
    "hosts[0]=c\n",
    f"{HOME}/application-dev.yml": "server: {port: 9}\n",
    "web/src/test/resources/application.properties": "server.max-threads=5\n",
    "other/src/main/resources/application.yml": "quarkus: {http: {port: 1}}\n",
    "application.yml": "spring: {application: {name: no}}\n",
}
PROD = f"{HOME}/config/application-prod.properties"
TEST = "web/src/test/resources/application.properties"


def test_each_profile_of_spring_is_a_subject(in_folder: InFolder) -> None:
    _, out, _ = in_folder(SPRING, "list", "subjects")
    assert out.splitlines() == [
        f"folds {one}" for one in (f"{HOME}/application-dev.yml", f"{HOME}/application.properties", PROD, TEST)
    ]


@pytest.mark.parametrize(
    ("key", "subject", "value", "line"),
    [
        ("server.port", PROD, 2, "application.yml:7"),
        ("server.port", f"{HOME}/application-dev.yml", 9, "application-dev.yml:1"),
        ("server.address", f"{HOME}/application-dev.yml", "local", "application.yml:10"),
        ("server.servletPath", PROD, "/b", "config/application-prod.properties:1"),
        ("server.max-threads", PROD, 4, "application-prod.yml:1"),
        ("server.max-threads", TEST, "5", "web/src/test/resources/application.properties:1"),
        ("hosts", PROD, ["c"], "config/application-prod.properties:3"),
        ("logging.level.org.foo.bar", PROD, "DEBUG", "config/application-prod.properties:2"),
        ('logging.level.org.foo.""', PROD, "INFO", "application.yml:3"),
        ("spring.application.name", TEST, "shop", f"{HOME}/application.yml:1"),
    ],
)
def test_files_of_spring_are_merged_as_spring_merges_them(
    in_folder: InFolder, key: str, subject: str, value: object, line: str
) -> None:
    found = data(in_folder, SPRING, "why", key, "--on", subject)["answers"][0]
    assert found["value"] == value
    assert in_folder(SPRING, "why", key, "--on", subject)[1].partition("wins")[2].partition("\n")[0].count(line) == 1


@pytest.mark.parametrize(
    ("key", "subject", "code"),
    [
        ("server.port", PROD, 0),
        ("server.port", f"{HOME}/application.properties", 5),
        ("server.address", PROD, 1),
        ("server.ssl", PROD, 5),
        ("server.ssl", f"{HOME}/application-dev.yml", 5),
        ("hosts", f"{HOME}/application.properties", 0),
    ],
)
def test_a_document_under_a_profile_is_certain_where_the_profile_is_known(
    in_folder: InFolder, key: str, subject: str, code: int
) -> None:
    assert in_folder(SPRING, "why", key, "--on", subject)[0] == code


@pytest.mark.parametrize(
    "text",
    ["spring.profiles.active: dev", "spring: {profiles: {include: [dev]}}", "spring.profiles.active[0]: dev"],
)
def test_other_profiles_that_files_of_spring_name_may_override_them(in_folder: InFolder, text: str) -> None:
    files = {f"{HOME}/application.yml": f"a: 1\n{text}\n", f"{HOME}/application-x.yml": "b: 1\n"}
    found = {name: in_folder(files, "why", "a", "--on", f"{HOME}/{name}")[0] for name in ("application.yml",)}
    assert found == {"application.yml": 5}
    codes = [in_folder(files, "why", key, "--on", f"{HOME}/application-x.yml")[0] for key in ("a", "b")]
    assert codes == ([5, 5] if "include" in text else [0, 0])


@pytest.mark.parametrize("group", ["spring.profiles.group.dev-x: [y]", "spring: {profiles: {group: {devX: [y]}}}"])
def test_a_group_of_profiles_may_override_the_files_of_its_profile(in_folder: InFolder, group: str) -> None:
    files = {f"{HOME}/application{name}.yml": "a: 1\n" for name in ("-prod", "-dev-x")}
    files[f"{HOME}/application.yml"] = f"b: 1\n{group}\n"
    codes = [in_folder(files, "why", "a", "--on", f"{HOME}/application{name}.yml")[0] for name in ("-prod", "-dev-x")]
    assert codes == [0, 5]


@pytest.mark.parametrize(
    ("policy", "file", "text", "key"),
    [
        ("spring", "application.properties", "db.passWord=s3cret\n", "DB.PASS_WORD"),
        ("spring", "application.properties", "db.list[0].key=s3cret\n", "db.list.*.key"),
        ("spring", "application.yml", "db.pass-word: s3cret\n", "db.passWord"),
        ("appsettings", "appsettings.json", '{"DB:Password": "s3cret"}', "db.password"),
    ],
)
def test_a_secret_is_withheld_however_it_is_spelled(
    in_folder: InFolder, policy: str, file: str, text: str, key: str
) -> None:
    files = {file: text, "nodeattrs.toml": f"sensitive = ['{key}']\n"}
    code, out, errors = in_folder(files, "fold", file, "--policy", policy, "--blame")
    assert (code, "s3cret" in out + errors, "withheld" in out.lower() or "Sensitive" in out) == (0, False, True)


@pytest.mark.parametrize("text", ["", "{}", "'.': 1\n", "'': 1\n", "a: {}\n", "a: [{}]\n"])
def test_odd_files_of_spring_are_read(in_folder: InFolder, text: str) -> None:
    files = {"application.yml": text, "application-x.yml": "b: 1\n"}
    code, out, _ = in_folder(files, "why", "b", *files)
    assert (code, "b = 1" in out) == (0, True)


def test_a_key_of_spring_with_too_many_dots_is_an_error(in_folder: InFolder) -> None:
    code, _, errors = in_folder({"application.properties": f"a{'.a' * 3000}=1\n"}, "why", "a", "application.properties")
    assert (code, "nested deeper" in errors) == (1, True)


def test_a_line_of_a_file_of_spring_has_its_effects(in_folder: InFolder) -> None:
    code, out, _ = in_folder(SPRING, "where", f"{HOME}/application-dev.yml:1")
    assert (code, "server.port = 9" in out, "wins on 1 of 1" in out) == (0, True, True)


def test_compose_files_are_merged_with_their_override(in_folder: InFolder) -> None:
    files = {
        "compose.yaml": "services:\n  web:\n    image: a:1\n    ports: ['80:80']\n",
        "compose.override.yaml": "services:\n  web:\n    image: b:2\n",
        "compose.prod.yaml": "services:\n  web:\n    image: c:3\n",
    }
    code, out, _ = in_folder(files, "why", "services.web.image")
    assert (code, '= "b:2"' in out, "c:3" in out) == (0, True, False)


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("profile::port: 80\n", False),
        ("version: '3'\nservices:\n  web: {image: a}\n", True),
        ('{"services": {"web": {"image": "a"}}}\n', True),
        ("include: [other.yaml]\n", True),
        ("\ufeffservices:\n  web: {image: a}\n", True),
        ("profile::services: [web]\n", False),
        ("profile:\n  services: [web]\n", False),
    ],
)
def test_a_file_with_the_name_of_a_compose_file_is_one_if_it_has_services(
    in_folder: InFolder, text: str, is_found: bool
) -> None:
    name = "hieradata/role/docker-compose.yaml"
    _, out, _ = in_folder({name: text}, "list", "subjects")
    assert (f"folds {name}" in out) == is_found
    assert (in_folder({}, "blame", name)[0] in (0, 5)) == is_found


def test_a_compose_file_that_cannot_be_read_or_has_an_override_is_one_without_services(tmp_path: Path) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "compose.yaml").write_bytes("services: {}\n".encode("utf-16"))
    (tmp_path / "compose.yaml").write_text("name: shop\n")
    assert ["odd/compose.yaml"] == [*found_folds(GitSources(tmp_path))]

    (tmp_path / "compose.override.yaml").write_text("services: {}\n")
    assert ["compose.yaml", "odd/compose.yaml"] == [*found_folds(GitSources(tmp_path))]


def test_folds_of_the_settings_count_alone(in_folder: InFolder) -> None:
    files = {**CHART, "nodeattrs.toml": '[fold.site]\nfiles = ["charts/shop/values.yaml"]\n'}
    assert in_folder(files, "list", "subjects")[1] == "folds site\n"


def test_a_link_to_a_folder_is_not_followed(in_folder: InFolder, tmp_path: Path) -> None:
    in_folder(CHART, "list", "subjects")
    (tmp_path / "charts/again").symlink_to(tmp_path)
    assert "again" not in in_folder({}, "list", "subjects")[1]


@pytest.mark.parametrize(
    ("files", "words", "value"),
    [
        ({"base.yaml": "a: {b: 1}\nl: [1]\n", "prod.yaml": "l: [2]\n"}, ("base.yaml", "prod.yaml"), [2]),
        ({"values.yaml": "l: [1]\n", "prod.yaml": "l: null\n"}, ("values.yaml", "prod.yaml"), None),
        ({"a.yaml": "l: [1]\n", "b.yaml": "l: [2]\n"}, ("a.yaml", "b.yaml", "--policy", "inside"), [1, 2]),
    ],
    ids=["plain files", "values files of Helm", "a policy that is named"],
)
def test_files_in_their_order_are_merged_as_their_program_does(
    in_folder: InFolder, files: dict[str, str], words: tuple[str, ...], value: Any
) -> None:
    (answer,) = data(in_folder, files, "why", "l", *words)["answers"]
    assert answer.get("value") == value


def test_a_policy_without_files_is_refused(in_folder: InFolder) -> None:
    assert in_folder(CHART, "why", "port", "--policy", "helm")[0] == 2


def test_a_file_that_is_not_there_is_the_error(in_folder: InFolder) -> None:
    code, _, errors = in_folder({"base.yaml": "a: 1\n"}, "why", "a", "base.yaml", "nosuch.yaml")
    assert (code, errors.startswith("error: nosuch.yaml: cannot be read")) == (1, True)


def test_a_key_that_is_not_set_has_the_nearest_one(in_folder: InFolder) -> None:
    code, _, errors = in_folder({"a.yaml": "http: {port: 1}\n"}, "why", "http.prt", "a.yaml")
    assert (code, "http.prt is not set" in errors, "did you mean http.port?" in errors) == (1, True, True)


def test_impact_knows_a_chart_without_settings(in_folder: InFolder, tmp_path: Path) -> None:
    in_folder(CHART, "list", "subjects")
    for place in ("old", "new"):
        for name, text in CHART.items():
            os.makedirs(os.path.dirname(f"{place}/{name}"), exist_ok=True)
            Path(place, name).write_text(text.replace("80\n", "90\n") if place == "new" else text)
    code, out, _ = in_folder({}, "impact", "old", "new", "--exit-code", "--dialect", "folds")
    assert (code, "port  charts/shop/values.yaml:1" in out, "80 -> 90" in out) == (1, True, True)


class TestOverview:
    def test_it_names_what_lies_in_a_folder_and_commands_that_work_there(self, in_folder: InFolder) -> None:
        code, out, _ = in_folder(CHART)
        assert code == 0
        assert "3 folds (folds): charts/shop, " in out
        commands = [line.split()[1:] for line in out.split("\n") if line.startswith("  nodeattrs ")]
        assert len(commands) == 3
        for words in commands:
            assert in_folder({}, *words)[0] == 0, words

    def test_a_folder_without_anything_names_the_repositories_below_it(self, in_folder: InFolder) -> None:
        code, out, _ = in_folder({"puppet/hiera.yaml": "version: 5\n", "README": "x"})
        assert (code, "nodeattrs --repo puppet" in out) == (0, True)

    def test_a_folder_with_a_repository_below_it_gives_commands_about_a_value_there(self, in_folder: InFolder) -> None:
        tree = {"puppet/hiera.yaml": "version: 5\n", "puppet/data/common.yaml": "port: 80\n"}
        _, out, _ = in_folder(tree)
        assert "nodeattrs why port --repo puppet" in out
        assert in_folder({}, "why", "port", "--repo", "puppet")[1].startswith("hiera: ")

    def test_a_value_of_a_file_there_is_shown_before_one_that_comes_from_elsewhere(self, in_folder: InFolder) -> None:
        files = {
            "nodes/web1.json": '{"name": "web1", "run_list": ["role[a]"]}',
            "cookbooks/x/metadata.rb": "name 'x'\n",
        }
        role = '{"name": "a", "run_list": [], "default_attributes": {"port": 80}}'
        _, out, _ = in_folder({**files, "roles/a.json": role}, "overview", "--platform", "debian-12")
        assert "nodeattrs why port --on web1" in out
        assert "nodeattrs where roles/a.json:1" in out

    def test_an_empty_folder_says_how_to_ask_about_files(self, in_folder: InFolder) -> None:
        code, out, _ = in_folder({})
        assert (code, "nodeattrs why KEY base.yaml prod.yaml" in out) == (0, True)

    @pytest.mark.parametrize(
        ("files", "there", "command"),
        [
            (
                {"cookbooks/a/metadata.rb": "name 'a'\nversion '1.0.0'\n", "cookbooks/a/recipes/default.py": ""},
                "1 cookbook of Chef, and no node",
                "nodeattrs run --new --node test --run-list 'recipe[a]'",
            ),
            (
                {"inventory-sample.yml": "all: {hosts: {web1: {}}}\n", "playbooks/site.yml": "", "ansible.cfg": ""},
                "playbooks or roles of Ansible, and no inventory",
                "nodeattrs ansible list -i inventory-sample.yml",
            ),
            (
                {"roles/r/defaults/main.yml": "port: 1\n", "site.yml": "- hosts: all\n  roles: [r]\n"},
                "playbooks or roles of Ansible, and no inventory",
                "nodeattrs where --key port -i localhost,",
            ),
            (
                {
                    "ansible.cfg": "[defaults]\nroles_path = roles\n",
                    "roles/a/defaults/main.yml": "unused: 1\n",
                    "roles/r/defaults/main.yml": "port: 1\n",
                    "playbooks/all.yml": "- hosts: all\n  roles: [r]\n",
                },
                "playbooks or roles of Ansible, and no inventory",
                "nodeattrs where --key port -i localhost,",
            ),
        ],
        ids=["cookbooks", "playbooks", "roles", "a role that no playbook names"],
    )
    def test_files_without_a_subject_have_commands_that_lead_to_a_first_value(
        self, in_folder: InFolder, files: dict[str, str], there: str, command: str
    ) -> None:
        code, out, _ = in_folder(files)
        assert (code, there in out, command in out) == (0, True, True)
        for line in out.split("\n"):
            if line.startswith("  nodeattrs "):
                words = [word for word in shlex.split(line)[1:] if word != "--ruby"]
                assert in_folder({}, *words)[0] == 0, line

    def test_roles_of_chef_are_no_roles_of_ansible(self, in_folder: InFolder) -> None:
        node = {"nodes/web1.json": '{"name": "web1", "run_list": ["role[a]"]}'}
        assert data(in_folder, {**node, "roles/a.json": '{"name": "a", "run_list": []}'}, "overview")["there"] == []
        there = data(in_folder, {**node, "roles/r/tasks/main.yml": ""}, "overview")["there"]
        assert there == ["playbooks or roles of Ansible, and no inventory at a usual place"]

    def test_each_file_of_user_data_is_a_subject(self, in_folder: InFolder) -> None:
        files = {
            "deploy/web.yaml": "#cloud-config\npackages: [git]\n",
            "deploy/template.yaml": "#cloud-config\nhostname: ${name}\n",
            "seed/user-data": "#cloud-config\nhostname: a\n",
        }
        _, out, _ = in_folder(files)
        assert "2 sets (cloud-init): deploy/web.yaml, seed" in out
        assert "nodeattrs why packages --on deploy/web.yaml" in out
        assert in_folder({}, "why", "packages", "--on", "deploy/web.yaml")[0] == 0

    @pytest.mark.parametrize(
        ("file", "text", "code", "words"),
        [
            ("web.yaml", "#cloud-config\na: %d\n", 0, "1 of 2 sets changes"),
            (
                "jinja.yaml",
                "## template: jinja\n#cloud-config\na: {{ v1.b%d }}\n",
                5,
                "jinja.yaml was not run, or names what was not read",
            ),
            ("other.yaml", "#cloud-config\na: ${b%d}\n", 5, "other.yaml is read by no subject"),
            ("manifest.yaml", "kind: Job%d\n", 0, "no change was found; no dialect reads it"),
            ("words.txt", "which a template may look up: %d\n", 0, "no change was found; no dialect reads it"),
            ("words.md", "which nothing reads: %d\n", 0, "nothing changes"),
        ],
        ids=["user-data", "a template of Jinja", "a template of another program", "another file", "text", "a page"],
    )
    def test_impact_says_what_it_knows_of_a_changed_file_beside_user_data(
        self, in_folder: InFolder, file: str, text: str, code: int, words: str
    ) -> None:
        files = {f"{side}/b.yaml": "#cloud-config\nb: 1\n" for side in ("old", "new")}
        files |= {f"{side}/{file}": text % number for number, side in enumerate(("old", "new"))}
        found, out, _ = in_folder(files, "impact", "old", "new")
        assert (found, words in out) == (code, True), out

    def test_where_settings_name_sets_of_user_data_no_file_is_a_set_of_its_own(self, in_folder: InFolder) -> None:
        settings = '[cloud-init.web]\nfiles = ["base.yaml"]\n'
        files = {"nodeattrs.toml": settings, "base.yaml": "#cloud-config\na: 1\n", "b.yaml": "#cloud-config\na: 1\n"}
        assert data(in_folder, files, "overview")["subjects"] == {"cloud-init": ["web"]}

    def test_files_of_a_dialect_without_a_subject_are_named_beside_the_subjects_of_others(
        self, in_folder: InFolder
    ) -> None:
        _, out, _ = in_folder({"cookbooks/a/metadata.rb": "name 'a'\n", "web.yaml": "#cloud-config\na: 1\n"})
        assert "1 set (cloud-init): web.yaml" in out
        assert "1 cookbook of Chef, and no node" in out
        assert "nodeattrs run --new --node test --run-list 'recipe[a]'" in out

    def test_another_folder_can_be_asked(self, in_folder: InFolder) -> None:
        in_folder({f"shop/{name}": text for name, text in CHART.items()}, "list", "subjects", "--repo", "shop")
        assert "3 folds (folds)" in in_folder({}, "--repo", "shop")[1]

    def test_overview_as_json_has_the_subjects_of_folds(self, in_folder: InFolder) -> None:
        found = data(in_folder, CHART, "overview")
        assert len(found["subjects"]["folds"]) == 3
        assert found["commands"][0] == "nodeattrs why port --on charts/shop"


def test_a_broken_chart_does_not_keep_a_line_of_another_one_from_its_answer(in_folder: InFolder) -> None:
    code, out, errors = in_folder({**CHART, "bad/Chart.yaml": "a: [\n"}, "where", "charts/shop/values.yaml:1")
    assert (code, "port = 80" in out, "bad" in errors) == (5, True, True)


def test_a_folder_of_values_outside_of_the_repository_is_not_listed(in_folder: InFolder, tmp_path: Path) -> None:
    (tmp_path / "others").mkdir()
    (tmp_path / "others/own-values.yaml").write_text("port: 1\n")
    files = {f"repo/{name}": text for name, text in CHART.items() if "/ci/" not in name}
    in_folder(files, "overview", "--repo", "repo")
    (tmp_path / "repo/charts/shop/ci").symlink_to(tmp_path / "others")
    code, out, _ = in_folder({}, "list", "subjects", "--repo", "repo")
    assert (code, out.split("\n")[:-1]) == (0, ["folds charts/shop", "folds charts/shop/values-prod.yaml"])


def test_a_chart_that_is_named_from_another_folder_is_merged_as_helm_does(in_folder: InFolder) -> None:
    files = {"repo/c/Chart.yaml": "name: c\n", "repo/c/values.yaml": "a: {x: 1}\n", "prod.yaml": "a: {x: null}\n"}
    _, out, _ = in_folder(files, "why", "a", "repo/c", "prod.yaml", "--repo", "repo")
    assert "a = {}" in out


@pytest.mark.parametrize("words", [("where", "--key", "a"), ("blame",)])
def test_values_outside_of_the_repository_leave_the_answer_open(
    in_folder: InFolder, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "values.yaml").write_text("a: 1\n")
    in_folder({"repo/c/Chart.yaml": "name: c\n"}, "overview", "--repo", "repo")
    (tmp_path / "repo/c/values.yaml").symlink_to(tmp_path / "values.yaml")
    assert in_folder({}, *words, "--repo", "repo")[0] == 5


def test_an_overview_shows_a_subject_that_has_values(in_folder: InFolder) -> None:
    _, out, _ = in_folder(
        {"good/Chart.yaml": "name: g\n", "good/values.yaml": "a: 1\n", "bad/Chart.yaml": "[\n"}, "overview"
    )
    assert "nodeattrs why a --on good" in out


def test_an_overview_of_two_dialects_has_one_command_about_each_and_the_place_of_the_first(in_folder: InFolder) -> None:
    node = {
        "nodes/web1.json": '{"name": "web1", "run_list": ["role[a]"]}',
        "roles/a.json": '{"name": "a", "default_attributes": {"size": 1}}',
    }
    assert data(in_folder, {**node, **CHART}, "overview", "--platform", "debian-12")["commands"] == [
        "nodeattrs why size --on web1",
        "nodeattrs why port --on charts/shop",
        "nodeattrs where roles/a.json:1",
    ]


def test_the_commands_of_an_overview_can_be_pasted_into_a_shell(in_folder: InFolder) -> None:
    files = {"a $(b)/Chart.yaml": "name: g\n", "a $(b)/values.yaml": "k: 1\n"}
    commands = json.loads(in_folder(files, "overview", "--format", "json")[1])["commands"]
    assert [shlex.split(one)[2:] for one in commands] == [
        ["k", "--on", "a $(b)"],
        ["a $(b)"],
        ["a $(b)/values.yaml:1"],
    ]


def test_the_commands_of_an_overview_name_the_folder_that_was_asked_for(in_folder: InFolder) -> None:
    files = {"my repo/c/Chart.yaml": "name: g\n", "my repo/c/values.yaml": "k: 1\n"}
    for one in json.loads(in_folder(files, "overview", "--repo", "my repo", "--format", "json")[1])["commands"]:
        assert in_folder({}, *shlex.split(one)[1:])[0] == 0, one


MANIFESTS = {
    "secret.yaml": """apiVersion: v1
kind: Secret
metadata:
  name: db
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"stringData":{"password":"s3cret-1"}}'
    owner: team
stringData:
  password: s3cret-1
  gone: s3cret-2
data: {token: czNjcmV0LTM=}
""",
    "over.yaml": "stringData: {password: s3cret-4, gone: null, list: [s3cret-5]}\n",
    "list.yaml": "items:\n- {kind: Secret, stringData: {a: s3cret-6}}\n- {kind: ConfigMap, data: {a: shown}}\n",
    "nodeattrs.toml": "[fold.x]\nfiles = ['secret.yaml', 'over.yaml', 'list.yaml']\npolicy = 'json-merge-patch'\n",
}


@pytest.mark.parametrize(
    "words",
    [
        ("fold", "--name", "x"),
        ("fold", "secret.yaml", "over.yaml", "list.yaml", "--explain", "stringData", "--explain", "items"),
        ("fold", "--name", "x", "--diff-last"),
        ("fold", "--name", "x", "--set", "stringData.password=s3cret-7", "--blame"),
        ("why", "stringData.password"),
        ("why", "data", "--format", "json"),
        ("where", "over.yaml:1"),
        ("matrix", "stringData.password"),
        ("blame", "--format", "json"),
        ("what-if", "--without", "over.yaml:1"),
        ("what-if", "--set", "stringData.password=s3cret-7", "--format", "sarif"),
    ],
    ids=" ".join,
)
def test_the_values_of_a_secret_of_kubernetes_are_withheld(in_folder: InFolder, words: tuple[str, ...]) -> None:
    code, out, errors = in_folder(MANIFESTS, *words)
    assert (code, "s3cret" in out + errors, "czNjcmV0" in out + errors) == (0, False, False)
    assert any(mark in out for mark in ("withheld", "a secret", "$sensitive"))


def test_a_secret_of_kubernetes_shows_its_keys_and_all_that_is_no_value_of_it(in_folder: InFolder) -> None:
    _, out, _ = in_folder(MANIFESTS, "fold", "--name", "x", "--format", "json")
    tree = json.loads(out)
    assert [*tree["stringData"]] == ["password", "list"]  # null removed the other one, though it is a secret
    assert tree["metadata"]["annotations"]["owner"] == "team"
    assert tree["items"][1]["data"] == {"a": "shown"}


def test_the_items_of_a_list_of_secrets_are_withheld(in_folder: InFolder) -> None:
    """They have no kind of their own, as the API server lists them."""
    files = {"a.yaml": "kind: SecretList\nitems: [{metadata: {name: db}, data: {token: s3cret}}, 1]\n"}
    _, out, _ = in_folder(files, "fold", "a.yaml", "--format", "json")
    withheld = {"$sensitive": "withheld"}
    assert json.loads(out)["items"] == [{"metadata": {"name": "db"}, "data": {"token": withheld}}, 1]


URL = "https://me:s3cret@h/x.yaml"
_SOURCE = f"{{path: c, helm: {{valueFiles: ['{URL}']}}}}"
APPLICATION = f"kind: Application\nmetadata: {{name: x}}\nspec: {{source: {_SOURCE}}}\n"


@pytest.mark.parametrize(
    "files",
    [
        {"compose.yaml": f"include: ['{URL}']\nservices: {{a: {{image: i}}}}\n"},
        {"compose.yaml": f"services: {{a: {{extends: {{file: '{URL}', service: b}}}}}}\n"},
        {"helmfile.yaml": f"releases: [{{name: a, chart: ./c, values: ['{URL}']}}]\n", "c/Chart.yaml": "name: c\n"},
        {"a.yaml": APPLICATION},
    ],
    ids=["include", "extends", "helmfile", "Argo CD"],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_the_password_of_an_address_that_is_not_read_is_not_printed(
    in_folder: InFolder, files: dict[str, str], form: str
) -> None:
    code, out, errors = in_folder(files, "why", "services.a.ports", "--format", form)
    assert (code, "s3cret" in out + errors, "https://me@h/x.yaml" in out + errors) == (5, False, True)


def test_an_address_with_a_password_in_npmrc_is_withheld(in_folder: InFolder) -> None:
    files = {".npmrc": "proxy=http://me:s3cret@h\nregistry=https://me@h/\n"}
    _, out, _ = in_folder(files, "fold", ".npmrc", "--format", "json")
    assert json.loads(out) == {"proxy": {"$sensitive": "withheld"}, "registry": "https://me@h/"}


@pytest.mark.parametrize("policy", ["helm", "json-merge-patch"])
def test_a_null_removes_a_sensitive_value(in_folder: InFolder, policy: str) -> None:
    files = {
        "a.yaml": "db: {password: s3cret, port: 1}\n",
        "b.yaml": "db: {password: null}\n",
        "nodeattrs.toml": "sensitive = ['db.password']\n",
    }
    _, out, _ = in_folder(files, "fold", "a.yaml", "b.yaml", "--policy", policy, "--format", "json")
    assert json.loads(out) == {"db": {"port": 1}}


def test_a_sensitive_value_of_a_subchart_is_withheld(in_folder: InFolder) -> None:
    files = {**CHART, "nodeattrs.toml": "sensitive = ['redis.size']\n"}
    _, out, _ = in_folder(files, "why", "redis.size", "--on", "charts/shop", "--format", "json")
    assert json.loads(out)["answers"][0]["value"] == {"$sensitive": "withheld"}


def test_a_value_of_what_if_over_a_secret_is_withheld(in_folder: InFolder) -> None:
    keys = ("db::password", "db::all.password", "db.password")
    files = {
        "hiera.yaml": "version: 5\nhierarchy: [{name: c, path: c.yaml, data_hash: yaml_data, datadir: data}]\n",
        "data/c.yaml": "db::password: s3cret-1\ndb::all: {password: s3cret-2, port: 1}\n",
        "facts/web1.json": "{}",
        "a.yaml": "db: {password: s3cret-3}\n",
        "nodeattrs.toml": f"sensitive = {json.dumps(keys)}\n[fold.x]\nfiles = ['a.yaml']\n",
    }
    words = [word for key in keys for word in ("--set", f"{key}=s3cret-4")]
    code, out, errors = in_folder(files, "what-if", *words)
    assert (code, "s3cret" in out + errors, out.count("(a secret) -> (a secret)")) == (0, False, 3)


TAGGED = {
    "nodeattrs.toml": 'sensitive = ["db.password"]\n[fold.a]\nfiles = ["a.yaml"]\n',
    "a.yaml": "db: !ours {password: s3cret, user: app}\n",
}


@pytest.mark.parametrize("form", ["text", "json", "yaml"])
@pytest.mark.parametrize("words", [("fold", "--name", "a"), ("why", "db"), ("matrix", "db"), ("where", "--key", "db")])
def test_a_secret_below_a_tag_is_withheld_in_each_form(in_folder: InFolder, words: tuple[str, ...], form: str) -> None:
    code, out, err = in_folder(TAGGED, *words, "--format", form)
    assert (code, err, "s3cret" in out, "!ours" in out) == (0, "", False, True)


def test_a_value_below_a_tag_is_data_with_its_tag(in_folder: InFolder) -> None:
    """As `fold --format json` prints it."""
    (answer,) = data(in_folder, {**TAGGED, "nodeattrs.toml": '[fold.a]\nfiles = ["a.yaml"]\n'}, "why", "db")["answers"]
    assert answer["value"] == {"$tag": "!ours", "value": {"password": "s3cret", "user": "app"}}


def test_a_change_of_a_secret_below_a_tag_is_a_change_of_a_secret(in_folder: InFolder) -> None:
    found = data(in_folder, TAGGED, "what-if", "--set", "db=plain")["changes"]
    assert [(one["before"]["secret"], "s3cret" in str(one)) for one in found] == [(True, False)]


@pytest.mark.parametrize("written", ["!ours s3cret", "!ours {password: s3cret}"])
def test_a_sensitive_value_with_a_tag_is_withheld_as_a_whole(in_folder: InFolder, written: str) -> None:
    files = {"nodeattrs.toml": 'sensitive = ["db"]\n[fold.a]\nfiles = ["a.yaml"]\n', "a.yaml": f"db: {written}\n"}
    assert data(in_folder, files, "fold", "--name", "a") == {"db": {"$sensitive": "withheld"}}
