"""A PostgreSQL server of our own: in a temporary folder, on a socket, gone at the end.

    python -m tests.postgresql_server COMMAND ...     runs it with NODEATTRS_POSTGRESQL set to the server's URL

Tests take the server of NODEATTRS_POSTGRESQL, else they start one where PostgreSQL is
installed. With NODEATTRS_POSTGRESQL=required they fail where they would have been skipped.
"""

import contextlib
import functools
import glob
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile
import uuid

VARIABLE = "NODEATTRS_POSTGRESQL"


def programs():
    """Where initdb and pg_ctl are; None where PostgreSQL is not installed."""
    # Debian keeps them off the path.
    places = [*sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True), None]
    for place in places:
        found = shutil.which("pg_ctl", path=place), shutil.which("initdb", path=place)
        if all(found):
            return found
    return None


def user():
    """Who runs the server: PostgreSQL refuses to be root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    return None


def run(folder, *command):
    """A program of PostgreSQL's, as the user who runs the server in a folder."""
    who = user()
    as_who = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []} if who else {}
    subprocess.run(
        [*map(str, command)], check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **as_who
    )


IS_DURABLE = False
"""Whether a server waits for its disk; tests do without."""


def start(folder):
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c max_connections=50"
    options += f" -c fsync={'on' if IS_DURABLE else 'off'}"
    run(folder, programs()[0], "-D", folder / "data", "-l", folder / "log", "-w", "-o", options, "start")


def stop(folder):
    run(folder, programs()[0], "-D", folder / "data", "-m", "immediate", "-w", "stop")


@contextlib.contextmanager
def server():
    """The URL of a fresh server; only this machine's users reach it, through its folder."""
    who = user()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pg"))
    try:
        if who:
            os.chown(folder, who.pw_uid, who.pw_gid)
        initdb = programs()[1]
        run(folder, initdb, "-D", folder / "data", "-U", "nodeattrs", "-A", "trust", "-E", "UTF8", "--no-locale", "-N")
        start(folder)
        try:
            yield f"postgresql://nodeattrs@/postgres?host={folder}"
        finally:
            stop(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def away(url):
    """While it lasts, the server of `server` is not there."""
    folder = pathlib.Path(url.partition("?host=")[2])
    stop(folder)
    try:
        yield
    finally:
        start(folder)


_CLOSING = contextlib.ExitStack()


@functools.lru_cache(maxsize=1)
def url():
    """The URL of a server for the tests of this process; None where there can be none."""
    given = os.environ.get(VARIABLE, "")
    if given not in ("", "required"):
        return given
    if programs() is None:
        return None
    import atexit

    atexit.register(_CLOSING.close)
    return _CLOSING.enter_context(server())


def close():
    """End the server that `url` has started; the next who asks starts another."""
    _CLOSING.close()
    url.cache_clear()
    _shared.cache_clear()


def why_not():
    """Why there is no server here; nothing where there is one."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed"
    try:
        return "" if url() else "PostgreSQL is not installed"
    except (OSError, subprocess.CalledProcessError) as error:
        return f"the PostgreSQL server cannot be started: {error}"


def fresh():
    """The URL of an empty database on the server."""
    import psycopg

    name = f"n{uuid.uuid4().hex}"
    with psycopg.connect(url(), autocommit=True) as connection:
        quick = " STRATEGY file_copy" if connection.info.server_version >= 150000 else ""
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0{quick}")
    head, _, query = url().partition("?")
    return f"{head.rpartition('/')[0]}/{name}" + (f"?{query}" if query else "")


@functools.lru_cache(maxsize=1)
def _shared():
    return fresh()


def emptied():
    """The URL of one database of the server, which is quicker to empty than another one is to make.

    Stores of earlier tests in it lose their connections.
    """
    import psycopg

    with psycopg.connect(_shared(), autocommit=True) as connection:
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        connection.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
        connection.execute("DROP SCHEMA IF EXISTS nodeattrs CASCADE")
    return _shared()


def main(command):
    with contextlib.ExitStack() as stack:
        environment = {**os.environ, VARIABLE: stack.enter_context(server())}
        return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
