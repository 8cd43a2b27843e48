"""Random Hiera trees as text: what YAML and JSON files may hold, and a writer of data does not expect.

Only the text is made here; what it means is for others to say. The same number gives the same tree each time.
"""

from __future__ import annotations

import json
import random
import re
from typing import Any, NamedTuple

NODE = "web1.example.com"
FACTS: dict[str, Any] = {
    "os": {"family": "Debian", "release": {"major": "12"}}, "dc": "ber", "roles": ["web", "db"], "single": "web",
    "n": 7, "f": 1.5, "t": True, "nothing": None, "list": ["b", "x"], "a.b": "dotted", "mixed": {"x": [1,
    {"y": "deep"}]},
    "percent": "100%",
}  # fmt: skip
ROOT = "$ROOT"
"""Stands for the folder in which a tree is written."""
HOMES = {"global": "global", "environment": "environments/production", "module": "environments/production/modules/m"}
FILES = (f"nodes/{NODE}.yaml", "common.yaml", "os/Debian.yaml", "dc/ber.yaml", "role/web.yaml", "role/db.yaml")
KEYS = ("k", "l", "h", "s", "m::k", "m::l", "m::h", "a.b", "num", "o::x")

USUAL = ("%{facts.dc}", "%{dc}", "%{::dc}", "%{facts.os.family}", "%{nope}", "%{facts.n}", "%{facts.list}",
         "%{facts.mixed.x.1.y}", "%{lookup('s')}", "%{literal('%')}{x}", "%{lookup('num')}")  # fmt: skip
UNUSUAL = (
    "%{os.release.major}", "%{facts.nope.x}", "%{facts.f}", "%{facts.t}", "%{facts.nothing}", "%{facts.mixed}",
    "%{facts.roles.0}", "%{'dc'}", "%{facts.'a.b'}", "%{trusted.certname}", "%{environment}", "%{hiera('s')}",
    "%{lookup('h.a')}", "%{lookup('l.0')}", '%{lookup("s")}', "%{scope('dc')}", "%{alias('l')}", "%{alias('h')}",
    "%{alias('h.a')}", "%{alias('m::h')}", "%{lookup('l')}", "%{lookup('h')}", "%{ facts.dc }", "%{}", "%{::}",
    "%{lookup('nope')}", "%{alias('nope')}", "%{lookup('k')}", "%{bad('x')}", "%{lookup(s)}", "%{literal('')}",
    "%{lookup('a.b')}", "%{lookup(\"'a.b'\")}", "%{facts.percent}", "%{scope('facts.dc')}", "%{lookup('h.b.a')}",
    "%{server_facts}", "%{module_name}", "%{calling_class}", "%{1}", "%{facts.dc", "%{lookup('s'}", "%%{dc}",
    "%{facts['dc']}", "%{literal('%{dc}')}", "%{lookup('s').x}", "%{-x}", "%{dc }x", "%{facts.os}",
    "%{lookup('num.x')}",
)  # fmt: skip
TEXTS = ("a", "b", "x", "y", "web", '""', "''", '"--"', "--a", '"--x"', '"--b"', "B", "'a b'")
NUMBERS = (
    "1", "2", "0", "-1", "1.0", "1.5", "1e3", "0x1F", "017", "08", "0o17", "0b11", "1_000", "1,000", "+12", ".5", "1.",
    ".inf", "-.inf", ".nan", "1:30", "12:30:45", "1e-3", "-0.0", "1__0", "0.1_0", "12345678901234567890", "1.0e+10",
    ".",
    "-", "1e5", "0x", "1.2.3", "685_230.15", "190:20:30.15", "+.5", "0_7", "1E5", "_1", "0b2", "1:60", "-1:30", "123e",
    "-.5", "00", "0.0", "9007199254740993", "1e16", "123456789.123456789", "1_", "0x_1", "+", "1:2:3:4", "-017",
)  # fmt: skip
WORDS = ("true", "false", "yes", "no", "on", "off", "y", "n", "Yes", "ON", "True", "TRUE", "null", "~", "", "Null",
         "NULL", "nil", "None", "tRue", "NO", "Off", "trueish")  # fmt: skip
