"""Plain folds by name: which files, in which order, under which policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.files.folds import fold_named, named_fold
from nodeattrs.errors import BadArgument, NotFound
from nodeattrs.policies import policy_named


@pytest.fixture
def site(tmp_path: Path) -> Repository:
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
    return Repository(tmp_path)


class TestNamedFolds:
    def test_files_are_laid_in_the_order_of_the_list_and_patterns_by_name(self, site: Repository):
        folded = named_fold(site, "site")

        assert {"port": 443, "hosts": ["a", "b"]} == {key: folded.value[key] for key in ("port", "hosts")}
        assert ["env/20.yaml:1"] == [origin.place for origin in folded.origins("port")]

    def test_its_policy_and_its_rules_hold(self, site: Repository):
        """
        Null removes; the list, which Helm would replace, is appended to.
        """
        folded = named_fold(site, "site")

        assert "old" not in folded.value
        assert "helm" in folded.explain("old")
        assert ["values.yaml:2", "env/10.yaml:2"] == [origin.place for origin in folded.origins("hosts")]

    def test_what_the_settings_call_sensitive_is_withheld(self, site: Repository):
        assert "geheim" not in named_fold(site, "site").explain("db.password")

    def test_a_name_that_is_not_there_names_a_near_one(self, site: Repository):
        with pytest.raises(NotFound, match="did you mean site"):
            fold_named(site, "sites")

    def test_a_policy_that_is_not_there_names_a_near_one(self):
        with pytest.raises(BadArgument, match="did you mean helm"):
            policy_named("hlem")
