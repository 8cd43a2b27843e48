"""What is kept outlives the run: revisions, going back, stored attributes, export and import, and their commands."""

import io
import json
import sqlite3
import sys
import types
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from nodeattrs import Node, Sensitive, __version__
from nodeattrs.chef import Repository
from nodeattrs.cli import main
from nodeattrs.contract.argument_values import revision_or_time
from nodeattrs.dialects.chef.facts import load_facts
from nodeattrs.dialects.chef.reports.run import RunReport
from nodeattrs.dialects.chef.run.session import NodeRequest, run_session
from nodeattrs.errors import (
    BadArgument,
    DocumentError,
    NodeattrsError,
    NodeNotFound,
    RecipeFailed,
    TypeConflict,
)
from nodeattrs.store import NewerRevision, Noted, Saved, open_store, saved_document
from nodeattrs.store.carrying import export_lines
from nodeattrs.store.engines.store import last_runs
from nodeattrs.store.saved_nodes import load_saved, node_of, remove_normal, restore, set_normal
from nodeattrs.store.search.word import search_word
from tests.on_disk import perform, repository
from tests.store_exam import imported, rows_of

FILES = {
    "cookbooks/app/attributes/default.py": 'default["app"]["workers"] = 2\n',
    "cookbooks/app/recipes/default.py": "node.normal['runs'] = (node.read('runs') or 0) + 1\n",
    "nodes/web1.json": {"name": "web1", "run_list": ["recipe[app]"]},
    "nodes/web2.json": {"name": "web2", "run_list": ["recipe[app]"]},
    "facts.json": {"platform": "ubuntu", "fqdn": "web1.example.com", "cpu": {"total": 4}},
}


