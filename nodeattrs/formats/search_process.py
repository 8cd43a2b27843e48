"""The program of the child process that makes long searches for `formats.patterns`.

It reads a question from each line of standard input, and writes an answer to each line of standard output, both as
JSON. The system ends the process if a search takes more processor time than the question allows. The program imports
only the standard library.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import time
import warnings
from typing import Any


def answer(pattern: re.Pattern[str], method: str, words: tuple[Any, ...]) -> Any:
    """Call a method of a pattern with *words*; the result can be written as JSON.

    method: "search" and "match" give a bool. "groups" gives [groups as a list, groups by name] of the first match, or
            None. Any other name is a method of `re.Pattern`, such as "sub"
    words:  the arguments of the method
    raises: the errors of the method, such as re.error for a bad template of "sub"
    """
    if method in ("search", "match"):
        return getattr(pattern, method)(*words) is not None
    if method == "groups":
        found = pattern.search(*words)
        return None if found is None else [[found[0], *found.groups()], found.groupdict()]
    return getattr(pattern, method)(*words)


def main() -> None:
    """Answer questions from standard input until it ends. Without a question nothing is written.

    A question is [seconds, expression, flags, method, *words], for `answer`. A reply is {"answer": its result}. If the
    expression is faulty or the search fails, it is {"error": text}. Each reply also has "seconds", the processor time
    that was used. If a search takes more processor time than the question allows, the signal SIGPROF ends the process,
    and there is no reply. Ctrl-C is ignored.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the caller, which closes the pipe
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        seconds, source, flags, method, *words = json.loads(line)
        begin = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, seconds)  # SIGPROF ends a process that does not handle it
        try:
            reply = {"answer": answer(re.compile(source, flags), method, tuple(words))}
        except Exception as error:  # whatever it is, the caller is told
            reply = {"error": str(error) or type(error).__name__}
        signal.setitimer(signal.ITIMER_PROF, 0)
        reply["seconds"] = time.process_time() - begin
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
