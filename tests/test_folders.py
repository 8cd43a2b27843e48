"""Nodes as a folder of JSON files: what export writes, and what import reads."""

import json
import os
import random
import signal
import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeattrs import Node
from nodeattrs.cli import main
from nodeattrs.errors import DocumentError, NodeNotFound, StoreError
from nodeattrs.store import Noted, Saved, export_nodes, import_nodes, open_store, saved_document
from nodeattrs.store.folders import file_stem, read_folder
from tests.effort import examples


@pytest.fixture
def store(tmp_path):
    return open_store(tmp_path / "nodes.db")


@pytest.fixture
def other(tmp_path):
    return open_store(tmp_path / "other.db")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "out"


def node(name="web1", **values):
    made = Node(name)
    for key, value in (values or {"b": {"z": 1, "a": [1, 1.0, None]}, "a": "é"}).items():
        made.default[key] = value
    made.normal["tier"] = "gold"
    made.automatic["kernel"] = {"release": "6.1", "name": "Linux"}
    return made


def save(store, made, **noted):
    return store.save(Saved(made.name, saved_document(made), made.snapshot(), noted=Noted(**noted)))


def files(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def slots_of(saved):
    """The slots as text, in which keys have an order, and the origin of every value."""
    restored = Node.restore(saved.snapshot)
    return json.dumps([slot.to_dict() for slot in restored.slots.values()]), json.dumps(saved.snapshot)


names = st.sampled_from(["a", "A", "a.snapshot", "A:1", "a_-", "history", "a.json"])
scalars = st.sampled_from([None, True, 1, 1.0, "", "é\u2028", 2**70])
trees = st.recursive(scalars, lambda part: st.lists(part, max_size=2) | st.dictionaries(st.sampled_from("yx"), part))
levels = st.sampled_from(["default", "normal", "override", "automatic"])
writes = st.lists(st.tuples(levels, st.sampled_from("ba"), trees), max_size=4)
revisions = st.tuples(names, writes, st.booleans(), st.sampled_from(["run", "node set"]))


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(revisions, min_size=1, max_size=6), st.booleans())
def test_an_imported_export_has_the_slots_the_key_order_the_origins_and_the_revisions(tmp_path_factory, made, history):
    place = tmp_path_factory.mktemp("law")
    store, other = open_store(place / "a.db"), open_store(place / "b.db")
    for name, written, has_snapshot, by in made:
        one = Node(name)
        for level, key, value in written:
            getattr(one, level)[key] = value
        snapshot = one.snapshot() if has_snapshot else None
        document = saved_document(one) if has_snapshot else {"z": 1, **saved_document(one)}
        store.save(Saved(name, document, snapshot, noted=Noted(by=by)))

    export_nodes(store, place / "out", history=history)
    assert store.names() == import_nodes(other, place / "out")

    assert [] == other.check()
    for name in store.names():
        numbers = [revision.number for revision in store.history(name)] if history else [None]
        for number in numbers:
            one, two = store.load(name, number), other.load(name, number)
            assert json.dumps([one.document, one.snapshot]) == json.dumps([two.document, two.snapshot])
            assert one.snapshot is None or slots_of(one) == slots_of(two)
        if history:
            assert store.history(name) == other.history(name)
        else:
            assert ["import"] == [revision.noted.by for revision in other.history(name)]
    was = files(place / "out")
    done = export_nodes(other, place / "out", history=history)
    assert (0, 0, []) == (done.written, done.removed, done.kept)
    assert was == files(place / "out")


def test_a_document_is_what_knife_prints_and_a_snapshot_keeps_the_order_of_keys(store, folder):
    save(store, node())
    export_nodes(store, folder)
    text = (folder / "web1.json").read_text()

    assert {
        "name": "web1",
        "chef_environment": "_default",
        "run_list": [],
        "normal": {"tier": "gold"},
        "default": {"b": {"z": 1, "a": [1, 1.0, None]}, "a": "é"},
        "override": {},
        "automatic": {"kernel": {"release": "6.1", "name": "Linux"}},
    } == json.loads(text)
    assert json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False) + "\n" == text
    snapshot = json.loads((folder / "web1.snapshot.json").read_text())["snapshot"]
    assert json.dumps(store.load("web1").snapshot) == json.dumps(snapshot)


def test_a_node_with_a_policy_shows_the_policy_in_the_place_of_the_environment(store, other, folder):
    document = {**saved_document(node()), "policy_name": "web", "policy_group": "prod"}
    store.save(Saved("web1", document, node().snapshot()))
    export_nodes(store, folder)
    shown = json.loads((folder / "web1.json").read_text())
    import_nodes(other, folder)

    assert ("web", "prod", False) == (shown["policy_name"], shown["policy_group"], "chef_environment" in shown)
    assert document == other.load("web1").document


