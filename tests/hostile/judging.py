"""Runs one command in a tree, held to limits, and says what it did that no command may do."""

from __future__ import annotations

import base64
import binascii
import contextlib
import http.cookiejar
import json
import os
import re
import resource
import signal
import stat
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from nodeattrs.cli.exits import EXITS
from tests.hostile.building import PROGRAM, environment
from tests.hostile.commands import Command
from tests.hostile.surroundings import names

__all__ = ["LIMITS", "MOST_SECONDS", "judged"]

MOST_SECONDS = 10
"""Of CPU for each process, and by the clock for a command."""
LIMITS = {
    resource.RLIMIT_AS: 2 << 30,
    resource.RLIMIT_CPU: MOST_SECONDS,
    resource.RLIMIT_FSIZE: 100 << 20,
    resource.RLIMIT_CORE: 0,
}
_MOST_READ = 20 << 20
_MOST_UNPACKED = 1 << 20
_MARKER = re.compile(rb"MK[0-9a-f]{8}")
_ENCODED = re.compile(rb"[A-Za-z0-9+/]{24,}")
_PACKED = re.compile(rb"\x78[\x01\x5e\x9c\xda]|\x1f\x8b\x08")
_FAULTS = (b"Traceback (most recent call last)", b"a fault in nodeattrs itself:", b"MemoryError", b"RecursionError")
_PAGES = ("/nodes/web1", "/impact", "/hiera", "/roles", "/roles/web", "/ansible", "/ansible/outer", "/cloud-init/outer")

Files = dict[str, tuple[int, int, int, int]]


def judged(command: Command, top: Path, seed: int, program: Sequence[str] = PROGRAM) -> list[str]:
    """What a command did amiss: nothing, or a line for each.

    top:     the folder that `build` wrote the tree to
    program: what stands in place of nodeattrs
    """
    before = _files(top)
    slow = _run(command, top, seed, program)
    after = _files(top)
    printed = b"\n".join(_read(top / name) for name in ("stdout", "stderr", "pages"))
    ran = {*_read(top / "ran").decode(errors="replace").split("\n")} - {"", *command.may_run}
    faults = slow + [f"ran {name}" for name in sorted(ran)]
    faults += [f"printed {place}" for place in _leaked(printed, seed)]
    for name in _FAULTS:
        if name in printed:
            line = next(line for line in printed.split(b"\n")[::-1] if name in line or (name == _FAULTS[0] and line))
            faults.append(f"said {name.decode()!r}: {re.sub(r'[0-9]+', 'N', line.decode(errors='replace'))[:150]}")
            break
    faults += _written(before, after, top, seed)
    return faults


# ---------------------------------------------------------------- the process


