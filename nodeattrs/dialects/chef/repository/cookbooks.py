"""Cookbooks: the files that each has, their names, and the order in which attribute files load.

The order is computed from names alone, and the caller gives the function that runs a file. So the order is the same for
cookbooks on disk and for cookbooks that a program describes. A cookbook may have files in Python, in Ruby and as data.
`cookbook_paths` finds the folder of a cookbook. docs/merging.md, "attribute files", has the rules.
"""

from __future__ import annotations

import itertools
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from nodeattrs.core.borders import NAMED, ListLike, checked_args
from nodeattrs.core.claim import Locator, Origin
from nodeattrs.core.tree import Path
from nodeattrs.dialects.chef.repository import recipe_data
from nodeattrs.dialects.chef.repository.attribute_data import SUFFIXES as DATA
from nodeattrs.dialects.chef.repository.attribute_data import AttributeData, read_data
from nodeattrs.dialects.chef.repository.programs import Program
from nodeattrs.dialects.chef.repository.recipe_data import RecipeData, read_recipe
from nodeattrs.errors import (
    AttributeFileNotFound,
    CookbookNotFound,
    CookbookVersionConflict,
    DocumentError,
    RecipeNotFound,
)
from nodeattrs.kinds import FOLDER_NAME, TWO_LANGUAGES
from nodeattrs.kinds import RUBY as RUBY_NOT_RUN
from nodeattrs.node.run_list import cookbook_of, qualified
from nodeattrs.project.fields import Fields, known_or_near
from nodeattrs.project.versions import Constraint, Version

RUBY = ".rb"
NOT_RUN = "is Ruby, which was not run"
_SUFFIXES = (".py", RUBY)

_FIELDS = (
    *("name", "version", "description", "long_description", "maintainer", "maintainer_email", "license"),
    *("depends", "dependencies", "platforms", "supports", "providing", "provides", "recipes", "recommendations"),
    *("suggestions", "conflicting", "replacing", "attributes", "groupings", "source_url", "issues_url", "privacy"),
    *("chef_versions", "chef_version", "ohai_versions", "ohai_version", "gems", "eager_load_libraries"),
)
"""The fields of Chef's metadata. Name, version and dependencies have an effect here, the others have none."""