ODDITIES = (
    "2024-01-02", "2024-01-02 03:04:05", "2001-12-14t21:59:43.10-05:00", "2024-13-45", "2024-01-02T03:04:05Z", ":sym",
    '":sym"', ":\"q s\"", ":1", ":", "::x", "!!str 12", '!!int "12"', "!!float 1", '!!float "1.5"', "!!null x",
    "!!bool yes", "!!binary aGVsbG8=", "!!binary /w==", "!ruby/symbol x", "!ruby/regexp /a/", "!ruby/object:Object {}",
    "!ruby/range 1..2", "!ruby/sym y", "!custom x", "!custom {a: 1}", "!!set {a, b}", "!!omap [a: 1]", "! 12", "*anc",
    "|\n  lit\n  eral\n", ">-\n  fol\n  ded\n", '"esc\\u00e9\\n\\x41"', '"\\ud83d"', "é", "日本", "=", "<<", "@x", "`x",
    "%x", '"\\0"', "12:30", "!str 5", "!float 3", "!!timestamp 2024-01-02", "!!seq [1]", "!!map {a: 1}", "!!str",
    "!!str ~", "!!int 0x1f", "!!merge x", "!!float x", "!!float .inf", '"a\\tb"', "'it''s'", "!!int x", "!binary YQ==",
    "!!pairs [a: 1]", "!!omap []", "!map {b: 2}", '"\\e[0m"', "|+\n  x\n\n", "- 1", '"%{dc}\\n"', "!!bool maybe",
    "?x", "-x", '"\\/"', "'a\n\n  b'", "&new 5", "!!str [a]", "!ruby/array:Array [1]", "!ruby/hash:Hash {a: 1}",
)  # fmt: skip
MARKED = ("a", "b", "x", '"--a"', '"--b"', "1", '"--"', '"--%{dc}"')
ODD_KEYS = ("1", '":a"', ":a", "1.5", "true", "~", '"--a"', "2024-01-02", '"a b"', "? a", "<<", "[1]", "{a: 1}",
            "!!str 1", "017", '""', '"%{nope}"', "1_0", "é")  # fmt: skip
