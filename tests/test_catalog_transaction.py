"""Applying: changes, refreshes, failures and no-op mode; each rule of the language page, and laws."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs.catalog import Catalog, Change, DependencyCycle, NoopDoesNotReach, Report, Resource, apply_plan, ref_of


class Act:
    """A resource that does as its flags say, and notes what was asked of it."""

    def __init__(self, flags: str = "") -> None:
        self.flags = flags.split()
        self.refreshable = "refreshes" in self.flags or "refresh-fails" in self.flags
        self.applied: list[str] = []
        self.refreshed = 0

    def check(self, site: Any) -> list[Change]:
        if "unreadable" in self.flags:
            raise OSError("cannot be read")
        return [Change(flag) for flag in ("changes", "fails") if flag in self.flags]

    def apply(self, change: Change, site: Any) -> None:
        if "stops" in self.flags:
            raise KeyboardInterrupt
        self.applied.append(change.what)
        if change.what == "fails":
            raise OSError("no space left")

    def refresh(self, site: Any) -> None:
        self.refreshed += 1
        if "refresh-fails" in self.flags:
            raise OSError("does not start")


def declared(catalog: Catalog, name: str, flags: str = "", **said: Any) -> Act:
    act = Act(flags)
    catalog.add(Resource(ref_of(name), subject=act, **said))
    return act


def applied(*rows: tuple[str, str] | tuple[str, str, dict[str, Any]], chains: str = "", **options: Any) -> Report:
    """The report of a small catalog: name and flags of each resource, and chains, one a line."""
    catalog = Catalog(noop=options.pop("noop", False))
    for name, flags, *said in rows:
        if flags in ("class", "define"):
            catalog.add(Resource(ref_of(name), flags, **(said[0] if said else {})))
        else:
            declared(catalog, name, flags, **(said[0] if said else {}))
    for chain in filter(None, (line.strip() for line in chains.splitlines())):
        catalog.relate(chain)
    return apply_plan(catalog.plan(documented=options.pop("documented", False)), **options)


def status(report: Report) -> dict[str, str]:
    return {ref.name: " ".join(sorted(outcome.status)) for ref, outcome in report.outcomes.items()}


class TestRefresh:
    def test_a_change_refreshes_what_is_notified(self):
        """
        Only a change does, and only along an arrow that notifies.
        """
        report = applied(
            ("Cfg[a]", "changes"),
            ("Cfg[b]", ""),
            ("Svc[s]", "refreshes"),
            ("Svc[t]", "refreshes"),
            ("Svc[u]", "refreshes"),
            chains="Cfg['a'] ~> Svc['s']\nCfg['b'] ~> Svc['t']\nCfg['a'] -> Svc['u']",
        )

        assert {"a": "changed", "b": "", "s": "changed restarted", "t": "", "u": ""} == status(report)

    def test_a_type_without_a_refresh_hears_nothing(self):
        """
        Nothing happens, and nothing is sent on.
        """
        report = applied(
            ("Cfg[a]", "changes"),
            ("Cfg[b]", ""),
            ("Svc[s]", "refreshes"),
            chains="Cfg['a'] ~> Cfg['b'] ~> Svc['s']",
        )

        assert {"a": "changed", "b": "", "s": ""} == status(report)

    def test_many_events_are_one_refresh(self):
        """
        Up to once a run, when everybody who sends has been.
        """
        catalog = Catalog()
        service = declared(catalog, "Svc[s]", "refreshes")
        for name in "abc":
            declared(catalog, f"Cfg[{name}]", "changes", notify=("Svc[s]",))
        report = apply_plan(catalog.plan())

        assert 1 == service.refreshed
        assert ["Cfg[a]", "Cfg[b]", "Cfg[c]"] == list(report.outcomes["Svc[s]"].from_refs)
        assert "Triggered 'refresh' from 3 events" == report.log[-1].text

    def test_a_refresh_is_sent_on(self):
        """
        A resource that refreshes counts as one that was changed.
        """
        report = applied(
            ("Cfg[a]", "changes"),
            ("Svc[s]", "refreshes"),
            ("Svc[t]", "refreshes"),
            chains="Cfg['a'] ~> Svc['s'] ~> Svc['t']",
        )

        assert "changed restarted" == status(report)["t"]

    def test_a_container_receives_for_all_it_contains_and_sends_for_any(self):
        """
        Classes and instances of defined types alike.
        """
        inside = {"within": ("Class[Web]",)}
        report = applied(
            ("Cfg[a]", "changes"),
            ("Class[web]", "class"),
            ("Svc[s]", "refreshes", inside),
            ("Svc[t]", "refreshes", inside),
            ("Svc[u]", "refreshes"),
            chains="Cfg['a'] ~> Class['web'] ~> Svc['u']",
        )

        assert {"s", "t", "u"} == {name for name, words in status(report).items() if "restarted" in words}

    def test_an_event_does_not_pass_a_class_without_contents(self):
        """
        The order does.
        """
        report = applied(
            ("Svc[u]", "refreshes"),
            ("Cfg[a]", "changes"),
            ("Class[web]", "class"),
            chains="Cfg['a'] ~> Class['web'] ~> Svc['u']",
        )

        assert {"a": "changed", "u": ""} == status(report)


class TestFailures:
    def test_only_what_depends_on_it_is_skipped(self):
        """
        However far away; the rest goes on.
        """
        report = applied(
            ("Cfg[a]", "fails"),
            ("Cfg[b]", "changes"),
            ("Cfg[c]", "changes"),
            ("Cfg[d]", "changes"),
            chains="Cfg['a'] -> Cfg['b'] -> Cfg['c']",
        )

        assert {"a": "failed", "b": "skipped", "c": "skipped", "d": "changed"} == status(report)
        assert ("Cfg[a]",) == report.outcomes["Cfg[c]"].because
        assert not report.ok

    def test_the_notice_comes_once_and_the_warning_each_time(self):
        """
        In Puppet's words.
        """
        report = applied(("Cfg[a]", "fails"), ("Cfg[b]", ""), ("Cfg[c]", ""), chains="Cfg['a'] -> [Cfg['b'], Cfg['c']]")

        assert [
            "notice Cfg[b]: Dependency Cfg[a] has failures: true",
            "warning Cfg[b]: Skipping because of failed dependencies",
            "warning Cfg[c]: Skipping because of failed dependencies",
        ] == [str(line) for line in report.log]

    def test_one_failed_property_does_not_stop_the_others(self):
        """
        Changed and failed at once; nothing is sent then.
        """
        report = applied(("Cfg[a]", "changes fails"), ("Svc[s]", "refreshes"), chains="Cfg['a'] ~> Svc['s']")

        assert {"a": "changed failed", "s": "skipped"} == status(report)

    def test_a_resource_that_cannot_be_read_fails_in_noop_mode_too(self):
        """
        Nobody knows what would have happened.
        """
        report = applied(("Cfg[a]", "unreadable"), noop=True)

        assert {"a": "failed"} == status(report)
        assert ("Could not evaluate: cannot be read",) == report.outcomes["Cfg[a]"].errors

    def test_a_failed_refresh_is_a_failure(self):
        """
        What depends on it is skipped.
        """
        report = applied(
            ("Cfg[a]", "changes"),
            ("Svc[s]", "refresh-fails"),
            ("Cfg[b]", ""),
            chains="Cfg['a'] ~> Svc['s'] -> Cfg['b']",
        )

        assert {"a": "changed", "s": "failed failed_to_restart", "b": "skipped"} == status(report)

    def test_a_failure_in_a_class_skips_what_comes_after_the_class(self):
        """
        And not its neighbours inside.
        """
        inside = {"within": ("Class[Web]",)}
        report = applied(
            ("Class[web]", "class"),
            ("Cfg[a]", "fails", inside),
            ("Cfg[b]", "changes", inside),
            ("Cfg[c]", "changes"),
            chains="Class['web'] -> Cfg['c']",
        )

        assert {"a": "failed", "b": "changed", "c": "skipped"} == status(report)

    @pytest.mark.parametrize(("documented", "expected"), [(False, "skipped"), (True, "changed restarted skipped")])
    def test_a_skipped_resource_refreshes_by_the_letter_only(self, documented, expected):
        """
        The language page lets it react to those that succeeded; Puppet drops its events.
        """
        report = applied(
            ("Cfg[bad]", "fails"),
            ("Cfg[good]", "changes"),
            ("Svc[s]", "refreshes"),
            chains="Cfg['bad'] -> Svc['s']\nCfg['good'] ~> Svc['s']",
            documented=documented,
        )

        assert expected == status(report)["s"]

    def test_a_cycle_applies_nothing(self):
        """
        Not even what has nothing to do with it.
        """
        catalog = Catalog()
        act = declared(catalog, "Cfg[a]", "changes")
        declared(catalog, "Cfg[b]", "", before=("Cfg[b]",))
        with pytest.raises(DependencyCycle):
            apply_plan(catalog.plan())

        assert [] == act.applied


class TestNoop:
    def test_nothing_is_changed_and_would_be_events_travel_on(self):
        """
        The messages say what would have happened.
        """
        catalog = Catalog(noop=True)
        conf = declared(catalog, "Cfg[a]", "changes", notify=("Svc[s]",))
        service = declared(catalog, "Svc[s]", "refreshes")
        report = apply_plan(catalog.plan())

        assert ([], 0) == (conf.applied, service.refreshed)
        assert {"a": "noop", "s": ""} == status(report)
        assert "notice Svc[s]: Would have triggered 'refresh' from 1 event" in map(str, report.log)

    def test_what_would_be_refreshed_refreshes_nothing_further_on(self):
        """
        Also where the next one is not in no-op mode itself; the report names the containers, but for those above all.
        """
        report = applied(
            ("Class[web]", "class"),
            ("Cfg[a]", "changes", {"noop": True, "within": ("Class[Web]",)}),
            ("Svc[s]", "refreshes", {"noop": True}),
            ("Svc[t]", "refreshes"),
            chains="Class['web'] ~> Svc['s'] ~> Svc['t']",
        )

        assert {"a": "noop", "s": "", "t": ""} == status(report)
        received = [(str(one.target), one.how) for one in report.received]
        assert [("end Class[Web]", "noop"), ("Svc[s]", "noop"), ("Svc[t]", "noop")] == received
        visited = ["begin Class[Web]", "Cfg[a]", "end Class[Web]", "Svc[s]", "Svc[t]"]
        assert visited == list(map(str, report.visited))

    def test_one_real_event_among_them_refreshes(self):
        """
        The count has both.
        """
        report = applied(
            ("Cfg[a]", "changes", {"noop": True}),
            ("Cfg[b]", "changes"),
            ("Svc[s]", "refreshes"),
            chains="[Cfg['a'], Cfg['b']] ~> Svc['s']",
        )

        assert "changed restarted" == status(report)["s"]
        assert "Triggered 'refresh' from 2 events" == report.log[-1].text

    def test_an_instance_of_a_defined_type_hands_it_down(self):
        """
        As Puppet does below the main class.
        """
        report = applied(("App[x]", "define", {"noop": True}), ("Cfg[a]", "changes", {"within": ("App[x]",)}))

        assert {"a": "noop"} == status(report)

    def test_a_class_does_not_and_the_plan_warns(self):
        """
        The warning names what would really be changed.
        """
        catalog = Catalog()
        catalog.add(Resource(ref_of("Class[web]"), "class", noop=True))
        declared(catalog, "Cfg[a]", "changes", within=("Class[Web]",))
        declared(catalog, "Cfg[b]", "changes", within=("Class[Web]",), noop=True)
        (warning,) = catalog.plan().warnings()

        assert isinstance(warning, NoopDoesNotReach)
        assert (
            "Class[Web] is in no-op mode, and its contents are not: Cfg[a] would really be changed" == warning.message
        )
        assert {"a": "changed", "b": "noop"} == status(apply_plan(catalog.plan()))


class TestInterrupts:
    def test_the_report_of_an_interrupted_run_is_truthful(self):
        """
        What was done is there, what was under way has failed, and what was not reached is named.
        """
        report = applied(("Cfg[a]", "changes"), ("Cfg[b]", "changes stops"), ("Cfg[c]", "changes"))

        assert {"a": "changed", "b": "failed"} == status(report)
        assert (True, ["Cfg[c]"], False) == (report.interrupted, report.left, report.ok)

    def test_outcomes_are_told_one_by_one(self):
        """
        For progress, and for a report that is written as it happens.
        """
        told: list[str] = []
        applied(("Cfg[a]", ""), ("Cfg[b]", "changes"), on_outcome=lambda outcome: told.append(outcome.ref))

        assert ["Cfg[a]", "Cfg[b]"] == told


flags = st.sampled_from(
    ["", "changes", "fails", "refreshes", "changes refreshes", "refresh-fails", "changes refresh-fails"]
)
arrows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans()), max_size=9)


def run_of(kinds: list[str], edges: list[tuple[int, int, bool]]) -> tuple[Report, list[Act], set[tuple[int, int]]]:
    catalog = Catalog()
    acts = [declared(catalog, f"R[{number}]", kind) for number, kind in enumerate(kinds)]
    pairs = set()
    for a, b, notifies in edges:
        if a != b:
            a, b = min(a, b), max(a, b)
            pairs.add((a, b))
            catalog.depend(f"R[{b}]", f"R[{a}]", relation="subscribe" if notifies else "require")
    return apply_plan(catalog.plan()), acts, pairs


@given(st.lists(flags, min_size=6, max_size=6), arrows)
def test_failures_skip_exactly_what_depends_on_them(kinds, edges):
    """A resource is skipped if and only if something before it has failed."""
    report, _, pairs = run_of(kinds, edges)
    before = {n: {a for a, b in pairs if b == n} for n in range(6)}
    for _ in range(6):
        before = {n: found.union(*(before[a] for a in found)) for n, found in before.items()}
    failed = {n for n in range(6) if report.outcomes[f"R[{n}]"].failed}

    assert {n for n in range(6) if before[n] & failed} == {n for n in range(6) if report.outcomes[f"R[{n}]"].skipped}


@given(st.lists(flags, min_size=6, max_size=6), arrows)
def test_each_refresh_happens_at_most_once(kinds, edges):
    """And only where somebody who notifies was changed."""
    report, acts, _ = run_of(kinds, edges)

    assert all(act.refreshed <= 1 for act in acts)
    for n, act in enumerate(acts):
        senders = {min(a, b) for a, b, notifies in edges if notifies and max(a, b) == n and a != b}
        if act.refreshed:
            assert any(report.outcomes[f"R[{a}]"].changed for a in senders)
