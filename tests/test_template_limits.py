"""Hostile templates end with an error of ours, in both renderers, before they use up the machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nodeattrs.core.budget import Budget, limited
from nodeattrs.errors import TooMuch
from nodeattrs.formats.jinja import sandboxed

pytest.importorskip("jinja2")
pytest.importorskip("resource")

_GROW = "{%% set box = namespace(v=%s) %%}{%% for i in range(60) %%}{%% set box.v = %s %%}{%% endfor %%}"
_PAIRS = _GROW % ("[1]", "[box.v, box.v]")
_ALIASED = "{% set a = [] %}{% set b = [a] * 3000 %}{% set c = [b] * 3000 %}{% set x = a.extend(range(3000) | list) %}"
_MEGABYTE = "{% set t = 'ab ' * 400000 %}"

EVERYWHERE = {
    # code that runs on and on
    "a macro that calls itself twice": "{% macro m(n) %}{% if n %}{{ m(n - 1) ~ m(n - 1) }}{% endif %}{% endmacro %}"
    "{{ m(50) }}",
    "a macro without a text": "{% macro m(n) %}{% set x = n and (m(n - 1), m(n - 1)) %}{% endmacro %}{{ m(70) }}",
    "macros that are handed on": "{% macro a(f, n) %}{% if n %}{{ f(a, n - 1) }}{{ f(a, n - 1) }}{% endif %}"
    "{% endmacro %}{% macro b(f, n) %}{{ f(b, n) }}{% endmacro %}{{ a(b, 60) }}",
    "calls with blocks": "{% macro m(n) %}{% if n %}{% call m(n - 1) %}{% endcall %}{% call m(n - 1) %}{% endcall %}"
    "{% endif %}{{ caller() }}{% endmacro %}{% call m(50) %}{% endcall %}",
    "a loop that calls itself twice": "{% for n in [60] recursive %}{% if n %}{{ loop([n - 1]) }}{{ loop([n - 1]) }}"
    "{% endif %}{% endfor %}",
    "a block that shows itself": "{% macro m(n) %}{{ n }}{% endmacro %}{% set box = namespace(n=0) %}{% block b %}"
    "{% set box.n = box.n + 1 %}{{ self.b() }}{{ self.b() }}{% endblock %}",
    "loops in loops": "{% for i in range(90000) %}{% for j in range(90000) %}{% endfor %}{% endfor %}",
    "loops whose test fails": "{% set r = range(90000) | list %}{% for i in r %}{% for j in r if false %}{% endfor %}"
    "{% endfor %}",
    "a loop over a list that it lengthens": "{% set l = [1] %}{% for i in l %}{% set x = l.append(i) %}{% endfor %}",
    "lazy filters": "{% set r = range(90000) | list %}{% for i in r %}{% set x = r | map('string') | list %}"
    "{% endfor %}",
    "tests of all": "{% set r = range(90000) | list %}{{ r | select('in', r) | list | length }}",
    # texts
    "joined to itself": _GROW % ("'x'", "box.v ~ box.v"),
    "added to itself": _GROW % ("'x'", "box.v + box.v"),
    "a list added to itself": _GROW % ("[1]", "box.v + box.v"),
    "put into itself by %": _GROW % ("'x'", "'%s%s' % (box.v, box.v)"),
    "by the filter": _GROW % ("'x'", "'%s%s' | format(box.v, box.v)"),
    "by the method": _GROW % ("'x'", "'{0}{0}'.format(box.v)"),
    "by names": _GROW % ("'x'", "'%(a)s%(a)s' % {'a': box.v}"),
    "joined with itself": _GROW % ("'x'", "[box.v, box.v] | join"),
    "by the method of a text": _GROW % ("'x'", "box.v.join([box.v, box.v])"),
    "a block that is set": "{% set v = 'x' %}" + "{% set v %}{{ v }}{{ v }}{% endset %}" * 40,
    "a macro that repeats": "{% macro m(v) %}{{ v }}{{ v }}{% endmacro %}{% set v = 'x' %}" + "{% set v = m(v) %}" * 40,
    "a filter for a block": "{% set v = 'x' %}"
    + "{% set v %}{% filter upper %}{{ v }}{{ v }}{% endfilter %}{% endset %}" * 40,
    "a text between tags": "{% set v %}{% for i in range(90000) %}" + "x" * 9000 + "{% endfor %}{% endset %}{{ v }}",
    "as often as a number says": "{{ 'x' * 900000000 }}",
    "a list so often": "{{ [[0] * 9000] * 90000 }}",
    "many operands": "{% set t = 'x' * 900000 %}{{ t" + " ~ t" * 150 + " }}",
    "replaced": "{{ ('x' * 90000).replace('x', 'y' * 90000) }}",
    "replaced by the filter": "{{ ('x' * 90000) | replace('', 'y' * 90000) }}",
    "translated": "{{ ('x' * 90000).translate({120: 'y' * 90000}) }}",
    "with long separators": "{{ (range(9000) | map('string')) | join('x' * 90000) }}",
    "indented": "{{ ('\\n' * 90000) | indent(90000) }}",
    "with wide tabs": "{{ ('\\t' * 90000).expandtabs(90000) }}",
    "in the middle": "{{ 'x' | center(900000000) }}",
    "bytes": "{{ 'x'.encode().ljust(900000000) }}",
    "bytes of a number": "{{ (1).to_bytes(900000000, 'big') }}",
    "bytes with a width": "{{ '%900000000d'.encode() % 1 }}",
    "a width": "{{ '%900000000d' % 1 }}",
    "a width that is an argument": "{{ '%*d' % (900000000, 1) }}",
    "digits": "{{ '%.900000000f' % 1.5 }}",
    "a width in braces": "{{ '{:>900000000}'.format(1) }}",
    "a width of several fields": "{{ '{:{a}{a}{a}}'.format(1, a=999) }}",
    "a width in a map": "{{ '{a:{b}}'.format_map({'a': 1, 'b': '900000000'}) }}",
    "a method that is handed on": "{% set l = [900000000] %}{% set x = l.sort(key='x'.ljust) %}{{ l }}",
    "a format that is handed on": "{% set l = [1] %}{% set x = l.sort(key='{:900000000}'.format) %}{{ l }}",
    # lists and maps
    "columns": "{{ [1] | slice(90000000) | list | length }}",
    "rows": "{{ [1] | batch(90000000, 'x') | list | length }}",
    "lists added up": "{{ ([[1] * 900] * 9000) | sum(start=[]) | length }}",
    "a range": "{{ range(10 ** 12) | list }}",
    "words": "{% set w = ('ab ' * 5000000) %}{{ w.split() | length + w.split() | length }}",
    "a list that is lengthened by itself": "{% set l = [1] %}{% for i in range(60) %}{% set x = l.extend(l) %}"
    "{% endfor %}",
    "lists, each once": "{{ ([[1]] * 90000) | unique | list }}",
    "a list in itself": "{% set l = [1] %}{% set x = l.append(l) %}{{ l | string }}",
    "pairs of pairs, printed": _PAIRS + "{{ box.v }}",
    "pairs of pairs, as a text": _PAIRS + "{{ box.v | string | length }}",
    "pairs of pairs, joined": _PAIRS + "{{ box.v ~ '' }}",
    "pairs of pairs, compared": _PAIRS + "{% set one = box.v %}" + _PAIRS + "{{ one == box.v }}",
    "pairs of pairs, searched": _PAIRS + "{{ box.v in [[], box.v] }}",
    "pairs of pairs as a key": _GROW % ("(1,)", "(box.v, box.v)") + "{{ {box.v: 1} | length }}",
    "pairs of pairs that are looked up": _GROW % ("(1,)", "(box.v, box.v)") + "{{ {}[box.v] }}",
    "pairs of pairs taken from keys": _GROW % ("(1,)", "(box.v, box.v)") + "{{ ({1: 1}.keys() - [box.v]) | length }}",
    "maps of maps": _GROW % ("{}", "dict(a=box.v, b=box.v)") + "{{ box.v }}",
    "pairs in a namespace": _PAIRS + "{{ box }}",
    "lists that grow where they are shared": _ALIASED + "{{ c }}",
    "the same, of a namespace": "{% set box = namespace(v=0) %}" + _ALIASED + "{% set box.v = c %}{{ box ~ '' }}",
    "sorted": _MEGABYTE + "{{ ([t] * 400) | sort | length }}",
    "copied in a loop": "{% set l = [0] * 900000 %}{% for i in range(9000) %}{% set x = l[1:] %}{% endfor %}",
    "texts searched in a loop": _MEGABYTE + "{% for i in range(90000) %}{{ 'c' in t }}{% endfor %}",
    "texts turned round in a loop": _MEGABYTE + "{% for i in range(90000) %}{% set x = t[::-1] %}{% endfor %}",
    "texts compared in a loop": _MEGABYTE + "{% set u = t ~ '' %}{% for i in range(90000) %}{{ t < u }}{% endfor %}",
    # numbers
    "a square of squares": _GROW % ("3", "box.v * box.v") + "{{ box.v is odd }}",
    "a power": "{{ 10 ** 100000000 }}",
    "a power of a power": "{{ 9 ** (9 ** 9) }}",
    "a number of digits": "{{ 15 | round(90000000, 'ceil') }}",
    "less than no digits": "{{ 15 | round(-90000000) }}",
    "a long number in another base": "{{ ('f' * 900000) | int(0, 16) is odd }}",
    # the code of the template itself
    "many tags": "{{ a }}" * 300_000,
    "many operators": "{{ 1" + " < 1" * 60_000 + " }}",
    "blocks that know all variables": "".join(f"{{% set v{n} = 1 %}}" for n in range(3000))
    + "".join(f"{{% block b{n} scoped %}}{{% endblock %}}" for n in range(3000)),
    "files that know all variables": "".join(f"{{% set v{n} = 1 %}}" for n in range(3000))
    + "{% if false %}" + "{% include 'x' %}" * 3000 + "{% endif %}",
}  # fmt: skip
"""Templates that pass a limit, whoever renders them."""

ONLY_USER_DATA = {
    "nonsense": "{{ lipsum(n=90000000) }}",
    "long nonsense": "{{ lipsum(1, false, 90000000, 90000001) }}",
    "lines": "{{ ('x' * 900000) | wordwrap(1) }}",
    "lines with long ends": "{{ ('x ' * 90000) | wordwrap(5, wrapstring='y' * 90000) }}",
    "tags taken out": "{{ ('<>' * 900000) | striptags }}",
    "links": "{{ ('(a' * 90000 ~ ')' * 90000) | urlize }}",
    "links with long words": "{{ ('http://a.b ' * 9000) | urlize(rel='x' * 90000) }}",
    "a wide tree": "{{ ([[1] * 900] * 900) | tojson(indent=90000) }}",
    "a tree in Python's notation": "{{ ([[1] * 900] * 900) | pprint }}",
}
"""Those that only Jinja's own filters allow, of which Ansible's table has not all."""

ONLY_ANSIBLE = {
    "pairs of pairs as YAML": _PAIRS + "{{ box.v | to_nice_yaml }}",
    "pairs of pairs as JSON": _PAIRS + "{{ box.v | to_json }}",
    "pairs of pairs, flat": _PAIRS + "{{ box.v | flatten }}",
    "a tree as YAML": "{{ ([[1] * 900] * 900) | to_yaml | length }}",
    "a wide tree as JSON": "{{ ([[1] * 900] * 90) | to_nice_json(indent=90000) | length }}",
    "aliases": "{{ ('a: &a [x, x, x, x, x, x, x, x, x]\n' ~ 'b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n' ~ "
    "'c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\n' ~ "
    "'e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]\n' ~ "
    "'g: [*f, *f, *f, *f, *f, *f, *f, *f, *f]') | from_yaml }}",
    "maps that are merged again and again": "{{ '[&a {k: v}, "
    + ", ".join(f"&{b} {{<<: [{', '.join([f'*{a}'] * 60)}]}}" for a, b in ("ab", "bc", "cd", "de", "ef"))
    + "]' | from_yaml | length }}",
    "groups before a long end": "{{ ('x' * 3000) | regex_replace('(?=(.*))', '\\\\1' * 900) }}",
    "matches replaced by much": "{{ ('x' * 90000) | regex_replace('x', 'y' * 90000) }}",
    "empty matches": "{{ ('x' * 90000) | regex_replace('', 'y' * 90000) }}",
    "all with all": "{{ range(30000) | union(range(30000) | list) | length }}",
    "all in all": "{{ range(30000) | list is subset(range(30000) | list) }}",
    "lists with lists": "{% set m = {'a': range(30000) | list} %}{{ m | combine(m, list_merge='append_rp') }}",
    "pairs of all": "{{ range(9000) | product(range(9000)) | list | length }}",
    "many of one": "{{ [1, 2] | product(repeat=90000000) | list }}",
    "hashes in a loop": _MEGABYTE + "{% for i in range(90000) %}{{ t | md5 }}{% endfor %}",
}
"""Those that only Ansible's filters allow."""

