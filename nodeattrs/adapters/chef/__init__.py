"""Chef repositories as people have them: what their Ruby and their lock files say, read without running them.

It gives documents that know their lines, as any data file does; what a role or a run is, is known above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeattrs._lazy import imported

if TYPE_CHECKING:
    from nodeattrs.dialects.chef.repository.encrypted import decrypted, is_encrypted
    from nodeattrs.formats.chef_words import ruby_document

__all__ = ["decrypted", "is_encrypted", "ruby_document"]

__getattr__ = imported(__name__, {"ruby_document": "dsl", "decrypted": "encrypted", "is_encrypted": "encrypted"})
