"""Trees as text, in the notations that people write: blocks and brackets, one line and several, as it comes.

What can be no token (null, true, {}) carries a comment, since whoever looks for settings finds them by their text.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.causality.maker import Maker, Raw, Tree

__all__ = ["json_text", "python_text", "ruby_text", "shared_text", "toml_text", "yaml_text"]


def _is_blocky(tree: Tree) -> bool:
    """Whether something in it wants a line of its own."""
    if isinstance(tree, (dict, list)):
        return any(map(_is_blocky, tree.values() if isinstance(tree, dict) else tree))
    return tree.is_alone


def _inline(tree: Tree, quote: str, colon: str, brackets: str = "{}") -> str:
    if isinstance(tree, dict):
        key_quote = '"' if quote == '"' else ""
        entries = (f"{key_quote}{key}{key_quote}{colon}{_inline(entry, quote, colon)}" for key, entry in tree.items())
        return brackets[0] + ", ".join(entries) + brackets[1]
    if isinstance(tree, list):
        return "[" + ", ".join(_inline(entry, quote, colon) for entry in tree) + "]"
    return f"{quote}{tree}{quote}" if tree.is_text else str(tree)


# --- YAML


def yaml_text(tree: Tree, random: random.Random, indent: int = 0) -> str:
    """Blocks and brackets, as it comes."""
    return "".join(f"{' ' * indent}{line}\n" for line in _yaml_lines(tree, random))


def shared_text(make: Maker) -> str:
    """An anchor, an alias and a merge key: one line says what stands at several places."""
    one = f"x: &one {{t: {make.scalar()}, n: {make.scalar()}}}\ny: *one\n"
    return one + f"z:\n  <<: *one\n  m: {make.scalar()}\n" if make.chance(0.6) else one


def _yaml_lines(tree: Tree, random: random.Random) -> Iterator[str]:
    if isinstance(tree, dict):
        for key, entry in tree.items():
            if _goes_inline(entry, random):
                yield f"{key}: {_yaml_inline(entry, random)}"
            else:
                yield f"{key}:"
                indent = "" if isinstance(entry, list) and random.random() < 0.5 else "  "
                yield from (indent + line for line in _yaml_lines(entry, random))
    else:
        for entry in tree:
            if _goes_inline(entry, random):
                yield f"- {_yaml_inline(entry, random)}"
            else:
                first, *rest = _yaml_lines(entry, random)
                yield f"- {first}"
                yield from (f"  {line}" for line in rest)


def _goes_inline(tree: Tree, random: random.Random) -> bool:
    if isinstance(tree, (dict, list)):
        return not tree or (random.random() < 0.3 and not _is_blocky(tree))
    return True


def _yaml_inline(tree: Tree, random: random.Random) -> str:
    alone = isinstance(tree, Raw) and tree.is_alone
    text = _inline(tree, '"' if alone else random.choice(["", "'", '"']), ": ")
    return f"{text}  # set" if isinstance(tree, Raw) and tree.is_fixed else text


# --- JSON


def json_text(tree: Tree, random: random.Random) -> str:
    """Over several lines, with short ends on one; it has no comments."""
    return "\n".join(_bracketed(tree, random, "", '"', ": ")).replace("  # set", "") + "\n"


def _is_fixed(tree: Tree) -> bool:
    return isinstance(tree, Raw) and tree.is_fixed


def _bracketed(
    tree: Tree, random: random.Random, comma: str, quote: str, colon: str, trailing: str = ""
) -> Iterator[str]:
    """A map or list between brackets, an entry a line."""
    is_map = isinstance(tree, dict)
    entries = list(tree.items() if is_map else enumerate(tree))
    if not entries or (random.random() < 0.25 and not _is_blocky(tree)):
        yield _inline(tree, quote, colon) + comma
        return
    yield "{" if is_map else "["
    for number, (key, entry) in enumerate(entries):
        after = "," if trailing or number + 1 < len(entries) else ""
        head = f'"{key}"{colon}' if is_map else ""
        if isinstance(entry, (dict, list)):
            first, *rest = _bracketed(entry, random, after, quote, colon, trailing)
            yield f"  {head}{first}"
            yield from (f"  {line}" for line in rest)
        else:
            yield f"  {head}{_inline(entry, quote, colon)}{after}{'  # set' if _is_fixed(entry) else ''}"
    yield ("}" if is_map else "]") + comma


# --- TOML


def toml_text(tree: Tree, random: random.Random) -> str:
    """Keys, then tables; lists on one line, where nothing stands twice. There is no null."""
    return "\n".join(_toml_lines(_without_repeats(tree, set()), random, ())) + "\n"


def _without_repeats(tree: Tree, seen: set[str]) -> Tree:
    if isinstance(tree, dict):
        return {key: _without_repeats(entry, seen) for key, entry in tree.items() if entry != "null"}
    if isinstance(tree, list):
        return [_without_repeats(entry, seen) for entry in tree if not isinstance(entry, Raw) or _is_new(entry, seen)]
    return tree


def _is_new(one: str, seen: set[str]) -> bool:
    if one in seen:
        return False
    seen.add(one)
    return True


def _toml_lines(tree: Tree, random: random.Random, at: tuple[str, ...]) -> Iterator[str]:
    tables = {
        key: entry
        for key, entry in tree.items()
        if isinstance(entry, dict) and (random.random() < 0.7 or _is_blocky(entry))
    }
    for key, entry in tree.items():
        if key not in tables:
            yield f"{key} = {_toml_inline(entry)}"
    for key, entry in tables.items():
        yield f"[{'.'.join((*at, key))}]"
        yield from _toml_lines(entry, random, (*at, key))


def _toml_inline(tree: Tree) -> str:
    if isinstance(tree, dict):
        return (
            "{ " + ", ".join(f"{key} = {_toml_inline(entry)}" for key, entry in tree.items()) + " }" if tree else "{}"
        )
    if isinstance(tree, list):
        return "[" + ", ".join(map(_toml_inline, tree)) + "]"
    return f'"{tree}"' if tree.is_text else str(tree)


# --- Ruby


def ruby_text(tree: Tree, random: random.Random) -> str:
    """A map of Ruby, keys as texts or symbols: on one line, or an entry a line."""
    colon = random.choice((" => ", ": "))
    return "\n".join(_bracketed(_renamed(tree, {"null": "nil"}), random, "", '"', colon))


# --- Python


PYTHON = {"null": "None", "true": "True", "false": "False"}


def python_text(tree: Tree, random: random.Random) -> str:
    """A literal of Python: on one line, or an entry a line."""
    if isinstance(tree, Raw):
        return f'"{tree}"' if tree.is_text else PYTHON.get(tree, str(tree))
    return "\n".join(_bracketed(_renamed(tree, PYTHON), random, "", '"', ": ", trailing=","))


def _renamed(tree: Tree, words: dict[str, str]) -> Tree:
    if isinstance(tree, dict):
        return {key: _renamed(entry, words) for key, entry in tree.items()}
    if isinstance(tree, list):
        return [_renamed(entry, words) for entry in tree]
    return Raw(words.get(tree, tree))
