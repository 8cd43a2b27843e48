"""No command prints a secret: each kind of secret has a marker, each command is run, and no marker comes out.

Beside each marker stands a control value that is no secret. A command that shows neither has looked at nothing, so
that each row names the controls that have to come out.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import hmac
import json
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from nodeattrs.cli import main
from tests.effort import EFFORT

pytest.importorskip("cryptography")

KINDS = ("chef", "fold", "hiera", "converted", "eyaml", "ansible", "vault", "cloud", "marked", "lost")
"""Where a secret stands; "lost" stands at sensitive paths where something stronger overrides it."""

PASSWORD = "opensesame"
SETTINGS = """\
hiera = "hiera"
store = "nodes.db"
sensitive = [
  "app.password", "users.*.token", "fold.password", "pw", "nested.password", "list", ["mod::key", "token"], "number",
  "deep", "mapped", "apw", "amap.password", "alist.*.key", "write_files.*.content",
]
[fold.site]
files = ["fold/a.yaml", "fold/b.yaml"]
policy = "helm"
[cloud-init.web]
files = ["user.yaml"]
[ansible.site]
inventory = "hosts"
"""
ANSIBLE_CFG = "[defaults]\ninventory = hosts\n"


def files(mark: dict[str, str], control: str) -> dict[str, str]:
    """The repository. mark: kind -> its marker; control: what stands beside each of them"""
    chef = {"password": mark["chef"], "port": f"chef-{control}"}
    vault = "".join(f"  {line}\n" for line in vaulted(mark["vault"]).splitlines())
    return {
        ".gitignore": "*.db*\n*.html\n.nodeattrs/\n",
        "nodeattrs.toml": SETTINGS,
        "nodes/web1.json": json.dumps({"name": "web1", "run_list": ["role[web]"], "normal": {"app": chef}}),
        "nodes/web2.json": json.dumps({"name": "web2", "run_list": ["role[web]"]}),
        "facts/web1.json": '{"platform": "debian"}',
        "facts/web2.json": '{"platform": "debian"}',
        "roles/web.json": json.dumps(
            {
                "name": "web",
                "default_attributes": {"app": {**chef, "password": mark["lost"]}},
                "override_attributes": {"users": {"bob": {"token": mark["chef"], "shell": f"user-{control}"}}},
            }
        ),
        "cookbooks/one/metadata.json": '{"name": "one", "version": "1.0.0"}',
        "fold/a.yaml": f"fold: {{password: {mark['lost']}, port: 1}}\n",
        "fold/b.yaml": f"fold: {{password: {mark['fold']}, port: fold-{control}}}\n",
        "hiera/hiera.yaml": "version: 5\nhierarchy:\n"
        "- {name: nodes, path: 'nodes/%{trusted.certname}.yaml'}\n"
        "- {name: common, path: common.yaml}\n"
        "- {name: secret, lookup_key: eyaml_lookup_key, path: secret.eyaml}\n",
        "hiera/data/nodes/web1.yaml": f"pw: {mark['hiera']}-web1\nlist: [{mark['hiera']}-l, '--{mark['lost']}']\n"
        f"deep: {{a: ['--{mark['lost']}', {mark['hiera']}-d]}}\nmapped: {{b: {mark['hiera']}}}\n",
        "hiera/data/common.yaml": f"""\
pw: {mark["hiera"]}
pw: {mark["lost"]}
plain: hiera-{control}
nested: {{password: {mark["hiera"]}, port: nested-{control}}}
list: [{mark["lost"]}, {mark["hiera"]}-c]
mod::key: {{token: {mark["hiera"]}, port: mod-{control}}}
number: {mark["hiera"]}
deep: {{a: [{mark["lost"]}, {mark["hiera"]}]}}
mapped: {mark["hiera"]}
url: "postgres://u:%{{lookup('pw')}}@h"
urls: {{db: "postgres://u:%{{lookup('nested.password')}}@h", web: "http://url-{control}"}}
whole: "a %{{lookup('nested')}}"
chain: "<%{{lookup('url')}}>"
alias: "%{{alias('nested')}}"
aliased: {{in: "%{{alias('pw')}}", port: alias-{control}}}
made: {mark["converted"]}
lookup_options:
  made: {{convert_to: Sensitive}}
  number: {{convert_to: Integer}}
  list: {{merge: unique}}
  deep: {{merge: {{strategy: deep, knockout_prefix: '--', sort_merged_arrays: true}}}}
  mapped: {{merge: hash}}
