"""The lines below a line and around it, by indentation."""

from __future__ import annotations

import pytest

from nodeattrs.verbs.blocks import lines_below, lines_outwards

YAML = """\
http:
  port: 1

  # a comment
  hosts:
  - a
  - name: b
    size: 2
other: 1
""".splitlines(keepends=True)

INI = """\
[web]
web1 port=1
web2
[db:children]
db1
""".splitlines(keepends=True)

TOML = """\
[a]
x = 1
[a.b]  # c
y = 2
[[c]] # d
z = 3
""".splitlines(keepends=True)

JSON = """\
{
  "a": {
    "b": [
      1
    ]
  },
  "c": 2
}
""".splitlines(keepends=True)


@pytest.mark.parametrize(
    ("text", "line", "below", "outwards"),
    [
        (YAML, 1, [2, 3, 4, 5, 6, 7, 8], []),
        (YAML, 2, [], [1]),
        (YAML, 3, [], []),
        (YAML, 4, [], []),
        (YAML, 5, [6, 7, 8], [1]),
        (YAML, 6, [], [5, 1]),
        (YAML, 8, [], [7, 5, 1]),
        (YAML, 9, [], []),
        (YAML, 10, [], []),
        (INI, 1, [2, 3], []),
        (INI, 3, [], [1]),
        (INI, 4, [5], []),
        (TOML, 1, [2], []),
        (TOML, 3, [4], []),
        (TOML, 6, [], [5]),
        (JSON, 2, [3, 4], [1]),
        (JSON, 4, [], [3, 2, 1]),
        (JSON, 5, [], []),
        ([], 1, [], []),
    ],
)
def test_lines_below_and_around_follow_from_the_indentation(
    text: list[str], line: int, below: list[int], outwards: list[int]
) -> None:
    assert ([*lines_below(text, line)], [*lines_outwards(text, line)]) == (below, outwards)
