"""The public classes of Hiera: `Hiera`, a tree of data, and `Scope`, a node that looks keys up in it.

This module has the calls with their defaults and checks; `search` searches for a key, and `explain` explains it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

from nodeattrs.core.looks import Looks
from nodeattrs.core.sensitive import Encrypted, revealed
from nodeattrs.core.tree import ABSENT, copied, near
from nodeattrs.dialects.hiera.codes import BAD_ARGUMENTS, MISSING_PARAMETER, VALUE_TYPE_MISMATCH
from nodeattrs.dialects.hiera.errors import BadData, BadLookup, CannotMerge, HieraError, KeyNotFound
from nodeattrs.dialects.hiera.explain import (
    Explanation,
    Recorder,
    UnknownLevel,
    explained,
    explained_options,
    undecided_levels,
)
from nodeattrs.dialects.hiera.hierarchies import LoadedTree
from nodeattrs.dialects.hiera.keys import split_key
from nodeattrs.dialects.hiera.search import BaseScope, LookupCall, Merge
from nodeattrs.dialects.hiera.types import parse_type
from nodeattrs.dialects.hiera.values import LEAVES
from nodeattrs.dialects.hiera.variables import unset_sentences
from nodeattrs.errors import NodeattrsError, TooDeep

REQUIRED: Any = object()
"""A class parameter without a default of its own."""


class Scope(BaseScope):
    """A node in an environment, which looks keys up in a tree. `Hiera.scope` makes it and reads no file.

    tree:        the loaded tree
    variables:   facts, trusted facts and variables, by the names that expressions use
    missing:     variable that is not set -> the keys whose values name it, for all lookups so far
    has_unknown: whether a level that was searched so far could not be read

    `lookup` returns a value, and `explain` an Explanation with the lines behind it. Without a value and a default,
    `lookup` raises KeyNotFound. `unknown_levels` lists levels that cannot be read and may change a lookup.
    `explain_options` explains the lookup_options of a key, and `parameters` looks up the parameters of a class.
    `hiera`, `hiera_array` and `hiera_hash` are Puppet's older functions. Files are read at the first lookup that needs
    them, and kept in the tree. Results are not kept.
    """

    def lookup(
        self,
        name: str | Sequence[str],
        *,
        merge: Merge = None,
        value_type: str | None = None,
        default_value: Any = ABSENT,
        default_values_hash: Mapping[str, Any] | None = None,
        override: Mapping[str, Any] | None = None,
        otherwise: Callable[[Any], Any] | None = None,
    ) -> Any:
        """The value of a key; for several keys the value of the first one that is found. Null counts as found.

        The caller may change the result: it is a copy.

        merge:               a strategy, or its name, that is used in place of the one in lookup_options; None for none
        value_type:          the type that the answer must have, in Puppet's words: "Array[String]"; None: any type
        default_value:       the answer if nothing is found
        default_values_hash: key -> the answer if nothing is found; it counts before default_value
        override:            key -> the answer; it counts before all data
        otherwise:           called with *name* if nothing is found and there is no other default; it returns the answer
        cost:                one look at each file until the first one found; for merges one visit a value
        raises:              KeyNotFound; TooDeep; the other errors of docs/hiera.md
        """
        call = LookupCall(self, override, default_values_hash, ("",))
        try:
            value = self._value(name, call, merge, value_type, default_value, otherwise)
            return copied(value, LEAVES) if type(value) in (dict, list) else value
        except CannotMerge as error:
            raise self._with_origins(error, name, merge, override, default_values_hash) from None
        except RecursionError:
            raise TooDeep("the keys that need each other, or a value, are nested too deep") from None

    def _value(
        self,
        name: str | Sequence[str],
        call: LookupCall,
        merge: Merge,
        value_type: str | None,
        default_value: Any,
        otherwise: Callable[[Any], Any] | None,
    ) -> Any:
        """The value of the first of some keys that is found; callers must not change it. raises: as `lookup`"""
        if merge is not None:
            self._check_merge(merge)
        names = (name,) if isinstance(name, str) else name
        value: Any = ABSENT
        for one in names:
            call.chain = (one,)
            value = self.answer(one, merge, call, defaults=False)
            if value is not ABSENT:
                break
        if value is ABSENT and call.defaults is not None:
            value = next((call.defaults[one] for one in names if one in call.defaults), ABSENT)
            call.found_in = "data" if value is ABSENT else "default_values_hash"
        if value is ABSENT and otherwise is not None:
            call.found_in, value = "otherwise", otherwise(name)
        elif value is ABSENT and default_value is not ABSENT:
            call.found_in, value = "default_value", default_value
        if value is ABSENT:
            raise self._not_found(names, merge, call)
        if value_type is not None:
            self._check_type(value_type, value, name)
        return value

    def explain(
        self,
        name: str | Sequence[str],
        *,
        merge: Merge = None,
        value_type: str | None = None,
        default_value: Any = ABSENT,
        default_values_hash: Mapping[str, Any] | None = None,
        override: Mapping[str, Any] | None = None,
        otherwise: Callable[[Any], Any] | None = None,
    ) -> Explanation:
        """Why `lookup` returns its value: takes the same arguments, and returns an Explanation.

        An error of the lookup is the `error` of the explanation and is not raised. Of several names the first one that
        is found is explained, else the first one with a default, else the first.
        """
        if not isinstance(name, str):
            known = [one for one in name if self.explain(one, merge=merge, override=override).found]
            known += [one for one in name if one in (default_values_hash or {})]
            name = [*known, *name][0]
        recorder = Recorder(self, name, override, default_values_hash, [])

        def ask() -> Any:
            return self._value(name, recorder, merge, value_type, default_value, otherwise)

        before, self.missing = self.missing, {}
        try:
            return explained(self, name, recorder, ask)
        finally:
            own, self.missing = self.missing, before
            for variable, keys in own.items():
                before.setdefault(variable, {}).update(keys)

    def unknown_levels(
        self,
        name: str | Sequence[str],
        *,
        merge: Merge = None,
        default_values_hash: Mapping[str, Any] | None = None,
        override: Mapping[str, Any] | None = None,
    ) -> tuple[UnknownLevel, ...]:
        """The levels that cannot be read and might change what `lookup` returns for the same arguments; () for none.

        raises: the errors of `lookup`, but no KeyNotFound
        """
        call = LookupCall(self, override, default_values_hash, ("",))
        return undecided_levels(self, [name] if isinstance(name, str) else name, merge, call)

    def explain_options(self, name: str) -> Explanation:
        """The explanation of the merged lookup_options for the module of a key: each entry with its file and line.

        An error of the merge is the `error` of the explanation and is not raised.
        """
        return explained_options(self, name)

    def hiera(self, name: str, default_value: Any = ABSENT) -> Any:
        """The first value found; lookup_options are ignored."""
        return self.lookup(name, merge="first", default_value=default_value)

    def hiera_array(self, name: str, default_value: Any = ABSENT) -> Any:
        """All values in one list, merged by `unique`; lookup_options are ignored."""
        return self.lookup(name, merge="unique", default_value=default_value)

    def hiera_hash(self, name: str, default_value: Any = ABSENT) -> Any:
        """All maps merged by `hash`; lookup_options are ignored."""
        return self.lookup(name, merge="hash", default_value=default_value)

    def parameters(self, class_name: str, declared: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters of a class, looked up as `class::parameter`.

        declared: parameter -> its default, or REQUIRED; null from data counts as not given
        return:   parameter -> value, in the order declared; parameters whose value is null are left out
        raises:   BadLookup "missing_parameter", for a REQUIRED one without a value; the errors of `lookup`
        """
        found = {}
        for parameter, default in declared.items():
            key = f"{class_name}::{parameter}"
            value = self.lookup(key, default_value=None)
            if value is None:
                value = default
            if value is REQUIRED:
                raise BadLookup(
                    f"the class {class_name} has no value for its parameter {parameter}",
                    kind=MISSING_PARAMETER,
                    hint=f"write {key} into the data, or give the parameter a default",
                )
            if value is not None:
                found[parameter] = value
        return found

    # --- faults

    def _check_merge(self, merge: Any) -> None:
        fits = merge if isinstance(merge, str) else isinstance(merge, Mapping)
        if fits and isinstance(merge, Mapping):
            fits = all(type(value) in (str, int, float, bool) for value in merge.values())
        if not fits:
            raise BadLookup(
                f"merge must be a strategy, or a map of one with options, not {merge!r}",
                kind=BAD_ARGUMENTS,
                hint="write merge='deep', or merge={'strategy': 'deep', 'knockout_prefix': '--'}",
            )

    def _check_type(self, text: str, value: Any, name: Any) -> None:
        wanted = parse_type(text)
        value = revealed(value)
        if not wanted.holds(value.unwrap() if isinstance(value, Encrypted) else value):
            kind = {dict: "map", list: "list", str: "text", type(None): "null"}.get(type(value), type(value).__name__)
            raise BadLookup(f"the value of {name!r} is a {kind}, and no {wanted}", kind=VALUE_TYPE_MISMATCH)

    def _not_found(self, names: Sequence[str], merge: Merge, call: LookupCall) -> HieraError:
        """The error where nothing has a key: KeyNotFound.

        BadData instead, where a level might have it and its data function does not exist here.
        """
        shown = ", ".join(map(repr, names))
        for level in undecided_levels(self, names, merge, call) if self.has_unknown and self.tree.lacking else ():
            fault = self.tree.lacking.get((level.origin.file, level.origin.line))
            if fault is not None:
                details = [f"no other level has {shown}"]
                place = {"file": fault.file, "line": fault.line, "hint": fault.hint}
                lacking = BadData(fault.reason, kind=fault.kind, details=details, **place)
                lacking.may_be_there = True
                return lacking
        if self.looks is not None:  # so that the reads of the message are noted with the lookup
            self._gaps(names)

        def known_later() -> Sequence[str]:
            unknown = undecided_levels(self, names, merge, call) if self.has_unknown else ()
            return [*(f"{level.key} may be in {level}" for level in unknown if not level.is_merge), *self._gaps(names)]

        message = f"{names[0]} is not set" if len(names) == 1 else f"none of {shown} is set"
        return KeyNotFound(message, details=known_later, hint=partial(self._way_out, names))

    def _gaps(self, names: Sequence[str]) -> list[str]:
        """Sentences about missing parts of the hierarchy: folders that do not exist, and unset variables of paths."""
        found: list[str] = []
        with suppress(NodeattrsError):
            for module in dict.fromkeys(self.module_with_data(str(split_key(name)[0])) for name in names):
                if module not in self._known_gaps:
                    absent = {place.folder: place.origin for place in self.places(module) if not place.has_folder}
                    self._known_gaps[module] = [
                        *(f"there is no folder {self.tree.shown(one)}, which {at} names" for one, at in absent.items()),
                        *unset_sentences(self, module),
                    ]
                found += self._known_gaps[module]
        return found

    def _way_out(self, names: Sequence[str]) -> str:
        """A hint: a key that is spelled nearly like one of the names, if there is one. cost: a look at every key"""
        with suppress(NodeattrsError):
            for name in names:
                for close in near(name, self.known_keys()):
                    return f"did you mean {close}?"
        return "give it a default_value, or write it into a data file"

    def _with_origins(self, error: CannotMerge, name: Any, merge: Merge, override: Any, defaults: Any) -> NoReturn:
        """Raise the error with the files that set both sides, which a second search with a Recorder finds."""
        names = [name] if isinstance(name, str) else name
        for one in names:
            if override is not None and one in override:
                continue
            recorder = Recorder(self, one, override, defaults)
            recorder.key = str(split_key(one)[0])
            try:
                self.search(one, merge, recorder)
            except CannotMerge:
                path, hides = error.path or (), recorder.is_secret
                error.details = (
                    *error.details,
                    *(one.sentence(path, is_secret=hides) for one in recorder.readable_values()),
                )
                break
            except HieraError:
                break
        raise error

    def __repr__(self) -> str:
        return f"<Scope {self.node or 'without a name'} in {self.environment}>"


