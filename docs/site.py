"""What MkDocs asks while it builds the site: pages that are generated, and links that lead out of docs/.

Commands come from the parser, codes from their declarations, names from `__all__`; the README is the first page. Only
the build imports this.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import griffe
from mkdocs.structure.files import File, Files

from nodeattrs.codes import Code, codes

ROOT = Path(__file__).parents[1]
TOP = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
TOP |= {"SECURITY.md": "security.md"}
"""Pages of the top folder, and what they are on the site."""

MODULES = (
    "nodeattrs",
    "nodeattrs.errors",
    "nodeattrs.chef",
    "nodeattrs.store",
    "nodeattrs.store.search",
    "nodeattrs.catalog",
    "nodeattrs.hiera",
    "nodeattrs.inject",
    "nodeattrs.settings",
    "nodeattrs.cloudinit",
    "nodeattrs.bindings",
    "nodeattrs.ansible",
    "nodeattrs.policies",
    "nodeattrs.recipe",
    "nodeattrs.testing",
)
"""The modules whose names are promises (stability.md)."""

_LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)\s]*)(?=\))")
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Add what is generated, and leave out the map of the pages: the navigation is one."""
    index = files.get_file_from_path("index.md")
    if index is not None:
        files.remove(index)
    texts = {place: (ROOT / name).read_text("utf-8") for name, place in TOP.items()}
    texts["codes.md"] = "".join(codes_page())
    texts["reference/commands.md"] = "".join(commands())
    texts["decisions.md"] = decisions((ROOT / "docs/index.md").read_text("utf-8"))
    texts["reference/python.md"] = python_index()
    for module in MODULES:
        texts[api_page(module)] = "".join(api(module))
    for place, text in texts.items():
        files.append(File.generated(config, place, content=text))
    return files


WEIGHTS = (
    ("decisions", 0.0),
    ("reference/commands.md", 0.7),
    ("reference/", 0.0001),
    ("contributing.md", 0.2),
    ("changelog.md", 0.2),
    ("codes.md", 0.3),
    ("glossary.md", 0.5),
    ("stability.md", 0.2),
    ("tutorials/", 0.9),
    ("ansible.md", 2.0),
    ("how-to/own-dialect.md", 2.0),
    ("how-to/own-", 1.0),
    ("how-to/", 3.0),
    ("cli.md", 2.0),
    ("impact.md", 2.0),
    ("search.md", 3.0),
)
"""Beginning of a page's name -> its weight in the search, the first that fits. Weight 0 leaves the page out."""


def search_of(page: str) -> dict[str, Any]:
    """The search settings of a page, as the theme takes them: {} for a page of weight 1."""
    weight = next((weight for start, weight in WEIGHTS if page.startswith(start)), 1.0)
    if weight == 0.0:
        return {"exclude": True}
    return {} if weight == 1.0 else {"boost": weight}


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Lead links where they lead on the site, and set the weight of the page in the search."""
    page.meta.setdefault("search", search_of(page.file.src_uri))
    parts = _FENCED.split(markdown)
    source = page.file.src_uri
    parts[::2] = (
        _LINK.sub(lambda found: led(found[1], source, config["extra"]["repository"]), part) for part in parts[::2]
    )
    return "".join(parts)


def led(link: str, source: str, repository: str) -> str:
    """A link of a page, as the site has it."""
    target, mark, anchor = link.partition("#")
    top = {place: name for name, place in TOP.items()}
    folder = Path() if source in top else Path("docs", source).parent
    whole = Path(*_normal((folder / target).parts)).as_posix()
    up = "../" * source.count("/")
    if whole == "docs/index.md":
        return f"{up}decisions.md" if anchor == "decisions" else f"{up}index.md{mark}{anchor}"
    if whole in TOP:
        return f"{up}{TOP[whole]}{mark}{anchor}"
    if whole.startswith("docs/"):
        return f"{up}{whole.removeprefix('docs/')}{mark}{anchor}"
    kind = "tree" if (ROOT / whole).is_dir() else "blob"
    return f"{repository}/{kind}/main/{whole}{mark}{anchor}"


def _normal(steps: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for step in steps:
        if step == "..":
            found = found[:-1]
        else:
            found.append(step)
    return found


def commands() -> Iterator[str]:
    """Every command and action, with its options, from the parser."""
    from nodeattrs.cli.manual import entries, markdown
    from nodeattrs.cli.program import parser

    yield "# Commands and options\n\nAfter this page you know every command and option. "
    yield "`nodeattrs COMMAND --help` prints one.\n\n"
    for entry in entries(parser()):
        text = markdown(entry)
        yield f"#{text}\n" if not entry.words else f"{text}\n"


_CODES = """\
# Codes