""",
        "hiera/data/secret.eyaml": f"eyaml: ENC[PKCS7,{mark['eyaml']}]\nbeside: eyaml-{control}\n",
        "ansible.cfg": ANSIBLE_CFG,
        "password": PASSWORD,
        "hosts": f"[web]\nweb1\nweb2 apw={mark['ansible']}-ini\n[web:vars]\nplain=ini-{control}\n",
        "group_vars/all.yml": f"apw: {mark['lost']}\namap: {{password: {mark['lost']}, port: 1}}\n",
        "group_vars/web.yml": f"""\
apw: {mark["ansible"]}
amap: {{password: {mark["ansible"]}, port: amap-{control}}}
alist: [{{key: {mark["ansible"]}, name: alist-{control}}}]
url: "postgres://u:{{{{ apw }}}}@h"
urls: {{db: "{{{{ amap.password }}}}", web: "http://url-{control}"}}
all_of_it: "{{{{ amap }}}}"
""",
        "host_vars/web2.yml": f"host: host-{control}\ndoor: !vault |\n{vault}",
        "play.yml": "- hosts: web\n  tasks:\n  - {name: last, debug: {msg: x}, "
        f"vars: {{apw: {mark['ansible']}-task, tv: task-{control}}}}}\n",
        "schema.json": json.dumps(
            {
                "properties": {
                    "hostname": {"type": "integer"},
                    "password": {"type": "integer"},
                    "write_files": {"items": {"properties": {"content": {"type": "integer"}}}},
                }
            }
        ),
        "user.yaml": f"""\
#cloud-config
hostname: cloud-{control}
password: {mark["cloud"]}
chpasswd: {{list: 'a:{mark["cloud"]}', users: [{{name: r, password: {mark["cloud"]}}}]}}
users: [{{name: user-{control}, passwd: {mark["cloud"]}, hashed_passwd: {mark["cloud"]}}}]
chef: {{validation_key: {mark["cloud"]}, validation_cert: {mark["cloud"]}, server_url: chef-{control}}}
ssh_keys: {{rsa_private: {mark["cloud"]}, rsa_public: ssh-{control}}}
ubuntu_pro: {{token: {mark["cloud"]}}}
landscape: {{client: {{registration_key: {mark["cloud"]}, computer_title: title-{control}}}}}
salt_minion: {{private_key: {mark["cloud"]}, public_key: salt-{control}}}
mcollective: {{conf: {{private-cert: {mark["cloud"]}, public-cert: cert-{control}}}}}
puppet:
  csr_attributes:
    custom_attributes: {{1.2.840.113549.1.9.7: {mark["cloud"]}}}
    extension_requests: {{pp_preshared_key: {mark["cloud"]}, pp_image_name: image-{control}}}
yum_repos: {{r: {{password: {mark["cloud"]}, name: repo-{control}}}}}
rh_subscription: {{password: {mark["cloud"]}, activation-key: {mark["cloud"]}, username: rhel-{control}}}
wireguard: {{interfaces: [{{name: wg-{control}, content: {mark["cloud"]}}}]}}
random_seed: {{data: {mark["cloud"]}}}
apt: {{debconf_selections: {{one: 'p p/password password {mark["cloud"]}'}}, primary: apt-{control}}}
write_files:
- {{path: /etc/plain-{control}, content: {mark["marked"]}}}
- {{path: /x, source: {{uri: uri-{control}, headers: {{Authorization: {mark["cloud"]}}}}}}}
""",
    }


def vaulted(text: str) -> str:
    """A text as ansible-vault encrypts it."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    salt = b"0" * 32
    key = hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), salt, 10_000, 80)
    padding = 16 - len(text) % 16
    encryptor = Cipher(algorithms.AES(key[:32]), modes.CTR(key[64:])).encryptor()
    cipher = encryptor.update(text.encode() + bytes([padding]) * padding) + encryptor.finalize()
    parts = salt.hex(), hmac.new(key[32:64], cipher, "sha256").hexdigest(), cipher.hex()
    body = "\n".join(parts).encode().hex()
    return "\n".join(["$ANSIBLE_VAULT;1.1;AES256", *(body[at : at + 80] for at in range(0, len(body), 80))])


class Planted(NamedTuple):
    """A repository with a marker of each kind: the values that no command may print."""

    place: Path
    clear: tuple[str, ...]