@checked_args(name=str)
@dataclass(frozen=True)
class Cookbook:
    """A cookbook: its metadata, and the names of the files in its folder. Making a Cookbook reads no file.

    It may also be a stand-in for a cookbook that was not found: then `is_missing` is True and there are no files.
    `attribute_files` and `recipes` map names to paths. `attribute_paths` has all paths of attribute files, in loading
    order. `recipe_file` gives the path of one recipe, or raises RecipeNotFound. `attribute_name` gives the name of a
    path for origins, and `shown` the name for messages. `program`, `attribute_data` and `recipe_data` read the file at
    a path. `pins` yields the version constraints of the dependencies. `origin_of_version` and `origin_of_dependency`
    give lines of the metadata.

    version: "0.0.0" if the metadata has none
    depends: cookbook -> version constraint, as text
    files:   paths in the cookbook, with forward slashes
    root:    its folder; None for a cookbook that is not on disk
    folder:  the name of that folder in messages, relative to the repository; "." for the repository itself
    locator: gives the lines of the metadata
    depends_field: the key of the dependencies in the metadata
    unread:  the reason why the metadata, or the whole cookbook, is unknown; "" if it is known
    sets_only: the paths that a cookbook with *unread* may set, as the settings of the repository say; empty: any path
    """

    name: str
    version: str = "0.0.0"
    depends: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    description: str = ""
    root: pathlib.Path | None = None
    folder: str = ""
    locator: Locator = field(default=Origin("cookbook"), compare=False, repr=False)
    depends_field: str = field(default="depends", compare=False, repr=False)
    has_version: bool = field(default=False, compare=False, repr=False)
    unread: str = ""
    sets_only: frozenset[Path] = frozenset()
    _programs: dict[str, Program] = field(default_factory=dict, init=False, compare=False, repr=False)
    _data: dict[str, AttributeData] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def is_missing(self) -> bool:
        """Whether this is a stand-in for a cookbook that was not found."""
        return bool(self.unread) and self.root is None

    def program(self, file: str) -> Program:
        """A Python file of the cookbook, compiled once.

        file:   its path in the cookbook
        raises: RecipeNotFound, for a cookbook without a folder; DocumentError, also if the file does not exist
        """
        if file not in self._programs:
            self._programs[file] = Program(self._on_disk(file), self.shown(file))
        return self._programs[file]

    def attribute_data(self, file: str) -> AttributeData:
        """An attribute file in YAML, JSON or TOML, read once.

        file:   its path in the cookbook
        raises: RecipeNotFound, for a cookbook without a folder; DocumentError, also if the file does not exist
        """
        if file not in self._data:
            self._data[file] = read_data(self._on_disk(file), self.shown(file), self.attribute_name(file))
        return self._data[file]

    def recipe_data(self, file: str) -> RecipeData:
        """A recipe in YAML or JSON, read at each call.

        file:   its path in the cookbook
        raises: RecipeNotFound, for a cookbook without a folder; DocumentError, also if the file does not exist
        """
        return read_recipe(self._on_disk(file), self.shown(file))

    def _on_disk(self, file: str) -> pathlib.Path:
        if self.root is None:
            raise RecipeNotFound(f"cookbook {self.name} has no files on disk", hint=f"{self.shown(file)} is needed")
        return self.root / file

    def attribute_name(self, file: str) -> str:
        """The name of an attribute file, from its path: "apache2::default" for `attributes/default.rb`."""
        part = _stem(file.removeprefix("attributes/"))
        return f"{self.name}::{'default' if part == 'attributes' else part}"

    @cached_property
    def attribute_files(self) -> dict[str, tuple[str, ...]]:
        """Name of an attribute file -> its one or two paths, in loading order: "default" first. {} for none.

        A name may have a data file and a program; the data file comes first.
        raises: DocumentError, for a name with programs in Python and in Ruby, or with files in two data formats
        """
        self._refuse_twins("attributes/", "attributes.")
        data = [path for path in self.files if path.startswith("attributes/") and path.endswith(DATA)]
        data_files, programs = attribute_files_in(data, DATA), attribute_files_in(self.files, _SUFFIXES)
        order = attribute_files_in((*data, *self.files), (*DATA, *_SUFFIXES))
        found = {name: tuple(kind[name] for kind in (data_files, programs) if name in kind) for name in order}
        return {name: paths for name, paths in found.items() if paths}  # none: `attributes.yaml` beside the metadata

    @cached_property
    def attribute_paths(self) -> tuple[str, ...]:
        """The paths of all attribute files, in loading order; () for none. raises: DocumentError, as
        `attribute_files`
        """
        return tuple(itertools.chain(*self.attribute_files.values()))

    @cached_property
    def recipes(self) -> dict[str, str]:
        """Name -> path of each recipe; a file `recipe.py` or `recipe.rb` beside the metadata is "default". {} for none.

        A recipe in a folder below recipes/ has the name of its file. If several files have one name, code is preferred
        to YAML, and YAML to JSON, as in Chef; of several files of one kind the last one is taken.
        raises: DocumentError, for a name in Python and in Ruby
        """
        self._refuse_twins("recipes/", "recipe.")
        found: dict[str, str] = {}
        for suffixes in (recipe_data.JSON, recipe_data.YAML, _SUFFIXES):
            paths = [path for path in self.files if path.endswith(suffixes)]
            found |= _last_by_name(path for path in paths if path.startswith("recipes/"))
            alone = [path for path in paths if _stem(path) == "recipe"]
            found |= dict.fromkeys(["default"], alone[0]) if alone else {}
        return found

    def _refuse_twins(self, *begins: str) -> None:
        """Raise DocumentError if a name has two programs, or two files of data. begins: how the paths begin"""
        seen: dict[tuple[str, tuple[str, ...]], str] = {}
        data = DATA if "attributes/" in begins else recipe_data.YAML
        for path in sorted(path for path in self.files if path.startswith(begins)):
            kinds = (_SUFFIXES,) if path.startswith("attributes.") else (data, _SUFFIXES)  # no data beside the metadata
            kind = next((suffixes for suffixes in kinds if path.endswith(suffixes)), None)
            twin = path if kind is None else seen.setdefault((_stem(path), kind), path)
            if twin != path:
                message = f"{self.shown(twin)} and {self.shown(path)} are one file in two languages"
                raise DocumentError(message, file=self.shown(twin), hint="keep one", kind=TWO_LANGUAGES)

    def recipe_file(self, recipe: str) -> str:
        """The path of a recipe, relative to the folder of the cookbook.

        recipe: `cookbook::part`, or `cookbook` for its recipe `default`. The name of the cookbook is not compared
        raises: RecipeNotFound, with similar names; DocumentError, as `recipes`
        """
        part = qualified(recipe).rpartition("::")[2]
        if part not in self.recipes:
            raise RecipeNotFound(
                f"cookbook {self.name} has no recipe {part}", hint=known_or_near(part, sorted(self.recipes))
            )
        return self.recipes[part]

    def shown(self, file: str) -> str:
        """The name in messages of a file with the path *file* in the cookbook: "cookbooks/apache2/recipes/ssl.py"."""
        return file if self.folder == "." else f"{self.folder or self.name}/{file}"

    def pins(self) -> Iterator[tuple[str, str, Origin]]:
        """Yield (cookbook, constraint, line) for each dependency; the constraint is "" for any version."""
        for name, constraint in self.depends.items():
            yield name, constraint, self.origin_of_dependency(name)

    def origin_of_dependency(self, dependency: str) -> Origin:
        """The line of the metadata with a dependency; the file without a line for a cookbook that is not there."""
        return self.locator.at((self.depends_field, dependency))

    def origin_of_version(self) -> Origin:
        """The line of the metadata that sets the version; the file without a line if the metadata sets none."""
        if self.has_version:
            return self.locator.at(("version",))
        return self.locator.at(())._replace(line=None, column=None)