@pytest.fixture
def desk(tmp_path, monkeypatch):
    repository(tmp_path / "repo", FILES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def store(tmp_path):
    return open_store(tmp_path / "nodes.db")


def kept(name="web1", **normal):
    node = Node(name, sensitive=["secret"])
    node.default["app"]["workers"] = 2
    node.normal = normal
    return Saved(name, saved_document(node), node.snapshot())


def a_run(desk, store, name="web1", **options):
    here = Repository(desk / "repo")
    force = options.pop("force", False)
    wanted = NodeRequest(load_facts(desk / "repo" / "facts.json"), **options)
    return perform(here, store, name, wanted, force=force)


class TestARun:
    def test_each_run_is_a_revision_that_tells_of_the_run(self, desk):
        git = desk / "repo" / ".git"
        (git / "refs" / "heads").mkdir(parents=True)
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        (git / "refs" / "heads" / "main").write_text("4f1c09e0" * 5 + "\n")
        store = open_store("nodes.db")

        sessions = [a_run(desk, store) for _ in range(3)]

        assert [1, 2, 3] == [session.revision.number for session in sessions]
        assert Noted(repository="4f1c09e0" * 5, version=__version__, root="repo") == store.history("web1")[0].noted
        assert [1, 2, 3] == [store.load("web1", number).document["normal"]["runs"] for number in (1, 2, 3)]

    def test_it_tells_what_changed_since_the_last_one_to_the_letter(self, desk, store):
        """
        The first tells nothing, one that leaves the very same no change; 1 and True are two values.
        """
        (desk / "repo/cookbooks/app/recipes/default.py").write_text("")
        told = []
        for value in ("1", "1", "1", "True", "True"):
            (desk / "repo/cookbooks/app/attributes/default.py").write_text(f'default["app"]["workers"] = {value}\n')
            session = a_run(desk, store)
            changed = RunReport.of(session).changes
            told.append((session.is_as_before, changed and [(one.before, one.after) for one in changed]))

        assert [(False, None), (True, [])] == [told[0], told[2]]
        assert [[], [(1, True)], []] == [changed for _, changed in (told[1], *told[3:])]

    def test_what_nobody_asks_for_is_not_computed(self, desk):
        """
        The trees of before and after cost as much as the run; a fleet shows neither.
        """
        store = open_store("nodes.db")
        a_run(desk, store)
        session = a_run(desk, store)

        assert not {"before", "after"} & vars(session).keys()
        assert (1, 2) == (session.before["runs"], session.after["runs"])

    @pytest.mark.parametrize("head", ["ref: refs/heads/gone\n", "nonsense\n", "", "ref: ../../etc/passwd\n"])
    def test_a_strange_repository_has_no_revision(self, desk, head):
        (desk / "repo" / ".git").mkdir()
        (desk / "repo" / ".git" / "HEAD").write_text(head)

        assert "" == a_run(desk, open_store("nodes.db")).revision.noted.repository

    def test_a_run_that_failed_is_kept_as_such_and_the_node_as_it_was(self, desk):
        """
        Of the error its kind and its place only: its message may quote a secret.
        """
        store = open_store("nodes.db")
        a_run(desk, store)
        (desk / "repo/cookbooks/app/recipes/default.py").write_text("raise ValueError('s3cret')\n")
        with pytest.raises(RecipeFailed):
            a_run(desk, store)

        latest = store.load("web1")
        sort = "RecipeFailed at cookbooks/app/recipes/default.py:1"
        assert (2, False, sort) == (latest.revision.number, latest.noted.ok, latest.noted.error)
        assert store.load("web1", 1).document == latest.document
        assert b"s3cret" not in (desk / "nodes.db").read_bytes()

    @pytest.mark.parametrize(
        ("name", "options", "known"),
        [
            # name  options                                  environment and run-list, or nothing at all
            ("web1", {}, ("_default", ["recipe[app]"])),
            ("web1", {"environment": "staging"}, ("staging", ["recipe[app]"])),
            ("web1", {"environment": "stagging"}, ("_default", ["recipe[app]"])),
            ("new", {"run_list": ("app",)}, ("_default", ["recipe[app]"])),
            ("new", {"run_list": ["app", "a[b"]}, None),
            ("new", {"environment": "nosuch"}, None),
            ("web11", {"environment": "nosuch"}, None),
        ],
    )
    def test_a_first_run_that_fails_leaves_what_it_was_to_run(self, desk, store, name, options, known):
        """
        And no attribute. Of a node that nobody describes, and that has no run-list, it leaves nothing.
        """
        repository(
            desk / "repo",
            {
                "environments/staging.json": {"name": "staging", "default_attributes": {"app": {"tier": "low"}}},
                "cookbooks/app/recipes/default.py": "node.normal['half'] = 1\nraise ValueError('s3cret')\n",
            },
        )
        with pytest.raises(NodeattrsError):
            a_run(desk, store, name, **options)

        if known is None:
            assert [] == store.names()
            return
        saved = store.load(name)
        assert (False, 1) == (saved.noted.ok, saved.revision.number)
        node = node_of(saved)
        assert known == (node.environment, node.run_list)
        assert {} == node.to_dict()
        assert {} == saved.document["normal"]

    def test_after_a_first_run_that_failed_the_next_is_the_first_that_counts(self, desk, store):
        """
        It takes the run-list that was given, and tells no changes.
        """
        recipe = desk / "repo/cookbooks/app/recipes/default.py"
        good = recipe.read_text()
        recipe.write_text("1 / 0\n")
        with pytest.raises(RecipeFailed):
            a_run(desk, store, "new", run_list=["app"])
        recipe.write_text(good)
        session = a_run(desk, store, "new")

        assert (2, ["recipe[app]"], None) == (session.revision.number, session.run.node.run_list, session.before)
        assert {"runs": 1, "tags": []} == store.load("new").document["normal"]

    def test_a_node_file_that_cannot_be_read_is_told_of_too(self, desk, store):
        (desk / "repo/nodes/web1.json").write_text('{"name": ')
        with pytest.raises(DocumentError):
            a_run(desk, store)

        assert (False, "DocumentError at nodes/web1.json:1") == (
            store.load("web1").noted.ok,
            store.load("web1").noted.error,
        )

    def test_a_run_that_saves_nothing_notes_no_failure(self, desk, store):
        (desk / "repo/cookbooks/app/recipes/default.py").write_text("1 / 0\n")
        with pytest.raises(RecipeFailed):
            run_session(
                Repository(desk / "repo"), store, "web1", NodeRequest(load_facts(desk / "repo" / "facts.json")), None
            )

        assert [] == store.names()

    def test_a_run_does_not_save_over_what_somebody_else_saved_meanwhile(self, desk, store):
        a_run(desk, store)
        (desk / "repo/cookbooks/app/recipes/default.py").write_text("import sys; sys.modules['desk'].interfere()\n")
        tiers = iter(["gold", "silver"])
        interfere = lambda: set_normal(store, "web1", ("tier",), next(tiers))  # noqa: E731
        sys.modules["desk"] = types.SimpleNamespace(interfere=interfere)
        try:
            with pytest.raises(NewerRevision, match="run it again, or save over it with --force"):
                a_run(desk, store)
            assert "gold" == store.load("web1").document["normal"]["tier"]
            a_run(desk, store, force=True)
        finally:
            del sys.modules["desk"]
        assert "gold" == store.load("web1").document["normal"]["tier"]


class TestCare:
    def test_a_normal_attribute_can_be_set_and_removed(self, store):
        store.save(kept(runs=1))
        set_normal(store, "web1", ("app", "tier"), {"colour": "gold"})
        node = node_of(store.load("web1"))

        assert {"colour": "gold"} == node.read("app", "tier")
        assert "command node set" in node.explain("app.tier.colour")
        assert 2 == node.read("app", "workers")

        remove_normal(store, "web1", ("app", "tier"))
        assert {"runs": 1, "app": {}} == store.load("web1").document["normal"]

    def test_what_is_in_the_way_is_not_replaced(self, store):
        store.save(kept(app=1))

        with pytest.raises(TypeConflict):
            set_normal(store, "web1", ("app", "tier"), "gold")
        with pytest.raises(BadArgument, match=r"has no normal attribute app\.tier"):
            remove_normal(store, "web1", ("app", "tier"))
        with pytest.raises(NodeNotFound):
            set_normal(store, "web7", ("app",), 1)
        assert {"app": 1} == store.load("web1").document["normal"]

    def test_an_older_revision_can_be_made_the_latest(self, store):
        for runs in (1, 2, 3):
            store.save(kept(runs=runs))
        revision = restore(store, "web1", 1)

        assert 4 == revision.number
        assert {"runs": 1} == store.load("web1").document["normal"]
        with pytest.raises(NodeNotFound, match="there is no revision 9"):
            restore(store, "web1", 9)

    def test_a_revision_notes_the_command_that_made_it(self, store):
        """
        A run writes nothing of itself: so the notes of older programs are those of runs.
        """
        store.save(kept(runs=1))
        revisions = [
            set_normal(store, "web1", ("tier",), "gold"),
            remove_normal(store, "web1", ("tier",)),
            restore(store, "web1", remove_normal(store, "web1", ("runs",)).number),
        ]
        imported(store, export_lines(store, ["web1"], snapshots=True), "nodes.jsonl")

        assert ["node set", "node rm", "restore"] == [revision.noted.by for revision in revisions]
        assert ("import", True) == (store.load("web1").noted.by, store.load("web1").noted.ok)
        assert {} == Noted().to_dict()
        assert Noted.from_dict({}).is_run
        assert Noted(by="node set") == Noted.from_dict({"by": "node set"})

    def test_the_latest_run_is_found_below_what_others_made(self, tmp_path):
        store = open_store(tmp_path / "nodes.db")
        store.save(kept("web1")._replace(noted=Noted(ok=False, error="RecipeFailed")))
        set_normal(store, "web1", ("tier",), "gold")
        set_normal(store, "web1", ("tier",), "silver")
        store.save(kept("web2"))
        imported(store, ['{"name": "web3"}'], "web3.json")

        assert [("web1", 3, 1), ("web2", 1, 1), ("web3", 1, None)] == [
            (name, latest.number, run and run.number) for name, latest, run in last_runs(store)
        ]

    @pytest.mark.parametrize(("damaged", "run"), [(1, 2), (2, None), (3, None)])
    def test_the_latest_run_is_found_above_a_damaged_revision(self, tmp_path, damaged, run):
        """
        Below one nobody knows: the damaged one may have been the run.
        """
        store = open_store(tmp_path / "nodes.db")
        store.save(kept("web1"))
        store.save(kept("web1"))
        set_normal(store, "web1", ("tier",), "gold")
        store.save(kept("web2"))
        store.close()
        with sqlite3.connect(tmp_path / "nodes.db") as connection:
            connection.execute("UPDATE revision SET noted = '[]' WHERE number = ? AND node = 1", [damaged])
        connection.close()

        assert [("web1", run), ("web2", 1)] == [(name, run and run.number) for name, _, run in last_runs(store)]

    @pytest.mark.parametrize("snapshots", [True, False])
    def test_what_is_exported_can_be_imported_elsewhere(self, store, tmp_path, snapshots):
        for name in ("web1", "web2"):
            store.save(kept(name, runs=1))
        lines = list(export_lines(store, store.names(), snapshots=snapshots))
        other = open_store(tmp_path / "other.db")

        assert ["web1", "web2"] == imported(other, lines, "nodes.jsonl")
        for name in ("web1", "web2"):
            here, there = store.load(name), other.load(name)
            assert here.document == there.document
            assert there.snapshot == (here.snapshot if snapshots else None)

    def test_a_node_as_chef_writes_it_can_be_imported(self, store):
        text = json.dumps({"name": "web1", "normal": {"a": 1}}, indent=2)

        assert ["web1"] == imported(store, io.StringIO(text), "web1.json")
        assert {"a": 1} == store.load("web1").document["normal"]

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("{", "nodes.jsonl:2:2: this is no node"),
            ('{"name": "../../web1"}', "nodes.jsonl:2: no node can be called '../../web1'"),
            ('{"name": "web9", "normal": {"a": "\\ud800"}}', "nodes.jsonl:2: .* cannot be kept"),
            ('{"document": {"name": "web9"}, "noted": 7}', "nodes.jsonl:2: this is no node: what is noted of it is 7"),
            ('{"document": {"name": "web9"}, "noted": {"error": "\\ud800"}}', "nodes.jsonl:2: .* cannot be kept"),
            ("[]", "nodes.jsonl:2: a node is a map"),
            ("{}", "nodes.jsonl:2: "),
            ('{"name": "web9", "normal": 5}', "nodes.jsonl:2: normal must be a map"),
            ('{"document": {"name": "web9"}, "snapshot": {}}', "nodes.jsonl:2: this is no snapshot"),
            ('{"document": {"name": "web9"}, "noted": {"ok": 7}}', "nodes.jsonl:2: this is no node: ok is 7"),
            ('{"document": {"name": "web9"}, "noted": {"so": 7}}', "nodes.jsonl:2: this is no node: so is 7"),
        ],
    )
    def test_of_a_bad_file_nothing_is_imported(self, store, line, words):
        lines = [json.dumps({"name": "web1"}) + "\n", line + "\n"]

        with pytest.raises(DocumentError, match=words):
            imported(store, lines, "nodes.jsonl")
        assert [] == store.names()

    def test_the_mark_that_some_editors_begin_a_file_with_is_passed_over(self, store):
        assert ["web1"] == imported(store, ['\ufeff{"name": "web1"}\n'], "nodes.jsonl")

    def test_a_secret_is_in_no_file_of_the_store(self, store, tmp_path):
        node = Node("web1", sensitive=["db.password"])
        node.default["db"]["password"] = "s3cret-one"
        node.normal["token"] = Sensitive("s3cret-two")
        store.save(Saved("web1", saved_document(node), node.snapshot()))
        store.close()

        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert files
        assert [] == [path for path in files if b"s3cret" in path.read_bytes()]
        assert "s3cret" not in "".join(export_lines(store, ["web1"], snapshots=True))

    def test_a_secret_is_not_stored_by_hand_either(self, store):
        store.save(kept())
        for path, value in ((("secret",), "s3cret"), (("deep",), {"secret": "s3cret"})):
            with pytest.raises(BadArgument, match="is sensitive, and what is sensitive is not stored"):
                set_normal(store, "web1", path, value, [("secret",), ("deep", "secret")])
        imported(store, ['{"name": "web9", "normal": {"secret": "s3cret"}}'], "nodes.jsonl", [("secret",)])

        assert "s3cret" not in "".join(export_lines(store, store.names(), snapshots=True))
        assert {"$sensitive": "withheld"} == store.load("web9").document["normal"]["secret"]

    def test_what_was_withheld_stays_secret_for_who_knows_no_list(self, store):
        """
        A marker says so: in a map, in a list, below another level, and where a command took it away.
        """
        node = Node("web1", sensitive=["db.password", "keys.*", "over.ridden"])
        node.default["db"] = {"password": "s3cret", "host": "h"}
        node.normal["keys"] = ["s3cret", "s3cret"]
        node.default["over"]["ridden"] = "s3cret"
        node.normal["typed"]["one"] = Sensitive("s3cret")
        store.save(Saved("web1", saved_document(node), node.snapshot()))
        remove_normal(store, "web1", ("typed",))

        for path, value in (
            (("db", "password"), "s3cret"),
            (("db",), {"password": "s3cret"}),
            (("db", "password", "deeper"), "s3cret"),
            (("keys",), ["a", "b", "s3cret"]),
            (("over",), {"ridden": "s3cret"}),
            (("typed", "one"), "s3cret"),
        ):
            with pytest.raises(BadArgument, match="is sensitive, and what is sensitive is not stored"):
                set_normal(store, "web1", path, value)
        set_normal(store, "web1", ("db", "host"), "other")
        line = {
            "name": "web1",
            "normal": {"db": {"password": "s3cret"}, "keys": ["s3cret"], "typed": {"one": "s3cret"}},
        }
        imported(store, [json.dumps(line)], "web1.json")

        assert "s3cret" not in "".join(export_lines(store, ["web1"], snapshots=True))
        assert {"$sensitive": "withheld"} == store.load("web1").document["normal"]["db"]["password"]

    def test_a_marker_in_one_part_of_an_import_counts_for_the_other(self, store):
        node = Node("web1", sensitive=["db.password"])
        node.default["db"]["password"] = "s3cret"
        document = {"name": "web1", "default": {"db": {"password": "s3cret"}}, "odd": {"order": 1}}
        imported(store, [json.dumps({"document": document, "snapshot": node.snapshot()})], "nodes.jsonl")

        assert "s3cret" not in "".join(export_lines(store, ["web1"], snapshots=True))

    def test_an_import_without_secrets_changes_nothing(self, store):
        """
        Not even where the node has markers, which are those that are there already.
        """
        node = Node("web1", sensitive=["db.password"])
        node.default["db"]["password"] = "s3cret"
        saved = Saved("web1", {**saved_document(node), "more": {"of": "Chef"}}, node.snapshot())
        store.save(saved)
        imported(store, list(export_lines(store, ["web1"], snapshots=True)), "nodes.jsonl", [("db", "password")])

        assert (saved.document, saved.snapshot) == (store.load("web1").document, store.load("web1").snapshot)

    def test_what_is_withheld_today_is_not_shown_of_the_time_when_it_was_not(self, store):
        for sensitive in ((), ("db.password",)):
            node = Node("web1", sensitive=sensitive)
            node.default["db"]["password"] = "s3cret"
            store.save(Saved("web1", saved_document(node), node.snapshot()))

        assert "s3cret" not in repr(load_saved(store, "web1", at=1).node.to_dict())

    def test_a_secret_changes_no_content_hash(self, tmp_path):
        """
        Two values of a secret are kept as one text, so that nothing can be told from it.
        """
        store = open_store(tmp_path / "nodes.db")
        for value in ("one", "two"):
            node = Node("web1", sensitive=["db.password"])
            node.default["db"]["password"] = value
            store.save(Saved("web1", saved_document(node), node.snapshot()))

        assert [(1,)] == rows_of(store, "SELECT count(DISTINCT document) FROM revision")
        assert [(1,)] == rows_of(store, "SELECT count(DISTINCT snapshot) FROM revision")