def plant(place: Path, mark: dict[str, str], control: str) -> None:
    for name, text in files(mark, control).items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    words = ["git", "-c", "user.name=t", "-c", "user.email=t@example", "-C", str(place)]
    for line in (["init", "-q"], ["add", "-A"], ["commit", "-qm", control]):
        subprocess.run([*words, *line], check=True, capture_output=True)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    """Committed, run and saved; then each marker and control changed, committed and run again."""
    import secrets

    place = tmp_path_factory.mktemp("markers")
    clear: list[str] = []
    for control in ("controlA", "controlB"):
        mark = {kind: f"m{kind}{secrets.token_hex(6)}" for kind in KINDS}
        clear += mark.values()
        plant(place, mark, control)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(place)
            assert 0 == main(["run", "--all"])
            assert 0 == main(["ansible", "save", "--store", "hosts.db"])
    return Planted(place, tuple(clear))


FORMS = ("markdown", "yaml", "sarif", "github", "gitlab", "junit")
IN_EACH_FORM = "" if EFFORT >= 1 else " --dialect ansible"
"""What an impact is asked of in each form: of all dialects, if there is time; as text and as JSON it is in any case."""
ROWS: list[tuple[str, str]] = [
    # --- Chef
    ("show web1", "chef-controlB user-controlB"),
    ("show web1 --format json", "chef-controlB user-controlB"),
    ("show web1 app", "chef-controlB"),
    ("show web1 --at 1", "chef-controlA"),
    ("explain web1 app", "chef-controlB"),
    ("explain web1 app.password", "roles/web.json"),
    ("explain web1 users --format json", "user-controlB"),
    ("matrix app", "chef-controlB"),
    ("matrix app.password --format json", "roles/web.json"),
    ("diff web1@1 web1@2", "chef-controlA chef-controlB"),
    ("diff web1 web2 --format json", "web2"),
    ("search app_port:* --attribute app --format json", "chef-controlB"),
    ("role show web", "user-controlB"),
    ("role show web --format json", "user-controlB"),
    ("store export", "chef-controlB"),
    ("history web1", "2"),
    ("config", "sensitive"),
    ("check", ""),
    # --- plain folds
    ("fold --name site", "fold-controlB"),
    ("fold --name site --format json", "fold-controlB"),
    ("fold --name site --explain fold", "fold-controlB"),
    # --- Hiera
    ("hiera lookup pw --node web1", "withheld"),
    ("hiera lookup nested", "nested-controlB"),
    ("hiera lookup nested --format json", "nested-controlB"),
    ("hiera lookup nested --render-as s", "nested-controlB"),
    ("hiera lookup nested --render-as json", "nested-controlB"),
    ("hiera lookup nested --render-as yaml", "nested-controlB"),
    ("hiera lookup nested.password", "withheld"),
    ("hiera lookup mod::key", "mod-controlB"),
    ("hiera lookup list --node web1", "withheld"),
    ("hiera lookup deep --node web1", "withheld"),
    ("hiera lookup url", "withheld"),
    ("hiera lookup urls", "url-controlB"),
    ("hiera lookup whole", "withheld"),
    ("hiera lookup chain", "withheld"),
    ("hiera lookup alias", "nested-controlB"),
    ("hiera lookup aliased --format json", "alias-controlB"),
    ("hiera lookup made", "withheld"),
    ("hiera lookup eyaml", "encrypted"),
    ("hiera lookup number", "Integer"),
    ("hiera lookup mapped --node web1", "hash"),
    ("hiera lookup pw --type Integer", "text"),
    ("hiera lookup pw.x", "text"),
    ("hiera lookup pw.x --traceback", "text"),
    ("hiera list --node web1", "hiera-controlB"),
    ("hiera list --node web1 --format json", "hiera-controlB nested-controlB url-controlB"),
    ("hiera list --render-as yaml", "hiera-controlB"),
    ("hiera explain pw --node web1", "data/nodes/web1.yaml:1"),
    ("hiera explain pw --format json", "common.yaml"),
    ("hiera explain nested --because", "nested-controlB"),
    ("hiera explain nested --render-as json", "nested-controlB"),
    ("hiera explain url --format json", "common.yaml"),
    ("hiera explain urls", "url-controlB"),
    ("hiera explain urls --format json", "url-controlB"),
    ("hiera explain aliased", "alias-controlB"),
    ("hiera explain list --node web1", "unique"),
    ("hiera explain deep --node web1", "knocked"),
    ("hiera explain deep --node web1 --format json", "knocked_out"),
    ("hiera explain number", "Integer"),
    ("hiera explain mapped --node web1", "hash"),
    ("hiera explain mapped --node web1 --format json", "hash"),
    ("hiera explain made --format json", "common.yaml"),
    ("hiera explain eyaml", "encrypted"),
    ("hiera explain nested --options", "knockout_prefix"),
    ("hiera diff web1 web2", "pw"),
    ("hiera diff web1 web2 --format json", "pw url"),
    ("hiera who-has pw", "common.yaml"),
    ("hiera unused", ""),
    ("hiera matrix pw", "common.yaml"),
    ("hiera matrix nested --format json", "nested-controlB"),
    ("hiera matrix urls", "url-controlB"),
    ("hiera matrix deep --node web1", "withheld"),
    ("hiera variables", "trusted"),
    # --- Ansible
    ("ansible vars web1", "amap-controlB alist-controlB ini-controlB"),
    ("ansible vars web1 --yaml", "amap-controlB alist-controlB"),
    ("ansible vars web1 --origins", "amap-controlB"),
    ("ansible vars web1 --origins --format json", "amap-controlB"),
    ("ansible vars web1 --render", "amap-controlB url-controlB"),
    ("ansible vars web2 --render --vault-password-file password", "amap-controlB host-controlB"),
    ("ansible vars web1 --playbook play.yml", "task-controlB"),
    ("ansible vars web1 -e amap={} -e x=extra-controlB", "extra-controlB"),
    ("ansible list", "amap-controlB ini-controlB"),
    ("ansible list --yaml", "amap-controlB ini-controlB"),
    ("ansible list --toml --limit web1", "amap-controlB"),
    ("ansible list --export", "amap-controlB"),
    ("ansible list --vault-password-file password", "amap-controlB host-controlB"),
    ("ansible diff web1 web2 --vault-password-file password", "door host-controlB"),
    ("ansible matrix door --vault-password-file password", "host_vars/web2.yml"),
    ("ansible graph --vars", "amap-controlB"),
    ("ansible graph --vars --format json", "web1"),
    ("ansible explain web1 apw", "group_vars/all.yml:1"),
    ("ansible explain web2 apw --format json", "hosts"),
    ("ansible explain web1 amap", "amap-controlB"),
    ("ansible explain web1 amap --format json", "amap-controlB"),
    ("ansible explain web1 alist", "alist-controlB"),
    ("ansible explain web1 url", "mentions"),
    ("ansible explain web1 url --render", "not evaluated"),
    ("ansible explain web1 url --render --format json", "not_evaluated"),
    ("ansible explain web1 urls --render", "url-controlB"),
    ("ansible explain web1 all_of_it --render", "mentions"),
    ("ansible explain web1 apw.x", "apw"),
    ("ansible explain web2 door --vault-password-file password", "withheld"),
    ("ansible explain web1 tv --playbook play.yml --task last", "task-controlB"),
    ("ansible explain web1 apw --playbook play.yml --task last", "play.yml"),
    ("ansible who-has apw", "group_vars/web.yml"),
    ("ansible who-has amap --format json", "amap-controlB"),
    ("ansible matrix apw", "web2"),
    ("ansible matrix amap --format json", "amap-controlB"),
    ("ansible matrix amap", "amap-controlB"),
    ("ansible diff web1 web2", "apw"),
    ("ansible diff web1 web2 --format json", "apw"),
    # --- hosts that were saved
    ("show web1 --store hosts.db", "amap-controlB"),
    ("store export --store hosts.db", "amap-controlB"),
    ("diff web1@1 web1@2 --store hosts.db", "amap-controlA amap-controlB"),
    # --- user-data
    ("cloud-config merge user.yaml", "cloud-controlB chef-controlB image-controlB uri-controlB"),
    ("cloud-config merge user.yaml --format json", "plain-controlB title-controlB"),
    ("cloud-config merge user.yaml --format cloud-init", "plain-controlB"),
    ("cloud-config merge user.yaml --format mime", "show-secrets"),
    ("cloud-config merge user.yaml --warn", "cloud-controlB"),
    ("cloud-config explain user.yaml", "cloud-controlB"),
    ("cloud-config explain user.yaml --format json", "cloud-controlB"),
    ("cloud-config explain user.yaml --path write_files --path chef --format json", "plain-controlB chef-controlB"),
    ("cloud-config explain user.yaml --path write_files.0.content", "user.yaml"),
    ("cloud-config check user.yaml", ""),
    ("cloud-config check user.yaml --schema schema.json", "write_files.0.content hostname"),
    # --- changes
    ("impact HEAD~1..HEAD --no-run-code", "controlA controlB"),
    *((f"impact HEAD~1..HEAD --no-run-code --format {form}{IN_EACH_FORM}", "controlB") for form in FORMS),
    *((f"check --format {form}", "") for form in FORMS[1:]),
    ("what-if --without hiera/data/common.yaml --no-run-code", "pw controlB"),
    ("what-if --set pw=other --dialect hiera --no-run-code --format json", "pw withheld"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "controls"), ROWS)
