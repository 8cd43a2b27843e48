"""cloud-init's merging, offline: parts, conf.d, layers, and why each value is what it is.

    >>> from nodeattrs.cloudinit import merge
    >>> first = "#cloud-config\\nruncmd: [one]"
    >>> second = "#cloud-config\\nmerge_how: list(append)+dict(recurse_list)\\nruncmd: [two]"
    >>> merged = merge([first, second])
    >>> merged.config
    {'runcmd': ['one', 'two']}
    >>> print(merged.explain("runcmd.1"))
    runcmd.1 = "two"
      wins  2 part-002  "two"  part-002:3 (part)

The mergers are policies of the core, the dialect is the one of today's cloud-init; the rules
of its older manual are the mode "documented". docs/cloudinit.md specifies both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeattrs._lazy import imported

if TYPE_CHECKING:
    from nodeattrs.dialects.cloudinit.custom import ENTRY_POINTS, register_merger, registered_mergers, unregister_merger
    from nodeattrs.dialects.cloudinit.faults import CloudConfigError, kind_of
    from nodeattrs.dialects.cloudinit.inputs import Given, given_in, vendor_in
    from nodeattrs.dialects.cloudinit.instance import Differing, Instance, read_instance
    from nodeattrs.dialects.cloudinit.layers import (
        config_of_cmdline,
        merge_confd,
        merge_layers,
        read_confd,
        url_of_cmdline,
    )
    from nodeattrs.dialects.cloudinit.lints import WARNINGS, Warned, refuse_unknown_options
    from nodeattrs.dialects.cloudinit.lints.values import about_size
    from nodeattrs.dialects.cloudinit.merged import Merged, masked
    from nodeattrs.dialects.cloudinit.mergers import (
        CONFIG_DEFAULT,
        PART_DEFAULT,
        WORDS,
        Definition,
        MergerSpec,
        Mode,
        definition_of,
        merge_many,
        merge_values,
        parse_definition,
        take_definition,
        word_or_definition,
    )
    from nodeattrs.dialects.cloudinit.packing import pack
    from nodeattrs.dialects.cloudinit.parts import MAX_BYTES, CloudPart, dumped, load_config
    from nodeattrs.dialects.cloudinit.releases import Release, ReleaseName, release_of
    from nodeattrs.dialects.cloudinit.schema import Schema, schema_file
    from nodeattrs.dialects.cloudinit.secrets import guarded, veiled
    from nodeattrs.dialects.cloudinit.steps import Change, PartChanges, PartReport
    from nodeattrs.dialects.cloudinit.templates import InstanceData
    from nodeattrs.dialects.cloudinit.unpacking import Blob, blob_of, unpack
    from nodeattrs.dialects.cloudinit.userdata import merge

_HOMES = {
    "Blob": "unpacking",
    "CONFIG_DEFAULT": "mergers",
    "Change": "steps",
    "CloudConfigError": "faults",
    "CloudPart": "parts",
    "Definition": "mergers",
    "Differing": "instance",
    "ENTRY_POINTS": "custom",
    "Given": "inputs",
    "Instance": "instance",
    "InstanceData": "templates",
    "MAX_BYTES": "parts",
    "Merged": "merged",
    "MergerSpec": "mergers",
    "Mode": "mergers",
    "PART_DEFAULT": "mergers",
    "PartChanges": "steps",
    "PartReport": "steps",
    "Release": "releases",
    "ReleaseName": "releases",
    "Schema": "schema",
    "WARNINGS": "lints",
    "WORDS": "mergers",
    "Warned": "lints",
    "about_size": "lints.values",
    "blob_of": "unpacking",
    "config_of_cmdline": "layers",
    "definition_of": "mergers",
    "dumped": "parts",
    "given_in": "inputs",
    "guarded": "secrets",
    "kind_of": "faults",
    "load_config": "parts",
    "masked": "merged",
    "merge": "userdata",
    "merge_confd": "layers",
    "merge_layers": "layers",
    "merge_many": "mergers",
    "merge_values": "mergers",
    "pack": "packing",
    "parse_definition": "mergers",
    "read_confd": "layers",
    "read_instance": "instance",
    "refuse_unknown_options": "lints",
    "register_merger": "custom",
    "registered_mergers": "custom",
    "release_of": "releases",
    "schema_file": "schema",
    "take_definition": "mergers",
    "unpack": "unpacking",
    "unregister_merger": "custom",
    "url_of_cmdline": "layers",
    "veiled": "secrets",
    "vendor_in": "inputs",
    "word_or_definition": "mergers",
}

__all__ = [
    "CONFIG_DEFAULT",
    "ENTRY_POINTS",
    "MAX_BYTES",
    "PART_DEFAULT",
    "WARNINGS",
    "WORDS",
    "Blob",
    "Change",
    "CloudConfigError",
    "CloudPart",
    "Definition",
    "Differing",
    "Given",
    "Instance",
    "InstanceData",
    "Merged",
    "MergerSpec",
    "Mode",
    "PartChanges",
    "PartReport",
    "Release",
    "ReleaseName",
    "Schema",
    "Warned",
    "about_size",
    "blob_of",
    "config_of_cmdline",
    "definition_of",
    "dumped",
    "given_in",
    "guarded",
    "kind_of",
    "load_config",
    "masked",
    "merge",
    "merge_confd",
    "merge_layers",
    "merge_many",
    "merge_values",
    "pack",
    "parse_definition",
    "read_confd",
    "read_instance",
    "refuse_unknown_options",
    "register_merger",
    "registered_mergers",
    "release_of",
    "schema_file",
    "take_definition",
    "unpack",
    "unregister_merger",
    "url_of_cmdline",
    "veiled",
    "vendor_in",
    "word_or_definition",
]


__getattr__ = imported(__name__, _HOMES, below="nodeattrs.dialects.cloudinit")


def __dir__() -> list[str]:
    return sorted(__all__)
