"""python -m tests.oracles.impact [--count N] [--seed S] [--kind KIND]

Random repositories and random changes of them: what `impact` says, beside what comes of resolving everybody on both
sides with fresh objects and comparing all of it. Nothing may be missed and nothing invented, and each named line must
be a cause: without it the value is another one, or with it alone. `what-if` is held up to a line that really goes.
The last line is `N passed, M failed`.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nodeattrs.contract.request import Request
from nodeattrs.contract.sides import Side, folder_side
from nodeattrs.contract.written_sides import private_folder, sides_of
from nodeattrs.dialects import all_dialects, named
from nodeattrs.errors import NodeattrsError
from nodeattrs.verbs.hunks import Line
from nodeattrs.verbs.impact import ChangeGroup, Impact, ImpactOptions, impact
from nodeattrs.verbs.what_if import side_after
from tests.causality.maker import Maker
from tests.causality.notations import json_text, toml_text, yaml_text
from tests.causality.system import marked
from tests.causality.systems.hiera import HieraTrees
from tests.causality.systems.node import NodeRuns
from tests.causality.systems.plain import EXAMPLES

Files = dict[str, str]
"""Name -> text."""

_TRIED = 4
"""Groups of a case whose lines are tried."""


# --- repositories


def example(rand: random.Random) -> Files:
    """The example, with one set of user-data."""
    texts = {
        file.relative_to(EXAMPLES).as_posix(): file.read_text("utf-8")
        for file in sorted(EXAMPLES.rglob("*"))
        if file.is_file()
        and file.suffix != ".md"
        and "__pycache__" not in file.parts
        and ".nodeattrs" not in file.parts
    }
    files = '["cloud-init/base.yaml", "cloud-init/web.yaml"]'
    texts["nodeattrs.toml"] += f'\n[cloud-init.web]\nfiles = {files}\nvendor = "cloud-init/vendor.yaml"\n'
    return texts


def folds(rand: random.Random) -> Files:
    """A few named folds over some of a few files."""
    make = Maker(rand)
    files = {}
    for number in range(1, rand.randint(3, 6)):
        suffix, written = rand.choice([("yaml", yaml_text), ("json", json_text), ("toml", toml_text)])
        files[f"layers/{number}.{suffix}"] = written(make.map(3), rand)
    tables = []
    for name in "abc"[: rand.randint(1, 3)]:
        some = rand.sample(sorted(files), rand.randint(1, len(files)))
        tables.append(
            f"[fold.{name}]\nfiles = {json.dumps(some)}\npolicy = {json.dumps(rand.choice(['inside', 'across']))}\n"
        )
    return {**files, "nodeattrs.toml": "\n".join(tables)}


def nodes(rand: random.Random) -> Files:
    """A repository of Python, JSON, YAML and TOML, with some nodes beside each other."""
    files = dict(NodeRuns().make(rand).files)
    own = json.loads(files["nodes/n1.json"])
    for number in range(2, rand.randint(3, 6)):
        some = rand.sample(own["run_list"], rand.randint(1, len(own["run_list"])))
        environment = rand.choice(["prod", "prod", "_default"])
        lines = [f'"name": "n{number}",', f'"chef_environment": "{environment}",', f'"run_list": {json.dumps(some)}']
        files[f"nodes/n{number}.json"] = "\n".join(["{", *lines, "}\n"])
    return files


def hiera(rand: random.Random) -> Files:
    """A tree with levels, options and a module; some nodes with facts and data of their own."""
    made = {name: text for name, text in HieraTrees().make(rand).files.items() if not name.startswith("global/")}
    for name, system in (("web1", "debian"), ("web2", "debian"), ("db1", "redhat")):
        made[f"facts/{name}.json"] = json.dumps({"os": system, "n": 1}, indent=1)
    if rand.random() < 0.5:
        made["hiera/data/nodes/web2.yaml"] = yaml_text(Maker(rand, "delmtn").map(2, 3), rand)
    return {**made, "nodeattrs.toml": 'hiera = "hiera"\n'}


REPOSITORIES: Mapping[str, Callable[[random.Random], Files]] = {
    "example": example,
    "folds": folds,
    "nodes": nodes,
    "hiera": hiera,
}


# --- changes


def edited(files: Files, rand: random.Random, only: Callable[[str], bool] = lambda _: True) -> Files:
    """With one place changed: a scalar, a line that goes, one that is there twice, a file that comes or goes."""
    names = [name for name in sorted(files) if only(name) and files[name].strip() and not name.startswith("facts")]
    name = rand.choice(names)
    lines = files[name].split("\n")
    settings = [one for one in marked({name: files[name]}) if one.new is not None]
    at = rand.randrange(len(lines))
    match rand.choice(["value", "value", "value", "goes", "twice", "swap", "file", "number"]):
        case "value" if settings:
            one = rand.choice(settings)
            return {**files, name: files[name][: one.start] + str(one.new) + files[name][one.end :]}
        case "goes":
            del lines[at]
        case "twice":
            lines.insert(at, lines[at])
        case "swap":
            other = rand.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        case "file" if rand.random() < 0.5:
            return {one: text for one, text in files.items() if one != name}
        case "file":
            other = rand.choice(names)
            return {**files, _beside(name, rand): files[other]}
        case _:
            lines[at] = "".join(
                str((int(sign) + 1) % 10) if sign.isdigit() and rand.random() < 0.7 else sign for sign in lines[at]
            )
    return {**files, name: "\n".join(lines)}


def _beside(name: str, rand: random.Random) -> str:
    folder, _, file = name.rpartition("/")
    stem, dot, suffix = file.rpartition(".")
    new = rand.choice([f"{stem}x", "web2", "web1", "common", "two", "debian", stem])
    return f"{folder}/{new}{dot}{rand.choice([suffix, 'json', 'yaml'])}".lstrip("/")


def two_files(files: Files, rand: random.Random) -> Files:
    """Two places in two files."""
    after = edited(files, rand)
    changed = {name for name in {*files, *after} if files.get(name) != after.get(name)}
    return edited(after, rand, lambda name: name not in changed)


def renamed_role(files: Files, rand: random.Random) -> Files:
    """A role by another name, and most of those who name it."""
    roles = [name for name in files if name.startswith("roles/")]
    if not roles:
        return two_files(files, rand)
    old = rand.choice(roles)
    stem, dot, suffix = old.removeprefix("roles/").partition(".")
    named = {f"role[{stem}]": "role[renamed]", f'"name": "{stem}"': '"name": "renamed"'}
    named |= {f'name("{stem}")': 'name("renamed")', f"name: {stem}\n": "name: renamed\n"}
    after = {}
    for name, text in files.items():
        for one, other in named.items() if name == old or rand.random() < 0.9 else ():
            text = text.replace(one, other) if name == old or one.startswith("role[") else text
        after[f"roles/renamed{dot}{suffix}" if name == old else name] = text
    return after


def other_nodes(files: Files, rand: random.Random) -> Files:
    """A node that comes or goes, and now and then an edit besides."""
    described = [name for name in files if name.startswith(("nodes/", "facts/"))]
    if not described:
        return edited(files, rand)
    name = rand.choice(described)
    if rand.random() < 0.5 and len(described) > 1:
        after = {one: text for one, text in files.items() if one != name}
    else:
        stem = name.rpartition("/")[2].partition(".")[0]
        after = {**files, name.replace(stem, "new"): files[name].replace(f'"{stem}"', '"new"')}
    return edited(after, rand) if rand.random() < 0.3 else after


def broken(files: Files, rand: random.Random) -> Files:
    """A file that cannot be read any longer."""
    name = rand.choice([name for name in sorted(files) if not name.startswith("facts")])
    text = files[name]
    at = rand.randrange(len(text) + 1)
    odd = rand.choice(["{", "]", "\0", "\t- :", '"', "\ud7ff", ": :", "(", "raise ValueError('x')\n"])
    return {**files, name: text[:at] + odd + text[at:]}


CHANGES: Mapping[str, Callable[[Files, random.Random], Files]] = {
    "edit": edited,
    "two files": two_files,
    "role": renamed_role,
    "node": other_nodes,
    "broken": broken,
}


# --- both answers


def written(files: Files, place: Path) -> Path:
    """The files in a folder."""
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="")
    return place


Answers = dict[tuple[str, str], dict[tuple[Any, ...], str]]
"""Dialect and subject -> kind and path -> value, as text. Nothing that our comparing uses."""


def everything(folder: Path, request: Request) -> Answers:
    """What everybody answers, each asked with fresh objects."""
    side = folder_side(folder)
    found: Answers = {}
    for dialect, one in all_dialects().items():
        try:
            opened = one.open(side, request)
            names = set(opened.subjects()) if opened.is_there else set()
        except NodeattrsError:
            continue
        for name in names:
            found[dialect, name] = alone(folder, request, dialect, name)
    return found


def alone(folder: Path, request: Request, dialect: str, name: str) -> dict[tuple[Any, ...], str]:
    """What one answers."""
    try:
        answer = named(dialect).open(folder_side(folder), request).answer(name)
    except NodeattrsError as error:
        return {("no answer",): str(error).replace(f"{folder}/", "")}
    return {
        (kind, *path): text.replace(f"{folder}/", "").replace(str(folder), ".")
        for kind, part in answer.items()
        for path, text in flat(dict(part.tree))
    }


def flat(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """The leaves of a tree as text; a list is one."""
    if isinstance(value, dict) and value:
        for step, entry in value.items():
            yield from flat(entry, (*path, step))
    else:
        yield path, text_of(value)


def text_of(value: Any) -> str:
    """A value with its types, whatever the order of the keys in it."""
    if hasattr(value, "evaluate"):
        try:
            value = value.evaluate()
        except NodeattrsError as error:
            value = error
        except Exception as error:
            value = f"{type(error).__name__}: {error}"
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{text_of(step)}:{text_of(entry)}" for step, entry in value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(text_of, value)) + "]"
    if isinstance(value, NodeattrsError):
        return f"error {value}"
    return f"secret {value.unwrap()!r}" if hasattr(value, "unwrap") else f"{type(value).__name__} {value!r}"


Changed = set[tuple[Any, ...]]
"""Dialect, subject, kind and path of everything that is another value."""


def by_force(before: Answers, after: Answers) -> Changed:
    """What changes, by looking at all of it."""
    found: Changed = set()
    for who in {*before} & {*after}:
        one, other = before[who], after[who]
        if ("no answer",) in one or ("no answer",) in other:
            if one.get(("no answer",)) != other.get(("no answer",)):
                found.add((*who, "no answer"))
            continue
        differing = {path for path in {*one, *other} if one.get(path) != other.get(path)}
        differing = {path for path in differing if not _filled(path, one, other)}
        found |= {(*who, *(path[:2] if _is_whole(path, one, other) else path)) for path in differing}
    for who in {*before} ^ {*after}:
        found.add((*who, "there"))
    return found


def _is_whole(path: tuple[Any, ...], one: dict[tuple[Any, ...], str], other: dict[tuple[Any, ...], str]) -> bool:
    """Whether it is of a resource that is on one side only: then it is one change."""
    return path[0] == "resource" and not all(any(its[:2] == path[:2] for its in side) for side in (one, other))


def _filled(path: tuple[Any, ...], one: dict[tuple[Any, ...], str], other: dict[tuple[Any, ...], str]) -> bool:
    """Whether an empty map has entries on the other side: those are what changes."""
    inner = (longer for longer in {*one, *other} if len(longer) > len(path) and longer[: len(path)] == path)
    return "{}" in (one.get(path), other.get(path)) and None in (one.get(path), other.get(path)) and any(inner)


def by_impact(found: Impact) -> Changed:
    """What changes, as the program says."""
    changed: Changed = set()
    for group in found.groups:
        path = () if group.kind == "no answer" else group.path
        changed |= {(group.dialect, name, group.kind, *path) for name in group.subjects}
    for one in found.dialects:
        changed |= {(one.dialect, name, "there") for name in (*one.added, *one.removed)}
    return changed


# --- causes


def undone(before: Files, after: Files, lines: list[Line], *, only: bool) -> Files:
    """The files after without the places of some lines; with *only*, the files before with these alone."""
    wanted = {(line.file, line.line, line.is_gone) for line in lines}
    made = {}
    for name in {*before, *after}:
        mine = {(number, gone) for file, number, gone in wanted if file == name}
        if name not in before or name not in after or (None, False) in mine or (None, True) in mine:
            source = (after if mine else before) if only else (before if mine else after)
            if name in source:
                made[name] = source[name]
            continue
        old, new = before[name].splitlines(True), after[name].splitlines(True)
        text = []
        for _, first, last, other, end in _codes(old, new):
            is_mine = any(first < number <= last if gone else other < number <= end for number, gone in mine)
            text += new[other:end] if is_mine is only else old[first:last]
        made[name] = "".join(text)
    return made


def _codes(old: list[str], new: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    for tag, first, last, other, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "replace" and last - first == end - other:
            yield from ((tag, first + at, first + at + 1, other + at, other + at + 1) for at in range(last - first))
        else:
            yield tag, first, last, other, end


def is_cause(before: Files, after: Files, group: ChangeGroup, request: Request) -> bool:
    """Whether the named lines are causes: each of them, or all together."""
    if not group.lines:
        return False
    each = all(_is_cause(before, after, [line], group, request) for line in group.lines)
    return each or _is_cause(before, after, list(group.lines), group, request)


def _is_cause(before: Files, after: Files, lines: list[Line], group: ChangeGroup, request: Request) -> bool:
    path = (group.kind,) if group.kind == "no answer" else (group.kind, *group.path)
    name = group.subjects[0]
    for only, like in ((False, after), (True, before)):
        with folder_of(undone(before, after, lines, only=only)) as one, folder_of(like) as other:
            tried, known = alone(one, request, group.dialect, name), alone(other, request, group.dialect, name)
        if _at(tried, path) != _at(known, path):
            return True
    return False


def _at(answer: dict[tuple[Any, ...], str], path: tuple[Any, ...]) -> Any:
    return answer.get(path), sorted(text for one, text in answer.items() if one[: len(path)] == path)


# --- cases


@contextlib.contextmanager
def folder_of(files: Files) -> Iterator[Path]:
    """A folder with the files, for a moment."""
    place = Path(os.path.realpath(tempfile.mkdtemp(prefix="nodeattrs-oracle-")))
    try:
        yield written(files, place)
    finally:
        shutil.rmtree(place)


def request_of(repository: str) -> Request:
    """How a repository is asked."""
    return Request(facts="facts.json" if repository == "nodes" else "")


def said(before: Files, after: Files, request: Request, rand: random.Random) -> Impact:
    """What the program says: of folders or of commits, with and without shared answers."""
    with private_folder() as private, folder_of(before) as old, folder_of(after) as new:
        sharing = rand.random() < 0.5
        sides = _committed(old, new, private) if rand.random() < 0.15 else (folder_side(old), folder_side(new))
        return impact(*sides, request, ImpactOptions(private, sharing=sharing, jobs=1))


def _committed(old: Path, new: Path, private: Path) -> tuple[Side, Side]:
    place = private / "git"
    place.mkdir()
    settings = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "core.autocrlf=false")
    subprocess.run(["git", "init", "-q"], cwd=place, check=True)
    for folder in (old, new):
        for one in place.iterdir():
            if one.name != ".git":
                shutil.rmtree(one) if one.is_dir() else one.unlink()
        shutil.copytree(folder, place, dirs_exist_ok=True)
        subprocess.run(["git", "add", "-A"], cwd=place, check=True)
        subprocess.run(["git", *settings, "commit", "-q", "--allow-empty", "-m", "one"], cwd=place, check=True)
    return sides_of("HEAD~1..HEAD", None, place, private)


def case(repository: str, kind: str, rand: random.Random) -> list[str]:
    """What is wrong in one case; nothing where all is well."""
    before = REPOSITORIES[repository](rand)
    after = CHANGES[kind](before, rand)
    request = request_of(repository)
    with folder_of(before) as old, folder_of(after) as new:
        known = by_force(everything(old, request), everything(new, request))
    try:
        found = said(before, after, request, rand)
    except NodeattrsError as error:
        return [f"refused: {error}"] if known else []
    claimed = by_impact(found)
    wrong = [f"missed: {one}" for one in sorted(known - claimed, key=str)]
    wrong += [f"invented: {one}" for one in sorted(claimed - known, key=str)]
    groups = rand.sample(found.groups, min(_TRIED, len(found.groups)))
    return wrong + [
        f"no cause: {group.subjects[0]} {group.spelled}: {', '.join(map(str, group.lines))}"
        for group in groups
        if not is_cause(before, after, group, request)
    ]


def what_if_case(repository: str, rand: random.Random) -> list[str]:
    """`what-if --without FILE:LINE` beside the line that really goes, or the file."""
    before = REPOSITORIES[repository](rand)
    name = rand.choice([name for name in sorted(before) if not name.startswith("facts") and before[name]])
    lines = before[name].splitlines(True)
    number = rand.randint(1, len(lines))
    is_whole = rand.random() < 0.3
    after = {one: text for one, text in before.items() if one != name}
    after |= {} if is_whole else {name: "".join(lines[: number - 1] + lines[number:])}
    request = request_of(repository)
    with private_folder() as private, folder_of(before) as old, folder_of(after) as new:
        known = by_force(everything(old, request), everything(new, request))
        side = folder_side(old)
        word = name if is_whole else f"{name}:{number}"
        other, changed = side_after(side, request, [word], [], [], private / "after")
        try:
            claimed = by_impact(impact(side, other, changed, ImpactOptions(private, jobs=1)))
        except NodeattrsError as error:
            return [f"refused: {error}"] if known else []
    return [f"missed: {one}" for one in known - claimed] + [f"invented: {one}" for one in claimed - known]


KINDS = (*CHANGES, "what-if")


def one(number: int, seed: int, kinds: tuple[str, ...] = KINDS) -> list[str]:
    """What is wrong in the case of a number: the same one each time."""
    rand = random.Random(f"impact {seed} {number}")
    kind = kinds[number % len(kinds)]
    repository = rand.choice(["folds", "hiera", "nodes", "folds", "hiera", "nodes", "example"])
    wrong = what_if_case(repository, rand) if kind == "what-if" else case(repository, kind, rand)
    return [f"case {number} of seed {seed} ({repository}, {kind}): {text}" for text in wrong]


def main(argv: list[str] | None = None) -> int:
    """Run them; 1 where one failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS, help="only such changes")
    options = parser.parse_args(argv)
    failed = 0
    for number in range(options.first, options.first + options.count):
        wrong = one(number, options.seed, (options.kind,) if options.kind else KINDS)
        failed += bool(wrong)
        for text in wrong[:6]:
            print(text, flush=True)
    print(f"{options.count - failed} passed, {failed} failed")
    return int(failed > 0 or options.count < 1)


if __name__ == "__main__":
    sys.exit(main())
