"""Releases of Helm that Argo CD, Flux and helmfile describe: found without settings, each with its values."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeattrs.dialects.files import flux

InFolder = Callable[..., tuple[int, str, str]]

CHART = {
    "charts/shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
    "charts/shop/values.yaml": "port: 80\nimage:\n  tag: '1'\n  pull: always\nhosts: [a]\n",
    "charts/shop/values-prod.yaml": "port: 8080\n",
    "flux/system/source.yaml": "kind: GitRepository\nmetadata: {name: shop}\n"
    'spec: {url: "https://git.example.org/shop.git", ref: {branch: main}}\n',
}
REPO = "https://git.example.org/shop.git"


def in_yaml(kind: str, name: str, spec: dict[str, Any]) -> str:
    """The manifest with its kind at the beginning of a line, as people write it."""
    return f"kind: {kind}\nmetadata: {{name: {json.dumps(name)}}}\nspec: {json.dumps(spec)}\n"


def application(name: str = "shop", **source: Any) -> dict[str, str]:
    return {"apps/shop.yaml": in_yaml("Application", name, {"source": {"repoURL": REPO, **source}})}


def subjects(in_folder: InFolder, files: dict[str, str]) -> list[str]:
    _, out, _ = in_folder(files, "list", "subjects")
    return [line.removeprefix("folds ") for line in out.splitlines() if "#" in line]


WITHHELD = {"$sensitive": "withheld"}


def value(in_folder: InFolder, files: dict[str, str], key: str, on: str) -> tuple[int, Any]:
    """The exit code and the value of a key; None where it has none."""
    code, out, _ = in_folder(files, "why", key, "--on", on, "--format", "json")
    (answer,) = json.loads(out)["answers"] if out else ({},)
    return code, answer.get("value")


class TestArgo:
    def test_values_parameters_and_files_of_an_application_are_laid_in_its_order(self, in_folder: InFolder) -> None:
        helm = {
            "valueFiles": ["values-prod.yaml"],
            "values": "image: {tag: '2'}\nfrom: text\n",
            "parameters": [{"name": "image.tag", "value": "3"}, {"name": "hosts[1]", "value": "b"}],
        }
        files = {**CHART, **application(path="charts/shop", helm=helm)}
        assert subjects(in_folder, files) == ["apps/shop.yaml#shop"]
        for key, expected in {"port": 8080, "image.tag": 3, "image.pull": "always", "from": "text"}.items():
            assert value(in_folder, {}, key, "apps/shop.yaml#shop") == (0, expected), key

    def test_a_parameter_that_is_forced_to_be_a_text_is_one(self, in_folder: InFolder) -> None:
        parameters = [{"name": "image.tag", "value": "1.10,2", "forceString": True}]
        files = {**CHART, **application(path="charts/shop", helm={"parameters": parameters})}
        assert value(in_folder, files, "image.tag", "apps/shop.yaml#shop") == (0, "1.10,2")

    @pytest.mark.parametrize(
        ("name", "code"), [(".argocd-source.yaml", 5), (".argocd-source-shop.yaml", 5), (".argocd-source-web.yaml", 0)]
    )
    def test_a_file_that_changes_the_source_of_an_application_is_an_unread_place(
        self, in_folder: InFolder, name: str, code: int
    ) -> None:
        override = "helm: {parameters: [{name: image.tag, value: v9}]}\n"
        files = {**CHART, **application(path="charts/shop"), f"charts/shop/{name}": override}
        found, _, errors = in_folder(files, "why", "image.tag", "--on", "apps/shop.yaml#shop")
        assert (found, f"charts/shop/{name}" in errors) == (code, code == 5)

    def test_texts_that_are_forced_come_after_the_other_parameters(self, in_folder: InFolder) -> None:
        parameters = [{"name": "port", "value": "1", "forceString": True}, {"name": "port", "value": "2"}]
        files = {**CHART, **application(path="charts/shop", helm={"parameters": parameters})}
        assert value(in_folder, files, "port", "apps/shop.yaml#shop") == (0, "1")

    def test_the_object_of_values_counts_and_not_the_text(self, in_folder: InFolder) -> None:
        helm = {"values": "port: 1\nother: 1\n", "valuesObject": {"port": 2}}
        files = {**CHART, **application(path="charts/shop", helm=helm)}
        assert value(in_folder, files, "port", "apps/shop.yaml#shop") == (0, 2)

    def test_a_line_of_values_that_are_a_text_is_a_line_of_the_manifest(self, in_folder: InFolder) -> None:
        text = (
            "kind: Application\nmetadata:\n  name: shop\nspec:\n  source:\n    path: charts/shop\n    helm:\n"
            "      values: |\n        # a remark\n        image:\n          tag: '2'\n"
        )
        _, out, _ = in_folder({**CHART, "app.yaml": text}, "why", "image.tag", "--on", "app.yaml#shop")
        assert 'image.tag = "2"' in out
        assert "app.yaml:11 " in out
        code, out, _ = in_folder({}, "where", "app.yaml:11")
        assert (code, "image.tag" in out, "wins on 1 of 1" in out) == (0, True, True)

    def test_a_values_file_of_another_source_is_read_where_it_is_here(self, in_folder: InFolder) -> None:
        sources = [
            {"repoURL": REPO, "ref": "conf"},
            {
                "chart": "redis",
                "repoURL": "https://charts.example.org",
                "helm": {"valueFiles": ["$conf/env/prod.yaml"]},
            },
        ]
        files = {"app.yaml": in_yaml("Application", "cache", {"sources": sources}), "env/prod.yaml": "size: 3\n"}
        assert value(in_folder, files, "size", "app.yaml#cache") == (0, 3)
        assert value(in_folder, {}, "nosuch", "app.yaml#cache")[0] == 5

    @pytest.mark.parametrize("name", ["$conf/env/nosuch.yaml", "$other/env/prod.yaml", "https://example.org/v.yaml"])
    def test_a_values_file_that_is_not_here_is_an_unread_place(self, in_folder: InFolder, name: str) -> None:
        sources = [
            {"repoURL": REPO, "ref": "conf"},
            {"path": "charts/shop", "repoURL": REPO, "helm": {"valueFiles": [name]}},
        ]
        files = {**CHART, "app.yaml": in_yaml("Application", "shop", {"sources": sources})}
        code, _, errors = in_folder(files, "why", "port", "--on", "app.yaml#shop")
        assert (code, "app.yaml:3" in errors) == (5, True)

    @pytest.mark.parametrize(
        ("remote", "code"),
        [
            ("git@git.example.org:a-fork/shop.git", 0),
            ("https://git.example.org/other.git", 5),
            ("../a-clone", 0),
        ],
        ids=["a fork", "another repository", "a clone of this machine, whose name says nothing"],
    )
    def test_a_source_of_another_repository_is_not_read_here(
        self, in_folder: InFolder, tmp_path: Path, remote: str, code: int
    ) -> None:
        for words in (["init", "--quiet"], ["remote", "add", "origin", remote]):
            subprocess.run(["git", *words], cwd=tmp_path, check=True)
        files = {**CHART, **application(path="charts/shop", helm={"valueFiles": ["/charts/shop/values.yaml"]})}
        assert in_folder(files, "why", "port", "--on", "apps/shop.yaml#shop")[0] == code

    @pytest.mark.parametrize(
        ("revision", "code"), [("HEAD", 0), ("main", 0), ("v1.2.0", 5), ("refs/tags/old", 5), ("4f1c0de", 5)]
    )
    def test_a_source_at_a_version_or_commit_may_have_other_values(
        self, in_folder: InFolder, revision: str, code: int
    ) -> None:
        files = {**CHART, **application(path="charts/shop", helm={}, targetRevision=revision)}
        assert in_folder(files, "why", "port", "--on", "apps/shop.yaml#shop")[0] == code

    def test_a_pattern_of_many_steps_makes_applications_that_are_not_known(self, in_folder: InFolder) -> None:
        template = {
            "metadata": {"name": "{{path.basename}}"},
            "spec": {"source": {"path": "{{path}}", "helm": {"values": "a: 1"}}},
        }
        spec = {"generators": [{"git": {"directories": [{"path": "*/" * 30}]}}], "template": template}
        files = {"set.yaml": in_yaml("ApplicationSet", "all", spec)}
        assert subjects(in_folder, files) == ["set.yaml#all"]
        assert in_folder({}, "why", "port", "--on", "set.yaml#all")[0] == 5

    def test_a_list_generator_makes_an_application_for_each_element(self, in_folder: InFolder) -> None:
        spec = {
            "generators": [{"list": {"elements": [{"env": "prod"}, {"env": "test"}]}}],
            "template": {
                "metadata": {"name": "shop-{{env}}"},
                "spec": {"source": {"path": "charts/shop", "helm": {"valueFiles": ["values-{{ .env }}.yaml"]}}},
            },
        }
        files = {
            **CHART,
            "set.yaml": in_yaml("ApplicationSet", "shops", spec),
            "charts/shop/values-test.yaml": "port: 1",
        }
        assert subjects(in_folder, files) == ["set.yaml#shop-prod", "set.yaml#shop-test"]
        assert value(in_folder, {}, "port", "set.yaml#shop-prod") == (0, 8080)
        assert value(in_folder, {}, "port", "set.yaml#shop-test") == (0, 1)

    def test_a_git_generator_makes_an_application_for_each_folder(self, in_folder: InFolder) -> None:
        directories = [{"path": "charts/*"}, {"path": "charts/old", "exclude": True}]
        spec = {
            "goTemplate": True,
            "generators": [{"git": {"repoURL": REPO, "directories": directories}}],
            "template": {"metadata": {"name": "{{.path.basename}}"}, "spec": {"source": {"path": "{{.path.path}}"}}},
        }
        files = {**CHART, "set.yaml": in_yaml("ApplicationSet", "all", spec)}
        files |= {"charts/old/Chart.yaml": "name: old\n", "charts/web/Chart.yaml": "name: web\n"}
        assert subjects(in_folder, files) == ["set.yaml#shop", "set.yaml#web"]

    @pytest.mark.parametrize("git", [{"repoURL": "https://git.example.org/other.git"}, {"revision": "v1.2.0"}])
    def test_folders_of_another_repository_or_version_are_not_followed(
        self, in_folder: InFolder, tmp_path: Path, git: dict[str, str]
    ) -> None:
        for words in (["init", "--quiet"], ["remote", "add", "origin", REPO]):
            subprocess.run(["git", *words], cwd=tmp_path, check=True)
        spec = {
            "generators": [{"git": {"repoURL": REPO, "directories": [{"path": "charts/*"}], **git}}],
            "template": {
                "metadata": {"name": "{{path.basename}}"},
                "spec": {"source": {"path": "{{path}}", "helm": {"values": "a: 1"}}},
            },
        }
        files = {**CHART, "set.yaml": in_yaml("ApplicationSet", "all", spec)}
        assert subjects(in_folder, files) == ["set.yaml#all"]

    def test_a_git_generator_passes_over_folders_that_begin_with_a_dot(self, in_folder: InFolder) -> None:
        template = {"metadata": {"name": "{{path.basename}}"}, "spec": {"source": {"path": "{{path}}", "helm": {}}}}
        spec = {"generators": [{"git": {"directories": [{"path": "charts/*"}]}}], "template": template}
        files = {**CHART, "charts/.old/values.yaml": "port: 1\n", "set.yaml": in_yaml("ApplicationSet", "set", spec)}
        assert subjects(in_folder, files) == ["set.yaml#shop"]

    def test_parameters_with_a_prefix_are_filled_in_by_their_prefix_alone(self, in_folder: InFolder) -> None:
        values = "port: '{{path.basename}}'\nhost: '{{my.path.basename}}'\n"
        source = {"path": "{{my.path}}", "helm": {"values": values}}
        template = {"metadata": {"name": "{{my.path.basename}}"}, "spec": {"source": source}}
        git = {"directories": [{"path": "charts/*"}], "pathParamPrefix": "my"}
        files = {
            **CHART,
            "set.yaml": in_yaml("ApplicationSet", "set", {"generators": [{"git": git}], "template": template}),
        }
        assert value(in_folder, files, "host", "set.yaml#shop") == (0, "shop")
        assert value(in_folder, {}, "port", "set.yaml#shop")[0] == 5

    def test_what_another_generator_fills_in_is_not_known(self, in_folder: InFolder) -> None:
        helm = {"values": "host: '{{name}}.example.org'\nsize: 3\n", "valueFiles": ["{{name}}.yaml"]}
        spec = {
            "generators": [{"clusters": {}}],
            "template": {"metadata": {"name": "x-{{name}}"}, "spec": {"source": {"path": "charts/shop", "helm": helm}}},
        }
        files = {**CHART, "set.yaml": in_yaml("ApplicationSet", "shops", spec)}
        assert subjects(in_folder, files) == ["set.yaml#shops"]
        assert value(in_folder, {}, "host", "set.yaml#shops")[0] == 5
        assert value(in_folder, {}, "size", "set.yaml#shops") == (0, 3)
        assert value(in_folder, {}, "port", "set.yaml#shops")[0] == 5


CHART_HERE = {"spec": {"chart": "./charts/shop", "sourceRef": {"kind": "GitRepository", "name": "shop"}}}
REMOTE = {"spec": {"chart": "shop", "sourceRef": {"kind": "HelmRepository", "name": "shops"}}}


class TestFlux:
    def release(self, chart: dict[str, Any], **spec: Any) -> dict[str, str]:
        return {**CHART, "flux/shop.yaml": in_yaml("HelmRelease", "shop", {"chart": chart, **spec})}

    def test_values_lie_over_a_chart_of_this_repository(self, in_folder: InFolder) -> None:
        files = self.release(CHART_HERE, values={"port": 9})
        assert subjects(in_folder, files) == ["flux/shop.yaml#shop"]
        assert value(in_folder, {}, "port", "flux/shop.yaml#shop") == (0, 9)
        assert value(in_folder, {}, "image.tag", "flux/shop.yaml#shop") == (0, "1")

    @pytest.mark.parametrize(
        ("spec", "reason"),
        [
            ({"url": REPO}, ""),
            ({"url": "ssh://git@git.example.org/a-fork/shop"}, ""),
            ({"url": REPO, "ref": {"name": "refs/heads/main"}}, ""),
            ({"url": "https://git.example.org/other"}, "is in another repository: https://git.example.org/other"),
            ({"url": "https://u:secret@git.example.org/b"}, "is in another repository: https://git.example.org/b"),
            ({"url": REPO, "ref": {"tag": "v1.2.0"}}, "comes from tag v1.2.0"),
            ({"url": REPO, "ref": {"semver": ">=1.0"}}, "comes from semver >=1.0"),
            ({"url": REPO, "ref": {"branch": "main", "commit": "4f1c0de"}}, "comes from commit 4f1c0de"),
            ({"url": REPO, "ref": {"name": "refs/tags/old"}}, "comes from name refs/tags/old"),
            ({"url": "https://${HOST}/shop.git"}, "url or ref is not known"),
            ({"interval": "5m"}, "url or ref is not known"),
        ],
    )
    def test_the_chart_of_a_source_in_git_is_read_where_the_source_is_this_repository(
        self, in_folder: InFolder, tmp_path: Path, spec: dict[str, Any], reason: str
    ) -> None:
        for words in (["init", "--quiet"], ["remote", "add", "origin", REPO]):
            subprocess.run(["git", *words], cwd=tmp_path, check=True)
        files = {**self.release(CHART_HERE), "flux/system/source.yaml": in_yaml("GitRepository", "shop", spec)}
        code, _, errors = in_folder(files, "why", "image.tag", "--on", "flux/shop.yaml#shop")
        assert (code, reason in errors) == (5 if reason else 0, True)

    @pytest.mark.parametrize(
        ("others", "code"),
        [
            ({"flux/system/source.yaml": ""}, 5),
            ({"flux/system/source.yaml": in_yaml("GitRepository", "other", {"url": REPO})}, 5),
            ({"b.yaml": in_yaml("GitRepository", "shop", {"url": REPO, "ref": {"tag": "v1"}})}, 5),
            ({"b.yaml": in_yaml("GitRepository", "shop", {"url": REPO})}, 0),
            ({"b.yaml": "kind: GitRepository\nmetadata: {name: {{ .Values.name }}-shop}\n"}, 5),
            ({"b.yaml": "{kind: GitRepository, metadata: {name: shop}, spec: {url: a/b, ref: {tag: v1}}}\n"}, 5),
            ({"b.yaml": "'kind' : GitRepository\nmetadata: {name: shop}\nspec: {url: a/b, ref: {tag: v1}}\n"}, 5),
            ({"b.yaml": "kind: List\nitems:\n- 5\n- kind: GitRepository\n  metadata: {name: shop}\n  spec: {}\n"}, 5),
            ({"b.yaml": "kind: GitRepository\nmetadata: {name: {{ .Values.name }}}\n"}, 0),
        ],
        ids=[
            "none",
            "of another name",
            "one at a tag",
            "two",
            "a template with the name",
            "in braces",
            "in quotes",
            "in a list",
            "another template",
        ],
    )
    def test_each_manifest_of_the_source_has_to_be_this_repository(
        self, in_folder: InFolder, others: dict[str, str], code: int
    ) -> None:
        files = {**self.release(CHART_HERE), **others}
        assert in_folder(files, "why", "image.tag", "--on", "flux/shop.yaml#shop")[0] == code

    def test_a_source_of_another_namespace_is_not_that_of_the_release(self, in_folder: InFolder) -> None:
        source = in_yaml("GitRepository", "shop", {"url": REPO}).replace("metadata: {", "metadata: {namespace: one, ")
        for space, code in (("two", 5), ("one", 0)):
            files = self.release(CHART_HERE)
            files["flux/system/source.yaml"] = source
            files["flux/shop.yaml"] = files["flux/shop.yaml"].replace(
                "metadata: {", f"metadata: {{namespace: {space}, "
            )
            assert in_folder(files, "why", "image.tag", "--on", "flux/shop.yaml#shop")[0] == code

    def test_impact_names_each_release_whose_source_changes(self, in_folder: InFolder, tmp_path: Path) -> None:
        in_folder({}, "list", "subjects")
        release = in_yaml("HelmRelease", "shop", {"chart": CHART_HERE})
        for place, ref in (("old", {}), ("new", {"ref": {"tag": "v1"}})):
            source = in_yaml("GitRepository", "shop", {"url": REPO, **ref})
            files = {**CHART, "flux/a.yaml": release, "flux/b.yaml": release, "flux/system/source.yaml": source}
            for name, text in files.items():
                (tmp_path / place / name).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / place / name).write_text(text)
        code, out, _ = in_folder({}, "impact", "old", "new", "--exit-code", "--dialect", "folds")
        assert (code, "flux/a.yaml#shop" in out, "flux/b.yaml#shop" in out) == (5, True, True)

    @pytest.mark.parametrize("kind", ["GitRepository", "Bucket"])
    def test_impact_sees_a_file_that_becomes_a_manifest_of_the_source(
        self, in_folder: InFolder, tmp_path: Path, kind: str
    ) -> None:
        in_folder({}, "list", "subjects")
        for place, more in (("old", ""), ("new", in_yaml(kind, "shop", {"url": REPO, "ref": {"tag": "v1"}}))):
            for name, text in {**self.release(CHART_HERE), "more.yaml": more}.items():
                (tmp_path / place / name).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / place / name).write_text(text)
        out = in_folder({}, "impact", "old", "new", "--dialect", "folds")[1]
        assert ("flux/shop.yaml#shop" in out) == (kind == "GitRepository")

    def test_a_commit_has_the_remotes_of_its_repository(self, in_folder: InFolder, tmp_path: Path) -> None:
        files = self.release(CHART_HERE, values={"port": 1})
        files["flux/system/source.yaml"] = in_yaml("GitRepository", "shop", {"url": "https://git.example.org/other"})
        in_folder(files, "list", "subjects")
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        for words in (["init", "-q"], ["remote", "add", "origin", REPO], ["add", "-A"], [*identity, "commit", "-qm1"]):
            subprocess.run(["git", *words], cwd=tmp_path, check=True)
        changed = self.release(CHART_HERE, values={"port": 2})["flux/shop.yaml"]
        code, out, _ = in_folder({"flux/shop.yaml": changed}, "impact", "HEAD", "--dialect", "folds")
        assert (code, "port" in out, "image" in out) == (5, True, False)

    @pytest.mark.parametrize(
        "files", [{"valuesFiles": ["charts/shop/values-prod.yaml"]}, {"valuesFile": "charts/shop/values-prod.yaml"}]
    )
    def test_other_values_files_of_a_chart_are_not_read(self, in_folder: InFolder, files: dict[str, Any]) -> None:
        chart = {"spec": {**CHART_HERE["spec"], **files}}
        code, _, errors = in_folder(self.release(chart), "why", "port", "--on", "flux/shop.yaml#shop")
        assert (code, "valuesFiles" in errors) == (5, True)

    def test_a_chart_of_another_place_may_set_what_the_release_does_not(self, in_folder: InFolder) -> None:
        files = self.release(REMOTE, values={"port": 9})
        assert value(in_folder, files, "port", "flux/shop.yaml#shop") == (0, 9)
        code, _, errors = in_folder({}, "why", "image.tag", "--on", "flux/shop.yaml#shop")
        assert (code, "flux/shop.yaml:3" in errors, "not in this repository" in errors) == (5, True, True)

    def test_a_patch_of_kustomize_says_that_the_manifest_below_was_not_read(self, in_folder: InFolder) -> None:
        files = {"patch.yaml": in_yaml("HelmRelease", "shop", {"values": {"port": 9}})}
        code, _, errors = in_folder(files, "why", "image.tag", "--on", "patch.yaml#shop")
        assert (code, "patches another manifest" in errors) == (5, True)

    @pytest.mark.parametrize(
        ("kind", "data"),
        [
            ("ConfigMap", {"data": {"values.yaml": "port: 7\nmore: 1\n"}}),
            ("Secret", {"stringData": {"values.yaml": "port: 7\nmore: 1\n"}}),
            ("Secret", {"data": {"values.yaml": base64.b64encode(b"port: 7\nmore: 1\n").decode()}}),
        ],
        ids=["a map", "a secret as text", "a secret in base64"],
    )
    def test_values_of_a_map_or_secret_beside_the_release_lie_below_its_own(
        self, in_folder: InFolder, kind: str, data: dict[str, Any]
    ) -> None:
        files = self.release(CHART_HERE, valuesFrom=[{"kind": kind, "name": "given"}], values={"port": 9})
        files["flux/given.yaml"] = json.dumps({"kind": kind, "metadata": {"name": "given"}, **data})
        assert value(in_folder, files, "port", "flux/shop.yaml#shop") == (0, 9)
        shown = 1 if kind == "ConfigMap" else WITHHELD
        assert value(in_folder, {}, "more", "flux/shop.yaml#shop") == (0, shown)

    def test_a_value_can_be_aimed_at_one_path(self, in_folder: InFolder) -> None:
        named = {"kind": "Secret", "name": "given", "valuesKey": "tag", "targetPath": "image.tag"}
        files = self.release(CHART_HERE, valuesFrom=[named])
        assert value(in_folder, files, "image.tag", "flux/shop.yaml#shop")[0] == 5
        assert value(in_folder, {}, "port", "flux/shop.yaml#shop") == (0, 80)
        files["flux/given.yaml"] = json.dumps(
            {"kind": "Secret", "metadata": {"name": "given"}, "stringData": {"tag": "v7"}}
        )
        assert value(in_folder, files, "image.tag", "flux/shop.yaml#shop") == (0, WITHHELD)

    @pytest.mark.parametrize(
        ("text", "is_literal", "expected"),
        [
            ("7", False, 7),
            ("'7'", False, "7"),
            ('"a,b"', False, None),
            ("{a,b}", False, ["a", "b"]),
            ("a\\,b", False, "a,b"),
            ("a,b", False, None),
            ("a,b={c}\\", True, "a,b={c}\\"),
            ("{a}", True, "{a}"),
            ("7", True, "7"),
        ],
    )
    def test_an_aimed_value_is_read_as_flux_reads_it(
        self, in_folder: InFolder, text: str, is_literal: bool, expected: Any
    ) -> None:
        named = {"kind": "ConfigMap", "name": "given", "valuesKey": "tag", "targetPath": "tag", "literal": is_literal}
        files = self.release(CHART_HERE, valuesFrom=[named])
        files["flux/given.yaml"] = in_yaml("ConfigMap", "given", {}) + f"data: {{tag: {json.dumps(text)}}}\n"
        code = 5 if expected is None else 0
        assert value(in_folder, files, "tag", "flux/shop.yaml#shop") == (code, expected)

    def test_an_aimed_value_that_sets_several_keys_sets_each(self, in_folder: InFolder) -> None:
        named = {"kind": "ConfigMap", "name": "given", "valuesKey": "tag", "targetPath": "tag"}
        files = self.release(CHART_HERE, valuesFrom=[named])
        files["flux/given.yaml"] = in_yaml("ConfigMap", "given", {}) + "data: {tag: 'v7,port=9'}\n"
        assert value(in_folder, files, "tag", "flux/shop.yaml#shop") == (0, "v7")
        assert value(in_folder, {}, "port", "flux/shop.yaml#shop") == (0, 9)

    def test_an_aimed_value_below_a_map_of_the_release_may_win_or_lose(self, in_folder: InFolder) -> None:
        named = [
            {"kind": "ConfigMap", "name": "given", "valuesKey": "tag", "targetPath": path}
            for path in ("image.tag", "port")
        ]
        files = self.release(CHART_HERE, valuesFrom=named, values={"port": 9, "image": {"tag": "v1"}})
        files["flux/given.yaml"] = in_yaml("ConfigMap", "given", {}) + "data: {tag: v7}\n"
        assert value(in_folder, files, "image.tag", "flux/shop.yaml#shop")[0] == 5
        assert value(in_folder, {}, "image.pull", "flux/shop.yaml#shop") == (0, "always")
        assert value(in_folder, {}, "port", "flux/shop.yaml#shop") == (0, 9)

    def test_a_map_of_another_namespace_is_not_that_of_the_release(self, in_folder: InFolder) -> None:
        spec = {"chart": CHART_HERE, "valuesFrom": [{"kind": "ConfigMap", "name": "given"}]}
        release = in_yaml("HelmRelease", "shop", spec).replace("metadata: {", "metadata: {namespace: one, ")
        given = in_yaml("ConfigMap", "given", {}) + "data: {values.yaml: 'port: 7'}\n"
        for space, expected in (("two", (5, 80)), ("one", (0, 7))):
            other = given.replace("metadata: {", f"metadata: {{namespace: {space}, ")
            files = {**CHART, "flux/shop.yaml": release, "flux/given.yaml": other}
            assert value(in_folder, files, "port", "flux/shop.yaml#shop") == expected

    def test_files_beside_releases_are_read_once(self, in_folder: InFolder, monkeypatch: pytest.MonkeyPatch) -> None:
        read: list[str] = []
        whole = flux.parse_documents
        monkeypatch.setattr(flux, "parse_documents", lambda text, file: read.append(file) or whole(text, file))
        spec = {"chart": CHART_HERE, "valuesFrom": [{"kind": "ConfigMap", "name": "given"}]}
        files = {f"flux/{name}.yaml": in_yaml("HelmRelease", name, spec) for name in "abc"}
        files["flux/given.yaml"] = in_yaml("ConfigMap", "given", {}) + "data: {values.yaml: 'port: 7'}\n"
        assert len(subjects(in_folder, {**CHART, **files})) == 3
        assert read.count("flux/given.yaml") == 1

    def test_a_secret_that_is_not_here_may_set_anything_below_the_values(self, in_folder: InFolder) -> None:
        files = self.release(CHART_HERE, valuesFrom=[{"kind": "Secret", "name": "gone"}], values={"port": 9})
        assert value(in_folder, files, "port", "flux/shop.yaml#shop") == (0, 9)
        assert value(in_folder, {}, "image.tag", "flux/shop.yaml#shop")[0] == 5

    def test_what_flux_fills_in_is_not_known(self, in_folder: InFolder) -> None:
        files = self.release(CHART_HERE, values={"host": "shop.${DOMAIN}", "port": 9})
        assert value(in_folder, files, "host", "flux/shop.yaml#shop")[0] == 5
        assert value(in_folder, {}, "port", "flux/shop.yaml#shop") == (0, 9)

    def test_impact_names_the_release_whose_line_changes(self, in_folder: InFolder, tmp_path: Path) -> None:
        in_folder({}, "list", "subjects")
        for place in ("old", "new"):
            for name, text in self.release(CHART_HERE, values={"port": 9 if place == "old" else 10}).items():
                (tmp_path / place / name).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / place / name).write_text(text)
        code, out, _ = in_folder({}, "impact", "old", "new", "--exit-code", "--dialect", "folds")
        assert (code, "flux/shop.yaml#shop" in out, "9 -> 10" in out) == (1, True, True)


class TestHelmfile:
    def test_values_files_maps_and_set_lie_over_a_chart_of_this_repository(self, in_folder: InFolder) -> None:
        text = (
            "releases:\n- name: shop\n  chart: ../charts/shop\n  values:\n  - ../env/prod.yaml\n  - image: {tag: '2'}\n"
            "  set:\n  - {name: 'hosts[0]', value: z}\n  - {name: live, value: true}\n"
        )
        files = {**CHART, "deploy/helmfile.yaml": text, "env/prod.yaml": "port: 7\n"}
        assert subjects(in_folder, files) == ["deploy/helmfile.yaml#shop"]
        for key, expected in {"port": 7, "image.tag": "2", "image.pull": "always", "live": True}.items():
            assert value(in_folder, {}, key, "deploy/helmfile.yaml#shop") == (0, expected), key

    @pytest.mark.parametrize(
        "text",
        [
            '{"releases": [{"name": "shop", "chart": "./charts/shop", "values": [{"port": 7}]}]}',
            '\n{\n  "releases": [\n    {"name": "shop", "chart": "./charts/shop",\n "values": [{"port": 7}]}\n  ]\n}\n',
            "{releases: [{name: shop, chart: ./charts/shop, values: [{port: 7}]}]}\n",
        ],
        ids=["JSON", "JSON on many lines", "YAML in braces"],
    )
    def test_a_helmfile_in_braces_is_found(self, in_folder: InFolder, text: str) -> None:
        assert subjects(in_folder, {**CHART, "helmfile.yaml": text}) == ["helmfile.yaml#shop"]
        assert value(in_folder, {}, "port", "helmfile.yaml#shop") == (0, 7)

    def test_a_helmfile_that_begins_with_a_template_is_found(self, in_folder: InFolder) -> None:
        text = "{{/* shops */}}\nreleases:\n- {name: shop, chart: ./charts/shop}\n"
        assert subjects(in_folder, {**CHART, "helmfile.yaml.gotmpl": text}) == ["helmfile.yaml.gotmpl#shop"]

    def test_each_environment_has_its_own_releases(self, in_folder: InFolder) -> None:
        text = (
            "environments:\n  prod: {values: [{tag: v2}]}\n  test: {values: [{tag: v3}]}\n---\n"
            "releases:\n- name: shop\n  chart: ./charts/shop\n  values:\n  - values-{{ .Environment.Name }}.yaml\n"
            "  - image: {tag: {{ .Values.tag }}}\n"
        )
        files = {**CHART, "helmfile.yaml": text, "values-prod.yaml": "port: 1\n", "values-test.yaml": "port: 2\n"}
        assert subjects(in_folder, files) == ["helmfile.yaml#prod/shop", "helmfile.yaml#test/shop"]
        for environment, port, tag in (("prod", 1, "v2"), ("test", 2, "v3")):
            assert value(in_folder, {}, "port", f"helmfile.yaml#{environment}/shop") == (0, port)
            assert value(in_folder, {}, "image.tag", f"helmfile.yaml#{environment}/shop") == (0, tag)

    def test_a_template_that_writes_lines_may_set_anything(self, in_folder: InFolder) -> None:
        text = (
            "releases:\n- name: shop\n  chart: ./charts/shop\n  values:\n  - port: 7\n"
            '    {{- with index .Values "more" }}\n    {{- toYaml . | nindent 4 }}\n    {{- end }}\n'
        )
        assert subjects(in_folder, {**CHART, "helmfile.yaml": text}) == ["helmfile.yaml#shop"]
        assert value(in_folder, {}, "port", "helmfile.yaml#shop") == (5, 7)

    def test_a_release_whose_name_is_filled_in_has_an_answer(self, in_folder: InFolder) -> None:
        text = "values: [{name: shop}]\n---\nreleases:\n- {name: '{{ .Values.name }}', chart: ./charts/shop}\n"
        assert subjects(in_folder, {**CHART, "helmfile.yaml": text}) == ["helmfile.yaml#0"]
        assert value(in_folder, {}, "port", "helmfile.yaml#0") == (0, 80)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("environments: {p: {values: [{tag: a}]}}\n---\nvalues: [{tag: b}]\n---\n", (0, "a")),
            ("environments: {p: {values: [{tag: a}], secrets: [s.yaml]}}\n---\n", (5, None)),
            ("bases: [gone.yaml.gotmpl]\nenvironments: {p: {}}\n---\nvalues: [{tag: b}]\n---\n", (5, None)),
        ],
        ids=["values of an environment lie over the others", "secrets are not read", "a base was not read"],
    )
    def test_values_that_templates_name_are_those_of_helmfile_or_not_known(
        self, in_folder: InFolder, text: str, expected: tuple[int, Any]
    ) -> None:
        text += "releases:\n- name: shop\n  chart: ./charts/shop\n  values:\n  - image: {tag: '{{ .Values.tag }}'}\n"
        files = {**CHART, "helmfile.yaml": text, "s.yaml": "tag: c\n"}
        assert value(in_folder, files, "image.tag", "helmfile.yaml#p/shop")[0] == expected[0]
        if expected[1]:
            assert value(in_folder, {}, "image.tag", "helmfile.yaml#p/shop") == expected

    @pytest.mark.parametrize(("text", "expected"), [("{a}", "{a}"), ("a,b", "a,b"), ("a\\b", "ab"), ("{a,b}", "{a,b}")])
    def test_a_value_of_set_has_braces_and_commas_as_they_are(
        self, in_folder: InFolder, text: str, expected: str
    ) -> None:
        given = json.dumps([{"name": "tag", "value": text}])
        files = {**CHART, "helmfile.yaml": f"releases:\n- name: shop\n  chart: ./charts/shop\n  set: {given}\n"}
        assert value(in_folder, files, "tag", "helmfile.yaml#shop") == (0, expected)

    def test_the_values_of_a_file_of_secrets_are_withheld(self, in_folder: InFolder) -> None:
        text = "releases:\n- name: shop\n  chart: ./charts/shop\n  values: [v.yaml]\n  secrets: [s.yaml]\n"
        given = {"v.yaml": "db: {host: h, pw: none}\n", "s.yaml": "db: {pw: s3cret}\n"}
        files = {**CHART, "helmfile.yaml": text, **given}
        assert value(in_folder, files, "db", "helmfile.yaml#shop") == (0, {"host": "h", "pw": WITHHELD})

    def test_the_name_of_the_release_is_filled_in(self, in_folder: InFolder) -> None:
        text = (
            'releases:\n- name: shop\n  chart: ./charts/shop\n  values:\n  - "values-{{`{{ .Release.Name }}`}}.yaml"\n'
        )
        files = {**CHART, "helmfile.yaml": text, "values-shop.yaml": "port: 1\n"}
        assert value(in_folder, files, "port", "helmfile.yaml#shop") == (0, 1)

    @pytest.mark.parametrize(
        ("line", "place"),
        [
            ("  - values.yaml.gotmpl\n", "helmfile.yaml:5"),
            ('  - {{ requiredEnv "STAGE" }}.yaml\n', "helmfile.yaml:5"),
            ('  - port: {{ env "PORT" | default 80 }}\n', "helmfile.yaml:5"),
            ("{{ if true }}\n  - port: 9\n{{ end }}\n", "helmfile.yaml:5"),
            ("  - nosuch.yaml\n", "helmfile.yaml:5"),
            ("  - /etc/passwd\n", "helmfile.yaml:5"),
            ("  - ../../outside.yaml\n", "helmfile.yaml:5"),
        ],
        ids=["a template file", "a name", "a value", "a condition", "a missing file", "an absolute path", "a path out"],
    )
    def test_what_was_not_read_is_an_unread_place_with_its_line(
        self, in_folder: InFolder, line: str, place: str
    ) -> None:
        files = {**CHART, "helmfile.yaml": f"releases:\n- name: shop\n  chart: ./charts/shop\n  values:\n{line}"}
        code, _, errors = in_folder(files, "why", "port", "--on", "helmfile.yaml#shop")
        assert (code, place in errors) == (5, True), errors

    def test_a_base_with_releases_says_that_they_were_not_read(self, in_folder: InFolder) -> None:
        base = "releases:\n- {name: cache, chart: bitnami/redis}\n"
        text = "bases: [base.yaml]\nreleases:\n- {name: shop, chart: ./charts/shop}\n"
        found = subjects(in_folder, {**CHART, "base.yaml": base, "helmfile.yaml": text})
        assert found == ["base.yaml#cache", "helmfile.yaml#base.yaml", "helmfile.yaml#shop"]
        code, _, errors = in_folder({}, "why", "port", "--on", "helmfile.yaml#base.yaml")
        assert (code, "helmfile.yaml:1" in errors) == (5, True)

    def test_a_condition_within_a_line_concerns_that_line_alone(self, in_folder: InFolder) -> None:
        text = (
            "releases:\n- name: shop\n  chart: ./charts/shop\n  wait: {{ if true }}true{{ else }}false{{ end }}\n"
            "  values: [{port: 7}]\n"
        )
        assert value(in_folder, {**CHART, "helmfile.yaml": text}, "image.tag", "helmfile.yaml#shop") == (0, "1")

    def test_a_file_may_be_missing_where_the_release_says_so(self, in_folder: InFolder) -> None:
        text = "releases:\n- name: shop\n  chart: ./charts/shop\n  missingFileHandler: Warn\n  values: [nosuch.yaml]\n"
        assert value(in_folder, {**CHART, "helmfile.yaml": text}, "port", "helmfile.yaml#shop") == (0, 80)

    def test_other_files_with_releases_are_no_helmfiles(self, in_folder: InFolder) -> None:
        assert subjects(in_folder, {**CHART, "bosh.yaml": "releases:\n- name: x\n  version: 1\n"}) == []


class TestStrangers:
    def test_a_link_that_leads_out_is_not_read(self, in_folder: InFolder, tmp_path: Path) -> None:
        outside = tmp_path.parent / f"{tmp_path.name}-outside"
        outside.mkdir()
        (outside / "secret.yaml").write_text("port: 666\n")
        (outside / "Chart.yaml").write_text("name: out\n")
        (outside / "values.yaml").write_text("port: 667\n")
        in_folder(CHART, "list", "subjects")
        (tmp_path / "link.yaml").symlink_to(outside / "secret.yaml")
        (tmp_path / "charts/out").symlink_to(outside)
        text = (
            "releases:\n- {name: a, chart: ./charts/shop, values: [link.yaml]}\n"
            "- {name: b, chart: ./charts/out}\n- {name: c, chart: ../OUT}\n".replace("OUT", outside.name)
        )
        for name in "abc":
            code, out, _ = in_folder({"helmfile.yaml": text}, "why", "port", "--on", f"helmfile.yaml#{name}")
            assert (code, "666" in out, "667" in out) == (5, False, False), name

    def test_a_file_that_cannot_be_read_is_a_subject_with_its_error(self, in_folder: InFolder) -> None:
        files = {"app.yaml": "kind: HelmRelease\nmetadata: {name: [\n"}
        assert in_folder(files, "list", "subjects")[1] == "folds app.yaml\n"
        code, out, errors = in_folder({}, "why", "port", "--on", "app.yaml")
        assert (code, "app.yaml:3" in out + errors) == (1, True)

    def test_a_manifest_that_is_too_large_is_a_subject_with_its_error(self, in_folder: InFolder) -> None:
        files = {"app.yaml": "kind: HelmRelease\n" + "# more\n" * 150_000, "other.yaml": "# more\n" * 150_000}
        assert in_folder(files, "list", "subjects")[1] == "folds app.yaml\n"
        assert "is larger than 1,000,000 bytes" in in_folder({}, "why", "port", "--on", "app.yaml")[2]

    @pytest.mark.parametrize(
        "spec",
        [
            {"source": []},
            {"sources": [1, {"helm": 1}, {"helm": {"valueFiles": 1, "values": 3, "parameters": [1, {}]}}]},
            {"source": {"path": ["x"], "helm": {"valueFiles": [{}, None, "\0"], "valuesObject": [1]}}},
        ],
    )
    def test_an_application_of_any_shape_gives_no_traceback(self, in_folder: InFolder, spec: Any) -> None:
        files = {"app.yaml": in_yaml("Application", "x", spec)}
        names = subjects(in_folder, files) if in_folder(files, "list", "subjects")[0] == 0 else []
        for name in names:
            assert value(in_folder, {}, "port", name)[0] in (0, 5)

    @pytest.mark.parametrize(
        "text",
        [
            "releases: 3\n  chart: x\n",
            "releases:\n- chart: ⟦7⟧\n  name: ⟦0⟧\n",
            "releases:\n- {name: x, chart: [1], values: 3, set: [1], secrets: {a: 1}}\n  chart: y\n",
            "releases:\n- name: [x]\n  chart: {a: 1}\n  values: [1, null, [2]]\n  set: [{name: '=', value: 1}]\n",
            "bases: [1, {}, nosuch.yaml]\nenvironments: [1]\nreleases:\n- name: x\n  chart: y\n",
            "environments: {a: 1, b: {values: [1, nosuch.yaml, {x: {{ y }} }]}}\nreleases:\n- name: x\n  chart: y\n",
        ],
    )
    def test_a_helmfile_of_any_shape_gives_no_traceback(self, in_folder: InFolder, text: str) -> None:
        in_folder({"helmfile.yaml": text}, "list", "subjects")
        for name in subjects(in_folder, {}):
            assert value(in_folder, {}, "port", name)[0] in (0, 5)

    def test_a_second_release_of_a_name_is_numbered(self, in_folder: InFolder) -> None:
        one = in_yaml("HelmRelease", "x", {"values": {"port": 1}})
        two = in_yaml("HelmRelease", "x", {"values": {"port": 2}})
        assert subjects(in_folder, {"a.yaml": f"{one}---\n{two}"}) == ["a.yaml#x", "a.yaml#x~2"]
        assert value(in_folder, {}, "port", "a.yaml#x~2") == (0, 2)

    @pytest.mark.parametrize(
        "text",
        [
            "kind: HelmRelease\nmetadata: {name: x}\nspec: {values: " + "{a: " * 300 + "1" + "}" * 300 + "}\n",
            "kind: Application\nmetadata: {name: x}\nspec: {source: {chart: x, helm: {values: '"
            + "{a: " * 300
            + "1"
            + "}" * 300
            + "'}}}\n",
            "releases:\n- {name: x, chart: y, values: [" + "[" * 300 + "]" * 300 + "]}\n",
            "environments: {"
            + ",".join(f"e{n}: {{}}" for n in range(200))
            + "}\nreleases:\n"
            + "".join(f"- {{name: r{n}, chart: y}}\n" for n in range(200)),
            "releases:\n- chart: y\n" + "{{" * 100_000,
            "releases:\n- chart: y\n" + "{{ {{`" * 50_000,
        ],
        ids=["deep values", "deep values in a text", "deep lists", "many environments", "braces", "braces and quotes"],
    )
    def test_what_is_too_deep_or_too_much_is_an_error_of_the_file(self, in_folder: InFolder, text: str) -> None:
        code, out, errors = in_folder({"a.yaml": text}, "list", "subjects")
        assert (code, out.startswith("folds a.yaml")) == (0, True), errors
        name = out.split()[1]
        code, _, errors = in_folder({}, "why", "port", "--on", name)
        assert code in (1, 5)
        assert "a.yaml" in errors

    @pytest.mark.parametrize(
        "text",
        [
            in_yaml(
                "ApplicationSet",
                "set",
                {
                    "generators": [{"list": {"elements": [{"a": "b" * 50_000}]}}],
                    "template": {"spec": {"source": {"path": "charts/shop", "helm": {"values": "{{a}}" * 50_000}}}},
                },
            ),
            f"environments: {{p: {{values: [{{x: {'b' * 900}}}]}}}}\n---\n"
            f"releases:\n- {{chart: ./charts/shop, set: ['{'{{ .Values.x }}' * 40_000}']}}\n",
        ],
        ids=["of Argo CD", "a helmfile"],
    )
    def test_the_output_of_templates_of_releases_is_limited(self, in_folder: InFolder, text: str) -> None:
        code, out, errors = in_folder({**CHART, "a.yaml": text}, "list", "subjects")
        assert (code, "folds a.yaml" in out) == (0, True), errors
        name = next(line for line in out.splitlines() if "a.yaml" in line).split()[1]
        code, _, errors = in_folder({}, "why", "port", "--on", name)
        assert (code, "characters" in errors) == (1, True)

    def test_a_long_text_is_not_filled_in(self, in_folder: InFolder) -> None:
        releases = "releases:\n- {name: a, chart: ./charts/shop, values: [{port: '{{ .Values.x }}'}]}\n"
        for length, code in ((900, 0), (1100, 5)):
            environments = f"environments: {{p: {{values: [{{x: {'b' * length}}}]}}}}\n---\n"
            files = {**CHART, "helmfile.yaml": environments + releases}
            assert value(in_folder, files, "port", "helmfile.yaml#p/a")[0] == code

    def test_values_of_set_past_the_limit_are_unread_places(self, in_folder: InFolder) -> None:
        parameters = [{"name": f"k{number}", "value": "v"} for number in range(202)]
        files = {**CHART, **application(path="charts/shop", helm={"parameters": parameters})}
        code, _, errors = in_folder(files, "why", "k5", "--on", "apps/shop.yaml#shop")
        assert (code, errors.count("after 200 values of --set")) == (5, 1)

    def test_a_large_index_makes_no_list(self, in_folder: InFolder) -> None:
        parameters = [{"name": "hosts[60000]", "value": "v"}]
        files = {**CHART, **application(path="charts/shop", helm={"parameters": parameters})}
        assert value(in_folder, files, "hosts", "apps/shop.yaml#shop")[0] == 5
