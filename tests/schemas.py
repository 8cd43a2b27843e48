"""The schemas of nodeattrs.toml and of every `--format json`, in one table. `python -m tests.schemas` writes them.

    "str|null"       one of them; int, num, bool, any; @claim is a part that several have; "=a" is the text a
    [x]              a list of x
    {"a": x, "b?": y, "*": z}   a map with a, perhaps b, and else nothing but z; without "*" further fields may join
    (x, y)           either

Each has a file in the package, and `_parts.json` what several share; `nodeattrs schema NAME` prints
one with its parts. `strict` makes a schema that lets no further field join: the tests ask it, so that no
field is missing here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nodeattrs.core.rules import WORDS
from nodeattrs.dialects.chef.repository.attribute_data import FACT_WORDS as TESTS
from nodeattrs.dialects.chef.repository.attribute_data import WORDS as DATA_WORDS
from nodeattrs.formats.documents import SYNTAXES
from nodeattrs.project.config import CHEF_NAMES

FOLDER = Path(__file__).parents[1] / "nodeattrs" / "schemas"

_WITH_ACTIONS = ("store", "hiera", "ansible", "bindings", "catalog", "cloud-config")

_TYPES = {"str": "string", "int": "integer", "num": "number", "bool": "boolean", "null": "null"}

_WHO = {"kind": "str", "name": "str", "file": "str|null", "line": "int|null", "column": "int|null"}
_SET = {"path": "str", "rank": "int", "verb": "str", **_WHO, "value?": "any", "slot?": "str"}
_PLACE = {"file": "str|null", "line": "int|null", "column": "int|null"}
_TRACE = {
    "path": "str",
    "steps": ["str|int|num|bool|null"],
    "found": "bool",
    "value": "any",
    "claims": ["@claim"],
    "elements": [{"value": "any", "ranks": ["int"], "claims": [_SET], "places?": ["str"]}],
    "history": [{**_SET, "event": "str", "count": "int", "at": "str|null", "by": (_SET, "null"), "rule": "str"}],
    "hidden_by": "str|null",
}
_COUNTS = {"*": "int"}
_REPORT = {"counts": _COUNTS, "seconds": "num", "noop?": "bool", "interrupted?": "bool", "resources?": "any"}
_UNREAD = {"place": "str", "layer": "str", "reason": "str", "paths": [["str|int|num|bool|null"]]}
_CERTAIN = {"certain": "bool", "unread": ["@unread"]}
_MATRIX = {
    "version": "int",
    **_CERTAIN,
    "question": "str",
    "summary": "str",
    "groups": [
        {
            "value?": "any",
            "error?": "str",
            "code?": "str",
            "message?": "str",
            "places": [{"set_by": ["@origin"], "nodes": ["str"]}],
            "notes": ["str"],
        }
    ],
}
_NOT_KNOWN = {"dialect": "str", "subject": "str", "message": "str", "code": "str"}
_SIDE = {"value": "any", "origin": "str|null", "set_by": ("@origin", "null")}
_COMPARED = {
    "version": "int",
    **_CERTAIN,
    "before": "str",
    "after": "str",
    "changes": [{"kind": "str", "path": "str", "change": "str", "before?": _SIDE, "after?": _SIDE}],
}
_WHERE = {
    "version": "int",
    **_CERTAIN,
    "lines": [
        {
            "file": "str",
            "line": "int",
            "dialect": "str",
            "path": "str",
            "value": "str",
            "wins_on": ["str"],
            "accounts": [
                {
                    "subjects": ["str"],
                    "outcome": "str",
                    "value": "str",
                    "setters": [{"outcome": "str", "layer": "str", "value": "str", "place": "str"}],
                }
            ],
        }
    ],
    "unused": [{"file": "str", "line": "int", "path": "str", "note": "str|null"}],
    "not_known": [{"subject": "str", "message": "str"}],
}
_IN_PLAYS = [{**_WHO, "value": "any", "level": "int", "plays": {"*": ["int"]}}]
"""Where playbooks of Ansible set a variable, with the numbers of the plays of each."""
_LEVELS = ("automatic", "default", "normal", "override")
_APPLIED = {
    "version": "int",
    "catalog": "str",
    "noop": "bool",
    "ok": "bool",
    "interrupted": "bool",
    "counts": _COUNTS,
    "resources": [
        {
            "resource": "str",
            "status": ["str"],
            "changes": ["str"],
            "errors": ["str"],
            "skipped_because": ["str"],
            "refreshed_for": ["str"],
            "seconds": "num",
            "origin": "@place|null",
            "reads": ["str"],
            "diff?": "str",
        }
    ],
    "not_visited": ["str"],
    "log": ["str"],
    "seconds": "num",
    "report": "str|null",
}
_CHANGE = {"path": "str", "change": ("=added", "=changed", "=removed"), "before?": "any", "after?": "any"}
_SIDE = {"value": "any", "origin": "str|null", "set_by?": ("@origin", "null")}
_DIFFERS = {
    "kind?": "str",
    "path": "str",
    "change": "str",
    "before?": _SIDE,
    "after?": _SIDE,
    "elements?": [{"change": "str", "value": "any", "origins": ["str"]}],
}
_FOLDED = {"value": "any", "set_by": ["@origin"]}
_ORIGINS = [{"path": "str", **_WHO}]
_LEVEL = {"key": "str", "layer": "str", "entry": "str", "file": "str|null", "line": "int|null", "reason": "str",
          "decides?": "str"}  # fmt: skip
_PART = {
    "number": "int",
    "filename": "str",
    "type": "str",
    "file": "str|null",
    "line": "int|null",
    "status": "str",
    "mergers": "list|null",
    "definition": "str|null",
    "source": "str|null",
    "kind": "str|null",
    "code": "str|null",
    "error": "str|null",
}

_SEVERITIES = ("=error", "=warning", "=note")
_CHECK = {
    "version": "int", "ok": "bool", **_CERTAIN,
    "looked_at": _COUNTS, "ignored": "int", "findings": ["@finding"],
}  # fmt: skip

_SCALAR = "str|num|bool|null"
_TEST = (_SCALAR, [_SCALAR], "@test")
_TESTS = {"not": _TEST, "has": _SCALAR, "version": "str|int"}
_CONDITION = ("@condition", ["@condition"])

PARTS: dict[str, Any] = {
    "condition": {"not?": _CONDITION, "*": _TEST},
    "test": {**{f"{word}?": _TESTS[word] for word in TESTS}, "*": "never"},
    "finding": {
        "code": "str",
        "name": "str",
        "severity": _SEVERITIES,
        "message": "str",
        "file": "str|null",
        "line": "int|null",
        "column": "int|null",
        "details": ["str"],
        "hint": "str|null",
        "page": "str",
        "fingerprint": "str",
    },
    "unread": _UNREAD,
    "origin": _WHO,
    "place": {"kind": "str", "name": "str", "file": "str|null", "line": "int|null"},
    "cause": {"what": "str", **_WHO},
    "claim": {
        **_SET,
        "outcome": ("=wins", "=joins", "=holds", "=unknown", "=loses"),
        "why": "str",
        "overridden_by": ["int"],
        "continued_by": [_SET],
        "causes": [{"what": "str", **_WHO, "path": "str|null", "read_at": (_PLACE, "null")}],
        "ties_with?": "list",
    },
    "trace": {"version": "int", **_TRACE, "because_of?": ["@cause"]},
    "revision": {
        "number": "int",
        "at": "str",
        "ok": "bool",
        "error": "str|null",
        "by": "str",
        "repository": "str|null",
        "nodeattrs": "str|null",
        "report": (_REPORT, "null"),
    },
    "explanation": {
        "version": "int",
        "node": "str|null",
        "environment": "str|null",
        "revision": "int|null",
        **_TRACE,
        "hint": "str|null",
        "facts?": "str",
        "certain?": "bool",
        "unread?": ["@unread"],
        "read": [{"what": "str", "trace": ("@explanation", "@lookup", "null")}],
        "git?": [{"file": "str", "line": "int", "commit": "str|null", "author": "str|null", "date": "str|null"}],
        "elsewhere?": [{**_WHO, "nodes": ["str"], "lacks": "str|null"}],
        "because_of?": ["@cause"],
    },
    "lookup": {
        "version": "int",
        "key": "str",
        "found": "bool",
        "found_in": "str|null",
        "value": "any",
        "error": ({"kind": "str", "message": "str"}, "null"),
        "strategy": "any",
        "strategy_from": ("str", "@origin"),
        "option": "str|null",
        "searched": "list",
        "leaves": [{"path": "str", "value": "any", "set_by": ["@origin"]}],
        "knocked_out": "list",
        "shadowed": ["@origin"],
        "unknown": [_LEVEL],
        "unset": ["str"],
        "converted": "any",
        "needed": ["str"],
        "needed_at": {"*": ["@origin"]},
        "because_of?": ["@cause"],
    },
    "applied": _APPLIED,
    "found": {"name": "str", "values?": {"*": "any"}},
}

_VALUE = {"value": "any", "secret": "bool", "failed": "bool"}
_LINE = {"file": "str", "line": "int|null", "gone": "bool"}
_IMPACT = {
    "version": "int",
    "before": "str",
    "after": "str",
    "files": ["str"],
    "refused": "bool",
    "ignored": "int",
    "asked": [
        {
            "dialect": "str",
            **dict.fromkeys(("subjects", "not_asked", "without_facts"), "int"),
            **dict.fromkeys(("shared", "checked", "seed", "one_by_one"), "int"),
            "sample_of": "int|null",
            "added": ["str"],
            "removed": ["str"],
            "unanswered": [{"subject": "str", "error": "str"}],
        }
    ],
    "changes": [
        {
            "dialect": "str",
            "kind": "str",
            "path": "str",
            "steps": ["str|int|num|bool|null"],
            "change": ("=added", "=changed", "=removed", "=broken", "=mended"),
            "before?": _VALUE,
            "after?": _VALUE,
            "removed?": "list",
            "added?": "list",
            "because": [_LINE],
            "tried": "bool",
            "unsteady": "bool",
            "refused": "bool",
            "subjects": ["str"],
        }
    ],
    **_CERTAIN,
    "outcomes": [{"file": "str", "outcome": "str"}],
    "changes_nothing": [{**_LINE, "dialect": "str", "path": "str", "overridden_by": ["str"], "subjects": "int"}],
    "notes": ["str"],
}

_NODE = {"version": "int", "node": "str", "environment": "str|null"}
_ANSWERS = {
    "version": "int",
    "key": "str",
    **_CERTAIN,
    "nodes": {
        "*": {
            "value?": "any",
            "error?": "str",
            "code?": "str",
            "message?": "str",
            "unset?": ["str"],
        },
    },
}

OUTPUTS: dict[str, Any] = {
    "run": {
        "version": "int",
        "runs": [
            {
                "node": "str",
                "environment": "str",
                "facts": "str",
                "run_list": ["str"],
                "roles": ["str"],
                "expanded_run_list": ["str"],
                "attribute_files": ["str"],
                "recipes": ["str"],
                "log": [{"level": "str", "message": "str", "file": "str|null", "line": "int|null"}],
                "warnings": ["@finding"],
                "leaves": _COUNTS,
                "changes": ([_CHANGE], "null"),
                "note": "str|null",
                "saved": "str|null",
                "catalog?": "@applied|null",
            }
        ],
        "failed": [{"node": "str", "error": "str", "code": "str", "catalog?": "@applied|null"}],
    },
    "explain": "@explanation",
    "show": {
        **_NODE,
        "path": "str",
        "value?": "any",
        "origins?": _ORIGINS,
        "revision?": "int|null",
        "attributes?": [
            {
                "path": "str",
                "steps": ["str|int|num|bool|null"],
                "value": "any",
                "rank": "int",
                "joins": ["int"],
                "overrides": ["int"],
                **_WHO,
            }
        ],
        "slots?": [
            {
                "slot": "int",
                "level": "str",
                "source": "str",
                "found": "bool",
                "value": "any",
                "replaces": "list",
                "origins?": _ORIGINS,
            }
        ],
        **_CERTAIN,
    },
    **{
        name: {"version": "int", "path": "str", "value": "any", "origins?": _ORIGINS}
        for name in ("facts", "role-show", "environment-show")
    },
    "list": {"version": "int", "kind": "str", "names": ["str"]},
    "history": {"version": "int", "node": "str", "revisions": ["@revision"]},
    "diff": {
        "version": "int",
        "before": "str",
        "after": "str",
        "changes": [_DIFFERS],
        **_CERTAIN,
        "slots?": [{"slot": "int", "level": "str", "source": "str", "changes": [_DIFFERS]}],
    },
    "search": {
        "version": "int",
        "query": "str",
        "total": "int",
        "offset": "int",
        **_CERTAIN,
        "nodes": ["@found"],
    },
    "search-line": "@found",
    "status": {
        "version": "int",
        "nodes": [{"name": "str", "last": "@revision|null", "changed": "@revision|null"}],
    },
    "node": {"version": "int", "node": "str", "latest": "@revision|null", "store": "str"},
    "store": {
        "version": "int",
        "store": "str",
        "nodes?": "int",
        "forgotten?": "int",
        "done?": "str",
        "saved?": ["str"],
        "revisions?": "int",
        "to?": "str",
    },
    "fleet": {
        "version": "int",
        "nodes": [{"name": "str", "ok": "bool", "error": "str|null", "code": "str|null", "revision": "int|null"}],
        "failed": "int",
        "skipped": "int",
        "left": "int",
    },
    "impact": _IMPACT,
    "what-if": _IMPACT,
    "check": _CHECK,
    "store-check": _CHECK,
    "codes": {
        "version": "int",
        "codes": [
            {
                "code": "str",
                "names": ["str"],
                "owner": "str",
                "room": "str",
                "cause": "str",
                "example": "str",
                "way_out": "str",
                "name": "str",
                "page": "str",
            }
        ],
    },
    "config": {
        "version": "int",
        "settings": [
            {"name": "str", "value": "any", "claims": [{**_WHO, "value": "any", "outcome": "str"}]},
        ],
    },
    "hiera-lookup": _ANSWERS,
    "hiera-list": _ANSWERS,
    "hiera-explain": {"version": "int", "nodes": {"*": "@lookup"}, **_CERTAIN},
    "hiera-diff": _COMPARED,
    "hiera-who-has": _WHERE,
    "hiera-ready-for-8": {
        "version": "int",
        **_CERTAIN,
        "fails": [
            {"message": "str", "code": "str", "file": "str|null", "line": "int|null", "keys": ["str"], "nodes": ["str"]}
        ],
        "changes": {"*": ["str"]},
        "legacy": [{"file": "str", "line": "int", "what": "str", "variable": "str", "instead": "str"}],
    },
    "hiera-unused": {
        "version": "int",
        **_CERTAIN,
        "nodes": "int",
        "files": ["str"],
        "shadowed": [{"key": "str", "file": "str|null", "line": "int|null"}],
    },
    "why": {
        "version": "int",
        **_CERTAIN,
        "path": "str",
        "answers": [
            {"dialect": "str", "kind": "str", "subjects": ["str"], "facts": {"*": "str"}, **_TRACE, "hint": "str|null"}
        ],
        "not_known": [_NOT_KNOWN],
    },
    "where": _WHERE,
    "overview": {
        "version": "int",
        **_CERTAIN,
        "folder": "str",
        "subjects": {"*": ["str"]},
        "not_known": {"*": "str"},
        "commands": ["str"],
        "below": ["str"],
        "there": ["str"],
    },
    "blame": {
        "version": "int",
        **_CERTAIN,
        "answers": [
            {
                "dialect": "str",
                "subject": "str",
                "facts": "str|null",
                "values": [{"kind": "str", "path": "str", "value": "any", "set_by": ("@origin", "null")}],
            }
        ],
        "not_known": [_NOT_KNOWN],
    },
    "matrix": _MATRIX,
    "hiera-matrix": _MATRIX,
    "hiera-variables": {
        "version": "int",
        "nodes": {
            "*": [
                {
                    "variable": "str",
                    "layer": "str",
                    "entry": "str",
                    "template": "str",
                    "file": "str|null",
                    "line": "int|null",
                    "is_set": "bool",
                }
            ]
        },
    },
    "ansible-explain": {
        "version": "int",
        "node": "str",
        "environment": "str",
        "revision": "int|null",
        **_TRACE,
        **_CERTAIN,
        "hint": "str|null",
        "read": ["any"],
        "reasons": ["str"],
        "mentions": [{"name": "str", "is_set": "bool", "set_by": ["@origin"]}],
        "in_plays": _IN_PLAYS,
        "unread_in_plays": ["@unread"],
    },
    "ansible-who-has": _WHERE,
    "ansible-matrix": _MATRIX,
    "ansible-diff": _COMPARED,
    "ansible-graph": {"version": "int", **_CERTAIN, "groups": [{"name": "str", "hosts": ["str"], "children": ["str"]}]},
    "ansible-config": {
        "version": "int",
        "settings": [{"name": "str", "value": "any", "place": "str", "is_followed": "bool"}],
    },
    "ansible-vars": {
        "version": "int",
        "node": "str",
        "environment": "str",
        **_CERTAIN,
        "variables": ["@explanation"],
    },
    "ansible-inventory": {
        "_meta": {"hostvars": {"*": {"*": "any"}}},
        "all": {"children": ["str"], "vars": {"*": "any"}},
        "*": {"hosts": ["str"], "vars": {"*": "any"}},
    },
    "bindings-check": _CHECK,
    "bindings-inject": {
        "version": "int",
        "key": "str",
        "value": "any",
        **_CERTAIN,
    },
    "bindings-explain": {
        "version": "int",
        **_CERTAIN,
        "key": "str",
        "value": "any",
        "problem": "str|null",
        "declarations": ["@claim"],
        "elements": _TRACE["elements"],
        "set_by": [{"value": "any", "place": "str|null", "counts": "bool", "step": "any"}],
        "looked_up": [{"depth": "int", "asked": "str", "by": "str"}],
        "trace": "@trace",
        "because_of?": ["@cause"],
    },
    "bindings-list": {
        "version": "int",
        **_CERTAIN,
        "classes": ["str"],
        "keys": [
            {
                "kind": "str",
                "name": "str",
                "gives": "str",
                "layer": "str",
                "when": "str",
                "place": "str",
                "shadows": "int",
            }
        ],
    },
    "bindings-graph": {
        "version": "int",
        "nodes": ["str"],
        "edges": [{"from": "str", "to": "str", "kind": "str"}],
    },
    "bindings-matrix": _MATRIX,
    "catalog-check": _CHECK,
    "catalog-list": {
        "version": "int",
        "catalog": "str",
        "resources": [{"resource": "str", "origin": "@place|null", "reads": ["str"]}],
    },
    "catalog-order": {
        "version": "int",
        "catalog": "str",
        "order": [{"resource": "str", "origin": "@place|null", "reads": ["str"]}],
    },
    "catalog-graph": {
        "version": "int",
        "catalog": "str",
        "resources": [{"resource": "str", "is_container": "bool", "inside": ["str"], "origin": "@place|null"}],
        "edges": [
            {"before": "str", "after": "str", "kind": ("=order", "=refresh"), "because": "str", "origin": "@place|null"}
        ],
        "cycles": [["str"]],
        "faults": ["str"],
    },
    "catalog-why": {
        "version": "int",
        "before": "str",
        "after": "str",
        "edges": [
            {"before": "str", "after": "str", "kind": ("=order", "=refresh"), "because": "str", "origin": "@place|null"}
        ],
    },
    "catalog-explain": {
        "version": "int",
        "resource": "str",
        "origin": "@place|null",
        "relations": [{"before": "str", "after": "str", "because": "str", "origin": "@place|null"}],
        "read": [{"what": "str", "trace": ("@explanation", "null")}],
    },
    "catalog-impact": {"version": "int", "resource": "str", "refreshed": ["str"], "after": ["str"]},
    "catalog-diff": {
        "version": "int",
        "before": "str",
        "after": "str",
        **{name: [{"resource": "str", "file": "str|null", "line": "int|null"}] for name in ("added", "removed")},
        "changed": [
            {
                "resource": "str",
                "file": "str|null",
                "line": "int|null",
                "parameters": [{"parameter": "str", "before": "any", "after": "any", "sensitive": "bool"}],
            }
        ],
        "relations": [
            {
                "before": "str",
                "after": "str",
                "sign": ("=added", "=removed"),
                "because": "str",
                "file": "str|null",
                "line": "int|null",
            }
        ],
    },
    "catalog-apply": "@applied",
    "cloud-config-explain": {
        "version": "int",
        **_CERTAIN,
        "parts": [{**_PART, "source_place": "str|null"}],
        "traces": ["@trace"],
        "steps": [
            {
                "number": "int",
                "filename": "str",
                "changes": [{"path": "str", "steps": "list", "action": "str", "old?": "any", "new?": "any"}],
            }
        ],
        "machine?": {
            "file": "str|null",
            "differing": [
                {
                    "path": "str",
                    "steps": "list",
                    "given?": "any",
                    "has?": "any",
                    "set_at": ["str"],
                    "line": "int|null",
                }
            ],
        },
    },
    "cloud-config-check": _CHECK,
    "fold-explain": {"version": "int", **_CERTAIN, "traces": ["@explanation"]},
    "fold-blame": {"version": "int", **_CERTAIN, "value": "any", "leaves": [{"path": "str", "set_by": ["@origin"]}]},
    "fold-diff-last": {
        "version": "int",
        **_CERTAIN,
        "layer": "str",
        "changes": [
            {"path": "str", "change": ("=added", "=changed", "=removed"), "before?": _FOLDED, "after?": _FOLDED}
        ],
    },
    "fold-policies": {
        "version": "int",
        "policies": [{"name": "str", "summary": "str", "source": "str", "lines": ["str"], "at": {"*": ["str"]}}],
    },
}

_WEB1 = "--repo . --node web1 --facts facts"

LINES = {
    "run": [
        "run --all --facts facts",
        "run --node web1 --facts facts -E staging",
        "run --all --run-list role[x] --facts facts -W",
        "run --node web1 --facts facts --noop --root scratch",
    ],
    "explain": [
        "explain web1 app",
        "explain web1 app.workers",
        "explain web1 apache2.listen_ports",
        "explain web1 app.legacy_queue",
        "explain web1 app.database.password --at 1",
        f"explain web1 app.workers {_WEB1.replace('--node web1 ', '')} --because",
    ],
    "show": [
        "show web1 app --origins",
        "show web1 --winners",
        "show web1 app --slot 12 --slot 4",
        "show web1 app --level default --origins",
    ],
    "facts": ["facts kernel.release --facts facts/web1.json --origins", "facts --facts facts/web2.json"],
    "history": ["history web1"],
    "diff": ["diff web1", "diff web1 web2 --slots"],
    "search": ["search *:*", "search role:web -a app.workers -a nosuch"],
    "search-line": ["search name:web1 --json-lines -a app.workers"],
    "status": ["status"],
    "node": ["node set web1 a.c 2", "node restore web1 1", "node delete web2"],
    "store": [
        "store copy --to x.db",
        "store prune --keep 1",
        "store import nodes.jsonl",
    ],
    "fleet": ["fleet resolve --facts facts --node db1 --jobs 1", "fleet resolve --node nobody --jobs 1"],
    "impact": ["impact . hiera --sample 1", "impact hiera . --sample 2 --forbid **"],
    "what-if": [
        "what-if --without role[base] --set app.database.password=1 --node web1",
        "what-if --without roles/web.json --without roles/base.yaml:4 --jobs 1",
    ],
    "check": ["check", "check --repo . --run-code"],
    "store-check": ["store check"],
    "codes": ["codes", "codes NA1203"],
    "config": ["config --store x"],
    "hiera-lookup": [
        "hiera lookup ntp::servers --hiera hiera --facts facts",
        "hiera lookup nobody --hiera hiera --facts facts",
    ],
    "hiera-explain": [
        "hiera explain ntp::servers --hiera hiera --facts facts --because",
        "hiera explain ntp::servers --options --hiera hiera",
        "hiera explain nobody --hiera hiera",
        "hiera explain k --hiera levels",
    ],
    "hiera-list": ["hiera list --hiera hiera --facts facts"],
    "overview": ["overview", "overview --repo nodes"],
    "why": ["why app.workers --facts facts --run-code", "why app.workers --dialect nodes"],
    "where": ["where roles/web.json:38 --facts facts --run-code", "where --key app.workers", "where roles/web.json"],
    "blame": ["blame web1 --facts facts --run-code", "blame --dialect folds"],
    "matrix": [
        "matrix app.workers --count",
        "matrix app.workers --repo . --facts facts --jobs 1",
        "matrix app.nosuch --repo . --facts facts --jobs 1",
    ],
    "hiera-matrix": [
        "hiera matrix ntp::servers --hiera hiera --facts facts",
        "hiera matrix nobody --hiera hiera --facts facts",
    ],
    "hiera-variables": ["hiera variables --hiera hiera --facts facts"],
    "hiera-diff": ["hiera diff web1 web2 --hiera hiera --facts facts"],
    "list": ["list nodes --repo .", "list subjects --repo .", "list fields", "list cookbooks --repo ."],
    "role-show": ["role show web --repo . --origins"],
    "environment-show": ["environment show production --repo ."],
    "hiera-who-has": ["hiera who-has ntp::servers --hiera hiera --facts facts", "hiera who-has nobody --hiera hiera"],
    "hiera-ready-for-8": ["hiera ready-for-8 --hiera levels"],
    "hiera-unused": ["hiera unused --hiera levels"],
    "ansible-explain": [
        "ansible explain web1 url -i ansible/hosts",
        "ansible explain web1 nosuch -i ansible/hosts",
        "ansible explain web1 port -i ansible/hosts --playbook ansible/site.yml --task restart",
    ],
    "ansible-who-has": ["ansible who-has port -i ansible/hosts"],
    "ansible-matrix": ["ansible matrix proto -i ansible/hosts"],
    "ansible-diff": ["ansible diff web1 db1 -i ansible/hosts"],
    "ansible-graph": ["ansible graph -i ansible/hosts", "ansible graph web -i ansible/hosts"],
    "ansible-config": ["ansible config", "ansible config --folder ansible"],
    "ansible-vars": ["ansible vars web1 --origins -i ansible/hosts"],
    "ansible-inventory": ["ansible inventory --list", "ansible inventory --list --prefix attributes"],
    "bindings-check": ["bindings check --site bindings", "bindings check --site broken"],
    "bindings-inject": ["bindings inject ssh::port --site bindings"],
    "bindings-explain": ["bindings explain ssh::port --site bindings --because"],
    "bindings-list": ["bindings list --site bindings"],
    "bindings-graph": ["bindings graph --site bindings"],
    "bindings-matrix": ["bindings matrix ssh::port --site bindings", "bindings matrix nosuch --site bindings"],
    "catalog-check": [f"catalog check {_WEB1}"],
    "catalog-list": ["catalog list --from catalog.json", f"catalog list {_WEB1}"],
    "catalog-order": ["catalog order --from catalog.json"],
    "catalog-graph": ["catalog graph --from catalog.json", f"catalog graph {_WEB1}"],
    "catalog-why": ["catalog why File[/a] File[/b] --from catalog.json"],
    "catalog-explain": [
        "catalog explain File[/a] --from catalog.json",
        f"catalog explain Recipe[app::default] {_WEB1}",
    ],
    "catalog-impact": ["catalog impact File[/a] --from catalog.json"],
    "catalog-diff": ["catalog diff catalog.json catalog.json", "catalog diff catalog.json other.json"],
    "catalog-apply": ["catalog apply --from catalog.json --root scratch"],
    "cloud-config-explain": [
        "cloud-config explain cloud-init/base.yaml cloud-init/web.yaml",
        "cloud-config explain cloud-init/base.yaml cloud-init/web.yaml --path packages --because --steps",
    ],
    "cloud-config-check": [
        "cloud-config check cloud-init/base.yaml cloud-init/careless.yaml",
        "cloud-config check cloud-init/base.yaml facts/web1.json",
    ],
    "fold-explain": [
        "fold fold/base.yaml fold/team.yaml fold/prod.yaml --explain log --explain http.port",
        "fold --name shop --explain http.hosts",
    ],
    "fold-blame": ["fold fold/base.yaml fold/prod.yaml fold/secrets.yaml --blame", "fold --name shop --origins"],
    "fold-diff-last": ["fold --name shop --set log=null --diff-last"],
    "fold-policies": ["fold --policies"],
}
"""Of each schema the command lines whose output it describes, in the order in which they are said."""

_RULE = (
    *(f"={word}" for word in WORDS),
    {"merge_by?": "str", "policy?": "str", "at?": ("=both", "=inside"), "*": "never"},
)
_LISTS = {**{f"{level}?": [("str", ["str"])] for level in _LEVELS}, "*": "never"}
_SYNTAXES = tuple(f"={name}" for name in SYNTAXES)
SETTINGS: dict[str, Any] = {
    "store?": "str",
    "environment?": "str",
    "hiera?": "str",
    "puppet_version?": "int",
    "bindings?": ("str", {"site?": "str", "classes?": ["str"], "providers?": {"*": "str"}, "*": "never"}),
    "sensitive?": [("str", ["str"])],
    "allowed?": _LISTS,
    "blocked?": _LISTS,
    "merge?": {"*": _RULE},
    "fold?": {
        "*": {"files?": ["str"], "policy?": "str", "merge?": {"*": _RULE}, "syntax?": _SYNTAXES, "*": "never"},
    },
    "limits?": {"steps?": "int", "values?": "int", "bytes?": "int", "depth?": "int", "seconds?": "num", "*": "never"},
    "cloud-init?": {
        "*": {**{f"{name}?": ("str", ["str"]) for name in ("files", "vendor", "confd")}, "*": "never"},
    },
    "ansible?": {"groups?": {"*": "str"}, "*": {"inventory?": ("str", ["str"]), "*": "never"}},
    "web?": {"source_url?": "str", "*": "never"},
    "facts?": {"fauxhai?": "str", "*": "never"},
    "check?": {
        "select?": ["str"],
        "ignore?": ["str"],
        "baseline?": "str",
        "rules?": [{"path?": "str", "level?": "str", "only": ["str"], "because?": "str", "*": "never"}],
        "*": "never",
    },
    "schema?": {"attributes?": "str", "*": "never"},
    **{f"{name}?": [("str", ["str"])] for name in CHEF_NAMES},
    "*": "never",
}


_LEVELS = {f"{word}?": ({"*": "any"}, "null") for word in DATA_WORDS}
_BLOCK = {"when?": (*_CONDITION, "null"), **_LEVELS}
ATTRIBUTES = {**_BLOCK, "blocks?": ([{**_BLOCK, "*": "never"}], "null"), "*": "never"}
"""An attribute file that is data."""

FILES = {"settings": ("nodeattrs.toml", SETTINGS), "attributes": ("attribute files as data", ATTRIBUTES)}
"""What people write: name -> what it is about, and its shape."""


def schema_of(shape: Any, strict: bool = False) -> dict[str, Any]:
    """The schema of a shape; *strict*: no field may join."""
    if isinstance(shape, str):
        words = shape.split("|")
        plain = [word for word in words if word in _TYPES]
        others = [_word(word) for word in words if word not in _TYPES]
        if plain:
            types = [_TYPES[word] for word in plain]
            others.insert(0, {"type": types if len(types) > 1 else types[0]})
        return others[0] if len(others) == 1 else {"anyOf": others}
    if isinstance(shape, list):
        return {"type": "array", "items": schema_of(shape[0], strict)}
    if isinstance(shape, tuple):
        texts = [one[1:] for one in shape if isinstance(one, str) and one.startswith("=")]
        others = [schema_of(one, strict) for one in shape if not (isinstance(one, str) and one.startswith("="))]
        return {"enum": texts} if not others else {"anyOf": [*([{"enum": texts}] if texts else []), *others]}
    return _map(shape, strict)


def _word(word: str) -> Any:
    if word.startswith("@"):
        return {"$ref": f"#/$defs/{word[1:]}"}
    return {"any": {}, "list": {"type": "array"}, "never": False}[word]


def _map(shape: Mapping[str, Any], strict: bool) -> dict[str, Any]:
    fields = {name.removesuffix("?"): schema_of(one, strict) for name, one in shape.items() if name != "*"}
    schema: dict[str, Any] = {"type": "object"}
    if fields:
        schema["properties"] = fields
        schema["required"] = [name for name in shape if name != "*" and not name.endswith("?")]
    if "*" in shape or strict:
        schema["additionalProperties"] = schema_of(shape.get("*", "never"), strict)
    return schema


def body(name: str, strict: bool = False) -> dict[str, Any]:
    """The schema of one output, or of one of FILES, without the parts that it needs."""
    command = next((f"{one} {name[len(one) + 1 :]}" for one in _WITH_ACTIONS if name.startswith(f"{one}-")), name)
    command = command.replace("fold-", "fold --", 1)
    title, shape = FILES.get(name) or (f"nodeattrs {command} --format json", OUTPUTS[name])
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return schema | schema_of(shape, strict)


def document(name: str, strict: bool = False) -> dict[str, Any]:
    """The same with the parts that it needs."""
    schema = body(name, strict)
    needed: dict[str, Any] = {}
    while missing := {part for part in PARTS if f'"#/$defs/{part}"' in json.dumps([schema, needed])} - needed.keys():
        needed |= {part: schema_of(PARTS[part], strict) for part in sorted(missing)}
    return schema | ({"$defs": dict(sorted(needed.items()))} if needed else {})


def shipped() -> dict[str, str]:
    """The files: name -> text."""
    parts = {name: schema_of(PARTS[name]) for name in sorted(PARTS)}
    found = {"_parts": parts, **{name: body(name) for name in (*OUTPUTS, *FILES)}}
    return {f"{name}.json": json.dumps(schema, indent=1) + "\n" for name, schema in found.items()}


if __name__ == "__main__":
    for old in FOLDER.glob("*.json"):
        old.unlink()
    for file, content in shipped().items():
        (FOLDER / file).write_text(content, encoding="utf-8")
