"""Secrets: in memory for those who unwrap them, and nowhere else."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import traceback

import pytest

from nodeattrs import Node, NodeattrsError, Origin, Sensitive, fold, lazy
from nodeattrs.chef import apply_expansion, consume_external, consume_facts
from nodeattrs.core.policy import ANY, MAP, MEET, PRESENT, TAKE, Line, Policy
from nodeattrs.errors import (
    AttributeIsReadOnly,
    BadArgument,
    BadValue,
    MergeConflict,
    NoSuchAttribute,
    TooDeep,
    TypeConflict,
    ValueWithheld,
)
from nodeattrs.node.intake import Intake
from nodeattrs.node.running import setting_as, walk
from nodeattrs.store import saved_document
from tests.ledgers import ledger_of
from tests.node_fold import fold_of_node
from tests.sane import contradictions_in

SECRET = "hunter2"
_NOBODY = Origin("role", "db")
PATHS = ("db.password", "users.*.token", ("keys",))


@pytest.fixture
def node():
    """Secrets by path and by type, in scalars, lists and maps; overwritten, erased, overridden and united ones."""
    node = Node("web1", sensitive=PATHS)
    with setting_as(node, "recipe", "db"):
        node.default["db"] = {"password": f"{SECRET} first", "host": "h"}
        node.default["db"]["password"] = f"{SECRET} second"
        node.default_unless["db"]["password"] = f"{SECRET} silent"
        node.default_unless["keys"] = [f"{SECRET} kept"]
        node.default_unless["keys"] = [f"{SECRET} silent"]
        node.override["db"]["password"] = f"{SECRET} wins"
        node.normal["users"] = {"bob": {"token": [f"{SECRET} one"], "id": 7}}
        node.normal["users"]["bob"]["token"].push(f"{SECRET} two")
        node.default["keys"].push({"inside": f"{SECRET} three"})
        node.role_default["keys"] = [f"{SECRET} role"]
        node.default["typed"] = [Sensitive(SECRET), {"k": Sensitive({"deep": SECRET})}]
        node.default["typed"].unshift(Sensitive(f"{SECRET} unshifted"))
        node.default["computed"] = lazy(lambda: Sensitive(SECRET))
        node.default["gone"] = Sensitive(SECRET)
        node.default.delete("gone")
        node.normal["db"] = {"password": SECRET}
        node.rm_normal("db", "password")
    return node


PLACES = ("db.password", "db", "users", "users.bob.token", "users.bob.token.0", "keys", "keys.1.inside",
          "typed", "typed.2.k", "computed", "gone", "(root)")  # fmt: skip

SPEAKS = {
    "repr of views": lambda node: repr(node["db"]) + repr(node["keys"]) + repr(node["typed"]),
    "str and format": lambda node: f"{node['db']} {node['db']['password']!s} {node['keys']:}",
    "repr of plain data": lambda node: repr(node.to_dict()) + repr(node.to_hash()),
    "repr of writers": lambda node: repr(node.default) + repr(node.default["db"]) + repr(node.default["keys"]),
    "repr of slots": lambda node: repr(node.slots),
    "combined levels": lambda node: f"{node.combined_default} {node.combined_override}",
    "debug_value": lambda node: repr(node.debug_value("db", "password")) + repr(node.debug_value("keys")),
    "explain": lambda node: "\n".join(node.explain(path) for path in PLACES),
    "trace": lambda node: "\n".join(repr(node.trace(path)) for path in PLACES),
    "trace as JSON": lambda node: "\n".join(json.dumps(node.trace(path).to_dict()) for path in PLACES),
    "claims": lambda node: "\n".join(str(stated.claim) for path in PLACES for stated in node.trace(path).claims),
    "snapshot": lambda node: json.dumps(node.snapshot()) + repr(node.snapshot()),
    "Chef's JSON": lambda node: repr(node.to_chef()) + node.to_chef_json(),
    "saved document": lambda node: json.dumps(saved_document(node)),
    "the fold of the slots": lambda node: repr(fold([fold_of_node(node)])),
    "the fold, explained": lambda node: fold([fold_of_node(node)]).explain("db.password"),
    "json with default=str": lambda node: json.dumps(node.to_dict(), default=str),
    "a second snapshot": lambda node: json.dumps(Node.restore(node.snapshot()).snapshot()),
    "an explanation after a restore": lambda node: Node.restore(node.snapshot()).explain("db.password"),
    "copies": lambda node: repr(copy.deepcopy(node["db"])) + repr(copy.copy(node["db"]["password"])),
    "key views": lambda node: repr(node.items()) + repr(node["db"].values()),
    "the ledger's own data": lambda node: repr(ledger_of(node).trees) + repr(
        [
            event
            for chronicles in ledger_of(node).history.values()
            for one in chronicles.values()
            for event in one.events
        ]
    ),
}  # fmt: skip


class TestItIsNeverSaid:
    def test_unwrap_gives_the_content_of_a_secret(self, node):
        """Otherwise there would be nothing to keep secret."""
        assert node["db"]["password"].unwrap() == f"{SECRET} wins"
        assert node["users"]["bob"]["token"][1].unwrap() == f"{SECRET} two"
        assert [one.unwrap() for one in node["keys"][:1]] == [f"{SECRET} kept"]
        assert node["keys"][1]["inside"].unwrap() == f"{SECRET} three"
        assert node["typed"][2]["k"].unwrap() == {"deep": SECRET}
        assert node["computed"].unwrap() == SECRET
        assert node["users"]["bob"]["id"] == 7
        assert node["db"]["host"] == "h"

    @pytest.mark.parametrize("way", SPEAKS)
    def test_by_whatever_prints_explains_or_saves(self, node, way):
        """Overwritten, erased, silent and overridden ones included."""
        said = SPEAKS[way](node)

        assert said
        assert SECRET not in said

    def test_logging_does_not_print_a_secret(self, node, caplog):
        """As argument or inside data."""
        with caplog.at_level(logging.DEBUG):
            logging.getLogger("cookbook").info("%s %r %s", node["db"], node["db"]["password"], node.to_dict())

        assert "withheld" in caplog.text
        assert SECRET not in caplog.text

    @pytest.mark.parametrize("part", ["scalar", "map", "list"])
    def test_pickle_refuses_a_secret(self, node, part):
        """It refuses, and says why."""
        value = {"scalar": node["db"]["password"], "map": node["db"], "list": node["keys"]}[part]

        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(BadValue, match="in clear"):
                pickle.dumps(value, protocol)

    def test_all_secrets_have_the_same_hash(self):
        """A hash of the content would let one guess it."""
        assert hash(Sensitive(SECRET)) == hash(Sensitive("other")) == hash(Sensitive([1]))
        assert Sensitive(SECRET) == Sensitive(SECRET) != Sensitive("other")
        assert Sensitive(SECRET) != SECRET

    def test_a_secret_has_no_attributes_to_list(self, node):
        """`vars` and `__dict__` are what printers of objects look at."""
        with pytest.raises(TypeError):
            vars(node["db"]["password"])

    def test_what_unwrap_gives_is_the_callers_own(self):
        """Changing it does not change the secret."""
        secret = Sensitive({"list": [1]})
        secret.unwrap()["list"].append(2)

        assert secret.unwrap() == {"list": [1]}


ERRORS = {
    "write below": (TypeConflict, lambda node: node.write_strict("default", "db", "password", "x", SECRET)),
    "step below": (TypeConflict, lambda node: walk(node, "db", "password", "x")),
    "set inside": (BadValue, lambda node: node.default["db"].__setitem__("password", {"k": {SECRET}})),
    "bad secret": (BadValue, lambda node: node.default["db"].update(password=Sensitive([SECRET, {SECRET}]))),
    "bad element": (BadValue, lambda node: node.default["keys"].push({SECRET})),
    "through the view": (AttributeIsReadOnly, lambda node: node["db"].__setitem__("password", SECRET)),
    "push to the view": (AttributeIsReadOnly, lambda node: node["keys"].push(SECRET)),
    "update of the view": (AttributeIsReadOnly, lambda node: node["db"].update(password=SECRET)),
    "sort": (BadArgument, lambda node: node.default["keys"].sort()),
    "absent below": (NoSuchAttribute, lambda node: node.read_strict("db", "password", "x")),
    "absent beside": (NoSuchAttribute, lambda node: node["db"]["passwort"]),
    "json": (TypeError, lambda node: json.dumps(node["db"].to_dict())),
    "python's own": (TypeError, lambda node: node["db"]["password"]["x"]),
    "concatenation": (TypeError, lambda node: "postgres://" + node["db"]["password"]),
}


class TestErrors:
    @pytest.mark.parametrize("name", ERRORS)
    def test_errors_do_not_contain_a_secret(self, node, name):
        """Neither the message, nor the facts beside it, nor the error that caused it."""
        kind, attempt = ERRORS[name]
        with pytest.raises(kind) as caught:
            attempt(node)

        chain = traceback.TracebackException.from_exception(caught.value)
        told = str(caught.value) + repr(vars(caught.value)) + repr(caught.value.args)
        while chain is not None:
            told += "".join(chain.format_exception_only())
            chain = chain.__cause__ or chain.__context__
        assert SECRET not in told

    def test_a_merge_conflict_does_not_tell_it(self):
        """A policy that refuses to join two secrets says where, and who, and not what."""

        def refuses(lower, upper):
            raise MergeConflict(f"cannot join {lower.value!r} and {upper.value!r}")

        policy = Policy("refuses", Line(MAP, MAP, MEET), Line(PRESENT, PRESENT, refuses), Line(ANY, PRESENT, TAKE))
        with pytest.raises(MergeConflict) as caught:
            fold([{"db": {"password": Sensitive(SECRET)}}, {"db": {"password": Sensitive(f"{SECRET} too")}}], policy)

        assert caught.value.path == ("db", "password")
        assert SECRET not in str(caught.value) + repr(vars(caught.value))

    def test_plain_json_refuses_it(self, node):
        """Rather an error than a document with a secret."""
        with pytest.raises(TypeError, match="Sensitive"):
            json.dumps(node.to_dict())


class TestByPath:
    @pytest.mark.parametrize(
        "say",
        [
            lambda node: node.default["db"].__setitem__("password", SECRET),
            lambda node: node.default.__setitem__("db", {"password": SECRET}),
            lambda node: setattr(node, "override", {"db": {"password": SECRET}}),
            lambda node: node.write("normal", "db", "password", SECRET),
            lambda node: node.normal_unless("db", "password", SECRET),
            lambda node: node.force_override_full("db", {"password": SECRET}),
            lambda node: node.default.update(db={"password": SECRET}),
            lambda node: node.default["db"].setdefault("password", SECRET),
            lambda node: apply_expansion(node, {"db": {"password": SECRET}}, {}),
            lambda node: Intake(node).set_roles(
                [], [({"db": {"host": 1}}, _NOBODY), ({"db": {"password": SECRET}}, _NOBODY)]
            ),
            lambda node: consume_external(node, {"platform": "ubuntu"}, {"db": {"password": SECRET}}),
            lambda node: consume_facts(node, {"platform": "ubuntu", "db": {"password": SECRET}}),
            lambda node: node.default["db"].__setitem__("password", lazy(lambda: SECRET)),
        ],
    )
    def test_whoever_says_it(self, say):
        """Recipes, roles, JSON attributes and facts: the value is wrapped where it enters."""
        node = Node("web1", sensitive=["db.password"])
        say(node)

        assert type(node["db"]["password"]) is Sensitive
        assert node["db"]["password"].unwrap() == SECRET
        assert SECRET not in node.explain("db.password") + json.dumps(node.snapshot()) + node.to_chef_json()
        assert contradictions_in(node) == []

    @pytest.mark.parametrize(
        ("pattern", "secret", "open_"),
        [
            ("a.b", [("a", "b")], [("a", "c"), ("b",)]),
            ("a.*", [("a", "b"), ("a", "c")], [("b",)]),
            ("*.b", [("a", "b")], [("a", "c"), ("b",)]),
            ("*", [("a", "b"), ("a", "c"), ("b",)], []),
            ("a", [("a", "b"), ("a", "c"), ("a", "list", 0)], [("b",)]),
            ("a.list.1", [("a", "list", 1)], [("a", "list", 0), ("a", "b")]),
            ("a.list.*", [("a", "list", 0), ("a", "list", 1)], [("a", "b")]),
            (("a", "b"), [("a", "b")], [("a", "c")]),
        ],
    )
    def test_patterns_of_sensitive_paths_match_a_star_and_all_below(self, pattern, secret, open_):
        """A star is any one step; all that lies below a secret path is secret; text spells a path."""
        node = Node("web1", sensitive=[pattern])
        node.default = {"a": {"b": 1, "c": 2, "list": [3, 4]}, "b": 5}
        again = Node("web1", sensitive=[pattern])
        again.default["a"]["list"] = []
        again.default["a"]["list"].push(3, 4)
        again.default["a"]["b"], again.default["a"]["c"], again.default["b"] = 1, 2, 5

        for one in (node, again):
            assert [path for path in secret if type(one.read(*path)) is not Sensitive] == []
            assert [path for path in open_ if type(one.read(*path)) is Sensitive] == []

    def test_containers_stay_containers(self, node):
        """Only what they hold is wrapped, so that merging is as ever."""
        assert list(node["users"]["bob"]) == ["token", "id"]
        assert len(node["keys"]) == 3
        assert [type(one) for one in node["users"]["bob"]["token"]] == [Sensitive, Sensitive]

    def test_equal_secrets_unite(self):
        """They compare by content, in memory."""
        node = Node("web1", sensitive=["keys"])
        node.default["keys"] = ["one", "two"]
        node.role_default["keys"] = ["two", "three"]

        assert [one.unwrap() for one in node["keys"]] == ["one", "two", "three"]


class TestAfterSaving:
    @pytest.fixture(params=["snapshot", "Chef's JSON"])
    def saved(self, node, request):
        """The node of the next run."""
        if request.param == "snapshot":
            return Node.restore(json.loads(json.dumps(node.snapshot())))
        return Node.from_chef(json.loads(node.to_chef_json()))

    @pytest.mark.parametrize(
        "read",
        [
            lambda node: node["db"]["password"],
            lambda node: node.read("db", "password"),
            lambda node: node.read_strict("db", "password"),
            lambda node: walk(node, "db", "password"),
            lambda node: node["db"].get("password"),
            lambda node: dict(node["db"]),
            lambda node: node["db"].to_dict(),
            lambda node: node.to_dict(),
            lambda node: copy.deepcopy(node["db"]),
            lambda node: pickle.dumps(node["db"]),
            lambda node: json.dumps(node["db"], default=dict),
            lambda node: node.override.read("db", "password"),
            lambda node: node.debug_value("db", "password"),
        ],
    )
    def test_reading_the_marker_is_an_error_that_says_so(self, saved, read):
        """Whichever way; it names the whole path, and the way out."""
        with pytest.raises(ValueWithheld, match=r"db\.password") as caught:
            read(saved)

        assert caught.value.path == ("db", "password")
        assert "set it again" in str(caught.value)

    def test_inside_a_list_too(self, saved):
        """The rest of the list is read."""
        with pytest.raises(ValueWithheld, match=r"keys\.0"):
            saved["keys"][0]
        with pytest.raises(ValueWithheld, match=r"users\.bob\.token\.0"):
            list(saved["users"]["bob"]["token"])

    def test_values_beside_a_withheld_secret_can_be_read(self, saved):
        """One secret does not close its map."""
        assert saved["db"]["host"] == "h"
        assert saved["users"]["bob"]["id"] == 7
        assert set(saved["db"]) == {"password", "host"}

    def test_a_withheld_secret_exists_in_a_saved_node(self, saved):
        """Asking whether it exists is not reading it."""
        assert "password" in saved["db"]
        assert saved.exist("db", "password")
        assert "not stored" in repr(saved["db"])

    def test_the_explanation_still_stands(self, saved):
        """Who said it is no secret."""
        text = saved.explain("db.password")

        assert "not stored" in text
        assert SECRET not in text
        assert saved.trace("db.password").winner.claim.rank in (9, 10)

    def test_setting_it_again_heals_it(self, saved):
        """In the same level or a stronger one."""
        saved.force_override["db"]["password"] = Sensitive(f"{SECRET} again")

        assert saved["db"]["password"].unwrap() == f"{SECRET} again"
        assert contradictions_in(saved) == []

    def test_a_withheld_secret_can_be_saved_again(self, saved):
        """The marker stays a marker."""
        again = Node.restore(json.loads(json.dumps(saved.snapshot())))

        with pytest.raises(ValueWithheld):
            again["db"]["password"]
        assert '"$sensitive"' in saved.to_chef_json()

    def test_what_only_looks_like_the_marker_is_data_in_a_node(self):
        """The marker means something in documents, not in a recipe."""
        node = Node("web1")
        node.default["a"] = {"$sensitive": "withheld"}

        assert node["a"] == {"$sensitive": "withheld"}

    def test_a_path_that_became_secret_later_is_wrapped_on_the_way_in(self):
        """A document of a time before may still hold it in clear; explanations do not."""
        before = Node("web1")
        before.default["db"]["password"] = f"{SECRET} old"
        before.default["db"]["password"] = SECRET
        for node in (
            Node.restore(json.loads(json.dumps(before.snapshot())), sensitive=["db.password"]),
            Node.from_chef(json.loads(before.to_chef_json()), sensitive=["db.password"]),
        ):
            assert node["db"]["password"].unwrap() == SECRET
            assert SECRET not in node.explain("db.password") + json.dumps(node.snapshot()) + node.to_chef_json()


def test_the_error_family_is_ours():
    """One `except NodeattrsError` finds the withheld value."""
    assert issubclass(ValueWithheld, NodeattrsError)


def test_a_secret_that_is_too_deep_is_refused():
    """
    In our words; what it holds is copied, and a copy goes as deep as it does.
    """
    value: list = []
    for _ in range(2_000):
        value = [value]

    with pytest.raises(TooDeep, match="nested too deep"):
        Sensitive(value)
