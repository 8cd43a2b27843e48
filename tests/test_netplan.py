"""Files of netplan folded under the policy of that name. Each expected tree is what `netplan get` of Debian printed.

2,000 random sets a run are compared by `python -m tests.oracles.netplan`.
"""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from nodeattrs.cli import main
from nodeattrs.dialects.files.folds import folded, layers_of
from nodeattrs.errors import MergeConflict, NoFileFits
from nodeattrs.formats.layers import LayerReader
from nodeattrs.policies import policy_named
from tests.oracles import netplan

CASES: list[tuple[str, str, str, str]] = [
    ("scalars replace", "{mtu: 1400, dhcp4: true}", "{mtu: 1500}", "{mtu: 1500, dhcp4: true}"),
    (
        "addresses follow each other, each once, IPv4 first",
        "{addresses: ['fd00::1/64', 10.0.0.1/8]}",
        "{addresses: [10.0.0.1/8, 10.0.0.2/8, 'fd00::2/64']}",
        "{addresses: [10.0.0.1/8, 10.0.0.2/8, 'fd00::1/64', 'fd00::2/64']}",
    ),
    (
        "addresses with options come first",
        "{addresses: [10.0.0.1/8]}",
        "{addresses: [10.0.0.2/8, {10.0.0.3/8: {label: a}}]}",
        "{addresses: [{10.0.0.3/8: {label: a}}, 10.0.0.1/8, 10.0.0.2/8]}",
    ),
    (
        "an address whose options are known ends its list",
        "{addresses: [{10.0.0.3/8: {label: a}}]}",
        "{addresses: [10.0.0.1/8, {10.0.0.3/8: {label: b}}, 10.0.0.2/8]}",
        "{addresses: [{10.0.0.3/8: {label: a}}, 10.0.0.1/8]}",
    ),
    (
        "name servers follow each other, repeats included",
        "{nameservers: {addresses: [1.1.1.1], search: [a]}}",
        "{nameservers: {addresses: [1.1.1.1, 9.9.9.9], search: [a, b]}}",
        "{nameservers: {addresses: [1.1.1.1, 1.1.1.1, 9.9.9.9], search: [a, a, b]}}",
    ),
    (
        "a route is there once, whatever else it says",
        "{routes: [{to: default, via: 10.0.0.1}, {to: 10.1.0.0/16, via: 10.0.0.1}]}",
        "{routes: [{to: 0.0.0.0/0, via: 10.0.0.1, mtu: 1400}, {to: 10.1.0.0/16, via: 10.0.0.1, metric: 5}]}",
        "{routes: [{to: default, via: 10.0.0.1}, {to: 10.1.0.0/16, via: 10.0.0.1},"
        " {to: 10.1.0.0/16, via: 10.0.0.1, metric: 5}]}",
    ),
    (
        "rules follow each other",
        "{routing-policy: [{from: 10.0.0.0/8, table: 5}]}",
        "{routing-policy: [{from: 10.0.0.0/8, table: 5}]}",
        "{routing-policy: [{from: 10.0.0.0/8, table: 5}, {from: 10.0.0.0/8, table: 5}]}",
    ),
    ("link-local is replaced", "{link-local: [ipv4]}", "{link-local: [ipv4, ipv6]}", "{link-local: [ipv4, ipv6]}"),
    (
        "overrides meet key by key",
        "{dhcp4-overrides: {use-dns: false}}",
        "{dhcp4-overrides: {use-routes: false}}",
        "{dhcp4-overrides: {use-dns: false, use-routes: false}}",
    ),
    (
        "a later match keeps the name",
        "{dhcp4: true}", "{match: {driver: x}}", "{dhcp4: true, match: {name: e, driver: x}}"),
    ("match meets", "{match: {driver: x}}", "{match: {name: 'e*'}}", "{match: {driver: x, name: 'e*'}}"),
    ("null removes, as for netplan set", "{mtu: 1400, dhcp4: true}", "{mtu: null}", "{dhcp4: true}"),
    ("a hardware address is text", "{macaddress: 52:54:00:12:34:56}", "{}", "{macaddress: '52:54:00:12:34:56'}"),
]  # fmt: skip


def of(*networks: str) -> Any:
    """What files with these networks come to."""
    layers = [
        layer
        for number, text in enumerate(networks)
        for layer in LayerReader(syntax="yaml").layers(f"network: {text}".encode(), f"{number}.yaml", str(number))
    ]
    return folded(layers, policy_named("netplan")).value["network"]