def test_no_marker_is_printed(line, controls, planted, monkeypatch, capsys):
    monkeypatch.chdir(planted.place)
    words = [*line.split(), *(["--hiera", "hiera"] if line.startswith("hiera ") else [])]
    with contextlib.suppress(SystemExit):
        main(words)
    printed = "\n".join(capsys.readouterr())

    assert [] == [one for one in planted.clear if one in printed]
    assert [] == [one for one in controls.split() if one not in printed], printed


def test_no_marker_is_in_what_is_written(planted, monkeypatch):
    """The stores, what is kept beside them, and a report in HTML."""
    monkeypatch.chdir(planted.place)
    assert 0 == main(["report", "web1", "web2", "--output", "report.html"])
    assert 0 == main(["report", "web1", "--store", "hosts.db", "--output", "hosts.html"])
    written = {
        file.relative_to(planted.place).as_posix(): file.read_bytes()
        for pattern in (".nodeattrs/**/*", "*.db*", "*.html")
        for file in planted.place.glob(pattern)
        if file.is_file()
    }

    assert {"hosts.db", "report.html", "hosts.html", "nodes.db"} <= written.keys()
    assert [] == [(name, one) for name, content in written.items() for one in planted.clear if one.encode() in content]
    assert b"chef-controlB" in written["report.html"]
    assert b"amap-controlB" in written["hosts.html"]


