"""What other dialects may use of bindings; they find this module by the dialect's name (`contract.peers`)."""

from __future__ import annotations

from nodeattrs.dialects.bindings.injection import Injection
from nodeattrs.dialects.bindings.site_files import SiteFiles

__all__ = ["Injection", "SiteFiles"]
