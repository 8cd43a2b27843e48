"""The explorer, the data behind it and a report hold no secret, of whichever kind.

One repository has a secret of every kind that there is, each with another text beside it, and a change to all of them:
whatever is shown of it may say that a secret is there and that it is another one, and nothing else.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from nodeattrs.cli import main
from tests import test_chef_encrypted as bags
from tests.test_ansible_vault import INLINE, WHOLE
from tests.test_web_site import EXAMPLE, PAGES, Client, client, commit, git, run, site_of

pytest.importorskip("cryptography")

S = "correctHorseBatteryStaple"
CLEAR = (S, bags.PLAIN["password"], bags.SECRET, '"opens"', "opens&", INLINE.split()[-2])
"""What nobody may see: what was planted, an item of an encrypted bag, its secret, what a vault holds."""

ATTRIBUTES = {
    "vault": "a path of the settings, in a role",
    "vault.key": "overridden, and a recipe's",
    "vault.list.1.a": "inside a list",
    "users.bob.token": "a path with a star, in an environment",
    "cloud_token": "a fact",
    "bag.password": "of an encrypted data bag",
    "bag.whole": "all of it",
    "own.s": "Sensitive of a recipe, three times",
    "own.l.1": "in a list of two layers",
    "own.late": "a deferred one",
    "hiera.made": "convert_to Sensitive",
    "hiera.eyaml": "not decrypted",
    "injected": "a binding of either",
    "app.database": "a data bag's, wrapped by the recipe",
    "app.session_secret": "a data bag's, by its path",
}
HIERA = ("made", "nested", "asked", "eyaml", "mixed", "number", "shop::secret")
CLOUD = (
    "password",
    "chpasswd",
    "users.0.passwd",
    "write_files",
    "write_files.1.content",
    "wireguard",
    "ssh_keys",
    "runcmd",
)


def files(s: str, first: bool) -> Iterator[tuple[str, str | object]]:
    """The files that have secrets, all made of one; what is no secret changes with it."""
    settings = (EXAMPLE / "nodeattrs.toml").read_text()
    settings = settings.replace(
        "sensitive = [", 'sensitive = ["vault", ["users", "*", "token"], "cloud_token", "fold.pw",'
    )
    settings = (
        settings.partition("\n[cloud-init")[0]
        .replace("automatic = [", 'automatic = ["cloud_token",')
        .replace('["fold/', '["fold/s.yaml", "fold/')
    )
    more = '[cloud-init.web]\nfiles = ["user.yaml"]\nvendor = ["vendor.yaml"]\n[chef]\nsecret_file = "secret"\n'
    more += '[ansible.site]\ninventory = "hosts"\n'
    yield "nodeattrs.toml", f"{settings}\n{more}"
    yield "secret", bags.SECRET
    yield "data_bags/enc/db.json", bags.ENCRYPTED[1 if first else 2]
    role = json.loads((EXAMPLE / "roles/web.json").read_text())
    role["override_attributes"]["vault"] = {"key": f"{s}-role", "list": [s, {"a": s}], s[-1]: 1}
    role["default_attributes"]["vault"] = {"key": f"{s}-overridden"}
    yield "roles/web.json", role
    production = (EXAMPLE / "environments/production.yaml").read_text()
    yield "environments/production.yaml", f"{production}  users: {{bob: {{token: {s}}}, eve: {{token: [{s}]}}}}\n"
    for name in ("web1", "db1"):
        yield f"facts/{name}.json", json.loads((EXAMPLE / f"facts/{name}.json").read_text()) | {"cloud_token": s}
    recipe = (EXAMPLE / "cookbooks/base/recipes/default.py").read_text()
    yield "cookbooks/base/recipes/default.py", f'{recipe}\ninclude_recipe("base::secret")\n'
    yield (
        "cookbooks/base/recipes/secret.py",
        f"""\
from nodeattrs.recipe import *