def test_no_marker_is_in_what_an_editor_shows_of_any_line(planted):
    from nodeattrs.contract.request import Request
    from nodeattrs.verbs.hover import hover
    from nodeattrs.verbs.lines import FileLine, FolderLines

    lines = FolderLines(planted.place, Request(str(planted.place), run_code=False))
    lines.look()
    shown = ""
    for name in subprocess.check_output(["git", "ls-files"], cwd=planted.place, text=True).split():
        for line in range(1, len((planted.place / name).read_text("utf-8").splitlines()) + 1):
            shown += hover(lines.at(FileLine(name, line)), lines.count)

    assert [] == [one for one in planted.clear if one in shown]
    controls = ("chef", "user", "fold", "hiera", "nested", "url", "alias", "amap", "cloud")
    assert [] == [one for one in controls if f"{one}-controlB" not in shown], shown


def test_no_marker_is_in_a_page_of_the_explorer(planted):
    """Of a change, tests/test_web_secrets.py looks at the page and its data."""
    pytest.importorskip("starlette")
    pytest.importorskip("httpx")
    from tests.test_web_site import client, site_of

    site = site_of(planted.place)
    web = client(site._replace(ask=cache(site.ask)))  # a page and its data are of one answer
    pages = {
        "/nodes/web1": "chef-controlB",
        "/nodes/web1/why?part=1&path=app": "chef-controlB",
        "/attribute?path=app": "chef-controlB",
        "/values?key=nested&dialect=hiera": "nested-controlB",
        "/values?key=urls&dialect=hiera": "url-controlB",
        "/values?key=chef&dialect=cloud-init": "chef-controlB",
        "/subjects/cloud-init?on=web": "plain-controlB",
        "/subjects/ansible?on=web1": "amap-controlB",
        "/values?key=amap&dialect=ansible": "amap-controlB",
        "/api/why?key=nested&dialect=hiera": "nested-controlB",
        "/api/blame?subject=web1&dialect=hiera": "nested-controlB",
        "/api/blame?subject=web1&dialect=ansible": "amap-controlB",
        "/api/why?key=amap&dialect=ansible": "amap-controlB",
        "/api/why?key=write_files&dialect=cloud-init": "plain-controlB",
    }
    for page, control in pages.items():
        text = web.get(page).text
        assert [] == [one for one in planted.clear if one in text], page
        assert control in text, (page, text)


