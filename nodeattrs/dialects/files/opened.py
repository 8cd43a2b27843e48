"""One version of the files of named folds."""

from __future__ import annotations

from collections.abc import Iterable

from nodeattrs.contract.answers import Answered, part_of
from nodeattrs.dialects.common import InRepository
from nodeattrs.dialects.files.folds import named_fold


class Folds(InRepository):
    """Plain folds that nodeattrs.toml names."""

    @property
    def is_there(self) -> bool:
        """Whether the settings name a fold."""
        return bool(self.repository.config.folds)

    def subjects(self) -> Iterable[str]:
        """The names of the folds in the settings."""
        return self.repository.config.folds

    def answer(self, name: str) -> Answered:
        """The merged tree of a fold. raises: DocumentError"""
        return {"value": part_of(self.with_set(named_fold(self.repository, name)))}