WHOLE = (
    "", "# only\n", "---\n", "--- ~\n", "[]\n", "text\n", "--- {}\n...\n", "k: 1\nk: 2\n", "{k: 1, k: 2}\n", "a: [\n",
    "\tk: 1\n", "\ufeffk: 1\nl: 2\n", "k: 1\n---\nk: 2\n", "k: 1\r\nl: [a, b]\r\n", "%YAML 1.1\n---\nk: 1\n",
    "%TAG ! tag:x,2000:\n---\nk: !a 1\n", "k:\t1\n", 'k: "a\tb"\n', "k: a # c\nl: a#b\n", ":k: 1\nl: 2\n",
    "1: a\nk: b\n", "k: &a\n  x: 1\nh: *a\n", "k: *undef\n", "k: &a [*a]\n", "k : 1\n", '"k": 1\n', "? k\n: 1\n",
    "k: 1\n  l: 2\n", "k: a: b\n", "k: |\n  x\n l: 2\n", 'k: "\\q"\n', "false\n", "5\n", "null: 1\nk: 2\n",
    "--- !ruby/object:Hash\nk: 1\n", "--- !!map\nk: 1\n", "k: [1, 2\n]\n", "k: {a, b}\n", "k: [a: 1, b]\n",
    "k: {a: 1, a: 2}\n", "k: [,]\n", "k: [a,,b]\n", "k: [a,]\n", "- k: 1\n", "k:\n- a\n- b\nl:\n    - c\n",
    "k: >\n\n  a\n   b\n\n  c\n\nl: |+\n  x\n\n", 'k: "a\n  b\n\n  c"\n', "k: a\n  b\n   c\n", "k: \x07\n",
    "k: \x85x\n",
    'k: "\\L"\n', "k: 0xFFFFFFFFFFFFFFFFFF\n", 'k: "a"b\n', "k: [a]b\n", "<<: {k: 1}\nl: 2\n",
    "<<: [{k: 1}, {k: 2, l: 3}]\n", "<<: 5\nk: 1\n", "k: {<<: {a: 1}, a: 2}\n", "k: {a: 2, <<: {a: 1}}\n",
    "k: {<<: [{a: 1}, {b: 2, a: 3}]}\n", "k: {<<: ~}\n", 'k: {"<<": {a: 1}}\n', "k: {!!str <<: {a: 1}}\n",
    "h: &h {a: 1}\nk: {<<: *h, b: 2, <<: {c: 3}}\n", "k: &a 1\nl: &a 2\ns: *a\n", "k: [&a {x: 1}, *a, *a]\n",
    "? [a]\n: 1\nk: 2\n", "&anchor k: 1\n", "k: !!str\nl: !!null\n", "k:\n  ? a\n  ? b\n", "2024-01-02: x\nk: 1\n",
    "true: x\nk: 1\n", "k: \u2028x\n", "k: |2\n    x\n", "k: !<tag:yaml.org,2002:str> 1\n", "\n\n\nk: 1\n",
    "k: - 1\n", "...\nk: 1\n", "--- k\n--- {l: 1}\n", "lookup_options:\nk: 1\n", "lookup_options: {}\nk: 1\n",
)  # fmt: skip
JSON = (
    '{"k": [1, "b"], "h": {"a": 1}}', "{}", "[]", "", '{"k": 1e400}', '{"k": "\\u00e9", "k": 2}',
    '{"k": 1.0, "l": NaN}',
    '{"l": ["--a"], "m::k": null}', '// c\n{"k": 1}', '{"k": 12345678901234567890123}', '{"k": 1,}', '{"k": "\\x"}',
    '/* c */ {"l": [1.50, -0.0, 1E2]}', '{"k": Infinity}', '{"k": "a\tb"}', "null", '"k"', '{"k": [[[1]]]}',
    '\ufeff{"k": 1}', '{"lookup_options": {"k": {"merge": "unique"}}, "k": [1]}', '{"k": 01}', '{"s": "%{dc}"}',
)  # fmt: skip

DEEP = {"strategy": "deep", "knockout_prefix": "--"}
MERGES: tuple[Any, ...] = (
    "first", "unique", "hash", "deep", DEEP, {**DEEP, "sort_merged_arrays": True},
    {"strategy": "deep", "merge_hash_arrays": True}, {**DEEP, "merge_hash_arrays": True}, {"strategy": "unique"},
)  # fmt: skip
ODD_MERGES: tuple[Any, ...] = ("nosuch", {"strategy": "hash", "x": 1}, {"strategy": "deep", "knockout_prefix": ""},
    {}, 5,
                               {"strategy": "deep", "knockout_prefix": 1}, None, {**DEEP,
                               "strategy": "first"})  # fmt: skip
