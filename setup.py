"""What the build makes: the README as an index of packages shows it, where no file of ours lies beside it."""

import re
import tomllib
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
SOURCE = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Source"]


def absolute(found: re.Match[str]) -> str:
    """A link of Markdown, or a picture, as an address in the repository."""
    return f"{found[1]}{SOURCE}/{'raw' if found[1].startswith('!') else 'blob'}/main/{found[2]}"


README = (HERE / "README.md").read_text("utf-8")
setup(
    long_description=re.sub(r"(!?\[[^]]*\]\()(?!https?:|#)([^)]+)", absolute, README),
    long_description_content_type="text/markdown",
)