DEEP = {
    "a macro that calls itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "a loop that calls itself": "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "lists in lists": _GROW.replace("60", "2000") % ("1", "[box.v]") + "{{ box.v }}",
    "brackets": "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
    "lists": "{{ " + "[" * 3000 + "]" * 3000 + " }}",
    "conditions": "{% if 1 %}" * 3000 + "{% endif %}" * 3000,
    "signs": "{{ " + "-" * 9000 + "1 }}",
    "negations": "{{ " + "not " * 9000 + "1 }}",
    "filters": "{{ 1" + "|abs" * 9000 + " }}",
    "attributes": "{{ a" + ".b" * 9000 + " }}",
    "more brackets than Python has room for": "{{ a" + " + a" * 250 + " }}",
    "more loops than Python has room for": "{% for i in a %}" * 30 + "{% endfor %}" * 30,
    "alternatives": "{{ 1" + " if 1 else 1" * 3000 + " }}",
    "maps": "{{ " + "{1:" * 3000 + "1" + "}" * 3000 + " }}",
}
"""Those that are nested too deeply."""

LONG = {
    "chains of filters": ("{{ 1" + "|abs" * 150 + " }}") * 30,
}
"""Those that take long where constants are looked for in each part of an expression."""

FINE = {
    "a large number as a text": ("{{ '%d' | format(1700000000) }}", "1700000000"),
    "a large number beside a field": ("{{ 'since 1700000000: %3d%%' | format(5) }}", "since 1700000000:   5%"),
    "a width that is meant": ("{{ '{:>{w}}|%5s' .format(1, w=4) % 'x' }}", "   1|    x"),
    "escapes": ("{{ '{}'.format('x') ~ ('a' | center(5)) }}", "x  a  "),
    "a loop with a length": (
        "{% for c in 'abc' if c != 'b' %}{{ loop.length }}{{ loop.last }}{{ loop.nextitem }};{% endfor %}",
        "2Falsec;2TrueCI_MISSING_JINJA_VAR/None;",
    ),
    "a tree": ("{% for x in [1, [2, [3]]] recursive %}{{ loop(x) if x is iterable else x }}{% endfor %}", "123"),
    "a list that is built": (
        "{% set b = namespace(l=[]) %}{% for i in range(900) %}{% set b.l = b.l + [{'n': i}] %}{% endfor %}"
        "{{ b.l | map(attribute='n') | sum }}",
        "404550",
    ),
    "a text that is built": (
        "{% set b = namespace(t='') %}{% for i in range(900) %}{% set b.t = b.t ~ 'line %d\n' % i %}{% endfor %}"
        "{{ b.t | length }}",
        "7990",
    ),
    "lists of lists in one": ("{{ ([[1, 2]] * 40) | sum(start=[]) | length }}", "80"),
    "a chained comparison": ("{{ 1 < 2 < 3 and 'a' in {'a': 1} and (1, 2) in {(1, 2): 1} }}", "True"),
    "a macro with a caller": (
        "{% macro m(x) %}<{{ caller(x) }}>{% endmacro %}{% call(y) m(3) %}{{ y + 1 }}{% endcall %}",
        "<4>",
    ),
    "a list sorted by a key": ("{% set l = ['b', 'A'] %}{% set x = l.sort(key='{}'.format) %}{{ l }}", "['A', 'b']"),
}
"""What gives the same as ever."""

