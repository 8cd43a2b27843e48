"""The injector: what it refuses when it is built, what it gives, and why."""

from __future__ import annotations

import re
import threading
from typing import Annotated, Any

import pytest

from nodeattrs.bindings import (
    Asked,
    BindingError,
    BindingErrors,
    Bindings,
    Injector,
    Layer,
    LookupLoop,
    NotBound,
    Objects,
    Producer,
    State,
    TypeMismatch,
    extended_run_list,
    fill_parameters,
    parse_type,
)
from nodeattrs.core.answer import Answer
from nodeattrs.core.part import concat
from nodeattrs.core.policy import ACROSS, ANY, PRESENT, TAKE, Line, Policy
from nodeattrs.core.tree import ABSENT
from nodeattrs.dialects.bindings.model.items import is_parameter_map
from tests.bound_names import parameters_of


def bound(**values: Any) -> Bindings:
    """A set that binds names to values."""
    return Bindings.of_values("values", values)


class Logger:
    pass


class FancyLogger(Logger):
    def __init__(self, name: str = "fancy") -> None:
        self.name = name


class NeedsMuch:
    def __init__(self, what: str) -> None:
        self.what = what


class Refusing:
    """Its constructor takes a word, and raises what a wrong call raises."""

    def __init__(self, word: str = "") -> None:
        raise TypeError("not that one")


class TestFromOutside:
    """What a run asks an injector for."""

    def test_each_parameter_comes_from_the_first_who_has_it(self):
        """Bindings, then a look-up, then the class's own default; and it says who that was."""
        one = Bindings("x")
        one.parameters("ntp").to({"servers": ["a"]})
        injector = Injector([[one]])
        asked = []

        def lookup(key: str, otherwise: Any) -> Any:
            asked.append(key)
            return {"ntp::port": 123, "ntp::drift": None}.get(key, otherwise)

        names = ["servers", "port", "drift", "tinker", "panic"]
        filled = fill_parameters(injector, "class ntp", names, lookup=lookup, defaults={"tinker": 0, "port": 1})

        assert [(one.value, one.source) for one in filled.values()] == [
            (["a"], "bindings"), (123, "lookup"), (None, "lookup"), (0, "default"), (None, "nothing"),
        ]  # fmt: skip
        assert asked == ["ntp::port", "ntp::drift", "ntp::tinker", "ntp::panic"]
        assert str(filled["port"]) == "port = 123 from lookup: ntp::port"
        assert str(filled["tinker"]) == "tinker = 0 from default"
        assert "tests/test_bindings_injector.py:" in filled["servers"].place
        assert fill_parameters(injector, "Class[ntp]", ["port"])["port"].source == "nothing"

    def test_an_instance_has_the_look_ups_of_its_type(self):
        found = {"web::port": 80}.get
        filled = fill_parameters(Injector(), "Web[one]", ["port"], lookup=found)

        assert str(filled["port"]) == "port = 80 from lookup: web::port"

    def test_one_entry_of_a_hash_and_the_first_key_that_has_a_value(self):
        """Nothing where there is no such entry, no hash, or nobody."""
        one = Bindings("x")
        one.bind("h", dict).to({"a": 1, "n": None})
        for number, key in enumerate(("a", "n", "zzz")):
            one.bind(f"e{number}").hash_lookup("h", key)
        one.bind("none").optional().lookup("nobody")
        one.bind("f").first_found("nobody", "none", "h")
        one.bind("g").first_found("nobody", "none")
        injector = Injector([[one]])

        assert [injector.get(f"e{number}") for number in range(3)] == [1, None, None]
        assert (injector.inject("f"), injector.get("g")) == ({"a": 1, "n": None}, None)

    def test_included_classes_follow_the_run_list_once(self):
        """A class is a recipe, and `::default` says no more than its cookbook."""
        one = Bindings("x")
        one.include("ntp", "ssh", "web::tls")

        wanted = ["recipe[ssh::default]", "web::tls", "recipe[ntp]"]
        assert extended_run_list(Injector([[one]]), wanted[:2]) == wanted
        assert extended_run_list(Injector([[one]]), []) == ["recipe[ntp]", "recipe[ssh]", "recipe[web::tls]"]

    def test_a_key_is_in_it_by_name_or_by_name_and_type(self):
        """Nothing is made; the classes are always there."""
        injector = Injector([[bound(port=80)]])

        keys = ["port", ("port", None), ("port", int), ("port", Logger), "prot", ("prot", int)]
        assert [key in injector for key in keys] == [True, True, True, False, False, False]
        assert "/classes" in injector
        assert (injector["port"], injector["port", None]) == (80, 80)

    def test_a_constructor_that_fails_is_not_one_that_was_called_wrongly(self):
        """The first error is its own."""
        one = Bindings("x")
        one.bind("mine").to_class(Refusing, "word")
        one.bind("wrong").to_class(Refusing, "two", "words")
        injector = Injector([[one]])

        with pytest.raises(Exception, match="not that one") as failed:
            injector.inject("mine")
        with pytest.raises(BindingError) as wrong:
            injector.inject("wrong")
        assert "not that one" not in str(wrong.value)
        assert (type(failed.value), wrong.value.kind) == (TypeError, "arguments")

    def test_a_policy_meets_lists_whatever_the_fragments_are(self):
        """One that is not a list is its only element; with flatten each is one entry."""
        one = Bindings("x")
        one.multibind("l", list, combine=Policy("together", Line(ANY, PRESENT, concat)))
        for value in ([1, 2], 3, "four", [[5]]):
            one.fragment("l").to(value)

        assert sorted(map(str, Injector([[one]]).inject("l"))) == sorted(["1", "2", "3", "four", "[5]"])

    def test_two_of_one_position_for_one_name_are_an_error(self):
        """Unless the multibind says what to do."""
        for options, found in ({}, None), ({"conflict": "append"}, {"n": [1, 2]}):
            one = Bindings("x")
            one.multibind("h", dict, **options)
            one.fragment("h", "n").to(1)
            one.fragment("h", "n").to(2)
            injector = Injector([[one]])
            if found is None:
                with pytest.raises(BindingError, match="'n' 2 times") as caught:
                    injector.inject("h")
                assert caught.value.kind == "duplicate-fragment"
            else:
                assert injector.inject("h") == found


