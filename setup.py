"""What pyproject.toml cannot say: absolute links in the README that an index shows, and a reproducible wheel."""

import re
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel

HERE = Path(__file__).parent
SOURCE = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Source"]


def absolute(found: re.Match[str]) -> str:
    """A link of Markdown, or a picture, as an address in the repository."""
    return f"{found[1]}{SOURCE}/{'raw' if found[1].startswith('!') else 'blob'}/main/{found[2]}"


class SameModes(bdist_wheel):
    """Gives every file of the wheel the mode 644; setuptools takes the modes of the checkout and the user's umask."""

    def write_wheelfile(self, *args, **options):
        """Called when all files lie in `bdist_dir`, before they are packed."""
        super().write_wheelfile(*args, **options)
        for file in Path(self.bdist_dir).rglob("*"):
            if file.is_file():
                file.chmod(0o644)


README = (HERE / "README.md").read_text("utf-8")
setup(
    cmdclass={"bdist_wheel": SameModes},
    long_description=re.sub(r"(!?\[[^]]*\]\()(?!https?:|#)([^)]+)", absolute, README),
    long_description_content_type="text/markdown",
)