def test_an_export_writes_only_files_that_change(store, folder):
    for name in ("web1", "web2"):
        save(store, node(name))
    first = export_nodes(store, folder)
    inodes = {file.name: file.stat().st_ino for file in folder.iterdir()}
    save(store, node("web1"))
    save(store, node("web2", b=2))
    second = export_nodes(store, folder)

    assert (2, 4, 2) == (first.nodes, first.written, second.written)
    changed = {file.name for file in folder.iterdir() if inodes[file.name] != file.stat().st_ino}
    assert {"web2.json", "web2.snapshot.json"} == changed


def test_a_node_is_loaded_only_if_its_files_are_not_as_the_store_has_it(store, folder, monkeypatch):
    """
    An edited document is written again, and so is a file that is gone.
    """
    loaded, load = [], store.load
    monkeypatch.setattr(store, "load", lambda name, at=None: (loaded.append(name), load(name, at))[1])
    for name in ("web1", "web2", "web3", "web4"):
        save(store, node(name))
    export_nodes(store, folder)
    text = (folder / "web2.json").read_text()
    (folder / "web2.json").write_text(text.replace("gold", "silver"))
    (folder / "web3.snapshot.json").unlink()
    save(store, node("web1"))
    save(store, node("web4", b=2))
    loaded.clear()

    assert (4, 4) == (export_nodes(store, folder).written, len(list(folder.iterdir())) // 2)
    assert ["web2", "web3", "web4"] == loaded
    assert text == (folder / "web2.json").read_text()


def test_names_of_nodes_never_share_a_file():
    signs = [*string.ascii_letters, *string.digits, *"_-:.", ".snapshot", "%2e", "é"]
    chance = random.Random(1)
    drawn = {"".join(chance.choices(signs, k=chance.randrange(1, 4))) for _ in range(20_000)}
    made = [f"{file_stem(name)}{suffix}" for name in drawn for suffix in (".json", ".snapshot.json")]

    assert len(made) == len({file.casefold() for file in made})
    assert set("".join(made)) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-%")


def test_files_of_nodes_that_are_gone_are_removed_if_an_export_wrote_them(store, folder):
    for name in ("web1", "web2", "web3"):
        save(store, node(name))
    export_nodes(store, folder, history=True)
    (folder / "README.md").write_text("mine")
    (folder / "mine.json").write_text('{"name": "mine"}')
    edited = json.loads((folder / "web2.json").read_text())
    (folder / "web2.json").write_text(json.dumps({**edited, "normal": {"tier": "silver"}}))
    for name in ("web1", "web2"):
        store.delete(name)
    done = export_nodes(store, folder, history=True)

    assert (4, [f"{folder}/mine.json", f"{folder}/web2.json", f"{folder}/web2.snapshot.json"]) == (
        done.removed,
        sorted(done.kept),
    )
    left = {"README.md", "mine.json", "web2.json", "web2.snapshot.json", "web3.json", "web3.snapshot.json"}
    assert {*left, "history/web3@1.json"} == set(files(folder))


def test_an_export_of_some_nodes_removes_nothing(store, folder):
    save(store, node("web1"))
    save(store, node("web2"))
    export_nodes(store, folder)
    store.delete("web1")
    assert 0 == export_nodes(store, folder, ["web2"]).removed
    with pytest.raises(NodeNotFound, match="no saved node web1"):
        export_nodes(store, folder, ["web1"])


def test_revisions_that_were_pruned_leave_the_history(store, other, folder):
    for number in range(3):
        save(store, node(b=number))
    export_nodes(store, folder, history=True)
    store.prune(1)
    export_nodes(store, folder, history=True)
    import_nodes(other, folder)

    assert ["web1@3.json"] == [file.name for file in (folder / "history").iterdir()]
    assert [3] == [revision.number for revision in other.history("web1")]


def test_an_edited_document_is_imported_without_origins_and_the_command_says_so(store, folder, capsys, monkeypatch):
    save(store, node())
    export_nodes(store, folder)
    file = folder / "web1.json"
    document = json.loads(file.read_text())
    file.write_text(json.dumps(document))  # other spaces are no edit
    assert [] == read_folder(store, folder)[1]
    file.write_text(file.read_text().replace("gold", "silver"))
    monkeypatch.chdir(folder.parent)

    assert 0 == main(["store", "import", "out", "--store", "other.db"])
    assert "out/web1.json was changed after it was exported: the origins of its values are not known" in (
        capsys.readouterr().err
    )
    saved = open_store("other.db").load("web1")
    assert (None, "silver") == (saved.snapshot, saved.document["normal"]["tier"])


def test_an_edited_document_follows_its_history(store, other, folder):
    save(store, node())
    export_nodes(store, folder, history=True)
    file = folder / "web1.json"
    file.write_text(file.read_text().replace("gold", "silver"))
    import_nodes(other, folder)

    assert [(2, "import"), (1, "run")] == [(one.number, one.noted.by) for one in other.history("web1")]


def test_documents_of_chef_are_imported_by_the_names_in_them(store, folder):
    folder.mkdir()
    (folder / "x.json").write_text('{"name": "web1", "normal": {"a": 1}, "chef_type": "node"}')
    (folder / "web9.snapshot.json").write_text('\ufeff{"name": "web9.snapshot"}')
    (folder / ".hidden.json").write_text("?")
    (folder / "sub").mkdir()

    assert ["web1", "web9.snapshot"] == import_nodes(store, folder)
    assert ({"a": 1}, None) == (store.load("web1").document["normal"], store.load("web1").snapshot)


def test_an_import_can_be_repeated(store, other, folder):
    for number in range(2):
        save(store, node(b=number))
    export_nodes(store, folder, history=True)
    for _ in range(2):
        import_nodes(other, folder)

    assert store.history("web1") == other.history("web1")


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("web1.json", "{", r"web1.json:1:2: "),
        ("web1.json", "[1]", "a node document is a map"),
        ("web1.json", '{"normal": {}}', "web1.json: a node document needs name and chef_environment as text"),
        ("web1.json", '{"name": "../x"}', "no node can be called '../x'"),
        ("web1.json", '{"name": "x", "chef_type": "role"}', "this is no node: it is a role"),
        ("web1.json", b'{"name":\n"\xff"}', "web1.json:2: is not UTF-8 text"),
        ("web1.json", '{"name": "web0"}', "this is the node 'web0', and so is web0.json"),
        ("web1.snapshot.json", "{", "web1.snapshot.json:1:2: this is no node"),
        ("web1.snapshot.json", '{"format": "nodeattrs-export", "version": 1}', "the document of this snapshot is not"),
        (
            "web1.snapshot.json",
            '{"format": "nodeattrs-export", "version": 2}',
            "has the export version 2; .* version 1",
        ),
        ("history/web1@1.json", "[]", "it holds no map"),
        ("history/web1@1.json", "{}", "this is no file of an export"),
        (
            "history/web1@1.json",
            '{"format": "nodeattrs-export", "version": 1, "document": {"name": "a"}}',
            "has no number",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_named_and_nothing_is_saved(store, folder, file, content, said):
    (folder / "history").mkdir(parents=True)
    (folder / "web0.json").write_text('{"name": "web0"}')
    (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DocumentError, match=said):
        import_nodes(store, folder)

    assert [] == store.names()


@pytest.mark.parametrize("file", ["web1.json", "web1.snapshot.json", "history", "history/web1@1.json"])
@pytest.mark.parametrize("kind", ["link", "loose link", "pipe"])
def test_links_and_devices_are_refused_and_nothing_is_written_outside(store, folder, tmp_path, file, kind):
    save(store, node())
    export_nodes(store, folder, history=True)
    outside = tmp_path / "outside"
    if file == "history":
        for one in (folder / file).iterdir():
            one.unlink()
        (folder / file).rmdir()
        outside.mkdir()
    else:
        (folder / file).rename(outside)
    was = outside.read_bytes() if outside.is_file() else None
    if kind == "pipe":
        os.mkfifo(folder / file)
    else:
        (folder / file).symlink_to(outside if kind == "link" else tmp_path / "nothing")
    save(store, node(b=9))

    for task in (lambda: export_nodes(store, folder, history=True), lambda: import_nodes(store, folder)):
        with pytest.raises(StoreError, match=r"is a symbolic link|is no regular file|Not a directory|symbolic links"):
            task()
    assert was == (outside.read_bytes() if outside.is_file() else None)
    assert file != "history" or [] == list(outside.iterdir())
    assert not (tmp_path / "nothing").exists()


def test_exports_and_imports_keep_secrets_as_markers(store, other, folder):
    made = Node("web1", sensitive=["key"])
    made.normal["key"] = "s3cret"
    save(store, made)
    export_nodes(store, folder, history=True)
    import_nodes(other, folder)
    clear = tmp = folder.parent / "clear"
    tmp.mkdir()
    (clear / "web1.json").write_text('{"name": "web1", "normal": {"key": "s3cret"}}')
    import_nodes(other, clear)

    assert not any(b"s3cret" in content for content in files(folder).values())
    assert "s3cret" not in json.dumps(other.load("web1").document)
    import_nodes(open_store(folder.parent / "third.db"), clear, [("key",)])
    assert "s3cret" not in json.dumps(open_store(folder.parent / "third.db").load("web1").document)


def test_a_deep_node_is_exported_and_comes_back(store, other, folder):
    tree = {}
    for _ in range(300):
        tree = {"a": tree}
    save(store, node(b=tree))
    export_nodes(store, folder, history=True)
    import_nodes(other, folder)

    assert store.load("web1").snapshot == other.load("web1").snapshot


def test_an_export_that_is_killed_leaves_whole_files_and_the_next_one_is_complete(store, other, folder):
    for number in range(20):
        save(store, node(f"n{number}", b="x" * 2_000))
    store.close()
    folder.mkdir()
    chance = random.Random(1)
    for round in range(examples(10)):
        for number in range(20):
            save(store, node(f"n{number}", b=f"{round}" * 2_000))
        store.close()
        child = os.fork()
        if child == 0:
            try:
                export_nodes(open_store(store.describe()), folder)
            finally:
                os._exit(1)
        time.sleep(chance.random() * 0.05)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        for file in folder.iterdir():
            assert file.name.startswith(".") or json.loads(file.read_text())
    export_nodes(store, folder)
    import_nodes(other, folder)

    assert not [file.name for file in folder.iterdir() if file.name.startswith(".")]
    assert [store.load(name).snapshot for name in store.names()] == [
        other.load(name).snapshot for name in store.names()
    ]


class TestTheCommands:
    @pytest.fixture(autouse=True)
    def desk(self, tmp_path, monkeypatch, store):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("NO_COLOR", "1")
        for name in ("web1", "web2"):
            save(store, node(name))

    def test_a_folder_goes_out_and_comes_in(self, capsys):
        assert 0 == main(["store", "export", "--to", "out", "--store", "nodes.db"])
        assert "2 nodes of nodes.db exported to out: 4 files written, 0 removed\n" == capsys.readouterr().out
        assert 0 == main(["store", "import", "out", "--store", "other.db"])
        assert "2 nodes saved in other.db\n" == capsys.readouterr().out
        open_store("nodes.db").delete("web1")
        main(["store", "export", "--to", "out", "--history", "--store", "nodes.db", "--format", "json"])
        told = json.loads(capsys.readouterr().out)
        assert {
            "version": 1,
            "store": "nodes.db",
            "to": "out",
            "nodes": 1,
            "written": 1,
            "removed": 2,
            "kept": [],
        } == told

    @pytest.mark.parametrize(
        "words",
        [
            ["export", "--history"],
            ["export", "--to", "out", "--snapshots"],
            ["export", "--to", "out", "--at", "1"],
            ["check", "--to", "out"],
            ["copy", "--history", "--to", "x.db"],
        ],
    )
    def test_options_that_do_not_belong_together_are_a_usage_error(self, words):
        with pytest.raises(SystemExit) as caught:
            raise SystemExit(main(["store", *words, "--store", "nodes.db"]))
        assert 2 == caught.value.code

    def test_a_place_that_is_no_folder_is_an_error(self, capsys):
        assert 1 == main(["store", "export", "--to", "nodes.db", "--store", "nodes.db"])
        assert "cannot open the folder nodes.db" in capsys.readouterr().err


class TestRunsThatExport:
    @pytest.fixture(autouse=True)
    def repository(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("NO_COLOR", "1")
        (tmp_path / "nodes").mkdir()
        (tmp_path / "facts.json").write_text('{"fqdn": "a", "platform": "debian", "platform_version": "12"}')
        for name in ("web1", "web2"):
            (tmp_path / "nodes" / f"{name}.json").write_text(json.dumps({"name": name, "normal": {"tier": "gold"}}))

    @pytest.mark.parametrize(
        "words",
        [["run", "--all", "--roles-only"], ["fleet", "resolve", "--jobs", "1", "--node", "web1", "--node", "web2"]],
    )
    def test_a_run_writes_the_files_of_the_nodes_it_saved_and_that_changed(self, capsys, tmp_path, words):
        words = [*words, "--repo", ".", "--facts", "facts.json", "--export", "out"]
        assert 0 == main(words)
        assert "4 files written to out" in capsys.readouterr().err
        assert {"web1.json", "web1.snapshot.json", "web2.json", "web2.snapshot.json"} == set(files(tmp_path / "out"))
        for _ in range(2):  # the first run found its normal attributes in nodes/, the second in the store
            assert 0 == main(words)
        assert "0 files written to out" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("words", "code"),
        [
            (["--why-run", "--export", "out"], 2),
            (["-o", "role[x]", "--export", "out"], 2),
            (["--export", "facts.json"], 1),
        ],
    )
    def test_what_cannot_be_exported_is_refused_before_anything_runs(self, words, code):
        assert code == main(["run", "--all", "--repo", ".", "--facts", "facts.json", *words])
        assert not os.path.exists(".nodeattrs")