CONVERSIONS: tuple[Any, ...] = (
    "String", ["Array", True], "Array", "Sensitive", "Integer", "Float", "Numeric", "Boolean", "Hash", ["Integer", 16],
    ["Array", False], ["String"], ["Integer", 2], ["Float", True], ["Boolean"],
)  # fmt: skip
ODD_CONVERSIONS: tuple[Any, ...] = (
    "Nope", "Sensitive[String]", "Optional[Integer]", "Array[Integer]", "Integer[0,10]", [], 7, "Hash[String, Integer]",
    "Enum[a]", "Timestamp", "Regexp", "Variant[Integer,String]", "String[1]", ["String", "%x"], ["String", "%s"],
    ["Hash", "tree"], "Undef", "Any", "Type",
)  # fmt: skip
PATTERNS = (
    "k",
    "l",
    "h",
    "s",
    "m::k",
    "m::l",
    "^m::.*",
    "^[kl]$",
    "^.$",
    "^(k|h)",
    "^\\w$",
    "^[[:alpha:]]$",
    "^.*k\\z",
)
ODD_PATTERNS = (
    "^m::(?<n>k)$", "^\\h", "^(?i:K)$", "^(?!m).*", "a.b", "^\\p{Alpha}$", "^(?i)K", "^num", "^[k&&k]", "^k{1}",
    "^(?>k)",
    "^k++", "^\\Ak", "^k\\Z", "^(?#c)k", "^(?x: k )", "^[^\\n]$", "^k|l", "(", "^(", "^[", "^*", "^\\d", "^a\\.b$",
)  # fmt: skip
OF_A_MODULE = ("m::k", "m::l", "^m::.*", "^m::[kl]$", "m::h", "^m::", "^m::(k|l)", "^m::\\w+$")
LOCATIONS: tuple[dict[str, Any], ...] = (
    {"path": "nodes/%{trusted.certname}.yaml"}, {"path": "os/%{facts.os.family}.yaml"}, {"path": "common.yaml"},
    {"paths": ["common.yaml", "dc/%{facts.dc}.yaml"]}, {"paths": ["os/%{facts.os.family}.yaml", "none.yaml",
    "dc/%{dc}.yaml"]},
    {"glob": "{os,dc}/*.yaml"}, {"globs": ["role/*.yaml", "**/D*.yaml"]}, {"glob": "role/[w-z]*.yaml"},
    {"mapped_paths": ["facts.roles", "role", "role/%{role}.yaml"]}, {"mapped_paths": ["roles", "r", "role/%{r}.yaml"]},
    {"mapped_paths": ["facts.nope", "r", "role/%{r}.yaml"]}, {"mapped_paths": ["single", "r", "role/%{r}.yaml"]},
    {"path": "common.yaml", "datadir": "data2"}, {"glob": "*.{yaml,json}"}, {"glob": "role/??.yaml"},
    {"path": "j.json", "data_hash": "json_data"}, {"path": "common.yaml", "datadir": "%{facts.nope}data"},
    {"mapped_paths": ["facts.os", "r", "os/%{r.1}.yaml"]}, {"path": "role/%{roles.1}.yaml"},
    {"path": "common.yaml", "data_hash": "json_data"}, {"path": "%{lookup('s')}.yaml"},
)  # fmt: skip
PATHS = ("h.a", "l.0", "k.a.b", "h.b.x", "k.0", "'a.b'", "m::h.a", "l.-1", "l.99", "h.1", "h.'a'", 'h."a.b"', "k.",
    ".k",
         "k..a", "nope", "nope.x", "s.0", "'k", "lookup_options", "M::k", "::k", "m::", "h.0", "num.x")  # fmt: skip
TYPES = ("String", "Integer", "Array", "Hash", "Array[String]", "Variant[String, Array]", "Optional[Integer]", "Data",
         "Numeric", "Hash[String, Data]", "Boolean", "Float", "Enum[a, b]", "Pattern[/a/]", "Any", "Scalar",
         "Collection", "Tuple[String, Integer]", "Struct[{a => Integer}]", "NotUndef", "Sensitive",
         "Undef")  # fmt: skip
SPOILED = (
    lambda text: f"\ufeff{text}",
    lambda text: text.replace("\n", "\r\n"),
    lambda text: text.replace(": ", ":\t", 1),
    lambda text: f"{text}...\ntrailing: [\n",
    lambda text: text.rstrip("\n"),
)


_HUGE = re.compile(r"\d{9}|F{9}|\d\d:\d\d:\d\d")
_TO_A_LIST = re.compile(r'("convert_to": \[?")(?:Array|Hash)[^"]*"')
"""Puppet makes as many elements as the integer says, or dies over it."""


