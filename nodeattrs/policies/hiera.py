"""The policy "hiera-deep": files are merged as the levels of a Hiera tree."""

from nodeattrs.core.policy import ABSENT_KIND, ANY, MAP, PRESENT, TAKE, Line, Meet, Policy
from nodeattrs.peers import peer
from nodeattrs.policies.named import NamedPolicy

_KEY = Policy(
    "hiera-deep, a key",
    Line(ABSENT_KIND, PRESENT, TAKE, "no weaker file has the key"),
    Line(ANY, PRESENT, peer("hiera").strategy_of("deep").policy),
)

POLICIES = (
    NamedPolicy(
        "hiera-deep",
        "each key as a lookup with the strategy deep finds it, the last file as the first level",
        "Puppet, Hiera, merge behaviors: deep",
        Policy("hiera-deep", Line(MAP, MAP, Meet(_KEY), "the keys of both"), Line(ANY, PRESENT, TAKE)),
        from_top=True,
    ),
)
