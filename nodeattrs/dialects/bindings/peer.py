"""What other dialects may use of bindings; they find this module by the dialect's name (`contract.peers`)."""

from __future__ import annotations

from nodeattrs.dialects.bindings.injection import Injection as injection_of
from nodeattrs.dialects.bindings.site_files import SiteFiles as files_of_bindings

__all__ = ["files_of_bindings", "injection_of"]
