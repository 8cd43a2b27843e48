"""What pyproject.toml cannot say: absolute links in the README that an index shows, and a wheel of the same bytes everywhere."""

import os
import re
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
SOURCE = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Source"]


def absolute(found: re.Match[str]) -> str:
    """A link of Markdown, or a picture, as an address in the repository."""
    return f"{found[1]}{SOURCE}/{'raw' if found[1].startswith('!') else 'blob'}/main/{found[2]}"


class SameModes(build_py):
    """Gives every file of the wheel the mode 644; setuptools keeps the modes that data files have in the checkout."""

    def copy_file(self, infile, outfile, **options):
        return super().copy_file(infile, outfile, **{**options, "preserve_mode": False})


os.umask(0o022)  # a wheel records the modes of the files that the build creates
README = (HERE / "README.md").read_text("utf-8")
setup(
    cmdclass={"build_py": SameModes},
    long_description=re.sub(r"(!?\[[^]]*\]\()(?!https?:|#)([^)]+)", absolute, README),
    long_description_content_type="text/markdown",
)
