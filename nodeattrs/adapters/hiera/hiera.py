"""A tree of Hiera data, as one holds it: loaded from disk, and asked through scopes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodeattrs.adapters.hiera.hierarchies import LoadedTree
from nodeattrs.adapters.hiera.scope import Scope


class Hiera(LoadedTree):
    """A tree of Hiera 5 data.

    config:          a hiera.yaml, or a folder with one: the environment layer, for every environment
    environmentpath: instead of config: a folder with a folder for each environment
    global_config:   the hiera.yaml of the global layer; where that file is absent, the built-in one holds
    modulepath:      folders with modules, beside the `modules` of the environment
    functions:       data functions of one's own, by the name hiera.yaml calls them; entry points of
                     the group `nodeattrs.hiera` are found too
    decrypt:         makes clear text of what eyaml encrypted; without it such texts pass untouched
    root:            the folder that file names in messages are counted from
    sensitive:       makes a secret, for `convert_to: Sensitive`
    documented:      the strategies follow the documentation where Puppet does not
    strict:          what is a warning elsewhere is an error

    >>> hiera = Hiera("cookbooks_example/hiera")
    >>> hiera.scope(node="web2").lookup("ntp::servers")
    ['0.pool.ntp.example', '1.pool.ntp.example']
    """

    def scope(
        self,
        facts: Mapping[str, Any] | None = None,
        *,
        node: str = "",
        environment: str = "production",
        trusted: Mapping[str, Any] | None = None,
        variables: Mapping[str, Any] | None = None,
    ) -> Scope:
        """Whoever asks: a node with its facts, in an environment.

        facts:     as `%{facts.os.family}`, and each also as a variable of its own
        trusted:   as `%{trusted.certname}`; made from the name of the node unless given
        variables: others, that hide facts of their name
        """
        return Scope(self, facts or {}, node, environment, trusted, variables or {})