@pytest.mark.parametrize(("name", "first", "second", "expected"), CASES, ids=[case[0] for case in CASES])
def test_a_later_file_of_netplan_changes_a_device_as_netplan_get_prints(
    name: str, first: str, second: str, expected: str
) -> None:
    found = of(f"{{ethernets: {{e: {first}}}}}", f"{{ethernets: {{e: {second}}}}}")
    assert netplan.printed(found["ethernets"].get("e")) == netplan.printed(yaml.safe_load(expected))


def test_a_bridge_has_stp_again_where_a_later_file_has_parameters_without_it() -> None:
    found = of("{bridges: {b: {parameters: {stp: false, priority: 3}}}}", "{bridges: {b: {parameters: {max-age: 5}}}}")
    assert found["bridges"]["b"]["parameters"] == {"stp": True, "priority": 3, "max-age": 5}


def test_targets_of_a_bond_that_are_as_many_as_before_add_nothing() -> None:
    first = "{bonds: {b: {parameters: {arp-ip-targets: [10.0.0.1]}}}}"
    assert of(first, "{bonds: {b: {parameters: {arp-ip-targets: [10.0.0.2]}}}}") == of(first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("{wifis: {w: {access-points: {home: {}}}}}", "{wifis: {w: {access-points: {home: {hidden: true}}}}}"),
        ("{bonds: {b: {parameters: {primary: e0}}}}", "{bonds: {b: {parameters: {primary: e1}}}}"),
        ("{bridges: {b: {parameters: {path-cost: {e: 4}}}}}", "{bridges: {b: {parameters: {path-cost: {e: 4}}}}}"),
        ("{ethernets: {e: {openvswitch: {other-config: {x: 1}}}}}",
         "{ethernets: {e: {openvswitch: {other-config: {x: 2}}}}}"),
    ],
)  # fmt: skip
def test_what_netplan_takes_from_one_file_only_is_refused_in_a_second(first: str, second: str) -> None:
    with pytest.raises(MergeConflict, match="netplan refuses"):
        of(first, second)


def test_the_first_gateway_counts_as_in_newer_releases() -> None:
    first = "{ethernets: {e: {gateway4: 10.0.0.1}}}"
    assert of(first, "{ethernets: {e: {gateway4: 10.0.0.2}}}") == of(first)


def machine(root: Path, **files: str) -> None:
    """Files below a root: folder__name -> the mtu of eth0."""
    for name, mtu in files.items():
        folder, _, file = name.partition("__")
        place = root / folder / "netplan" / f"{file}.yaml"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"network: {{ethernets: {{eth0: {{mtu: {mtu}, set-name: {folder}}}}}}}\n", encoding="utf-8")


def test_files_are_read_by_name_and_run_hides_etc_which_hides_lib(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine(tmp_path, lib__a=1, etc__a=2, run__a=3, etc__b=4, lib__c=5, run__0=6)
    asked = ["fold", "--policy", "netplan", str(tmp_path), "--explain", "network.ethernets.eth0.mtu"]
    assert main([*asked, "--format", "json"]) == 0
    (trace,) = json.loads(capsys.readouterr().out)["traces"]
    files = [claim["file"].removeprefix(str(tmp_path)) for claim in trace["claims"]]
    assert files == ["/lib/netplan/c.yaml", "/etc/netplan/b.yaml", "/run/netplan/a.yaml", "/run/netplan/0.yaml"]
    assert trace["value"] == 5


def test_one_folder_is_read_as_netplan_reads_it(tmp_path: Path) -> None:
    machine(tmp_path, etc__b=2, etc__a=1)
    folder = tmp_path / "etc" / "netplan"
    (folder / "z.yml").write_text("network: {ethernets: {eth0: {mtu: 9}}}\n", encoding="utf-8")
    (folder / ".z.yaml").write_text("network: {ethernets: {eth0: {mtu: 9}}}\n", encoding="utf-8")
    layers = [*layers_of([str(folder)], LayerReader(), Path(), policy="netplan")]
    assert folded(layers, policy_named("netplan")).value["network"]["ethernets"]["eth0"]["mtu"] == 2


def test_a_folder_without_files_of_netplan_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NoFileFits, match="no file of netplan"):
        list(layers_of([str(tmp_path)], LayerReader(), Path(), policy="netplan"))


@pytest.mark.skipif(not Path("/usr/share/netplan").is_dir(), reason="netplan.io of Debian is not there")
def test_random_sets_of_files_come_to_what_netplan_get_prints() -> None:
    peer = netplan.started()
    for number in range(20):
        chance = random.Random(f"test {number}")
        with tempfile.TemporaryDirectory() as folder:
            netplan.written(Path(folder), netplan.files(chance), chance)
            assert netplan.difference(Path(folder), peer) is None
    peer.close()
