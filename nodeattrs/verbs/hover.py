"""Write sentences about what a line sets: as Markdown for the hover of an editor, and as text for `where`.

The caller gives the effects of the line; nothing is looked up here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from nodeattrs.core.trace import Outcome
from nodeattrs.dialects import named
from nodeattrs.reports.markdown import plain as in_markdown
from nodeattrs.reports.screen import first_of
from nodeattrs.verbs.lines import Account, LineEffect, Setter

_NAMED, _PATHS = 6, 12


def hover(effects: Sequence[LineEffect], asked: Mapping[str, tuple[int, int]], notes: Iterable[str] = ()) -> str:
    """The effects of a line as Markdown: a block for each of the first 12, then how many more; "" without any.

    Effects of several lines, such as those below a key, have one row each: path, value, and where the line wins.
    asked: dialect -> (number of subjects that were asked, number of all)
    notes: sentences for the end
    """
    blocks = ["  \n".join(_marked(effect, asked)) for effect in effects[:_PATHS]]
    if len({effect.place.line for effect in effects}) > 1:
        blocks = ["\n".join(f"- {', '.join(islice(_marked(effect, asked), 2))}" for effect in effects[:_PATHS])]
    if len(effects) > _PATHS:
        blocks.append(f"… and {len(effects) - _PATHS} more paths")
    blocks += [f"*{in_markdown(note)}*" for note in notes]
    return "\n\n".join(blocks)


def _marked(effect: LineEffect, asked: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    first, *rest = sentences(effect, asked, _code, in_markdown)
    name = _code(next(iter(effect.accounts)).name)
    yield f"**{name}**{first.removeprefix(name)}"
    yield from rest


def sentences(
    effect: LineEffect,
    asked: Mapping[str, tuple[int, int]],
    code: Callable[[str], str] = str,
    plain: Callable[[str], str] = str,
) -> Iterator[str]:
    """Yield the sentences about one effect: path and value, where it wins, what overrides it, what it overrides.

    asked: dialect -> (number of subjects that were asked, number of all)
    code:  a function that marks a path or a value, for Markdown
    plain: a function that gives names no effect in Markdown
    """
    accounts = effect.accounts
    first = next(iter(accounts))
    own = effect.setter(first)
    value = f" = {code(own.value)}" if own.outcome is not Outcome.UNKNOWN else ""
    yield f"{code(first.name)}{value} · {plain(own.title)}"
    total = sum(map(len, accounts.values()))
    yield summary(effect, asked) + (
        plain(_names_in_words(effect.wins)) if len(effect.wins) < total or total <= _NAMED else ""
    )
    lost: dict[str, list[str]] = {}
    for account, names in accounts.items():
        one = effect.setter(account)
        if not one.is_read:
            lost.setdefault(_lost(account, one, code, plain), []).extend(names)
    for sentence, subjects in lost.items():
        yield f"{sentence} on {len(subjects)}{plain(_names_in_words(subjects))}"
    yield from _others(effect, code, plain)


def summary(effect: LineEffect, asked: Mapping[str, tuple[int, int]]) -> str:
    """On how many subjects a line wins: "wins on 1 of 2, set on 2 of 3 nodes".

    asked: dialect -> (number of subjects that were asked, number of all)
    """
    accounts = effect.accounts
    total = sum(map(len, accounts.values()))
    of = asked.get(effect.dialect, (0, 0))[0]
    among = f"of {total}" if total == of else f"of {total}, set on {total} of {of}"
    joined = any(effect.setter(one).outcome is Outcome.JOINS for one in accounts)
    noun = f"{named(effect.dialect).noun}{'s' * ((of or total) != 1)}"
    return f"{'joins' if joined else 'wins'} on {len(effect.wins)} {among} {noun}"


def _lost(account: Account, one: Setter, code: Callable[[str], str], plain: Callable[[str], str]) -> str:
    if one.outcome is not Outcome.LOSES:
        return f"{one.outcome.value}: {plain(one.note)}"
    winner = account.winner
    return f"overridden: {plain(one.note)}" if winner is None else f"overridden by {_named(winner, code, plain)}"


def _named(one: Setter, code: Callable[[str], str], plain: Callable[[str], str]) -> str:
    return f"{plain(str(one.place or one.who))} ({plain(one.title)} = {code(one.value)})"


def _others(effect: LineEffect, code: Callable[[str], str], plain: Callable[[str], str]) -> Iterator[str]:
    """Yield a sentence for each line that the effect's line overrides, the most frequent six."""
    over: Counter[str] = Counter()
    for account, names in effect.accounts.items():
        if effect.setter(account).is_read:
            for other in account.setters:
                if other.outcome is Outcome.LOSES:
                    over[_named(other, code, plain)] += len(names)
    for text, count in over.most_common(_NAMED):
        yield f"overrides {text} on {count}"


def _names_in_words(names: Sequence[str]) -> str:
    return f": {first_of([one or 'here' for one in names], _NAMED)}" if names else ""


def _code(text: str) -> str:
    """The text as code in a line of Markdown, whatever backticks it has."""
    longest = max((len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0)
    fence = "`" * (longest + 1)
    room = " " if longest else ""
    return f"{fence}{room}{text}{room}{fence}"