item = data_bag_item("enc", "db")
node.default["bag"] = {{"password": item["password"], "whole": item}}
node.default["own"]["s"] = Sensitive("{s}-1")
node.default["own"]["s"] = Sensitive("{s}-2")
node.override["own"] = {{"s": Sensitive("{s}-3"), "l": ["x", Sensitive("{s}-4")]}}
node.default["own"]["l"] = [Sensitive("{s}-5")]
node.default["own"]["late"] = lazy(lambda: Sensitive("{s}-6"))
node.default["vault"]["key"] = "{s}-7"
node.default["hiera"] = {{"made": lookup("made"), "eyaml": lookup("eyaml")}}
node.default["injected"] = {{"made": inject("shop::secret"), "eyaml": inject("eyaml")}}
log(str(node["own"]))
file("/tmp/one", content=Sensitive("{s}-file"))
file("/tmp/two", content="{s}-flag", sensitive=True, mode="{"0600" if first else "0640"}")
execute("one", command="true {s[-1]}", environment={{"TOKEN": Sensitive("{s}-environment")}})
execute("two", command="echo {s}-command", sensitive=True)
""",
    )
    level = "  - {name: secret, lookup_key: eyaml_lookup_key, path: s.eyaml}\n"
    yield "hiera/hiera.yaml", (EXAMPLE / "hiera/hiera.yaml").read_text() + level
    yield (
        "hiera/data/s.eyaml",
        (
            f"eyaml: ENC[PKCS7,{s}]\nmixed: 'a ENC[PKCS7,{s}]'\nnumber: ENC[PKCS7,{s}]\n"
            f"made: {s}-made\nnested: {{a: {s}, b: [{s}]}}\nasked: '%{{lookup(''made'')}}'\nshop::secret: {s}-bound\n"
            "lookup_options: {made: {convert_to: Sensitive}, nested: {convert_to: Sensitive}, "
            "number: {convert_to: Integer}, 'shop::secret': {convert_to: Sensitive}}\n"
        ),
    )
    layers = "".join(f"layer {{ '{one}': include => '{one}:/*' }},\n" for one in ("hiera", "nodes"))
    yield (
        "bindings/manifests/site.pp",
        (EXAMPLE / "bindings/manifests/site.pp")
        .read_text()
        .replace("layer { 'modules':", f"{layers} layer {{ 'modules':"),
    )
    yield (
        "user.yaml",
        f"""\