class TestTheWordOfRecipes:
    def test_search_in_recipes_gives_what_the_nodes_read(self, store):
        store.save(kept("web1", tier="gold"))
        store.save(kept("web2"))
        search = search_word(store)

        found = search("node", "app.workers=2")
        assert [("web1", "gold"), ("web2", None)] == [(tree["name"], tree.get("tier")) for tree in found]
        assert [{"t": "gold", "w": 2}, {"t": None, "w": 2}] == search("node", "*:*", {"t": "tier", "w": "app.workers"})
        assert [] == search("node", "nosuch:*")
        with pytest.raises(BadArgument, match="only nodes"):
            search("role", "*:*")


class TestAMoment:
    @pytest.mark.parametrize(
        ("text", "at"),
        [
            (None, None),
            ("7", 7),
            ("2030-01-31", datetime(2030, 1, 31, 23, 59, 59, 999999, UTC)),
            ("2030-01-31T12:00", datetime(2030, 1, 31, 12, tzinfo=UTC)),
            ("2030-01-31T12:00+01:00", datetime(2030, 1, 31, 11, tzinfo=UTC)),
        ],
    )
    def test_a_moment_is_a_revision_number_or_a_time(self, text, at):
        assert at == revision_or_time(text)

    @pytest.mark.parametrize("text", ["", "-1", "yesterday", "2030-02-31", "1.5", "\u0661", "9" * 30])
    def test_anything_else_is_an_error(self, text):
        with pytest.raises(BadArgument, match="neither the number of a revision nor a time"):
            revision_or_time(text)


