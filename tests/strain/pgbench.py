"""What PostgreSQL's own program reaches where several clients update one row: the measure for ours."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import tempfile

from tests import postgresql_server

SECONDS = 5


def rate(url: str, clients: int) -> float | None:
    """Updates of one row a second; None where the program is not there."""
    import psycopg

    found = postgresql_server.programs()
    program = shutil.which("pgbench", path=str(pathlib.Path(found[0]).parent)) if found else None
    if program is None:
        return None
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE public.one (id integer PRIMARY KEY, n integer)")
        connection.execute("INSERT INTO public.one VALUES (1, 0)")
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write("UPDATE public.one SET n = n + 1 WHERE id = 1;\n")
        script.flush()
        words = [program, "-n", "-f", script.name, "-c", clients, "-j", 2, "-T", SECONDS, url]
        done = subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True)
    told = re.search(r"tps = ([\d.]+)", done.stdout)
    return round(float(told[1]), 1) if told else None