#cloud-config
hostname: {s[-1]}
password: {s}
chpasswd: {{list: 'a:{s}', users: [{{name: r, password: {s}}}]}}
users: [{{name: a, passwd: {s}, hashed_passwd: '$6$x${s}'}}]
write_files: [{{path: /etc/shadow, content: 'root:{s}'}}, {{path: /x, content: 'see https://u:{s}@h/'}}]
wireguard: {{interfaces: [{{content: 'PrivateKey = {s}'}}]}}
ssh_keys: {{rsa_private: {s}}}
runcmd: ['curl https://u:{s}@h/']
""",
    )
    yield "vendor.yaml", f"#cloud-config\npassword: {s}-vendor\nlocale: {s[-1]}\n"
    yield "fold/s.yaml", f"fold: {{pw: {s}}}\nsops: 'ENC[AES256_GCM,data:{s},type:str]'\neyaml: 'ENC[PKCS7,{s}]'\n"
    yield "ansible.cfg", "[defaults]\ninventory = hosts\nvault_password_file = ../password\n"
    yield "password", "second\n"
    yield "hosts", f"[web]\nw1 x={s[-1]}\n[closed]\nw2\n"
    vault = "!vault |\n" + "".join(f"  {line}\n" for line in INLINE.splitlines())
    yield "group_vars/web.yml", f"door: {vault}" if first else "door: open\n"
    yield "host_vars/w1.yml", f"bolt: {vault}gate: ['{{{{ bolt }}}}']\n"
    yield "host_vars/w2.yml", WHOLE
    yield "group_vars/all.yml", WHOLE if first else "token: none\n"
    secret, flag = {"__ptype": "Sensitive", "__pvalue": s}, {"content": s}
    rows = [
        {"title": "/p", "parameters": {"content": secret, "x": s[-1]}},
        {"title": "/q", "parameters": flag, "sensitive_parameters": ["content"]},
    ]
    yield "catalogs/web2.json", {"name": "web2", "resources": [{"type": "File", **row} for row in rows], "edges": []}


def plant(place: Path, first: bool) -> None:
    for name, content in files(f"{S}{'A' if first else 'B'}", first):
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """The example with secrets of every kind in it, run, changed and run again."""
    place = tmp_path_factory.mktemp("secrets") / "example"
    shutil.copytree(EXAMPLE, place)
    plant(place, first=True)
    git(place, "init", "-q")
    commit(place)
    run(place, "--all")
    plant(place, first=False)
    commit(place)
    run(place, "--node", "web1")
    return place


@pytest.fixture(scope="module")
def web(place) -> Client:
    """It asks nothing twice: a page and its data are of one answer."""
    site = site_of(place, runs_code=True)
    return client(site._replace(ask=cache(site.ask)))


ASKED = {
    "pages": PAGES,
    "attributes": [f"/nodes/web1/why?part=1&path={path}" for path in ATTRIBUTES],
    "fleet": [f"/attribute?path={path}" for path in list(ATTRIBUTES)[::3]] + ["/nodes?q=own_s:*", "/nodes/db1?at=1"],
    "hiera": [*(f"/values?key={key}&dialect=hiera" for key in HIERA), "/subjects/hiera?on=web1"],
    "cloud-init": [*(f"/values?key={path}&dialect=cloud-init" for path in CLOUD), "/subjects/cloud-init?on=web"],
    "ansible": [
        *(f"/values?key={path}&dialect=ansible" for path in ("bolt", "gate", "token")),
        *(f"/subjects/ansible?on={host}" for host in ("w1", "w2")),
        "/api/blame?subject=w1&dialect=ansible", "/api/why?key=bolt&dialect=ansible",
    ],
    "data": [
        *(f"/api/explain?node=web1&path={path}" for path in list(ATTRIBUTES)[::2]),
        *(f"/api/why?on=web1&key={key}&dialect=hiera" for key in HIERA),
        *(f"/api/why?key={path}&dialect=cloud-init" for path in CLOUD[::2]),
        "/api/show?node=web1", "/api/show?node=web1&at=1", "/api/list?kind=fields", "/api/matrix?path=own.s&count=1",
        "/api/diff?before=web1@1&after=web1@2&slots=1", "/api/search?query=*:*&attribute=own.s&attribute=vault",
        "/api/role-show?name=web", "/api/environment-show?name=production", "/api/where?file=roles/web.json",
        "/api/catalog-graph?node=db1", "/api/status", "/api/history?node=web1",
    ],
}  # fmt: skip


@pytest.mark.parametrize("what", ASKED)
def test_no_secret_is_in_any_byte(web, what):
    answers = {path: web.get(path).text for path in ASKED[what] if not path.startswith("/impact?")}

    assert [] == [(path, one) for path, text in answers.items() for one in CLEAR if one in text]
    shown = [
        path for path, text in answers.items() if "withheld" in text or "encrypted" in text or "not stored" in text
    ]
    assert len(shown) >= len(answers) / 4, shown


def test_a_change_says_that_a_secret_is_another_one(web):
    """Of nodes and their resources, Hiera, user-data, folds, bindings, compiled catalogs; a vault stays closed."""
    answer = web.get("/api/impact?range=HEAD~1..HEAD")
    page = web.get("/impact?range=HEAD~1..HEAD")
    sides = [
        (one["dialect"], one[side]) for one in answer.json()["changes"] for side in ("before", "after") if side in one
    ]

    assert [] == [one for one in CLEAR for text in (answer.text, page.text) if one in text]
    secret = {dialect for dialect, value in sides if value["secret"]}
    assert {"nodes", "hiera", "cloud-init", "folds", "bindings", "ansible", "catalogs"} == secret
    assert ("ansible", {"$secret": "withheld"}) in [(dialect, value["value"]) for dialect, value in sides]


def test_a_report_has_none(place):
    out = place / "report.html"
    assert 0 == main(
        ["report", "web1", "db1", "--repo", str(place), "--store", str(place / "nodes.db"), "--output", str(out)]
    )

    text = out.read_text("utf-8")
    assert [] == [one for one in CLEAR if one in text]
    assert 10 < text.count("withheld")