_CHILD = """
import json, resource, sys, time
from pathlib import Path
from nodeattrs.ansible import Inventory, Rendering
from nodeattrs.cloudinit import CloudConfigError, InstanceData
from nodeattrs.core.budget import limited
from nodeattrs.errors import TooMuch

resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29))

def user_data(template):
    data = InstanceData({"v1": {}})
    text = data.render(template)
    data.lines(template, text)
    return "fine"

def ansible(template):
    Path("hosts.yml").write_text(json.dumps({"all": {"hosts": {"web1": {"asked": template}}}}))
    left = Rendering(Inventory("hosts.yml").host("web1")).variables().left
    return "fine" if not left else "limit" if "nested deeper" in left["asked",] else "refused"

seconds = float(sys.argv[1])
for name, template in json.load(sys.stdin):
    print(json.dumps(["begun", name]), flush=True)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 8, resource.RLIM_INFINITY))
    for render in user_data, ansible:
        try:
            with limited(seconds=seconds):
                found = render(template)
        except TooMuch:
            found = "limit"
        except CloudConfigError as error:
            found = error.kind
        print(json.dumps([render.__name__, name, found]), flush=True)
most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps(["memory", most // (1 if sys.platform == "darwin" else 1024) < 1 << 20]))
"""


def outcomes(templates: dict[str, str], folder: Path, seconds: float) -> dict[tuple[str, ...], str]:
    """What each renderer says of each template, from a process that may take 8 s for one and 1.5 GiB.

    seconds: the limit of a template
    """
    given = json.dumps(list(templates.items()))
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(seconds)],
        input=given,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (lines[-1:], done.returncode, done.stderr[-600:])
    assert lines.pop() == ["memory", True]
    return {(one[0], one[1]): one[2] for one in lines if one[0] != "begun"}


