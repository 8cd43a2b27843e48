"""The objects: objects that the caller gives, for parameters and queries to read.

Types with the names of their parameters, and instances with their values. It is handed
in whole; nothing is fetched over a network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Objects:
    """Instances and their types.

    types:     the name of a type -> the names of its parameters
    instances: a reference such as "Sql[one]" -> the parameters of that instance

    >>> objects = Objects({"Sql": ["user"]}, {"Sql[one]": {"user": "app"}})
    >>> objects.instance("Sql[one]"), objects.parameters("Sql"), objects.parameters("Web")
    ({'user': 'app'}, ['user'], None)
    """

    def __init__(
        self,
        types: Mapping[str, list[str]] | None = None,
        instances: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._types = {name: list(names) for name, names in (types or {}).items()}
        self._instances = dict(instances or {})

    def instance(self, reference: str) -> Mapping[str, Any] | None:
        """The parameters of an instance, or None where there is none."""
        return self._instances.get(reference)

    def of_type(self, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The instances of a type, in their order."""
        for reference, parameters in self._instances.items():
            if reference.partition("[")[0] == name:
                yield reference, parameters

    def parameters(self, name: str) -> list[str] | None:
        """The parameter names of a type; of a type that is not listed, those that its instances have; None without any.

        cost: one look, or one visit an instance
        """
        if name in self._types:
            return self._types[name]
        seen = dict.fromkeys(name for _, parameters in self.of_type(name) for name in parameters)
        return list(seen) or None
