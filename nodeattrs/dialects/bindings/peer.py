"""The names of bindings that other dialects use.

Other dialects find this module by the name of the dialect (`contract.peers`).
"""

from __future__ import annotations

from nodeattrs.dialects.bindings.injection import Injection

__all__ = ["Injection"]