Cookbooks = Mapping[str, Cookbook] | Callable[[str], Cookbook | None]
"""Cookbooks by name: a map, or a function that returns None or raises CookbookNotFound for an unknown name."""


def read_metadata(name: str, fields: Fields, files: Iterable[str], root: pathlib.Path, folder: str) -> Cookbook:
    """The cookbook in the fields of a metadata document. No other file of the cookbook is read.

    If the metadata has another name than the folder, the cookbook gets the folder's name, and `fields` a warning.
    name:   the name of its folder
    files:  the paths of all files in the folder, relative to it
    root:   the folder itself
    folder: its name in messages, relative to the repository
    raises: DocumentError, with all faults
    """
    fields.only((*_FIELDS, "json_class", "chef_type"))
    if (inside := fields.text("name") or name) != name:
        hint = "call the folder so, too: here run-lists may use both, in Chef only that name"
        fields.warn(("name",), f"the folder {name} has the cookbook {inside}", hint, FOLDER_NAME)
    # metadata.json as Chef's tools write it says "dependencies", metadata.rb says "depends".
    given = [key for key in ("depends", "dependencies") if fields.tree.get(key) is not None]
    if len(given) == 2:
        fields.wrong(("dependencies",), f"{fields.what} says both depends and dependencies", "keep one of them")
    key = given[0] if given else "depends"
    cookbook = Cookbook(
        name,
        fields.version("version"),
        fields.constraints(key, lenient=key == "dependencies"),
        tuple(files),
        fields.text("description"),
        root,
        folder,
        fields.locator,
        key,
        fields.tree.get("version") is not None,
    )
    fields.finish()
    return cookbook


