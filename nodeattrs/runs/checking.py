"""A look at all that a repository says: what is wrong, what is probably not meant, and how much was looked at.

It knows a repository and its Hiera tree, and neither findings nor command lines.
"""

from __future__ import annotations

from dataclasses import dataclass

from nodeattrs.core.borders import taking
from nodeattrs.errors import NodeattrsError
from nodeattrs.runs.defaults import FILE
from nodeattrs.runs.repository import Repository


@dataclass(frozen=True, slots=True)
class Checked:
    """What a look at a repository found.

    faults:   what cannot be right
    warnings: what is probably not meant; of kind "not-run": what was not looked at
    looked:   what -> how many
    """

    faults: list[NodeattrsError]
    warnings: list[NodeattrsError]
    looked: dict[str, int]

    @property
    def settings_are_sound(self) -> bool:
        """Whether nodeattrs.toml can be read, where there is one."""
        return all(getattr(fault, "file", None) != FILE for fault in self.faults)


@taking(repository=Repository, run_code=bool)
def checked(repository: Repository, run_code: bool = False) -> Checked:
    """Read everything, the Hiera tree too.

    run_code: also roles and environments that are Python
    """
    faults = repository.check(run_code)
    warnings: list[NodeattrsError] = [*repository.warnings]
    looked = {
        "cookbook": len(repository.cookbooks()),
        "role": len(repository.roles()),
        "environment": len(repository.environments()),
        "node": len(repository.nodes()),
    }
    try:
        if (hiera := repository.hiera) is not None:
            looked["data file"], wrong = hiera.check()
            faults += wrong
            warnings += hiera.warnings
    except NodeattrsError as error:  # of the settings it is reported already
        faults.append(error)
    return Checked(faults, warnings, looked)
