"""`nodeattrs lsp`: a language server, which shows the answers of `where` and `check` in an editor.

The library pygls implements the protocol. An editor starts the server, which is `cli.language_server`.
"""

from __future__ import annotations

import argparse
import importlib.util

from nodeattrs.cli.changing import asking, request_of
from nodeattrs.cli.terminal import Terminal
from nodeattrs.contract.argument import Argument
from nodeattrs.contract.arguments import ALLOWED_PATHS, RUBY
from nodeattrs.errors import missing_extra

DESCRIPTION = """\
A language server over standard input and output: an editor starts it. Hover over a key in a role, an
environment, a node, a data file, a variable file or user-data to see where the line wins, and what overrides it.
Lines that are overridden on some subjects have a code lens, and an action that goes to the winning line. "Go to
definition" opens the line that wins, "find references" lists all lines that set the key. Findings of `check` are
diagnostics. No code of the repository runs without --run-code: cookbooks are then left out."""
EXAMPLES = """\
examples:
  nodeattrs lsp
  nodeattrs lsp --run-code --facts facts/
  nodeattrs lsp --repo site/ --most 50

docs/editor.md has the lines for each editor
"""

ARGUMENTS = (
    Argument(("--repo",), "the repository (default: the folder that the editor has open)", {"metavar": "DIR"}),
    Argument(("--run-code",), "run code of the repository: cookbooks, Python roles", {"action": "store_true"}),
    Argument(("--most",), "look at the first N subjects of each dialect (default: 200)", {"type": int, "metavar": "N"}),
    *RUBY,
    *ALLOWED_PATHS,
    *asking(without=("--dialect", "--sample")),
)


def perform(options: argparse.Namespace, terminal: Terminal) -> int:
    """Serve the language server protocol on standard input and output, until the editor leaves.

    Wrong options end the program before, with exit code 2. raises: MissingExtra, without pygls
    """
    if importlib.util.find_spec("pygls") is None:
        raise missing_extra("pygls", "lsp", "a language server")
    if options.most is not None and options.most < 1:
        options.refuse("--most is at least 1")
    request_of(options, "", options.run_code)  # refuses wrong options before an editor waits
    from nodeattrs.cli.language_server import serve

    serve(options)
    return 0
