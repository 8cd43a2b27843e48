"""The real cloud-init, asked over a pipe. Runs in a process of its own, and imports nothing of ours.

Reads pickled questions from stdin and writes pickled answers to stdout: `(op, arguments)`
and `("ok", answer)` or `("error", name of the exception's class)`. Scripts and boot hooks of
user-data are never run.
"""

from __future__ import annotations

import copy
import logging
import pickle
import sys
import tempfile
from typing import Any


def main(root: str) -> None:
    sys.path.insert(0, root)
    logging.disable(logging.CRITICAL)
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    from cloudinit import version

    pickle.dump(version.version_string(), answers)
    answers.flush()
    while True:
        try:
            op, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = ("ok", _OPS[op](*arguments))
        except Exception as error:
            answer = ("error", type(error).__name__)
        pickle.dump(answer, answers)
        answers.flush()


def _values(how: Any, base: Any, update: Any) -> Any:
    from cloudinit import mergers

    if isinstance(how, str):
        parsed = mergers.string_extract_mergers(how)
    else:
        parsed = mergers.dict_extract_mergers({"merge_how": how})
    return mergers.construct(parsed).merge(base, update)


def _many(sources: Any, reverse: bool) -> Any:
    from cloudinit import util

    return util.mergemanydict(copy.deepcopy(sources), reverse=reverse)


def _userdata(blobs: Any, launch_index: Any) -> Any:
    """The merged config, the names of the merged parts, and the merged file."""
    from cloudinit import handlers, helpers, util
    from cloudinit.filters import launch_index as filters
    from cloudinit.handlers import cloud_config
    from cloudinit.user_data import UserDataProcessor

    written: list[str] = []
    kept: list[Any] = []

    class Recorder(cloud_config.CloudConfigPartHandler):
        def _write_cloud_config(self, *more: Any) -> None:
            kept.append((copy.deepcopy(self.cloud_buf), list(self.file_names)))
            super()._write_cloud_config(*more)

    with tempfile.TemporaryDirectory() as folder:
        paths = helpers.Paths({"cloud_dir": folder, "run_dir": folder})
        message = UserDataProcessor(paths).process(list(blobs))
        message = filters.Filter(launch_index).apply(message)
        recorder = Recorder(paths)
        recorder.cloud_fn = f"{folder}/cloud-config.txt"
        real, util.write_file = util.write_file, lambda name, text, *rest, **more: written.append(text)
        try:
            data = {
                "handlers": dict.fromkeys(recorder.list_types(), recorder),
                "handlerdir": folder,
                "data": None,
                "frequency": None,
                "handlercount": 0,
                "excluded": [],
            }
            handlers.call_begin(recorder, None, None)
            handlers.walk(message, handlers.walker_callback, data)
            handlers.call_end(recorder, None, None)
        finally:
            util.write_file = real
    config, names = kept[-1]
    return config, names, written[-1] if written else ""


_OPS = {"values": _values, "many": _many, "userdata": _userdata}

if __name__ == "__main__":
    main(sys.argv[1])
