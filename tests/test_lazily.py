"""What is made at its first use."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nodeattrs import lazily


class TestRegexp:
    def test_it_is_the_compiled_one_from_the_first_call_on(self):
        expression = lazily.regexp(r"(\d)x", re.IGNORECASE)

        assert "1" == expression.fullmatch("1X")[1]  # type: ignore[index]
        assert (r"(\d)x", ["1", "2"]) == (expression.pattern, expression.findall("1x 2X"))

    def test_a_name_that_no_pattern_has_is_an_error(self):
        with pytest.raises(AttributeError, match="fits"):
            lazily.regexp("a").fits  # type: ignore[attr-defined]  # noqa: B018


def test_an_expression_stands_in_a_module_and_not_in_a_function():
    """
    So none comes from outside: those that are used are left for the next start.
    """
    for file in sorted((Path(lazily.__file__).parent).rglob("*.py")):
        inside = [
            call.lineno
            for function in ast.walk(ast.parse(file.read_text("utf-8")))
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            for call in ast.walk(function)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "regexp"
        ]
        assert [] == inside or file.name == "sparing.py", (file, inside)


_SPARED = """
import gettext, re, sys
from nodeattrs.cli.sparing import Sparing
sys.meta_path.insert(0, Sparing())
before = re.compile
import argparse, pathlib, yaml
late = type(yaml.reader.Reader.NON_PRINTABLE).__name__
for loader in (yaml.SafeLoader, yaml.CSafeLoader):
    print(late, yaml.load("{a: [1, 2001-01-01, yes, 0x10, ~, 1.5], b: x}", loader))
print(re.compile is before, isinstance(re.compile("a"), re.Pattern), gettext is sys.modules["gettext"], end=" ")
print("urllib.parse" in sys.modules, pathlib.PurePosixPath("/a b").as_uri(), "urllib.parse" in sys.modules)
import tomllib
read = tomllib.loads("a = [0x10, 1.5, 07:32:00]\\n[d]\\ne.f = 'x'")
print("typing" in sys.modules, type(tomllib._re.RE_NUMBER).__name__, read)
import linecache
was = [name in sys.modules for name in ("base64", "string", "tokenize")]
binary, line = yaml.safe_load("!!binary aGk="), linecache.getline(argparse.__file__, 1)
print(was, binary, len(line) > 0, [name in sys.modules for name in ("base64", "string", "tokenize")])
parser = argparse.ArgumentParser("x", exit_on_error=False)
for count in (None, 2):
    action = parser.add_argument(f"--of{count}", nargs=count)
    try:
        parser.parse_args([f"--of{count}"])
    except argparse.ArgumentError as error:
        print(error.message)
"""


def test_a_library_that_a_command_loads_makes_nothing_before_it_is_used():
    """
    And does the same then; what stood in meanwhile is gone.
    """
    done = subprocess.run([sys.executable, "-S", "-c", _SPARED], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})  # fmt: skip

    first, second, after, toml, asked, *errors = done.stdout.splitlines()
    assert first == second
    assert first.startswith("_Regexp {'a': [1, datetime.date(2001, 1, 1), True, 16, None, 1.5], 'b': 'x'}")
    assert "True True True False file:///a%20b True" == after
    assert "False _Regexp {'a': [16, 1.5, datetime.time(7, 32)], 'd': {'e': {'f': 'x'}}}" == toml
    assert "[False, False, False] b'hi' True [True, False, True]" == asked
    assert ["expected one argument", "expected 2 arguments"] == errors


_COLD = """
import sys
from nodeattrs import lazily
from nodeattrs.cli.sparing import Sparing
sys.meta_path.insert(0, Sparing())
early = set(sys.modules)
import argparse, pathlib, json, yaml, tomllib
pathlib.PurePath("private.yaml").match("private*"), pathlib.PureWindowsPath("C:/a").drive
import fnmatch, ntpath, re, string
class Own(string.Template):
    delimiter = "private"
print(fnmatch.fnmatch("privates", "private*"), Own("private{a}").substitute(a=1), type(re.compile("private")).__name__)
print(json.loads('{"a": ["\\u00e9", 1e3]}'), sorted(str(text) for text, _ in lazily.patterns if "private" in str(text)))
print(sys.modules["re"] is re, ntpath.join("a", "b"), re.escape is string._re.escape)
"""


def test_in_a_process_that_has_loaded_nothing_each_module_is_loaded_once_and_what_functions_compile_is_not_noted():
    done = subprocess.run([sys.executable, "-S", "-c", _COLD], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})  # fmt: skip

    assert ["True 1 Pattern", "{'a': ['é', 1000.0]} []", "True a\\b True"] == done.stdout.splitlines()


_HASHED = """
import sys
from nodeattrs import hashes
content = b"x" * (hashes.SMALL // 2 + 1)
for _ in range(3):
    print(hashes.sha256(content).hex(), "hashlib" in sys.modules)
print(hashes.blake2b(b"a", digest_size=8).hexdigest())
"""


def test_openssl_is_loaded_when_more_is_hashed_than_a_node_and_comes_to_the_same():
    import hashlib

    from nodeattrs.hashes import SMALL

    done = subprocess.run([sys.executable, "-c", _HASHED], capture_output=True, text=True, check=True)

    digest = hashlib.sha256(b"x" * (SMALL // 2 + 1)).hexdigest()
    short = hashlib.blake2b(b"a", digest_size=8).hexdigest()
    assert [f"{digest} False", f"{digest} True", f"{digest} True", short] == done.stdout.splitlines()