After this page you know what a code means and what to do about it. `nodeattrs codes NA1203` prints the same, with an
example; `nodeattrs codes NA12` prints a list. A code never changes its meaning, and the number of one that goes away
is not used again.
"""


def codes_page() -> Iterator[str]:
    """The page of codes: a table for each room, and in it an anchor for each code, as `Code.page` names it."""
    yield _CODES
    for room, entries in groupby(codes().values(), lambda one: one.room):
        yield f"\n## {room}\n\n|code|cause|way out|\n|---|---|---|\n"
        yield from map(_code_row, entries)


def _code_row(one: Code) -> str:
    names = ", ".join(f"`{name}`" for name in one.names)
    cause, way_out = (text.replace("|", "\\|") for text in (one.cause, one.way_out))
    return f'|<a id="{one.code.lower()}"></a>{one.code}<br>{names}|{cause}|{way_out}|\n'


def decisions(index: str) -> str:
    """The table of decisions of the map of the pages."""
    return (
        "# Decisions\n\nAfter these pages you know why nodeattrs is built as it is.\n"
        + index.partition("## Decisions")[2]
    )


def api_page(module: str) -> str:
    """The page of a module."""
    return f"reference/{module}.md"


def python_index() -> str:
    """The list of the modules with names to import."""
    rows = [
        f"| [`{one}`]({one}.md) | {(importlib.import_module(one).__doc__ or '').split(chr(10))[0]} |" for one in MODULES
    ]
    return "\n".join(
        [
            "# Python",
            "",
            "After this page you know which modules your program may import from.",
            "",
            "| module | |",
            "| --- | --- |",
            *rows,
            "",
        ]
    )


def api(module: str) -> Iterator[str]:
    """The names of a module, each from its docstring."""
    found = importlib.import_module(module)
    yield f"# {module}\n\n{as_markdown((found.__doc__ or '').strip())}\n\n"
    for name in public(found):
        yield f"::: {module}.{name}\n\n" if _is_seen(f"{module}.{name}") else _plain(found, name)


@cache
def _sources() -> Any:
    return griffe.load("nodeattrs", resolve_aliases=True)


def _is_seen(name: str) -> bool:
    """Whether the sources say what a name is, without running them."""
    try:
        return bool(_sources()[name.partition(".")[2]].final_target.docstring)
    except (griffe.GriffeError, KeyError, AttributeError):
        return False


def _plain(module: Any, name: str) -> str:
    """A value that has no words of its own in the sources."""
    try:
        return f"## {name}\n\n```text\n{getattr(module, name)!r}\n```\n\n"
    except Exception:  # a word that is known only while a recipe runs
        return f"## {name}\n\n"


class Words(griffe.Extension):
    """Our docstrings as Markdown: examples as code, words and what they mean as a list."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of a module, class or function."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


_MEANT = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*): +(?=\S)")


def as_markdown(text: str) -> str:
    """A docstring as Markdown."""
    lines: list[str] = []
    is_code = False
    for line in text.splitlines():
        if line.startswith(">>> ") and not is_code:
            lines += ["", "```pycon"]
            is_code = True
        elif not line.strip() and is_code:
            lines.append("```")
            is_code = False
        if not is_code and (found := _MEANT.match(line)):
            blank = [""] if lines and not lines[-1].startswith(("- ", "  ")) else []
            lines += [*blank, f"- **{found[1]}**: {line[found.end() :]}"]
        else:
            lines.append(line if is_code else line.replace("][", "]\\["))
    return "\n".join([*lines, *(["```"] if is_code else [])])


def public(module: Any) -> list[str]:
    """The public names of a module, but for modules in it."""
    named = getattr(module, "__all__", None) or [
        name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__
    ]
    return [name for name in sorted(named, key=str.lower) if not name.startswith("_")]