def expected(templates: dict[str, str], user_data: str, ansible: str) -> dict[tuple[str, ...], str]:
    return {(who, name): what for name in templates for who, what in (("user_data", user_data), ("ansible", ansible))}


@pytest.mark.parametrize(
    ("templates", "user_data", "ansible"),
    [
        (EVERYWHERE, "limit", "limit"),
        (ONLY_USER_DATA, "limit", "refused"),
        (ONLY_ANSIBLE, "template", "limit"),
        (DEEP, "limit", "limit"),
        (LONG, "fine", "fine"),
    ],
    ids=["everywhere", "user-data", "ansible", "deep", "long"],
)
def test_a_hostile_template_ends_before_it_uses_up_the_machine(tmp_path, templates, user_data, ansible):
    """In a process that would be killed after 8 s of a template, and has 1.5 GiB."""
    seconds = 8 if user_data == "fine" else 0.01
    assert outcomes(templates, tmp_path, seconds) == expected(templates, user_data, ansible)


@pytest.mark.parametrize(("template", "text"), FINE.values(), ids=FINE)
def test_a_template_within_the_limits_gives_the_same_as_ever(template, text):
    from nodeattrs.cloudinit import InstanceData

    assert InstanceData({"v1": {}}).render(template) == text


def test_steps_of_a_template_are_those_of_its_budget():
    """A loop that is long enough for one limit passes another."""
    template = "{% for i in range(2000) %}{{ i }}{% endfor %}"

    assert sandboxed(Budget("t")).from_string(template).render()
    with limited(steps=3000), pytest.raises(TooMuch):
        sandboxed(Budget("t")).from_string(template).render()


def test_the_error_names_the_line_where_the_limit_is_passed(tmp_path, capsys, monkeypatch):
    from nodeattrs.cli import main

    monkeypatch.chdir(tmp_path)
    Path("user-data").write_text("## template: jinja\n#cloud-config\na: 1\nb: {{ 'x' * 900000000 }}\n")
    Path("data.json").write_text("{}")

    assert main(["cloud-config", "merge", "user-data", "--instance-data", "data.json"]) == 1
    assert "error: user-data:4:1: failed: the template takes more than 10,000,000 steps" in capsys.readouterr().err
