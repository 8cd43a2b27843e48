"""`python -P -m nodeattrs` is the command `nodeattrs`."""

import sys

from nodeattrs.cli import main

if __name__ == "__main__":
    sys.exit(main())
