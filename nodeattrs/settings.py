"""Settings of a Python program from files, .env and the environment, each value with the line that set it.

This module gives the names of `nodeattrs.dialects.files.models` to programs.

from dataclasses import dataclass
from nodeattrs.settings import load

@dataclass
class Settings:
    port: int
    debug: bool = False

settings = load(Settings, ["base.yaml", "prod.yaml"], env="APP_")
settings.value.port
print(settings.explain("port"))
"""

from nodeattrs.dialects.files.models import Loaded, load

__all__ = ["Loaded", "load"]