@checked_args(recipes=ListLike, cookbooks=NAMED)
def cookbook_order(recipes: Iterable[str], cookbooks: Cookbooks) -> list[str]:
    """The cookbooks of *recipes* in the order in which their attribute files load, each once.

    A cookbook follows its dependencies, which are taken in the order of their names. In a cycle of dependencies the
    cookbook that is met first loads last.
    recipes:   names without `recipe[...]`
    cookbooks: a map or a function from a name to its cookbook
    raises:    CookbookNotFound, with the line that needs it

    >>> cookbook_order(["app::web"], {"app": Cookbook("app", depends={"zlib": "", "base": ""}),
    ...     "zlib": Cookbook("zlib"), "base": Cookbook("base")})
    ['base', 'zlib', 'app']
    """
    order: list[str] = []
    seen: set[str] = set()
    for recipe in recipes:
        # Popped from the end. Each cookbook is entered, and after its dependencies left.
        to_do: list[tuple[str, Cookbook | None, bool]] = [(cookbook_of(recipe), None, True)]
        while to_do:
            name, asker, entering = to_do.pop()
            if not entering:
                order.append(name)
            elif name not in seen:
                seen.add(name)
                try:
                    cookbook = _found(cookbooks, name)
                except CookbookNotFound as error:
                    by = asker.origin_of_dependency(name) if asker else f"the run list, with recipe {recipe}"
                    error.details = (f"it is required by {by}",)
                    raise
                to_do.append((name, asker, False))
                to_do += [(needed, cookbook, True) for needed in sorted(cookbook.depends, reverse=True)]
    return order


def _found(cookbooks: Cookbooks, name: str) -> Cookbook:
    cookbook = cookbooks.get(name) if isinstance(cookbooks, Mapping) else cookbooks(name)
    if cookbook is None:
        hint = known_or_near(name, cookbooks) if isinstance(cookbooks, Mapping) else None
        raise CookbookNotFound(f"there is no cookbook {name}", hint=hint)
    return cookbook


def attribute_files_in(files: Iterable[str], suffix: str | tuple[str, ...] = ".py") -> dict[str, str]:
    """The attribute files among the files of a cookbook, in loading order: name -> path; {} for none.

    The default file is first. The others are sorted by path, as if each ended in `.rb`. A name is the file's own name
    without folder and suffix. Of several files with one name, the last one is taken: `zz/z.py` before `z.py`, and this
    before `a/z.py`. It loads at the place of the first. `attributes.py` beside the metadata is the default file, and
    replaces attributes/default.py.

    files:  paths in the cookbook
    suffix: the ending of attribute files, or several; files with other endings are ignored

    >>> attribute_files_in(["attributes/b.py", "attributes/default.py", "attributes/a/b.py", "README.md"])
    {'default': 'attributes/default.py', 'b': 'attributes/b.py'}
    """
    paths = sorted((path for path in files if path.endswith(suffix)), key=lambda path: _stem(path) + RUBY)
    inside = [path for path in paths if path.startswith("attributes/")]
    taken = _last_by_name(inside)
    found = {name: taken[name] for name in map(_name_of, inside)}
    alone = next((path for path in paths if _stem(path) == "attributes"), "")
    first = found.pop("default", "")
    return {"default": alone or first, **found} if alone or first else found


def _last_by_name(paths: Iterable[str]) -> dict[str, str]:
    """The name of a file, without folder and suffix -> its path; of several files with one name the last one.

    In each folder, files and folders are sorted together; the files of a folder come at its place.
    source: `filenames_by_name` of Chef's CookbookVersion, over the order of Ruby's Find
    """
    walked = sorted(paths, key=lambda path: f"{_stem(path)}{RUBY}".split("/"))
    return {_name_of(path): path for path in walked}


def _name_of(path: str) -> str:
    return _stem(path.rpartition("/")[2])


def _stem(path: str) -> str:
    return path.rpartition(".")[0]