class TestWhatIsRefusedAtOnce:
    def test_every_fault_is_in_one_report_with_its_place(self):
        """Conflict, open abstract, baseless override, shadowed final, wrong constant: each with its line."""
        site, module, other = Bindings("default"), Bindings("garden::default"), Bindings("pond::default")
        site.bind("colour of peas").override().to("green")
        site.bind("last word").to("mine")
        module.bind("colour of pears").abstract()
        module.bind("last word").final().to("ours")
        module.bind("depth", int).to("deep")
        module.bind("shape").to("round")
        other.bind("shape").to("square")

        with pytest.raises(BindingErrors) as caught:
            Injector([Layer("site", (site,)), Layer("modules", (module, other))])
        message = str(caught.value)

        assert caught.value.kinds == {
            "abstract-not-overridden", "conflict", "final-overridden", "override-without-base", "type-mismatch",
        }  # fmt: skip
        assert len(caught.value.errors) == 5
        assert all(error.place.startswith("tests/test_bindings_injector.py:") for error in caught.value.errors)
        assert 'did you mean "colour of pears"?' in message
        assert "layer modules, common" in message

    def test_the_report_does_not_depend_on_the_order(self):
        """Sets, layers' names and lines may stand in any order."""
        one, other = bound(a=1, b=1), bound(b=2, a=2)

        messages = set()
        for sets in ((one, other), (other, one)):
            with pytest.raises(BindingErrors) as caught:
                Injector([Layer("x", sets)])
            messages.add(tuple(sorted(error.message for error in caught.value.errors)))
        assert len(messages) == 1

    @pytest.mark.parametrize(
        ("write", "kind"),
        [
            (lambda one: one.bind("/classes").to([]), "reserved-name"),
            (lambda one: one.bind("x").abstract().to(1), "abstract-with-producer"),
            (lambda one: one.bind("x"), "no-producer"),
            (lambda one: one.multibind("x", int), "multibind-bad-type"),
            (lambda one: one.fragment("x").abstract(), "abstract-not-overridden"),
            (lambda one: one.fragment("x").override().to(1), "override-without-base"),
            (lambda one: one.parameters("x").abstract().to({}), "abstract-parameters"),
            (lambda one: one.parameters("x"), "no-producer"),
            (lambda one: one.parameters("Web[one]").to(1), "type-mismatch"),
            (lambda one: one.parameters("Web[one]").to_instance("Sql[one]"), "map-required"),
            (lambda one: one.parameters("Web[one]").lookup("x"), "map-required"),
            (lambda one: one.rebind("x"), "rebind-missing"),
            (lambda one: one.bind(FancyLogger).to(1), "type-mismatch"),
            (lambda one: one.bind("File['x']"), "no-producer"),
        ],
    )
    def test_an_item_that_is_wrong_on_its_own(self, write, kind):
        """Each has a word of its own."""
        one = Bindings("x")
        write(one)

        with pytest.raises(BindingErrors) as caught:
            Injector([[one]])
        assert kind in caught.value.kinds

    @pytest.mark.parametrize(
        "write",
        [
            lambda one: one.bind("x").to(1).to(2),
            lambda one: one.bind("x").each_time(),
            lambda one: one.bind(3),
            lambda one: one.bind("x", "no type"),
            lambda one: one.bind("x", 3),
            lambda one: one.when(),
            lambda one: one.dependency("File[a]", "<-", "File[b]"),
            lambda one: one.dependency("File[a]"),
        ],
    )
    def test_a_line_that_cannot_mean_anything_is_refused_where_it_stands(self, write):
        """The caller's own line is in the traceback."""
        with pytest.raises(BindingError):
            write(Bindings("x"))


