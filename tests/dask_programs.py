"""A cluster of Dask as people start one: a scheduler and its workers, each a program of its own, gone at the end."""

import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def running(folder, again=True, workers=2):
    """The scheduler's address, and its process.

    workers: how many
    again: whether workers that die are started again, as `dask worker` does
    """
    port = free_port()
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    started, nanny = [], [] if again else ["--no-nanny"]

    def start(what, *words):
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *words, "--no-dashboard"]
        started.append(subprocess.Popen(command, env=environment, cwd=folder, stderr=subprocess.DEVNULL))

    start("scheduler", "--host", "127.0.0.1", "--port", str(port))
    for _ in range(workers):
        start("worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--local-directory", str(folder), *nanny)
    try:
        yield f"tcp://127.0.0.1:{port}", started[0]
    finally:
        for program in reversed(started):
            program.terminate()
        for program in started:
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.wait(10)
            program.kill()