@pytest.fixture
def say(desk, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")

    def said(*words):
        code = main(words)
        out, err = capsys.readouterr()
        return code, out, err

    said("run", "--repo", "repo", "--node", "web1", "--facts", "repo/facts.json")
    said("run", "--repo", "repo", "--node", "web1", "--facts", "repo/facts.json", "-E", "_default")
    said("run", "--repo", "repo", "--node", "web2", "--facts", "repo/facts.json")
    return said


class TestTheCommands:
    def test_history_lists_the_latest_first(self, say):
        code, out, _ = say("history", "web1", "--format", "json")
        told = json.loads(out)

        assert (0, [2, 1], [True, True]) == (
            code,
            [one["number"] for one in told["revisions"]],
            [one["ok"] for one in told["revisions"]],
        )
        assert 1 == len(say("history", "web1", "--limit", "1")[1].splitlines())

    def test_settings_come_from_the_repository_that_is_named(self, say, desk, monkeypatch):
        (desk / "repo" / "nodeattrs.toml").write_text('sensitive = ["app.key"]\nstore = "kept.db"\n')
        say("run", "--repo", "repo", "--node", "web1", "--facts", "repo/facts.json")
        (desk / "elsewhere").mkdir()
        monkeypatch.chdir(desk / "elsewhere")
        (desk / "elsewhere" / "web9.json").write_text('{"name": "web9", "normal": {"app": {"key": "s3cret"}}}')

        code, _, err = say("node", "set", "web1", "app.key", "s3cret", "--repo", "../repo")
        assert (1, True) == (code, "app.key is sensitive" in err)
        assert 0 == say("store", "import", "web9.json", "--repo", "../repo")[0]
        code, out, _ = say("store", "export", "--repo", "../repo", "--snapshots")
        assert (0, True, False) == (code, "web9" in out, "s3cret" in out)

    def test_show_and_explain_look_back(self, say):
        assert "1\n" == say("show", "web1", "runs", "--at", "1")[1]
        assert "2\n" == say("show", "web1", "runs")[1]
        assert "runs = 1" in say("explain", "web1", "runs", "--at", "1")[1]
        code, _, err = say("show", "web1", "--at", "9")
        assert (1, True) == (code, "there is no revision 9 of the node web1" in err)

    def test_diff_shows_both_sides_and_who_said_them(self, say):
        code, out, _ = say("diff", "web1")

        assert 0 == code
        assert out.splitlines() == [
            "web1@1 -> web1",
            "  ~ runs",
            "      - 1  (cookbooks/app/recipes/default.py:1 (recipe app::default))",
            "      + 2  (cookbooks/app/recipes/default.py:1 (recipe app::default))",
        ]
        assert "  no difference" in say("diff", "web1@2", "web1")[1]
        told = json.loads(say("diff", "web1@1", "web2", "--format", "json")[1])
        assert ["name"] == [change["path"] for change in told["changes"] if change["path"] == "name"] or told[
            "changes"
        ] == []

    def test_diff_names_the_lines_that_new_values_come_from_where_somebody_asks(self, say, desk, monkeypatch):
        monkeypatch.chdir(desk / "repo")
        (desk / "repo/nodeattrs.toml").write_text("")
        (desk / "repo/cookbooks/app/recipes/default.py").write_text("NUMBER = 9\nnode.normal['runs'] = NUMBER\n")
        for _ in range(2):
            say("run", "--node", "web1", "--facts", "facts.json", "--store", "../.nodeattrs/nodes.db")

        words = ("diff", "web1@2", "web1", "--store", "../.nodeattrs/nodes.db")
        assert [] == [line for line in say(*words)[1].splitlines() if "comes from" in line]
        assert say(*words, "--causes")[1].splitlines()[-1] == "        comes from cookbooks/app/recipes/default.py:1"
        (change,) = json.loads(say(*words, "--causes", "--format", "json")[1])["changes"]
        assert ["cookbooks/app/recipes/default.py:1"] == change["causes"]

    def test_diff_of_a_single_revision_says_so(self, say):
        code, _, err = say("diff", "web2")

        assert (1, True) == (code, "has one revision of the node web2" in err)

    def test_search_tells_the_attributes_that_were_asked_for(self, say):
        assert "web1\nweb2\n" == say("search", "recipe:app")[1]
        assert say("search", "runs=2", "-a", "cpus=cpu.total", "-a", "nosuch")[1].splitlines() == [
            "node  cpus  nosuch",
            "web1  4",
        ]
        told = json.loads(say("search", "*:*", "-a", "runs", "--sort", "runs", "--format", "json")[1])
        assert [{"name": "web2", "values": {"runs": 1}}, {"name": "web1", "values": {"runs": 2}}] == told["nodes"]
        lines = say("search", "*:*", "--reverse", "--limit", "1", "--json-lines")[1]
        assert '{"name": "web2"}\n' == lines
        assert "(2 to 2 of 2)" in say("search", "*:*", "--offset", "1")[1]

    def test_search_can_look_back(self, say):
        then = (datetime.now(UTC) - timedelta(days=1)).isoformat()

        assert "no node was found\n" == say("search", "*:*", "--at", then)[1]
        assert 2 == say("search", "*:*", "--at", "7")[0]

    def test_a_bad_query_is_an_error_with_a_way_out(self, say):
        code, out, err = say("search", "role:(web")

        assert (1, "") == (code, out)
        assert err.startswith("error: the query ends too early")

    def test_status_says_how_it_went(self, say, desk):
        (desk / "repo/cookbooks/app/recipes/default.py").write_text("1 / 0\n")
        say("run", "--repo", "repo", "--node", "web1", "--facts", "repo/facts.json")

        out = say("status")[1]
        assert "revision 3  failed: RecipeFailed" in out
        assert out.endswith("2 nodes, 1 failed\n")
        told = json.loads(say("status", "--failed", "--format", "json")[1])
        assert ["web1"] == [node["name"] for node in told["nodes"]]

    def test_status_tells_of_the_run_even_if_somebody_has_changed_the_node_since(self, say, desk):
        (desk / "repo/cookbooks/app/recipes/default.py").write_text("1 / 0\n")
        say("run", "--repo", "repo", "--node", "web1", "--facts", "repo/facts.json")
        say("node", "set", "web1", "tier", "gold")

        failed = "revision 3  failed: RecipeFailed at cookbooks/app/recipes/default.py:1"
        assert f"{failed}; since then changed by node set, revision 4" in say("status")[1]
        (told,) = json.loads(say("status", "--failed", "--format", "json")[1])["nodes"]
        assert (3, "run", False) == (told["last"]["number"], told["last"]["by"], told["last"]["ok"])
        assert (4, "node set") == (told["changed"]["number"], told["changed"]["by"])
        assert say("history", "web1")[1].splitlines()[0].endswith("  node set")

    def test_status_goes_on_where_one_node_is_damaged(self, say, desk):
        """
        Who asks how the fleet is does not ask for the one node that is lost; `store check` does.
        """
        say("node", "set", "web2", "tier", "gold")
        with sqlite3.connect(desk / ".nodeattrs/nodes.db") as connection:
            connection.execute("UPDATE revision SET noted = '{' WHERE node = (SELECT id FROM node WHERE name = 'web1')")
        code, out, _ = say("status")

        assert code == 0
        assert [line.split()[0] for line in out.splitlines()] == ["web1", "web2", "2"]
        assert out.splitlines()[0].endswith("unknown")
        assert 1 == say("store", "check")[0]

    def test_status_says_where_no_run_is_known(self, say, desk):
        (desk / "new.json").write_text('{"name": "new"}')
        say("store", "import", "new.json")

        assert "no run is known; changed by import, revision 1" in say("status")[1]
        assert say("status")[1].endswith("3 nodes, 0 failed\n")

    def test_node_sets_removes_restores_and_forgets(self, say):
        assert say("node", "set", "web1", "app.tier", "gold")[0] == 0
        assert say("node", "set", "web1", "app.ports", "[80, 443]")[0] == 0
        assert json.loads(say("show", "web1", "app", "--format", "json")[1])["value"] == {
            "workers": 2,
            "tier": "gold",
            "ports": [80, 443],
        }
        told = json.loads(say("node", "rm", "web1", "app.tier", "--format", "json")[1])
        assert ("web1", 5, "node rm") == (told["node"], told["latest"]["number"], told["latest"]["by"])
        assert "web1 is at revision 6" in say("node", "restore", "web1", "3")[1]
        assert "gold\n" == say("show", "web1", "app.tier")[1]
        assert "web1 is forgotten\n" == say("node", "delete", "web1")[1]
        assert "web2\n" == say("search", "*:*")[1]

    @pytest.mark.parametrize(
        "words",
        [
            ("node", "set", "web1", "a"),
            ("node", "rm", "web1"),
            ("node", "delete", "web1", "a"),
            ("store", "prune"),
            ("store", "import"),
            ("store", "copy"),
            ("store", "check", "--keep", "1"),
            ("store", "export", "file"),
            ("store", "export", "--at", "3"),
            ("fleet", "resolve", "--jobs", "0"),
            ("fleet", "resolve", "--since", "7"),
            ("history", "web1", "--limit", "0"),
            ("search", "*:*", "--limit", "-1"),
        ],
    )
    def test_words_that_do_not_fit_together_are_not_understood(self, say, words):
        assert 2 == say(*words)[0]

    def test_a_near_miss_is_named(self, say):
        for words in (("history", "web11"), ("diff", "web11", "web1"), ("node", "set", "web11", "a", "1")):
            code, _, err = say(*words)
            assert (1, True) == (code, "did you mean web1" in err), words

    def test_the_store_is_checked_pruned_exported_and_imported(self, say, desk):
        assert "2 nodes, 0 errors, 0 warnings\n" == say("store", "check")[1]
        assert "1 revision forgotten in .nodeattrs/nodes.db\n" == say("store", "prune", "--keep", "1")[1]
        (desk / "nodes.jsonl").write_text(say("store", "export", "--snapshots")[1])
        assert "2 nodes saved in other.db\n" == say("store", "import", "nodes.jsonl", "--store", "other.db")[1]
        assert "2\n" == say("show", "web1", "runs", "--store", "other.db")[1]
        assert "2 nodes copied to copy.db" in say("store", "copy", "--to", "copy.db")[1].replace(
            " of .nodeattrs/nodes.db", ""
        )

    @pytest.mark.parametrize("form", ["json", "yaml"])
    def test_what_came_of_caring_for_it_is_data_too(self, say, desk, form):
        """
        With the store that is meant; yaml reads both.
        """
        (desk / "nodes.jsonl").write_text('{"name": "web9"}\n{"name": "web8"}\n')
        told = [
            yaml.safe_load(say("store", *words, "--format", form)[1])
            for words in (["prune", "--keep", "1"], ["copy", "--to", "copy.db"], ["import", "nodes.jsonl"])
        ]
        assert [
            {"forgotten": 1},
            {"to": "copy.db", "nodes": 2, "revisions": 2},
            {"saved": ["web9", "web8"], "revisions": 2},
        ] == [{key: value for key, value in one.items() if key not in ("version", "store")} for one in told]
        assert {(1, ".nodeattrs/nodes.db")} == {(one["version"], one["store"]) for one in told}

    def test_a_run_that_failed_is_data_as_well(self, say, desk):
        """
        Where no node is left that ran there is an answer all the same.
        """
        run = ("run", "--repo", "repo", "--node", "web1", "--node", "web2", "--facts", "repo/nosuch")
        code, out, err = say(*run[:-1], "repo", "--format", "json")
        told = json.loads(out)

        assert (1, [], ["web1", "web2"]) == (code, told["runs"], [one["node"] for one in told["failed"]])
        assert all("cannot be read" in one["error"] for one in told["failed"])
        assert 2 == err.count("cannot be read")

    def test_long_tasks_tell_how_far_they_are(self, say, store):
        """
        With each node that is done.
        """
        for name in ("web2", "web1"):
            store.save(kept(name))
        checked = []

        assert [] == store.check(checked.append)
        assert ["web1", "web2"] == checked

    def test_damage_is_told_and_the_exit_code_says_so(self, say, desk):
        import sqlite3

        connection = sqlite3.connect(desk / ".nodeattrs" / "nodes.db")
        with connection:
            connection.execute("DELETE FROM text")
        connection.close()
        code, out, _ = say("store", "check")

        assert (1, True) == (code, "the document of web1, revision 1: its text is gone" in out)


def test_the_page_of_stores_names_every_command_of_ours():
    page = (Path(__file__).parents[1] / "docs" / "stores.md").read_text(encoding="utf-8")

    assert [] == [
        command
        for command in ("history", "diff", "status", "node set", "store check", "store copy", "fleet resolve")
        if f"nodeattrs {command}" not in page
    ]