class Tree(NamedTuple):
    """What is written where, and what is asked."""

    files: dict[str, str]
    lookups: list[dict[str, Any]]


class OddTree:
    """One random tree."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._anchored = False

    def _is(self, chance: float) -> bool:
        return self._random.random() < chance

    def _one(self, *choices: Any) -> Any:
        return self._random.choice(choices)

    def tree(self) -> Tree:
        files: dict[str, str] = {}
        for layer, home in HOMES.items():
            if layer == "environment" or self._is(0.5):
                files |= {f"{home}/{name}": text for name, text in self._layer(layer == "module").items()}
                if self._is(0.06):
                    files[f"{home}/hiera.yaml"] = json.dumps(self._version_3() if self._is(0.5) else self._version_4())
        if any(_HUGE.search(text) for text in files.values()):
            files = {name: _TO_A_LIST.sub(r'\1String"', text) for name, text in files.items()}
        return Tree(files, [self._call() for _ in range(14)])

    def _layer(self, is_module: bool) -> dict[str, str]:
        entries = [{"name": f"l{at}", **self._one(*LOCATIONS[: -2 if self._is(0.97) else None])}
                   for at in range(self._random.randrange(1, 5))]  # fmt: skip
        config: dict[str, Any] = {"version": 5, "hierarchy": entries}
        if self._is(0.2):
            config["defaults"] = {"datadir": "data", "data_hash": "yaml_data"}
        if is_module and self._is(0.3):
            config["default_hierarchy"] = [{"name": "d", "path": "default.yaml"}]
        names = [*FILES[:2], *(name for name in FILES[2:] if self._is(0.6)), *(["default.yaml"] if is_module else [])]
        files = {"hiera.yaml": json.dumps(config)} | {f"data/{name}": self._file(is_module) for name in names}
        if self._is(0.3):
            files["data2/common.yaml"] = self._file(is_module)
        if self._is(0.3):
            files["data/j.json"] = self._one(*JSON)
        return files

    def _version_3(self) -> dict[str, Any]:
        backends = self._one(["yaml"], ["yaml", "json"], ["json", "yaml"], "yaml", None, ["yaml", "yaml"], [], ["gone"])
        found = {"version": self._one(3, None), "backends": backends, "hierarchy": self._old_names()}
        found = {key: value for key, value in found.items() if value is not None}
        for backend in (backends or ()) if isinstance(backends, list) else ["yaml"]:
            if self._is(0.9):
                found[backend] = {"datadir": f"{ROOT}/{self._one(*HOMES.values())}/%{{nope}}data"}
        if self._is(0.2):
            found |= {"merge_behavior": self._one("deeper", "native", "x"), "deep_merge_options": {}}
        return found | ({"extra": 1} if self._is(0.05) else {})

    def _version_4(self) -> dict[str, Any]:
        entries: list[dict[str, Any]] = []
        for at, name in enumerate(self._old_names()):
            one = {"name": f"l{at}" if self._is(0.97) else "l0", "backend": self._one("yaml", "yaml", "json", "hocon")}
            one |= self._one(
                {"path": name}, {"paths": [name, "common"]}, {"paths": []}, {"path": name, "paths": [name]}
            )
            entries.append(one | ({"datadir": "data2"} if self._is(0.1) else {}))
        return {"version": 4, "hierarchy": entries} | ({"datadir": self._one("data", "", 1)} if self._is(0.2) else {})

    def _old_names(self) -> list[str]:
        names = ("nodes/%{trusted.certname}", "common", "os/%{facts.os.family}", "dc/%{::dc}.yaml", "j", "j.json", "")
        return [self._one(*names[: -1 if self._is(0.97) else None]) for _ in range(self._random.randrange(4))]

    def _call(self) -> dict[str, Any]:
        call: dict[str, Any] = {
            "name": self._one(*KEYS[:7], "k", "l", "h") if self._is(0.85) else self._one(*PATHS, *KEYS)
        }
        if self._is(0.6):
            call["merge"] = self._one(*MERGES) if self._is(0.98) else self._one(*ODD_MERGES)
        if self._is(0.1):
            call["default_value"] = self._one(1, "d", None, ["x"])
        if self._is(0.08):
            call["value_type"] = self._one(*TYPES)
        return call

    # --- a file

    def _file(self, is_module: bool) -> str:
        if self._is(0.03):
            return str(self._one(*WHOLE))
        self._anchored = self._is(0.4)
        lines = [f"anchor: &anc {self._inside(1)}"] if self._anchored else []
        keys = self._random.sample(KEYS, self._random.randrange(3, 9))
        data = [f"{key}: {self._value()}" for key in keys]
        if self._is(0.4):
            options = {self._pattern(is_module): self._options() for _ in range(self._random.randrange(1, 4))}
            data.append(f"lookup_options: {json.dumps(options if self._is(0.99) else [1], ensure_ascii=False)}")
        self._random.shuffle(data)
        text = "\n".join([*lines, *data]) + "\n"
        return str(self._one(*SPOILED)(text)) if self._is(0.12) else text

    def _value(self) -> str:
        if self._is(0.15):
            return f"[{', '.join(self._random.choices(MARKED, k=self._random.randrange(1, 6)))}]"
        if self._is(0.1):
            return '{a: [a, b, "--a"], b: {x: "--", a: 1}}'
        return self._node(self._random.randrange(4))

    def _node(self, depth: int) -> str:
        roll = self._random.random()
        if depth <= 0 or roll < 0.4:
            return self._scalar()
        inner = [self._inside(depth - 1) for _ in range(self._random.randrange(4))]
        if roll < 0.7:
            return f"[{', '.join(inner)}]"
        return f"{{{', '.join(f'{self._key()}: {value}' for value in inner)}}}"

    def _inside(self, depth: int) -> str:
        """What may stand between brackets."""
        text = self._node(depth)
        if "\n" in text:
            return '"nl\\n"'
        return "~" if text == "" else text.replace(",", "") if text.startswith("1,") else text

    def _scalar(self) -> str:
        roll = self._random.random()
        if roll < 0.35:
            return str(self._one(*TEXTS))
        if roll < 0.5:
            return json.dumps(self._one("", "", "p-", " ") + self._expression() + self._one("", "", "-s"))
        if roll < 0.993:
            return str(self._one(*NUMBERS) if roll < 0.77 else self._one(*WORDS))
        odd = str(self._one(*ODDITIES))
        return odd if self._anchored or odd != "*anc" else "a"

    def _expression(self) -> str:
        return str(self._one(*USUAL) if self._is(0.7) else self._one(*USUAL, *UNUSUAL))

    def _key(self) -> str:
        if self._is(0.01):
            return str(self._one(*ODD_KEYS))
        return str(self._one("a", "b", "x", "c", '"--a"') if self._is(0.95) else self._one('"a.b"', "0", '"%{dc}"'))

    # --- lookup_options

    def _pattern(self, is_module: bool) -> str:
        if is_module:
            return str(self._one(*OF_A_MODULE) if self._is(0.99) else self._one("k", "^k", "^x::"))
        return str(self._one(*PATTERNS) if self._is(0.9) else self._one(*ODD_PATTERNS))

    def _options(self) -> Any:
        if self._is(0.02):
            return self._one([], "deep", None, {})
        options: dict[str, Any] = {}
        if self._is(0.8):
            options["merge"] = self._one(*MERGES) if self._is(0.96) else self._one(*ODD_MERGES)
        if not options or self._is(0.15):
            options["convert_to"] = self._one(*CONVERSIONS) if self._is(0.9) else self._one(*ODD_CONVERSIONS)
        return options