class AttributeFileOrder:
    """Calls a function for each attribute file of a run, in Chef's order. Each file is run once.

    Call `load` once with the names of the cookbooks in order. A running file may call `include`, which runs another
    file at once; that file is then skipped when its turn comes. Both methods raise CookbookNotFound, and `include` also
    AttributeFileNotFound.

    cookbooks: a map or a function from a name to its cookbook; a function may return None for an unknown name
    run:    called with a cookbook and the path of a file in it; what it returns is ignored. The path is "" if `include`
        names a cookbook that is only a stand-in (`Cookbook.is_missing`). The function may call `include`
    loaded: "cookbook/path" of each file that was started, in order; grows
    """

    def __init__(self, cookbooks: Cookbooks, run: Callable[[Cookbook, str], None]) -> None:
        self.loaded: list[str] = []
        self._cookbooks = cookbooks
        self._run = run
        self._seen: set[tuple[str, str]] = set()

    def load(self, order: Iterable[str]) -> None:
        """Run the attribute files of the named cookbooks, in this order. Files that have been run are skipped.

        raises: CookbookNotFound, DocumentError, and the errors of *run*
        """
        for name in order:
            cookbook = _found(self._cookbooks, name)
            for file in cookbook.attribute_files:
                self._load(cookbook, file)

    def include(self, name: str, *, here: str = "", by: Callable[[], Origin] | None = None) -> None:
        """Run one file at once, unless it has been run or runs now.

        name: `cookbook` for its default file, `cookbook::file`, or `::file` for a file of the cookbook *here*
        here: the cookbook of the caller
        by:   a function that returns the line of the include, for the details of an error; None: no details
        raises: CookbookNotFound, AttributeFileNotFound, and the errors of *run*
        """
        cookbook_name, _, file = qualified(name).rpartition("::")
        try:
            cookbook = _found(self._cookbooks, cookbook_name or here)
            if cookbook.is_missing:
                self._run(cookbook, "")
                return
            self._files_named(cookbook, file)
        except (CookbookNotFound, AttributeFileNotFound) as error:
            error.details = (f"it is included by {by()}",) if by else ()
            raise
        self._load(cookbook, file)

    def _load(self, cookbook: Cookbook, name: str) -> None:
        if (cookbook.name, name) not in self._seen:
            self._seen.add((cookbook.name, name))
            for file in self._files_named(cookbook, name):
                self.loaded.append(f"{cookbook.name}/{file}")
                self._run(cookbook, file)

    def _files_named(self, cookbook: Cookbook, name: str) -> tuple[str, ...]:
        files = cookbook.attribute_files
        if name not in files:
            hint = known_or_near(name, sorted(files))
            raise AttributeFileNotFound(f"cookbook {cookbook.name} has no attribute file {name}", hint=hint)
        return files[name]


def check_versions(order: Iterable[str], cookbooks: Cookbooks, pins: Iterable[tuple[str, str, Origin]] = ()) -> None:
    """Raise CookbookVersionConflict, with all conflicts, if the version of a used cookbook does not meet a constraint.

    The dependencies of the used cookbooks are checked, too.
    order:     the names of the used cookbooks. Constraints on other cookbooks, and unread cookbooks, are ignored
    cookbooks: a map or a function from a name to its cookbook
    pins:      further constraints, as (cookbook, constraint, line)
    raises:    CookbookVersionConflict, CookbookNotFound
    """
    used = [one for one in (_found(cookbooks, name) for name in order) if not one.unread]
    asked = [*pins, *(pin for cookbook in used for pin in cookbook.pins())]
    details: list[str] = []
    origins: list[Origin] = []
    for cookbook in used:
        version = Version.parse(cookbook.version)
        for name, constraint, origin in asked:
            if name == cookbook.name and not Constraint.parse(constraint).allows(version):
                origins.append(origin)
                at = cookbook.locator.at(("version",)).place or "which is all there is"
                details.append(f"cookbook {name} is at {version} ({at}), and {constraint} is required by {origin}")
    if details:
        count = "a cookbook's version is" if len(details) == 1 else "the versions of cookbooks are"
        raise CookbookVersionConflict(f"{count} not what is required", origins=origins, details=details)


def not_run(file: str, hint: str | None = None) -> DocumentError:
    """A warning that a file in Ruby was not run. hint: the way out, or None"""
    return DocumentError(NOT_RUN, file=file, hint=hint, kind=RUBY_NOT_RUN)
