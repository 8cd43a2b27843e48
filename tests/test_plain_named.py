"""Plain folds by name: which files, in which order, under which policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodeattrs.contract.answers import Part
from nodeattrs.contract.folder import Folder
from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side
from nodeattrs.dialects.files.folds import fold_named
from nodeattrs.dialects.files.opened import Folds
from nodeattrs.errors import BadArgument, NotFound
from nodeattrs.policies import policy_named


@pytest.fixture
def site(tmp_path: Path) -> Folder:
    """A fold of three files under Helm's policy with a rule for one path."""
    (tmp_path / "env").mkdir()
    texts = {
        "nodeattrs.toml": 'sensitive = ["db.password"]\n[fold.site]\nfiles = ["values.yaml", "env/*.yaml"]\n'
        'policy = "helm"\n[fold.site.merge]\nhosts = "append"\n',
        "values.yaml": "port: 80\nhosts: [a]\nold: 1\ndb:\n  password: geheim\n",
        "env/20.yaml": "port: 443\n",
        "env/10.yaml": "port: 8080\nhosts: [b]\nold: null\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return Folder(tmp_path)


def merged(site: Folder) -> Part:
    """The merged tree of the fold."""
    return Folds(Side("", site.root, site.root, {}), Request()).answer("site")["value"]


def places(part: Part, key: str) -> list[str | None]:
    """The places that set a key, the winner first."""
    return [origin.place for origin in part.places((key,))]


class TestNamedFolds:
    def test_files_are_laid_in_the_order_of_the_list_and_patterns_by_name(self, site: Folder):
        part = merged(site)

        assert {"port": 443, "hosts": ["a", "b"]} == {key: part.tree[key] for key in ("port", "hosts")}
        assert places(part, "port") == ["env/20.yaml:1", "env/10.yaml:1", "values.yaml:1"]

    def test_a_named_fold_follows_its_policy_and_rules(self, site: Folder):
        """
        Null removes; the list, which Helm would replace, is appended to.
        """
        part = merged(site)

        assert "old" not in part.tree
        assert places(part, "old") == ["env/10.yaml:3", "values.yaml:3"]
        assert {*places(part, "hosts")} == {"values.yaml:2", "env/10.yaml:2"}

    def test_what_the_settings_call_sensitive_is_withheld(self, site: Folder):
        trace = merged(site).trace
        assert trace is not None
        assert "geheim" not in str(trace(("db", "password")))

    def test_a_name_that_is_not_there_names_a_near_one(self, site: Folder):
        with pytest.raises(NotFound, match="did you mean site"):
            fold_named(site, "sites")

    def test_a_policy_that_is_not_there_names_a_near_one(self):
        with pytest.raises(BadArgument, match="did you mean helm"):
            policy_named("hlem")