def _run(command: Command, top: Path, seed: int, program: Sequence[str]) -> list[str]:
    began = time.monotonic()
    given = subprocess.PIPE if command.talk in ("lsp", "mcp") else subprocess.DEVNULL
    with open(top / "stdout", "wb") as out, open(top / "stderr", "wb") as err:
        process = subprocess.Popen(
            [*program, *command.words],
            cwd=top / "repo",
            env=environment(top, seed),
            stdin=given,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    with contextlib.suppress(ProcessLookupError):
        for limit, most in LIMITS.items():
            resource.prlimit(process.pid, limit, (most, most + (limit == resource.RLIMIT_CPU)))
    end = began + MOST_SECONDS
    faults: list[str] = []
    try:
        if command.talk:
            _TALKS[command.talk](command, process, top, end)
        code = process.wait(max(0.1, end - time.monotonic()))
        if code < 0:
            faults.append(f"was ended by {signal.Signals(-code).name}")
        elif code not in EXITS:
            faults.append(f"ended with {code}")
    except TimeoutError as error:
        faults.append(f"did not answer within {MOST_SECONDS} s: {error}")
    except subprocess.TimeoutExpired:
        faults.append(f"took more than {MOST_SECONDS} s")
    finally:
        _end(process)
    return faults


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it started, once they had a moment to end by themselves."""
    for _ in range(20):
        if process.poll() is None:
            break
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()


def _until(there: Callable[[], bool], process: subprocess.Popen[bytes], end: float, what: str) -> bool:
    """Whether something came to be. raises: TimeoutError, where the process lives on without it"""
    while not there():
        if process.poll() is not None:
            return there()
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.02)
    return True


def _say(process: subprocess.Popen[bytes], *messages: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(b"".join(messages))
        process.stdin.flush()


def _message(method: str, number: int | None = None, **params: object) -> dict[str, object]:
    given = {} if number is None else {"id": number}
    return {"jsonrpc": "2.0", **given, "method": method, "params": params}


def _answered(top: Path, number: int) -> bool:
    return re.search(rb'"id": ?%d\b' % number, _read(top / "stdout")) is not None


def _mcp(command: Command, process: subprocess.Popen[bytes], top: Path, end: float) -> None:
    client = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    tool, given = command.asked
    messages = [
        _message("initialize", 1, **client),
        _message("notifications/initialized"),
        _message("tools/call", 2, name=tool, arguments=json.loads(given)),
    ]
    for message in messages:
        _say(process, json.dumps(message).encode() + b"\n")
        if "id" in message and not _until(
            lambda m=message: _answered(top, m["id"]), process, end, str(message["method"])
        ):
            return
    process.stdin.close()  # type: ignore[union-attr]


def _lsp(command: Command, process: subprocess.Popen[bytes], top: Path, end: float) -> None:
    repo = top / "repo"
    file = next(
        (one for one in ("roles/web.json", "data/common.yaml", "nodeattrs.toml") if (repo / one).is_file()), "x"
    )
    uri = (repo / file).as_uri()
    with contextlib.suppress(OSError):
        text = _read(repo / file).decode(errors="replace")
    document = {"uri": uri, "languageId": "text", "version": 1, "text": text}
    position = {"textDocument": {"uri": uri}, "position": {"line": 3, "character": 3}}
    messages = [
        _message("initialize", 1, processId=None, rootUri=repo.as_uri(), capabilities={}),
        _message("initialized"),
        _message("textDocument/didOpen", textDocument=document),
        _message("textDocument/hover", 2, **position),
        _message("textDocument/definition", 3, **position),
        _message("shutdown", 4),
        _message("exit"),
    ]
    for message in messages:
        body = json.dumps(message).encode()
        _say(process, b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        if "id" in message and not _until(
            lambda m=message: _answered(top, m["id"]), process, end, str(message["method"])
        ):
            return


def _web(command: Command, process: subprocess.Popen[bytes], top: Path, end: float) -> None:
    def address() -> str:
        return next(iter(re.findall(r"http://\S+", _read(top / "stdout").decode(errors="replace"))), "")

    if not _until(lambda: bool(address()), process, end, "no address"):
        return
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
    chosen = [address(), *(urllib.parse.urljoin(address(), page) for page in _pages(command))]
    with open(top / "pages", "wb") as pages:
        for page in chosen:
            try:
                with opener.open(page, timeout=max(0.1, end - time.monotonic())) as answer:
                    pages.write(answer.read(_MOST_READ))
            except urllib.error.HTTPError as error:
                pages.write(error.read(_MOST_READ))
            except TimeoutError:
                raise TimeoutError(urllib.parse.urlsplit(page).path) from None
            except (urllib.error.URLError, ConnectionError) as error:
                if isinstance(getattr(error, "reason", None), TimeoutError):
                    raise TimeoutError(urllib.parse.urlsplit(page).path) from None
    process.send_signal(signal.SIGINT)


def _pages(command: Command) -> list[str]:
    """Three pages, by what the command was to ask."""
    at = len(command.asked[1]) % len(_PAGES)
    return [*_PAGES[at:], *_PAGES[:at]][:3]


_TALKS = {"mcp": _mcp, "lsp": _lsp, "web": _web}


# ---------------------------------------------------------------- what it left


def _files(top: Path) -> Files:
    """What is in the folders around a command: path -> mode, size, time and number."""
    found: Files = {}
    for folder in ("repo", "outer", "home", "tmp"):
        for place, _, files in os.walk(top / folder):
            if place == str(top / "repo/.git"):
                continue
            for name in files:
                path = os.path.join(place, name)
                with contextlib.suppress(FileNotFoundError):
                    one = os.lstat(path)
                    found[os.path.relpath(path, top)] = (one.st_mode, one.st_size, one.st_mtime_ns, one.st_ino)
    return found


def _written(before: Files, after: Files, top: Path, seed: int) -> Iterator[str]:
    """What was written where nothing may be, what became of special files, and markers in what was written."""
    for name, one in before.items():
        mode = one[0]
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)) and stat.S_IFMT(mode) != stat.S_IFMT(
            after.get(name, (0,))[0]
        ):
            yield f"replaced {name}, which is no file"
        if name.startswith(("outer/", "home/")) and after.get(name) != one:
            yield f"changed {name}"
    for name, one in after.items():
        if before.get(name) != one and stat.S_ISREG(one[0]):
            if name.startswith(("outer/", "home/")) and name not in before:
                yield f"wrote {name}"
            elif name.startswith("repo/"):
                yield from (f"stored {place} in {name}" for place in _leaked(_read(top / name), seed))


def _read(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_MOST_READ)
    except FileNotFoundError:
        return b""


def _leaked(text: bytes, seed: int) -> list[str]:
    """The places whose markers are in a text, as they are, packed, or in base64."""
    known = {name[:10].encode(): place for name, place in names(seed).items()}
    found = {known[mark] for one in _forms(text) for mark in _MARKER.findall(one) if mark in known}
    if b"root:x:0:" in text or b"/usr/sbin/nologin" in text:
        found.add("/etc/passwd")
    return sorted(found)


def _forms(text: bytes) -> Iterator[bytes]:
    yield text
    for run in _ENCODED.findall(text.replace(b"\n", b"").replace(b"\\n", b"")):
        with contextlib.suppress(binascii.Error):
            yield base64.b64decode(run[: len(run) // 4 * 4])
    for packed in _PACKED.finditer(text):
        with contextlib.suppress(zlib.error):
            kind = 15 if packed[0][:1] == b"\x78" else 31
            yield zlib.decompressobj(kind).decompress(text[packed.start() :], _MOST_UNPACKED)