class Hiera(LoadedTree):
    """A tree of Hiera 5 data: its hiera.yaml files, and the data files that were read so far.

    The constructor reads only puppet.conf. `scope()` makes a node that looks keys up; many threads may do so at once.
    config:          a hiera.yaml, or a folder with one: the environment layer, for every environment
    environmentpath: instead of config: a folder with a folder for each environment
    global_config:   the hiera.yaml of the global layer; if that file does not exist, a built-in one is used
    modulepath:      folders with modules, after those of environment.conf, or of `modules` beside it
    basemodulepath:  the folders that `$basemodulepath` means in environment.conf
    puppet_conf:     a puppet.conf, or its folder; it gives global_config, environmentpath and basemodulepath, unless
                     they are arguments
    functions:       data functions by the names that hiera.yaml uses; entry points of the group `nodeattrs.hiera` are
                     found too
    decrypt:         whether to use the keys that hiera.yaml names for eyaml; or a function that decrypts one `ENC[..]`
    root:            the folder to which file names in messages are relative
    sensitive:       a function that makes a secret of a value, for `convert_to: Sensitive`
    documented:      True: where Puppet's merge strategies differ from its documentation, follow the documentation
    strict:          warnings and levels that cannot be read are errors
    skip_levels:     the names of levels to leave out
    sensitive_paths: paths whose first step is a key. A value there becomes a secret, and so does a value that contains
                     it
    puppet_version:  7 or 8: the version whose rules are used. Puppet 8 ends a lookup at an unset variable, a data file
                     that is not a map, and a hiera.yaml of version 3 in an environment
    ruby:            run data functions of the control repository that are Ruby, with the ruby of this machine
    raises:          BadArgument, if no layer is named or a named place does not exist

    >>> hiera = Hiera("cookbooks_example/hiera")
    >>> hiera.scope(node="web2").lookup("ntp::servers")
    ['0.pool.ntp.example', '1.pool.ntp.example']
    """

    def scope(
        self,
        facts: Mapping[str, Any] | None = None,
        *,
        node: str = "",
        environment: str = "production",
        trusted: Mapping[str, Any] | None = None,
        variables: Mapping[str, Any] | None = None,
        knows_facts: bool | None = None,
        looks: Looks | None = None,
    ) -> Scope:
        """A Scope: one node with its facts, in an environment. Reads nothing.

        facts:       as `%{facts.os.family}`, and each also as a variable of its own
        trusted:     as `%{trusted.certname}`; made from the name of the node unless given
        variables:   further variables, which hide facts of their name
        knows_facts: whether an unset variable is known to be unset on the node, and so an error of Puppet 8;
                     None: whether there are facts
        looks:       notes what the scope looks at of the node; None: nothing is noted
        """
        known = bool(facts) if knows_facts is None else knows_facts
        return Scope(self, facts or {}, node, environment, trusted, variables or {}, known, looks)