def test_no_marker_is_in_an_answer_to_a_program(planted, monkeypatch):
    pytest.importorskip("mcp")
    from nodeattrs.cli.mcp import tools

    monkeypatch.chdir(planted.place)
    options = argparse.Namespace(repo=None, facts=None, run_code=False, store="nodes.db")
    named = {tool.__name__: tool for tool in tools(options)}
    for name, given, control in (
        ("explain", {"node": "web1", "path": "app"}, "chef-controlB"),
        ("search", {"query": "app_port:*", "attribute": ["app"]}, "chef-controlB"),
        ("diff", {"before": "web1@1", "after": "web1@2"}, "chef-controlB"),
        ("impact", {"range": "HEAD~1..HEAD"}, "nested-controlB"),
        ("check", {}, ""),
    ):
        text = asyncio.run(named[name](**given, format="json")).model_dump_json()
        assert [] == [one for one in planted.clear if one in text], name
        assert control in text, (name, text)


@pytest.mark.parametrize("line", ["hiera lookup nested --hiera {}/hiera", "ansible vars web1 -i {}/hosts"])
def test_the_settings_of_the_tree_that_is_read_count_from_anywhere(line, planted, tmp_path, monkeypatch, capsys):
    """Beside those of the place where the command starts."""
    for settings in (None, "sensitive = []\n"):
        if settings is not None:
            (tmp_path / "nodeattrs.toml").write_text(settings)
        monkeypatch.chdir(tmp_path)
        assert 0 == main(line.format(planted.place).split())
        printed = "\n".join(capsys.readouterr())

        assert [] == [one for one in planted.clear if one in printed]
        assert "controlB" in printed


def test_a_change_of_a_sensitive_value_is_seen_in_all_that_is_made_of_it(planted, monkeypatch, capsys):
    monkeypatch.chdir(planted.place)
    assert 5 == main(["impact", "HEAD~1..HEAD", "--no-run-code", "--format", "json"])  # cookbooks are not read
    captured = capsys.readouterr()
    printed, changes = "\n".join(captured), json.loads(captured.out)["changes"]
    changed = {(one["dialect"], one["path"].partition(".")[0]) for one in changes if one["after"]["secret"]}

    assert {("hiera", key) for key in ("pw", "nested", "url", "urls", "whole", "chain", "alias", "aliased")} <= changed
    assert {("ansible", "apw"), ("ansible", "amap")} <= changed
    assert [] == [one for one in planted.clear if one in printed]
    assert [] == [one for one in ("controlA", "controlB") if one not in printed]


BOUND = {
    "nodeattrs.toml": 'bindings = "site"\nhiera = "hiera"\nsensitive = ["pw"]\n',
    "site/manifests/site.pp": "site { bindings => [layer { 'site': include => 'confdir:/default' }] }\n",
    "site/bindings/default.pp": "bindings default {\n  bind 'pw' to 'mbound'\n}\n",
    "hiera/hiera.yaml": "version: 5\nhierarchy: [{name: c, path: c.yaml}]\n",
    "hiera/data/c.yaml": "pw: mlooked\n",
    "nodes/web1.json": '{"name": "web1", "run_list": ["recipe[one]"]}',
    "cookbooks/one/metadata.json": '{"name": "one", "version": "1.0.0"}',
    "cookbooks/one/recipes/default.py": "from nodeattrs.recipe import *\n\nnode.default['copy'] = lookup('pw')\n",
}


_NOT_OF_BINDINGS = pytest.mark.xfail(strict=True, reason="`sensitive` does not count for bindings")


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["bindings inject pw"], marks=_NOT_OF_BINDINGS),
        pytest.param(["bindings explain pw"], marks=_NOT_OF_BINDINGS),
        ["run --node web1 --repo .", "show web1"],
        ["run --node web1 --repo .", "explain web1 copy"],
    ],
)
def test_no_marker_is_printed_of_bindings_and_of_copies(lines, tmp_path, monkeypatch, capsys):
    for name, text in BOUND.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    for line in lines:
        main(line.split())
    printed = "\n".join(capsys.readouterr())

    assert [] == [one for one in ("mbound", "mlooked") if one in printed]