class TestAsking:
    def test_a_missing_key_names_near_misses_and_who_asked(self):
        """The chain that led to it is part of the message."""
        one = bound(colour="green")
        one.bind("paint").to_factory(lambda: injector.inject("color"))
        injector = Injector([[one]])

        with pytest.raises(NotBound) as caught:
            injector.inject("paint")
        assert "did you mean colour?" in str(caught.value)
        assert "asked for by Data, 'paint'" in str(caught.value)
        assert isinstance(caught.value, KeyError)

    def test_get_gives_a_default_and_false_is_a_value(self):
        """Only what is absent is replaced."""
        injector = Injector([[bound(no=False, zero=0, empty="")]])

        assert [injector.get(key, default=1) for key in ("no", "zero", "empty", "none")] == [False, 0, "", 1]
        assert "no" in injector
        assert "none" not in injector

    def test_brackets_take_a_name_a_type_or_both(self):
        """The short form of `inject`."""
        one = bound(port=22)
        one.bind(Logger).to_class(FancyLogger)
        one.bind("audit", Logger).to_class(FancyLogger, "audit")
        injector = Injector([[one]])

        assert injector["port"] == injector["port", int] == 22
        assert injector[Logger] is injector[Logger]
        assert injector["audit", Logger].name == "audit"
        assert injector[Asked(None, "port")] == 22

    def test_a_value_of_another_type_than_asked_is_an_error(self):
        """Also when it was injected before."""
        injector = Injector([[bound(port=22)]])
        injector.inject("port")

        with pytest.raises(TypeMismatch, match="22 is no String, as asked for"):
            injector.inject("port", str)

    def test_arguments_make_a_new_product(self):
        """And the kept one stays."""
        one = Bindings("x")
        one.bind("log", Logger).to_class(FancyLogger)
        injector = Injector([[one]])

        assert injector.inject("log", Logger, name="other").name == "other"
        assert injector.inject("log", Logger).name == "fancy"
        with pytest.raises(BindingError, match="cannot be made"):
            injector.inject("log", Logger, colour="red")

    def test_a_loop_shows_its_chain(self):
        """Look-ups, multibinds and factories alike."""
        one = Bindings("x")
        one.bind("a").lookup("b")
        one.bind("b").first_found("none", "c")
        one.bind("c").to_factory(lambda: injector.inject("a"))
        injector = Injector([[one]])

        with pytest.raises(LookupLoop) as caught:
            injector.inject("a")
        assert "Data, 'a' -> Data, 'b' -> Data, 'c' -> Data, 'a'" in str(caught.value)

    def test_a_thousand_look_ups_deep_is_an_error_and_no_crash(self):
        """Recursion has an end, and says so."""
        one = Bindings("x")
        for number in range(5000):
            one.bind(f"k{number}").lookup(f"k{number + 1}")
        one.bind("k5000").to(1)

        with pytest.raises(BindingError, match="too deep"):
            Injector([[one]]).inject("k0")

    def test_classes_that_need_nothing_are_made_on_their_own(self):
        """Once; those that need something are missing."""
        injector = Injector([], classes={"Logger": Logger})

        assert injector.inject(Logger) is injector.inject(parse_type("Type[Logger]"))
        with pytest.raises(NotBound):
            injector.inject(NeedsMuch)

    def test_threads_get_one_and_the_same_singleton(self):
        """Sixteen threads ask at once; the class is made once."""
        made = []

        class Slow:
            def __init__(self) -> None:
                made.append(self)
                threading.Event().wait(0.01)

        one = Bindings("x")
        one.bind(Slow).to_class(Slow)
        injector = Injector([[one]])
        got: list[Any] = []
        start = threading.Barrier(16)

        def ask() -> None:
            start.wait()
            got.append(injector.inject(Slow))

        threads = [threading.Thread(target=ask) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(made) == 1
        assert {id(one) for one in got} == {id(made[0])}

    def test_what_is_given_in_and_out_is_not_shared_with_the_caller(self):
        """A list that was bound may be changed afterwards."""
        mine = [1]
        injector = Injector([[bound(list=mine)]])
        mine.append(2)

        assert injector.inject("list") == [1]


class Unspelled:
    """Its objects print with the address that they have in memory."""


def test_an_object_of_the_wrong_type_is_named_by_its_class():
    """The message is the same in each run."""
    one = Bindings("x")
    one.bind("port", int).to_factory(Unspelled)
    with pytest.raises(TypeMismatch, match="an object of Unspelled is no Integer, as declared"):
        Injector([[one]]).inject("port", int)


class TestMultibinds:
    def test_a_policy_of_the_core_is_a_combinator(self):
        """`merge` is any of them."""
        one = Bindings("x")
        one.multibind("limits", dict, id="l", combine=ACROSS)
        one.fragment("l", "web").to({"cpu": {"max": 1}})
        one.when(node="a").fragment("l", "web").to({"cpu": {"min": 0}})

        assert Injector([[one]], [("node", "a")]).inject("limits") == {"web": {"cpu": {"max": 1, "min": 0}}}

    @pytest.mark.parametrize(
        ("combine", "value"),
        [
            ("append", [["a"], ["a", "b"]]),
            ("flatten", ["a", "a", "b"]),
            ("uniq", ["a", "b"]),
            ("concat", ["a", "a", "b"]),
        ],
    )
    def test_arrays_have_named_combinators(self, combine, value):
        """Each says what happens to a fragment that is a list."""
        one = Bindings("x")
        one.multibind("m", list, combine=combine)
        one.fragment("m").to(["a"])
        one.fragment("m").to(["a", "b"])

        assert Injector([[one]]).inject("m") == value

    @pytest.mark.parametrize(
        ("combine", "value"),
        [("sum", 3), ("append", [1, 2]), ("concat", [1, 2]), ("ignore", 1), (lambda k, a, b: k, "n")],
    )
    def test_hashes_have_named_combinators(self, combine, value):
        """Name by name."""
        one = Bindings("x")
        one.multibind("m", dict, combine=combine)
        one.fragment("m", "n").to(1)
        one.fragment("m", "n").to(2)

        assert Injector([[one]]).inject("m") == {"n": value}

    def test_a_combinator_that_changes_its_arguments_changes_no_binding(self):
        """It gets copies."""
        one = Bindings("x")
        shared = [1]
        one.bind("shared").to(shared)
        one.multibind("m", list, combine=lambda memo, new: new.append(9) or memo + new)
        one.fragment("m").lookup("shared")
        injector = Injector([[one]])

        assert injector.inject("m") == [1, 9]
        assert injector.inject("shared") == [1]

    def test_a_combinator_is_asked_again_by_an_explanation_and_changes_nothing(self):
        """Also one that works on what it has so far."""
        one = Bindings("x")
        one.multibind("m", list, combine=lambda memo, new: memo.append(new) or memo)
        one.fragment("m").to("a")
        one.fragment("m").to("b")
        injector = Injector([[one]])

        assert injector.inject("m") == ["a", "b"]
        assert injector.explain("m").value == injector.explain("m").value == ["a", "b"]

    def test_a_collection_belongs_to_whoever_injects_it(self):
        """What happens to it afterwards changes no binding and no other collection."""
        one = bound(shared={"k": [1]})
        one.multibind("m", dict)
        one.fragment("m", "n").lookup("shared")
        injector = Injector([[one]])
        injector.inject("m")["n"]["k"].append(2)

        assert injector.inject("shared") == {"k": [1]}

    def test_what_cannot_be_added_has_no_sum(self):
        """Said as every other mismatch is."""
        one = Bindings("x")
        one.multibind("m", dict, combine="sum")
        one.fragment("m", "n").to(1)
        one.fragment("m", "n").to("a")

        with pytest.raises(BindingError, match="1 and 'a' have no sum"):
            Injector([[one]]).inject("m")

    def test_a_policy_may_have_the_name_of_a_combinator(self):
        """It is the policy that was given."""
        one = Bindings("x")
        one.multibind("m", dict, combine=Policy("ignore", Line(ANY, PRESENT, TAKE)))
        one.fragment("m", "n").to(1)
        one.when(node="a").fragment("m", "n").to(2)

        assert Injector([[one]], [("node", "a")]).inject("m") == {"n": 2}

    def test_unknown_and_shared_ids_warn_with_their_place(self):
        """They are allowed, and probably not meant."""
        one = Bindings("x")
        one.multibind("users", list)
        one.multibind("admins", list, id="users")
        one.fragment("user").to("a")
        warnings = Injector([[one]]).resolution.warnings

        assert [warning.kind for warning in warnings] == ["unknown-id", "shared-id"]
        assert "did you mean users?" in str(warnings[0])
        assert warnings[0].place.startswith("tests/test_bindings_injector.py:")

    def test_a_fragment_that_gives_nothing_is_an_error_unless_it_is_optional(self):
        """Nothing is lost in silence."""
        one = Bindings("x")
        one.multibind("m", list)
        one.fragment("m").optional().lookup("none")
        injector = Injector([[one]])
        one.fragment("m").lookup("none")

        assert injector.inject("m") == []
        with pytest.raises(BindingError, match="has produced nothing"):
            Injector([[one]]).inject("m")


class TestLeftOpenByTheDocument:
    """What no vector asks: decided in docs/bindings.md, "Left open", in this order."""

    WORLD = Objects(
        {"Web": ["user", "port"], "Sql": ["user", "port"], "Db": ["user"]},
        {"Sql[one]": {"user": "a"}, "Sql[two]": {"user": "b", "port": 5432}, "Db[x]": {"user": "c"}},
    )

    def test_an_alias_does_not_see_its_own_position(self):
        """What it renames lies strictly below."""
        one = bound(a=1)
        one.alias("a", as_="b")

        with pytest.raises(BindingErrors, match="nothing below binds it"):
            Injector([[one]])

    def test_an_alias_of_what_is_not_decided_is_a_conflict(self):
        """Two at the best position below."""
        top = Bindings("top")
        top.alias("a", as_="b")

        with pytest.raises(BindingErrors) as caught:
            Injector([[top], [bound(a=1), bound(a=2)]])
        assert caught.value.kinds == {"conflict"}

    def test_an_alias_of_an_abstract_key_is_abstract(self):
        """Somebody must fill both."""
        top, low = Bindings("top"), Bindings("low")
        top.alias("a", as_="b")
        low.bind("a").abstract()

        with pytest.raises(BindingErrors) as caught:
            Injector([[top], [low]])
        assert [error.kind for error in caught.value.errors] == ["abstract-not-overridden"] * 2

    def test_an_alias_of_an_optional_key_falls_as_its_source_does(self):
        """It has what its source has, seen from where it stands."""
        top, middle = Bindings("top"), Bindings("middle")
        top.alias("a", as_="b")
        middle.bind("a").optional().lookup("none")

        assert Injector([[top], [middle], [bound(a=1)]]).inject("b") == 1

    def test_the_option_may_be_names_or_pairs_of_names(self):
        """And nothing else."""
        given = (["port", "user"], ("port",), {"port": "port"}, ["port", 1], {"port": 1}, "port", 3)

        assert [is_parameter_map(one) for one in given] == [True, True, True, False, False, False, False]

    def test_a_map_of_a_better_position_beats_the_option(self):
        """The option is a map of the position of its parameter binding."""
        top, low = Bindings("top"), Bindings("low")
        top.parameter_map("Web", "Sql", {"port": "port"})
        low.parameters("Web[one]").to_instance("Sql[two]", map={"user": "user"})

        assert parameters_of(Injector([[top], [low]], objects=self.WORLD), "Web[one]") == {"port": 5432}

    def test_a_second_instance_of_one_type_at_a_better_position_shadows(self):
        """At one position it is an error."""
        top, low = Bindings("top"), Bindings("low")
        top.parameters("Web[one]").to_instance("Sql[two]")
        low.parameters("Web[one]").to_instance("Sql[one]")

        assert Injector([[top], [low]], objects=self.WORLD).inject("/param/Web[one]/user") == "b"

    def test_two_types_that_give_one_parameter_conflict(self):
        """At one position."""
        one = Bindings("x")
        one.parameters("Web[one]").to_instance("Sql[two]")
        one.parameters("Web[one]").to_instance("Db[x]")

        with pytest.raises(BindingErrors) as caught:
            Injector([[one]], objects=self.WORLD)
        assert caught.value.kinds == {"conflict"}

    def test_a_parameter_that_the_instance_lacks_is_nothing_produced(self):
        """Unless the binding is optional."""
        one = Bindings("x")
        one.parameters("Web[one]").to_instance("Sql[one]")

        with pytest.raises(BindingError) as caught:
            Injector([[one]], objects=self.WORLD).inject("/param/Web[one]/port")
        assert caught.value.kind == "nothing-produced"

    def test_a_type_that_is_not_listed_has_the_parameters_of_its_instances(self):
        """And without any instance a map is required."""
        one = Bindings("x")
        one.parameters("Sql[new]").to_instance("Sql[two]")

        assert parameters_of(Injector([[one]], objects=Objects({}, {"Sql[two]": {"user": "b"}})), "Sql[new]") == {
            "user": "b"
        }

    def test_parameters_of_a_type_are_not_those_of_its_instances(self):
        """Each target has its own."""
        one = Bindings("x")
        one.parameters("Web").to({"port": 80})

        assert parameters_of(Injector([[one]]), "Web[one]") == {}

    @pytest.mark.parametrize(
        ("where", "optional", "result"),
        [
            ((("user", "==", "a"),), False, "a"),
            ((("user", "==", "z"),), False, "query-result-count"),
            ((("user", "==", "z"),), True, None),
            ((), True, "b"),
        ],
    )
    def test_select_result_is_asked_when_there_are_several(self, where, optional, result):
        """One match needs no selection; none is an error, or nothing where it is optional."""
        one = Bindings("x")
        line = one.parameters("Web[one]").to_query("Sql", *where, select=lambda found: found[-1])
        if optional:
            line.optional()
        injector = Injector([[one]], objects=self.WORLD)

        if result == "query-result-count":
            with pytest.raises(BindingError, match="it must find one"):
                injector.get("/param/Web[one]/user")
        else:
            assert injector.get("/param/Web[one]/user") == result

    def test_several_matches_of_an_optional_query_are_an_error(self):
        """Optional is about none."""
        one = Bindings("x")
        one.parameters("Web[one]").optional().to_query("Sql")

        with pytest.raises(BindingError, match="it must find one"):
            Injector([[one]], objects=self.WORLD).inject("/param/Web[one]/user")

    @pytest.mark.parametrize(
        ("condition", "found"),
        [
            (("port", ">", 80), ["Sql[two]"]), (("port", "==", 5432.0), ["Sql[two]"]), (("port", "==", "5432"), []),
            (("port", ">", "80"), []), (("user", "<", "b"), ["Sql[one]"]), (("name", "==", "two"), ["Sql[two]"]),
            (("user", "~!", "a"), ["Sql[two]"]), (("not", (("user", "==", "a"),)), ["Sql[two]"]),
            (("or", (("user", "==", "a"),), (("user", "==", "b"),)), ["Sql[one]", "Sql[two]"]),
        ],
    )  # fmt: skip
    def test_texts_and_numbers_never_compare(self, condition, found):
        """Like with like; `name` is the title."""
        one = Bindings("x")
        one.bind("found", list).to_query("Sql", condition)

        assert Injector([[one]], objects=self.WORLD).inject("found") == found

    @pytest.mark.parametrize(
        ("condition", "found"),
        [
            (("a", "==", None), ["Node[null]", "Node[unset]"]),
            (("a", "!=", None), ["Node[set]"]),
            (("name", "==", "null"), ["Node[null]"]),
            (("title", "==", None), []),
        ],
    )
    def test_in_a_query_an_explicit_null_is_a_parameter_that_is_not_set(self, condition, found):
        """As everywhere in bindings None means nothing; `name` and `title` are the title then."""
        instances = {"Node[set]": {"a": 1}, "Node[null]": {"a": None, "name": None, "title": None}, "Node[unset]": {}}
        one = Bindings("x")
        one.bind("found", list).to_query("Node", condition)

        assert Injector([[one]], objects=Objects({}, instances)).inject("found") == found

    def test_common_always_holds_and_a_category_is_listed_once(self):
        """`when common` without a meaning for its value."""
        one = Bindings("x")
        one.when(common="whatever").bind("a").to(1)

        assert Injector([[one]], [("node", "n")]).inject("a") == 1
        with pytest.raises(BindingError, match="listed twice"):
            State([("node", "a"), ("node", "b")])

    def test_leading_colons_of_a_class_mean_nothing(self):
        """`include ::ntp` and `exclude ntp` are about one class."""
        one = Bindings("x")
        one.include("::ntp", "ssh")
        one.exclude("ntp")

        assert Injector([[one]]).classes() == ["ssh"]


class TestChildrenAndWires:
    def test_an_override_for_a_test_leaves_the_parent_alone(self):
        """Look-ups of the parent's bindings see it."""
        one = bound(colour="green")
        one.bind("paint").lookup("colour")
        parent = Injector([[one]])
        child = parent.override({"colour": "red", ("size", int): 3})

        assert (child.inject("paint"), child.inject("size")) == ("red", 3)
        assert parent.inject("paint") == "green"

    def test_a_child_collects_its_own_fragments_and_the_parents(self):
        """And finds what only the parent binds."""
        low, high = bound(a=1), Bindings("high")
        low.multibind("m", list)
        low.fragment("m").to("low")
        high.fragment("m").to("high")
        child = Injector([[low]]).child([high])

        assert child.inject("m") == ["high", "low"]
        assert child.inject("a") == 1

    def test_wire_fills_by_class_and_by_name(self):
        """Given arguments win; defaults stay where nothing is bound; plain annotations are the caller's."""
        one = bound(port=22)
        one.bind(Logger).to_class(FancyLogger)
        injector = Injector([[one]])

        @injector.wire
        def serve(
            plain: int,
            log: Logger,
            port: Annotated[int, "port"],
            host: Annotated[str, "host"] = "localhost",
        ) -> tuple[int, str, int, str]:
            return plain, type(log).__name__, port, host

        assert serve(1) == (1, "FancyLogger", 22, "localhost")
        assert serve(1, port=80) == (1, "FancyLogger", 80, "localhost")

    def test_wire_does_not_ask_for_what_is_returned(self):
        one = bound(port=22)

        @Injector([[one]]).wire
        def make(port: Annotated[int, "port"]) -> NeedsMuch:
            return NeedsMuch(str(port))

        assert "22" == make().what

    @pytest.mark.parametrize("count", [15, 16, 17, 18, 40, 65])
    def test_many_fragments_are_collected_in_their_order(self, count):
        """Beyond sixteen they are joined by halves; nobody sees that, a trace neither."""
        one, two = Bindings("s"), Bindings("s")
        one.multibind("m")
        two.multibind("m", dict)
        for number in range(count):
            one.fragment("m").to(number)
            two.fragment("m", f"k{number}").to(number)

        injector = Injector([[one]])
        assert list(range(count)) == injector.inject("m")
        assert [count - 1] == [stated.claim.value for stated in injector.explain("m").trace(str(count - 1)).claims]
        assert {f"k{number}": number for number in range(count)} == Injector([[two]]).inject("m")


class TestExplain:
    def test_references_in_inner_lists_are_texts_of_plain_data(self):
        app = Bindings("app")
        app.multibind("found", list, combine="append")
        app.fragment("found").to_query("Sql")
        injector = Injector([[app]], objects=Objects(instances={"Sql[one]": {}}))

        assert injector.explain("found").to_dict()["value"] == [["Sql[one]"]]
        assert injector.explain("found").trace().value == [["Sql[one]"]]

    def test_explain_of_a_binding_names_winner_losers_rules_and_places(self):
        """By layer, by category, by more categories, and beside an abstract one."""
        site, low, other = Bindings("site"), Bindings("low"), Bindings("other")
        site.bind("a").to(5)
        low.when(node="n", rack="r").bind("a").to(4)
        low.when(node="n").bind("a").to(3)
        low.when(rack="r").bind("a").to(2)
        low.bind("a").to(1)
        other.bind("a").abstract()
        injector = Injector([[site], [low, other]], [("node", "n"), ("rack", "r")])
        explanation = injector.explain("a")

        assert explanation.value == 5
        assert [stated.why for stated in explanation.trace().claims] == [
            "",
            "a higher layer hides what lies below (bindings)",
            "more categories win over fewer (bindings)",
            "the higher category wins (bindings)",
            "the higher category wins (bindings)",
            "a concrete binding fills an abstract one beside it (bindings)",
        ]
        text = str(explanation)
        assert re.match(r"a = 5\n  wins   6 layer 1, common +5 +tests/test_bindings_injector\.py:", text)
        assert "layer 2, node n + rack r" in text

    def test_the_lines_because_of_which_it_is_in_effect(self):
        """Each condition around it, the inner one first; nothing for what always is."""
        one = Bindings("s")
        outer = one.when(node="n")
        outer.when(rack="r").bind("x").to(1)
        outer.bind("y").to(2)
        one.bind("z").to(3)
        injector = Injector([Layer("site", [one])], [("node", "n"), ("rack", "r")])

        for key, causes in {"x": ["when rack r", "when node n"], "y": ["when node n"], "z": []}.items():
            assert causes == [cause.what for cause in injector.explain(key).causes()]

    def test_two_below_the_winner_are_hidden_by_it_and_tie(self):
        """Nothing abstract is there, and nothing is said of it."""
        explanation = Injector([Layer("site", [bound(c=1)]), Layer("modules", [bound(c=2), bound(c=3)])]).explain("c")
        told = "a higher layer hides what lies below (bindings)"

        assert [(stated.claim.value, stated.by, stated.why) for stated in explanation.trace().losers] == [
            (3, (3,), told),
            (2, (3,), told),
        ]
        assert [said["ties_with"] for said in explanation.to_dict()["declarations"]] == [[], [1], [2]]

    def test_beside_two_that_tie_nothing_abstract_is_filled(self):
        """It is hidden as they are, by what stands above."""
        demand = Bindings("demand")
        demand.bind("c").abstract()
        explanation = Injector([[bound(c=1)], [bound(c=2), bound(c=3), demand]]).explain("c")

        assert explanation.trace().claims[-1].why == "a higher layer hides what lies below (bindings)"

    def test_more_categories_win_where_they_begin_as_the_fewer(self):
        """Node and rack stand above rack because node does, whatever else holds."""
        one = Bindings("x")
        one.when(node="n", rack="r").bind("a").to(1)
        one.when(rack="r").bind("a").to(2)
        (loser,) = Injector([[one]], [("node", "n"), ("rack", "r")]).explain("a").trace().losers

        assert loser.why == "the higher category wins (bindings)"

    def test_who_spoke_for_an_optional_one_that_gave_nothing_wins(self):
        """The winner's line would not change the value: it did not speak."""
        maybe = Bindings("maybe")
        maybe.bind("a").optional().lookup("nobody")
        explanation = Injector([[maybe], [bound(a=1)]]).explain("a")

        assert explanation.trace().winner.claim.value == 1
        assert [stated.why for stated in explanation.trace().losers] == ["it is optional and gave nothing (bindings)"]

    def test_a_name_for_another_key_says_whose_value_it_is(self):
        """The line that sets the value is named, and the lines that its fragments read."""
        low, top = bound(a=1), Bindings("top")
        top.alias("a", as_="b")
        top.multibind("m", list)
        top.fragment("m").lookup("b")
        injector = Injector([[top], [low]])

        assert [(look.depth, look.asked) for look in injector.explain("b").looked] == [(1, "Data, 'a'")]
        assert [(look.depth, look.asked) for look in injector.explain("m").looked] == [(1, "'b'"), (2, "Data, 'a'")]

    def test_an_include_counts_where_it_decides(self):
        """One below another of its class decides nothing, nor does an exclude of what nobody includes."""
        top, middle, low = Bindings("top"), Bindings("middle"), Bindings("low")
        top.include("ntp")
        middle.exclude("ntp", "telnet")
        low.include("ntp")
        low.fragment("included_classes").to("ssh")
        spoken = Injector([[top], [middle], [low]]).explain("/classes").set_by

        assert {one.value: one.counts for one in spoken if "ntp" not in one.value} == {
            "exclude telnet": False,
            "include ssh": True,
        }
        assert [(one.value, one.counts) for one in spoken if "ntp" in one.value] == [
            ("include ntp", True),
            ("exclude ntp", False),
            ("include ntp", False),
        ]

    def test_elements_of_a_multibind_have_their_places(self):
        """Also those that do not count."""
        one = Bindings("x")
        one.multibind("h", dict)
        one.fragment("h", "n").to(1)
        one.when(node="a").fragment("h", "n").to(2)
        data = Injector([[one]], [("node", "a")]).explain("h").to_dict()

        assert [(said["value"], said["counts"]) for said in data["set_by"]] == [(2, True), (1, False)]
        assert "node a" in data["set_by"][0]["place"]

    def test_it_is_an_answer_as_the_core_has_it(self):
        """Value, origins, trace and data; also where there is no value."""
        one = bound(a={"k": 1})
        one.bind("b").lookup("b")
        injector = Injector([[one]])
        found, loop = injector.explain("a"), injector.explain("b")

        assert isinstance(found, Answer)
        assert (found.value, [origin.name for origin in found.origins("k")]) == ({"k": 1}, ["values"])
        assert (found.origins("x"), loop.origins()) == ((), ())
        assert (loop.value, loop.trace().found) == (ABSENT, False)
        assert loop.to_dict()["value"] is None

    def test_a_path_leads_into_the_value(self):
        """Whoever says something there, or something else in its way."""
        low, middle, top = bound(a={"k": 1, "j": 2}), bound(a=5), bound(a={"k": 3})
        trace = Injector([[top], [middle], [low]]).explain("a").trace("k")

        assert trace.value == 3
        assert [(stated.claim.value, stated.by) for stated in trace.claims] == [(3, ()), (5, (3,)), (1, (2,))]

    def test_a_path_into_a_multibind_names_the_fragment(self):
        """An element, an entry that was laid over another one, and the fragments of the whole."""
        one = Bindings("x")
        one.multibind("l", list, combine="uniq")
        one.fragment("l").to(["a"])
        one.fragment("l").to("b")
        one.fragment("l").to(["a"])
        one.multibind("h", dict, combine="deep")
        one.fragment("h", "n").to({"x": 1, "y": 1})
        one.when(node="a").fragment("h", "n").to({"x": 2})
        injector = Injector([[one]], [("node", "a")])
        listed, hashed = injector.explain("l"), injector.explain("h")

        assert [one.ranks for one in listed.trace().elements] == [(3, 1), (2,)]
        assert [(str(one.claim.value), one.outcome.value) for one in listed.trace().claims] == [
            ("multibind Array as 'l'", "wins"), ("['a']", "joins"), ("b", "joins"), ("['a']", "joins"),
        ]  # fmt: skip
        assert [one.claim.value for one in listed.trace("1").claims] == ["b"]
        assert [(one.claim.value, one.by) for one in hashed.trace("n.x").claims] == [(2, ()), (1, (2,))]
        assert [(one.claim.value, one.by) for one in hashed.trace("n.y").claims] == [(1, ())]

    def test_what_a_transformer_made_of_fragments_is_of_all_of_them(self):
        """Nobody knows which element came of which."""
        one = Bindings("x")
        one.multibind("l", list, transform="sort")
        one.fragment("l").to("b")
        one.fragment("l").to("a")
        trace = Injector([[one]], functions={"sort": sorted}).explain("l").trace("0")

        assert trace.value == "a"
        assert [(stated.claim.rank, stated.outcome.value) for stated in trace.claims] == [(2, "joins"), (1, "joins")]

    def test_the_value_of_an_alias_is_set_by_the_line_of_its_source(self):
        """And the next one below that source is its next."""
        top = Bindings("top")
        top.alias("a", as_="b")
        trace = Injector([[top], [bound(a=1)], [bound(a=2), bound(b=3)]]).explain("b").trace()

        assert [(str(one.claim.value), one.claim.path, one.outcome.value) for one in trace.claims] == [
            ("alias of Data, 'a'", ("b",), "wins"),
            ("1", ("a",), "wins"),
            ("2", ("a",), "loses"),
            ("3", ("b",), "loses"),
        ]

    def test_the_classes_say_who_includes_each(self):
        """By a path, too."""
        top, low = Bindings("top"), Bindings("low")
        top.include("ntp")
        low.include("ssh")
        low.exclude("ntp")
        trace = Injector([[top], [low]]).explain("/classes").trace

        assert [(str(one.claim.value), one.outcome.value) for one in trace().claims] == [
            ("include ntp", "joins"), ("include ssh", "joins"), ("exclude ntp", "loses"),
        ]  # fmt: skip
        assert [str(one.claim.value) for one in trace((1,)).claims] == ["include ssh"]
        assert [one.ranks for one in trace().elements] == [(3,), (1,)]

    def test_the_chain_of_look_ups_is_shown(self):
        """With those inside texts."""
        one = bound(host="fern")
        one.bind("a").lookup("b")
        one.bind("b").lookup("host")
        explanation = Injector([[one]]).explain("a")

        assert [(look.depth, look.asked) for look in explanation.looked] == [(1, "'b'"), (2, "'host'")]

    def test_a_key_that_cannot_be_produced_says_why(self):
        """Explaining never raises for that."""
        one = Bindings("x")
        one.bind("a").lookup("a")

        assert "needs itself" in str(Injector([[one]]).explain("a"))

    def test_the_graph_shows_look_ups_fragments_and_dependencies(self):
        """In the language of Graphviz too."""
        one = Bindings("x")
        one.bind("a").lookup("b")
        one.bind("b").to(1)
        one.multibind("m", list)
        one.fragment("m").lookup("a")
        one.dependency("File[a]", "~>", "Service[b]")
        graph = Injector([[one]]).graph()

        assert {edge.kind for edge in graph.edges} == {"looks up", "collects", "~>"}
        assert '"Data, \'a\'" -> "Data, \'b\'" [label="looks up"];' in graph.to_dot()

    def test_check_finds_what_would_fail_later(self):
        """Look-ups of what nobody binds, options of multibinds, unknown variables."""
        one = Bindings("x")
        one.bind("a").lookup("nobody")
        one.multibind("m", dict, conflict="average")

        assert [error.kind for error in Injector([[one]]).check()] == ["missing", "bad-option"]


class TestJoins:
    def test_parameters_fill_from_bindings_then_a_look_up_then_defaults(self):
        """Each says where it comes from."""
        one = Bindings("x")
        one.parameters("ntp").to({"enable": True})
        data = {"ntp::servers": ["a"]}
        filled = fill_parameters(
            Injector([[one]]), "ntp", ["enable", "servers", "drift", "left"],
            lookup=data.get, defaults={"drift": "/d", "servers": []},
        )  # fmt: skip

        assert [(one.value, one.source) for one in filled.values()] == [
            (True, "bindings"), (["a"], "lookup"), ("/d", "default"), (None, "nothing"),
        ]  # fmt: skip
        assert "set x" in filled["enable"].place

    def test_included_classes_extend_a_run_list(self):
        """What is on it already stays once."""
        one = Bindings("x")
        one.include("apache", "ntp::client", "base")

        assert extended_run_list(Injector([[one]]), ["recipe[base::default]", "role[web]"]) == [
            "recipe[base::default]", "role[web]", "recipe[apache]", "recipe[ntp::client]",
        ]  # fmt: skip

    def test_a_recipe_with_a_version_is_listed_already(self):
        one = Bindings("x")
        one.include("apache", "ntp::client", "base")

        listed = ["recipe[apache@1.2]", "ntp::client@2.0.1", "recipe[base::default@3.0]"]
        assert extended_run_list(Injector([[one]]), listed) == listed

    def test_other_sources_are_producers(self):
        """Anything that can be called: a look-up, a node's attributes."""
        node = {"apache": {"port": 8080}}
        one = Bindings("x")
        one.bind("port", int).to_factory(lambda: node["apache"]["port"]).each_time()
        injector = Injector([[one]])

        first = injector.inject("port")
        node["apache"]["port"] = 80
        assert (first, injector.inject("port")) == (8080, 80)


class TestProducers:
    def test_a_custom_producer_is_handed_out(self):
        """One object, asked again and again; a series makes a new one."""

        class Count(Producer):
            def __init__(self) -> None:
                self.number = 0

            def produce(self) -> int:
                self.number += 1
                return self.number

        one = Bindings("x")
        one.bind("one", int).to_producer(Count)
        one.bind("each", int).to_producer(Count, each=True)
        injector = Injector([[one]])

        assert [injector.producer("one").produce() for _ in range(2)] == [1, 2]
        assert [injector.producer("each").produce() for _ in range(2)] == [1, 1]
        with pytest.raises(NotBound):
            injector.producer("none")

    def test_the_producer_of_what_is_not_bound_but_can_be_made(self):
        """A class that needs nothing, and the list of included classes."""
        one = Bindings("s")
        one.include("ntp")
        injector = Injector([[one]])

        assert ["ntp"] == injector.producer("/classes").produce() == injector.inject("/classes")
        assert isinstance(injector.producer(FancyLogger).produce(), FancyLogger)

    def test_the_documented_mode_ranks_by_the_highest_category_alone(self):
        """There a conjunction conflicts with its own highest category."""
        one = Bindings("x")
        one.when(node="n", rack="r").bind("a").to(2)
        one.when(node="n").bind("a").to(1)
        categories = [("node", "n"), ("rack", "r")]

        assert Injector([[one]], State(categories)).inject("a") == 2
        with pytest.raises(BindingErrors) as caught:
            Injector([[one]], State(categories, mode="documented"))
        assert caught.value.kinds == {"conflict"}

    def test_the_documented_mode_refuses_a_hash_name_twice(self):
        """Whatever the positions."""
        one = Bindings("x")
        one.multibind("h", dict)
        one.fragment("h", "n").to(1)
        one.when(node="n").fragment("h", "n").to(2)

        assert Injector([[one]], State([("node", "n")])).inject("h") == {"n": 2}
        with pytest.raises(BindingError) as caught:
            Injector([[one]], State([("node", "n")], mode="documented")).inject("h")
        assert caught.value.kind == "duplicate-fragment"
