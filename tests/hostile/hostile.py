"""The hostile parts of trees, by what they are about."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.hostile.draw import ODD_NAMES, Draw
from tests.hostile.entries import TOP, File, Link, Special, program, python

__all__ = ["JINJA", "PARTS"]

# ---------------------------------------------------------------- settings

_SETTINGS: dict[str, tuple[str, ...]] = {
    'hiera = "{}"': ("hiera", "folder"),
    'bindings = "{}"': ("site",),
    '[bindings]\nsite = "{}"\nclasses = ["evil.py:Evil", "../outer/outside.py:X"]\nproviders.vault = "evil.py:sets"': (
        "site",
    ),
    '[fold.outer]\nfiles = ["{}", "{}"]\nsyntax = "env"': ("plain",),
    '[fold.outer]\nfiles = ["{}", "fold/base.yaml"]': ("plain", "folder", "yaml"),
    '[cloud-init.outer]\nfiles = ["{}"]\nvendor = "{}"': ("user-data",),
    '[cloud-init.outer]\nfiles = "{}"\nconfd = "{}"': ("user-data", "folder"),
    '[ansible.outer]\ninventory = "{}"': ("inventory",),
    '[ansible.outer]\ninventory = ["{}", "{}"]': ("inventory",),
    '[schema]\nattributes = "{}"': ("schema",),
    '[check]\nbaseline = "{}"': ("baseline", "json"),
    '[facts]\nfauxhai = "{}"': ("fauxhai",),
    '[chef]\ncookbook_paths = ["{}"]\nruby = true': ("cookbooks",),
    'store = "{}"': ("folder", "json"),
    'environment = "{}"': ("folder",),
}
"""A setting that names places, and the kinds of place that it names."""
_OTHER_SETTINGS = (
    "[limits]\nbytes = 100000000000000\nsteps = 100000000000000\nvalues = 100000000000000\nseconds = 1e9",
    "[limits]\ndepth = 100000",
    'store = "postgresql://v@127.0.0.1:1/x"',
    'store = "postgresql://127.0.0.1:1/x?passfile=/etc/passwd"',
    'store = "sqlite:///proc/self/environ"',
    'store = ".git/config"',
    'store = "http://127.0.0.1:1/"',
    'repo = "../outer"',
    "[chef]\nruby = true",
    "run_code = true",
    "[check]\nselect = []\nrun_code = true",
    "[web]\nsource_url = \"javascript:alert('{file}')\"",
    '[ansible.groups]\n"../x" = "k~(a+)+$"',
    "[[check.rules]]\npath = '**'\nmatches = '(a+)+$'",
    "[merge]\n'**' = 'replace'\n[fold.x]\npolicy = '../../outer/data.yaml'\nfiles = []",
    "a = [",
)


def _named_setting(draw: Draw) -> None:
    line, kinds = draw.chance.choice([*_SETTINGS.items()])
    for _ in range(line.count("{}")):
        line = line.replace("{}", draw.outside(draw.chance.choice(kinds)), 1)
    _set(draw, line)


def _other_setting(draw: Draw) -> None:
    _set(draw, draw.chance.choice(_OTHER_SETTINGS))


def _set(draw: Draw, line: str) -> None:
    """Put a setting before the tables, where it is a plain one, over one of the same name; a table only once."""
    old = draw.tree.entries.get("nodeattrs.toml")
    text = old.text if isinstance(old, File) else ""
    if line.startswith("["):
        if line.splitlines()[0] not in text:
            draw.tree.put("nodeattrs.toml", f"{text}\n{line}\n")
        return
    name = line.partition("=")[0]
    kept = [one for one in text.splitlines(keepends=True) if not one.startswith(name)]
    draw.tree.put("nodeattrs.toml", f"{line}\n{''.join(kept)}")


def _settings_file(draw: Draw) -> None:
    draw.tree.put(
        "nodeattrs.toml",
        draw.chance.choice([Link(draw.target("plain", 1)), Special("fifo"), Special("socket"), File("\udcff")]),
    )


# ---------------------------------------------------------------- dialects

_LAUGHS = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
"""A list of lists of aliases that comes to 9^11 texts."""


def _hiera_paths(draw: Draw) -> None:
    out, chance = draw.outside, draw.chance
    levels = [
        {"name": "x", "datadir": out("folder"), "glob": chance.choice(["*.yaml", "**/*.yaml", "*/*"])},
        {"name": "x", "datadir": out("folder"), "path": "common.yaml"},
        {"name": "x", "path": out("yaml", 2)},
        {"name": "x", "paths": [out("yaml", 2), out("yaml", 2)]},
        {
            "name": "x",
            "glob": chance.choice(["../../outer/**", f"{TOP}/outer/*.yaml", "../../o*/*.yaml", "/etc/pass*"]),
        },
        {"name": "x", "globs": ["../../outer/folder/*", "/proc/self/env*"]},
        {"name": "x", "mapped_paths": ["places", "p", "%{p}"]},
        {"name": "x", "mapped_paths": ["facts.places", "p", "../../outer/%{p}.yaml"]},
        {"name": "x", "data_hash": "json_data", "path": out("json", 2)},
        {"name": "x", "data_hash": "hocon_data", "path": out("json", 2)},
        {"name": "x", "uri": f"file://{TOP}/outer/data.yaml", "lookup_key": "hiera_http"},
        {"name": "x", "uris": ["http://127.0.0.1:1/x", out("yaml")], "data_hash": "evil::hash"},
        {"name": "x", "path": f"%{{lookup('place')}}{out('yaml', 2)}"},
        {"name": "x", "path": "%{::place}/data.yaml"},
        {
            "name": "x",
            "lookup_key": "eyaml_lookup_key",
            "path": "secret.eyaml",
            "options": {
                "pkcs7_private_key": out("key"),
                "pkcs7_public_key": out("key"),
                "gpg_gnupghome": out("folder"),
            },
        },
        {
            "name": "x",
            "lookup_key": "eyaml_lookup_key",
            "path": out("yaml", 2),
            "options": {"pkcs7_private_key_env_var": "HOSTILE_SECRET", "pkcs7_public_key_env_var": "PGPASSWORD"},
        },
    ]
    document = {"version": 5, "hierarchy": [chance.choice(levels), {"name": "common", "path": "common.yaml"}]}
    where = chance.choice(
        ["", "", "puppet/environments/production/", "puppet/environments/production/modules/profile/"]
    )
    draw.tree.put(f"{where}hiera.yaml", document)
    draw.tree.put(
        "facts/web1.json",
        {
            "platform": "debian",
            "platform_version": "12",
            "places": ["../../outer/data.yaml", "data"],
            "place": f"{TOP}/outer",
        },
    )
    draw.tree.put("data/secret.eyaml", "k: ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCC]\n")


def _hiera_three(draw: Draw) -> None:
    out = draw.outside
    kind = draw.chance.choice([3, 4])
    three = (
        f':backends: [yaml, eyaml]\n:yaml: {{:datadir: "{out("folder")}"}}\n:hierarchy: ["{out("yaml", 2)}", common]\n'
    )
    three += f':eyaml: {{:datadir: data, :pkcs7_private_key: "{out("key")}"}}\n:logger: evil\n:merge_behavior: deeper\n'
    four = f'version: 4\ndatadir: "{out("folder")}"\nhierarchy: [{{name: x, backend: yaml, path: common}}]\n'
    draw.tree.put("hiera.yaml", three if kind == 3 else four)


def _hiera_data(draw: Draw) -> None:
    texts = [
        "k: \"%{lookup('secret')} %{facts.places} %{::environment} %{literal('%')}{x}\"\n",
        "k: \"%{alias('k')}\"\n",
        "k: \"%{lookup('a')}\"\na: \"%{lookup('k')}\"\n",
        f"k: {'%{' * 20000}\n",
        f"{_LAUGHS}k: *a11\n",
        "lookup_options: {'^(a+)+$': {merge: {strategy: deep, knockout_prefix: '(x+)+'}}}\nk: 1\n",
        "k: !!python/object/apply:os.system [touch x]\n",
        "k: !ruby/object:Evil {a: 1}\n",
        "---\nk: 1\n" * 3000,
        "k: ENC[PKCS7,AAAA]\na: ENC[GPG,AAAA]\n",
    ]
    draw.tree.put(draw.chance.choice(["data/common.yaml", "data/nodes/web1.yaml"]), draw.chance.choice(texts))


def _puppet_conf(draw: Draw) -> None:
    out = draw.outside
    lines = [
        f"environmentpath = {out('folder', 2)}",
        f"hiera_config = {out('hiera', 2)}",
        f"codedir = {out('folder', 2)}",
        f"basemodulepath = {out('folder', 2)}:{out('folder', 2)}",
        "external_nodes = $confdir/enc.sh\nnode_terminus = exec",
    ]
    draw.tree.put("puppet/puppet.conf", "[main]\n" + "\n".join(draw.chance.sample(lines, 2)) + "\n", "puppet")
    conf = f"modulepath = {out('folder', 4)}:modules\nmanifest = {out('folder', 4)}\n"
    draw.tree.put("puppet/environments/production/environment.conf", f"{conf}config_version = $environment/run.sh\n")
    for name in ("puppet/enc.sh", "puppet/environments/production/run.sh"):
        draw.tree.put(name, program(name))


def _ansible_config(draw: Draw) -> None:
    out = draw.outside
    keys = {
        "inventory": out("inventory"),
        "roles_path": out("roles"),
        "vault_password_file": draw.chance.choice([out("key"), "vault.sh"]),
        "vault_identity_list": f"x@{out('key')}, y@vault.sh",
        "collections_path": out("folder"),
        "vars_plugins": "vars_plugins",
        "lookup_plugins": "lookup_plugins",
        "filter_plugins": "filter_plugins",
        "callback_plugins": "callback_plugins",
        "library": "library",
        "fact_caching": "jsonfile",
        "fact_caching_connection": out("facts"),
        "vars_plugins_enabled": "evil,host_group_vars",
        "inventory_ignore_patterns": "(a+)+$",
        "playbook_vars_root": "all",
    }
    chosen = draw.chance.sample([*keys], draw.chance.randint(1, 5))
    text = "".join(f"{name} = {keys[name]}\n" for name in chosen)
    draw.tree.put("ansible.cfg", f"[defaults]\n{text}[inventory]\nenable_plugins = script, auto, evil, yaml, ini\n")


def _ansible_code(draw: Draw) -> None:
    put = draw.tree.put
    for name in ("vault.sh", "vault-client.sh", "inventory.sh", "enc.sh"):
        put(name, program(name), "program")
    put("hosts/dynamic.sh", program("hosts/dynamic.sh"))
    put("hosts/plugin.yml", "plugin: evil\nenv: HOSTILE_SECRET\n")
    for folder in (
        "vars_plugins",
        "lookup_plugins",
        "filter_plugins",
        "callback_plugins",
        "library",
        "inventory_plugins",
    ):
        put(f"{folder}/evil.py", python(f"{folder}/evil.py"))
    put("collections/ansible_collections/a/b/plugins/lookup/evil.py", python("collections"))
    draw.tree.named.setdefault("inventory", []).extend(["inventory.sh", "hosts"])


def _ansible_variables(draw: Draw) -> None:
    chance, out = draw.chance, draw.outside
    lookups = [
        "{{ lookup('env', 'HOSTILE_SECRET') }}",
        "{{ lookup('file', '../outer/data.yaml') }}",
        f"{{{{ lookup('file', '{TOP}/outer/data.yaml') }}}}",
        "{{ lookup('pipe', 'touch ran') }}",
        "{{ lookup('ini', 'k file=../outer/x.ini') }}",
        "{{ lookup('template', '../outer/template.j2') }}",
        "{{ lookup('fileglob', '../outer/*') }}",
        "{{ lookup('evil') }} {{ k | evil }}",
        "{{ lookup('vars', 'ansible_env') }}{{ ansible_env.HOSTILE_SECRET }}",
        "{{ lookup('first_found', '../outer/data.yaml') }}{{ lookup('unvault', '../outer/data.yaml') }}",
    ]
    path = chance.choice(["group_vars/all.yml", "host_vars/web1.yml", "vars/site.yml"])
    draw.tree.put(path, json.dumps({"k": chance.choice([*lookups, chance.choice(JINJA)]), "a": chance.choice(JINJA)}))
    tasks = [
        f"include_vars: '{out('yaml')}'",
        f"include_vars: {{dir: '{out('folder')}'}}",
        f"include_tasks: '{out('tasks')}'",
        f"import_tasks: '{out('tasks')}'",
        f"import_role: {{name: '{out('roles')}/app'}}",
        "include_vars: 'vars/{{ item }}'\n    with_fileglob: ['../outer/*.yaml']",
    ]
    play = f"- hosts: all\n  vars_files: ['{out('yaml')}', ['{out('yaml')}', vars/site.yml]]\n  tasks:\n"
    play += f"  - {chance.choice(tasks)}\n  - name: restart\n    debug: {{}}\n"
    if chance.random() < 0.2:
        play += f"- import_playbook: {out('tasks')}\n"
    draw.tree.put("site.yml", play)


def _ansible_links(draw: Draw) -> None:
    path = draw.chance.choice(
        [
            "group_vars",
            "host_vars",
            "group_vars/all.yml",
            "host_vars/web1.yml",
            "roles/app",
            "roles/app/vars",
            "hosts.ini",
        ]
    )
    kind = "inventory" if path == "hosts.ini" else "yaml" if path.endswith("yml") else "folder"
    draw.tree.put(path, Link(draw.target(kind, path.count("/") + 1)))


def _includes(draw: Draw) -> None:
    out, chance = draw.outside, draw.chance
    starts = ["#include", "#include-once"]
    texts = [
        f"{chance.choice(starts)}\nfile://{TOP}/outer/user-data\n{out('user-data')}\nhttp://127.0.0.1:1/x\n",
        f"{chance.choice(starts)}\n{out('user-data')}\n",
        f"#cloud-config-archive\n- {{type: text/x-include-url, content: '{out('user-data')}'}}\n",
        "#cloud-config-archive\n- '#include\\n../outer/user-data'\n",
        f"#cloud-config\nwrite_files: [{{path: /x, source: {{uri: 'file://{TOP}/outer/data.yaml'}}}}]\nk: 1\n",
        "#cloud-config\nmerge_how: [{name: evil, settings: []}]\nk: 2\n",
        "#!/bin/sh\ntouch ran\n",
        "#part-handler\nraise SystemExit\n",
        f"## template: jinja\n#cloud-config\nk: \"{{% include '{TOP}/outer/data.yaml' %}}\"\n",
        f"## template: jinja\n#cloud-config\nk: {json.dumps(chance.choice(JINJA))}\n",
        "#cloud-config-jsonp\n[" + ", ".join(['{"op": "copy", "from": "/a", "path": "/a/-"}'] * 60) + "]\n",
        "Content-Type: multipart/mixed; boundary=x\nMIME-Version: 1.0\n\n--x\nContent-Type: message/external-body; "
        "access-type=local-file; name=/etc/passwd\n\n--x--\n",
    ]
    draw.tree.put(chance.choice(["user-data", "cloud/web.yaml", "cloud/t.yaml"]), chance.choice(texts), "user-data")


def _bindings_parts(draw: Draw) -> None:
    out, chance = draw.outside, draw.chance
    include = chance.choice(
        [f"confdir:/{out('site', 2)}", "confdir:/../../outer/site/bindings/low", "module:/../../outer::x", "vault:/all"]
    )
    items = [
        "{kind: bind, name: k, to: {new: 'evil.Evil'}}",
        "{kind: bind, name: k, to: {class: 'evil:Evil'}}",
        "{kind: bind, name: k, type: 'Pattern[/(a+)+$/]', to: {value: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!}}",
        "{kind: bind, name: k, to: {expression: \"file('/etc/passwd')\"}}",
        "{kind: bind, name: k, to: {lookup: a}}, {kind: bind, name: a, to: {lookup: k}}",
    ]
    draw.tree.put("manifests/site.yaml", f'site: {{layers: [{{name: x, include: ["{include}", "confdir:/low"]}}]}}\n')
    draw.tree.put("bindings/low.yaml", f"name: low\nitems: [{chance.choice(items)}]\n")
    draw.tree.put("evil.py", python("evil.py"))
    if chance.random() < 0.4:
        path = chance.choice(["bindings", "bindings/low.yaml", "manifests/site.yaml", "modules", "modules/ntp"])
        draw.tree.put(path, Link(draw.target("yaml" if "." in path else "folder", path.count("/") + 1)))


def _fold_parts(draw: Draw) -> None:
    out, chance = draw.outside, draw.chance
    texts = {
        "base.yaml": [
            f"k: !include {out('yaml', 2)}\na: !env HOSTILE_SECRET\nusers: !file {out('yaml', 2)}\n",
            f"include: ['{out('yaml', 2)}']\nextends: {{file: '{out('yaml', 2)}', service: x}}\n",
            "k: ${HOSTILE_SECRET}\na: '{{ env.HOSTILE_SECRET }}'\n",
            _LAUGHS,
            "---\nk: 1\n" * 20000,
            "".join(f"{i * (2**61 - 1)}: 1\n" for i in range(3000)),
            f"k: {'[' * 3000}\n",
            "k: &a [*a]\n",
        ],
        "x.env": ["K=${HOSTILE_SECRET}\nA=$(touch ran)\nB=`touch ran`\n", 'K="' + "x\\\n" * 20000 + '"\n'],
        "x.ini": ["[app]\nworkers=1\n" + "  x\n" * 50000, "[a]\n" + "".join(f"k{i}=%(k{i + 1})s\n" for i in range(60))],
        "x.toml": ["a." * 2000 + "b = 1\n", "a = " + "[" * 2000 + "]" * 2000 + "\n"],
    }
    name = chance.choice([*texts])
    draw.tree.put(f"fold/{name}", chance.choice(texts[name]))


def _chef_parts(draw: Draw) -> None:
    chance, put = draw.chance, draw.tree.put
    for name in ("roles/base.py", "environments/staging.py", "cookbooks/app/attributes/evil.py"):
        put(name, python(name) + 'name("base")\n')
    put("cookbooks/app/recipes/default.py", python("recipe") + 'node.default["k"] = 1\n')
    ruby = f"File.write('{TOP}/ran', 'ruby')\ndefault['k'] = File.read('{TOP}/outer/data.yaml')\n"
    put("cookbooks/app/attributes/default.rb", ruby)
    put("cookbooks/app/libraries/evil.rb", ruby)
    put("roles/ruby.rb", f"{ruby}name 'ruby'\ndefault_attributes('k' => ENV['HOSTILE_SECRET'])\n")
    put(".chef/knife.rb", f"cookbook_path ['{draw.outside('cookbooks', 2)}']\n{ruby}")
    put(
        "cookbooks/app/metadata.rb", f"name 'app'\nversion '1.0.0'\nlong_description IO.read('{TOP}/outer/data.yaml')\n"
    )
    names = ["../../outer/roles/web", "/etc/passwd", "a/b", "..", "\x1b[31m", ""]
    put("nodes/web2.json", {"name": "web2", "run_list": [f"role[{chance.choice(names)}]", "role[web]"]})
    put("nodes/x.json", {"name": chance.choice(names), "chef_environment": chance.choice(names)})
    put("data_bags/users/x.json", {"id": chance.choice(names), "encrypted_data": "AAAA"})
    lock = {"name": "x", "cookbook_locks": {"app": {"source": draw.outside("cookbooks"), "version": "1.0.0"}}}
    put("Policyfile.lock.json", lock)
    put("Berksfile", f"cookbook 'app', path: '{draw.outside('cookbooks')}'\n")


def _chef_links(draw: Draw) -> None:
    path, kind = draw.chance.choice(
        [
            ("roles", "roles"),
            ("roles/web.json", "json"),
            ("roles/more.json", "json"),
            ("nodes", "nodes"),
            ("nodes/web1.json", "json"),
            ("environments", "folder"),
            ("environments/production.json", "json"),
            ("cookbooks", "cookbooks"),
            ("cookbooks/app", "cookbooks"),
            ("cookbooks/app/attributes", "folder"),
            ("cookbooks/app/attributes/default.yaml", "yaml"),
            ("data_bags", "folder"),
            ("data_bags/users/x.json", "json"),
            ("facts", "facts"),
            ("facts/web1.json", "json"),
        ]
    )
    draw.tree.put(path, Link(draw.target(kind, path.count("/") + 1)))


def _data_links(draw: Draw) -> None:
    path, kind = draw.chance.choice(
        [
            ("hiera.yaml", "yaml"),
            ("data", "folder"),
            ("data/common.yaml", "yaml"),
            ("data/more", "folder"),
            ("data/nodes/web1.yaml", "yaml"),
            ("facts/web1.json", "json"),
            ("puppet/environments", "folder"),
            ("puppet/environments/production/modules", "folder"),
        ]
    )
    draw.tree.put(path, Link(draw.target(kind, path.count("/") + 1)))


def _catalog_parts(draw: Draw) -> None:
    chance = draw.chance
    file = {"type": "File", "title": f"{TOP}/ran", "parameters": {"content": "x", "source": draw.outside("plain")}}
    command = {"type": "Exec", "title": f"touch {TOP}/ran", "parameters": {"unless": "touch ran"}}
    ring = [
        {"type": "File", "title": f"/{one}", "parameters": {"require": f"File[/{other}]"}}
        for one, other in ("ab", "ba")
    ]
    odd = {"type": "../evil", "title": "x\n\x1b[31m", "file": draw.outside("plain"), "line": 1}
    template = {
        "type": "File",
        "title": "/t",
        "parameters": {"template": draw.outside("template"), "content": JINJA[0]},
    }
    resources = chance.sample([file, command, *ring, odd, template], 3)
    path, kind = chance.choice([("catalogs/web1.json", "catalog"), ("compiled/web1.json", "compiled")])
    draw.tree.put(path, {"name": "web1", "resources": resources, "edges": []}, kind)


def _saved_parts(draw: Draw) -> None:
    chance = draw.chance
    choices = [
        ("saved.db", Link(draw.target("json", 1))),
        ("saved.db", Special("fifo")),
        ("saved.db", File("SQLite format 3\0" + "x" * 5000)),
        ("saved", Link(draw.target("folder", 1))),
        ("saved/web1.json", Link("../../outer/data.json")),
        ("saved/web2.json", Special("fifo")),
        ("saved/history", Link(draw.target("folder", 2))),
        (".nodeattrs/nodes.db", Link(draw.target("json", 2))),
        (".nodeattrs", Link(draw.target("folder", 1))),
        ("saved.jsonl", Link(draw.target("json", 1))),
        ("saved.jsonl", File('{"name": "../../outer/x", "normal": {"k": 1}}\n{"name": "a\\u001b[31m"}\n')),
        ("report.html", Link(f"{TOP}/outer/data.yaml")),
        ("report.html", Special("fifo")),
        ("report.html", Special("null")),
        ("baseline.json", Special("null")),
        ("baseline.json", Link("../outer/baseline.json")),
        ("baseline.json", Special("fifo")),
    ]
    path, entry = chance.choice(choices)
    draw.tree.entries.pop(path, None)
    draw.tree.put(path, entry)


# ---------------------------------------------------------------- files of any kind

_PLACES_OF_FILES = (
    "roles/",
    "nodes/",
    "data/",
    "data/more/",
    "group_vars/",
    "host_vars/",
    "fold/",
    "hosts/",
    "cloud/",
    "",
)
_ENDINGS = (".json", ".yaml", ".yml", ".toml", ".env", ".ini", ".py", ".rb", "", ".j2", ".eyaml")


def _odd_names(draw: Draw) -> None:
    chance = draw.chance
    for _ in range(3):
        name = chance.choice(ODD_NAMES)
        folder = f"{chance.choice(ODD_NAMES)}/" if chance.random() < 0.3 else ""
        ending = chance.choice(_ENDINGS)
        text = python("odd name") if ending == ".py" else '{"name": "x", "k": 1}'
        draw.tree.put(f"{chance.choice(_PLACES_OF_FILES)}{folder}{name}{ending}", text)


def _odd_files(draw: Draw) -> None:
    chance = draw.chance
    files = [path for path in sorted(draw.tree.entries) if isinstance(draw.tree.entries[path], File)]
    new = f"{chance.choice(_PLACES_OF_FILES)}x{chance.choice(_ENDINGS)}"
    path = chance.choice([*files, new])
    up = path.count("/") + 1
    entry = chance.choice(
        [
            Special("fifo"),
            Special("socket"),
            Special("null"),
            Special("zero"),
            Link("/dev/zero"),
            Link("/dev/stdin"),
            Link(path.rpartition("/")[2]),
            Link(f"{'../' * up}outer/data.yaml"),
            Link(f"{TOP}/outer/data.json"),
            Link("/proc/self/environ"),
            Link("/etc/passwd"),
            Link("."),
            File("\udcff\udcfe\0"),
            File(""),
        ]
    )
    draw.tree.entries.pop(path, None)
    draw.tree.put(path, entry)


def _modules(draw: Draw) -> None:
    for name in (
        "sitecustomize",
        "usercustomize",
        "nodeattrs",
        "json",
        "yaml",
        "argparse",
        "conftest",
        "mcp",
        "subprocess",
    ):
        draw.tree.put(f"{name}.py", python(f"{name}.py"))
    for name in ("multiprocessing", "signal", "pickle", "encodings"):
        draw.tree.put(f"{name}.py" if draw.chance.random() < 0.5 else f"{name}/__init__.py", python(name))


# ---------------------------------------------------------------- Git

_GIT_PROGRAM = f"sh -c 'echo git >>{TOP}/ran'"
_PARTIAL = """\
[core]
\trepositoryformatversion = 1
[extensions]
\tpartialClone = origin
[remote "origin"]
\tpromisor = true
"""
_GIT_CONFIG = (
    '[filter "x"]\n\tclean = {}; cat\n\tsmudge = {}; cat\n\tprocess = {}\n\trequired = true',
    "[core]\n\tfsmonitor = {}",
    "[core]\n\thooksPath = hooks",
    '[diff "x"]\n\ttextconv = {}\n\tcommand = {}',
    "[diff]\n\texternal = {}",
    "[core]\n\tsshCommand = {}\n\tgitProxy = {}\n\taskPass = {}",
    "[core]\n\tworktree = ../../outer",
    "[core]\n\tworktree = @TOP@/outer",
    f"{_PARTIAL}\turl = ext::{{}}\n\tuploadpack = {{}}\n[protocol]\n\tallow = always",
    f'{_PARTIAL}\turl = .\n\tuploadpack = {{}}\n[protocol "file"]\n\tallow = always',
    "[core]\n\tpager = {}\n\teditor = {}\n[pager]\n\tblame = {}\n\tls-tree = {}",
    "[gpg]\n\tprogram = {}\n[log]\n\tshowSignature = true\n[commit]\n\tgpgSign = true",
    "[alias]\n\tblame = !{}\n\tls-tree = !{}\n\tcat-file = !{}\n\trev-parse = !{}",
    "[include]\n\tpath = ../../outer/gitdir/config\n[include]\n\tpath = ../evil.config",
    "[core]\n\tattributesFile = @TOP@/outer/data.yaml\n\texcludesFile = /dev/zero",
    "[blame]\n\tignoreRevsFile = /dev/zero\n[mailmap]\n\tfile = @TOP@/outer/data.yaml",
    "[credential]\n\thelper = !{}\n[trace2]\n\teventTarget = @TOP@/ran",
)
_BROKEN_GIT_CONFIG = ("[core]\n\trepositoryformatversion = 99", "[")


def _git_config(draw: Draw) -> None:
    chosen = draw.chance.sample((*_GIT_CONFIG, *_GIT_CONFIG[:1] * 4), draw.chance.randint(1, 4))
    text = "\n".join(chosen if draw.chance.random() < 0.9 else [draw.chance.choice(_BROKEN_GIT_CONFIG)])
    _late(draw, ".git/config", "\n" + text.replace("{}", json.dumps(_GIT_PROGRAM)) + "\n")
    _late(draw, ".git/info/attributes", "* filter=x diff=x\n")
    draw.tree.put("evil.config", f"[core]\n\tfsmonitor = {json.dumps(_GIT_PROGRAM)}\n")
    if "partialClone" in text:
        draw.tree.quirks.add("missing")
    if draw.chance.random() < 0.5:
        draw.tree.put(".gitattributes", "* filter=x diff=x text=auto working-tree-encoding=UTF-16 ident\n")
    for name in ("roles/web.json", "fold/base.yaml", "group_vars/all.yml", "data/common.yaml"):
        old = draw.tree.entries.get(name)
        if isinstance(old, File):
            draw.tree.late[name] = File(f"{old.text}\n")


def _late(draw: Draw, path: str, text: str) -> None:
    old = draw.tree.late.get(path)
    draw.tree.late[path] = File((old.text if isinstance(old, File) else "") + text)


def _git_hooks(draw: Draw) -> None:
    for name in ("post-checkout", "post-index-change", "pre-auto-gc", "reference-transaction", "fsmonitor-watchman"):
        draw.tree.late[f".git/hooks/{name}"] = program(f"hook {name}")
        draw.tree.put(f"hooks/{name}", program(f"hooks/{name}"))


def _git_files(draw: Draw) -> None:
    chance, tree = draw.chance, draw.tree
    form = chance.randrange(6)
    if form == 0:
        tree.put(".git", f"gitdir: {chance.choice(['../outer/gitdir', f'{TOP}/outer/gitdir', '/proc/self/cwd/x'])}\n")
    elif form == 1:
        tree.put(".git", chance.choice([Link("../outer/gitdir"), Special("fifo"), Link("/dev/zero")]))
    elif form == 2:
        tree.late[".git/objects/info/alternates"] = File(f"{TOP}/outer/gitdir\n/proc/self/cwd\n")
    elif form == 3:
        tree.late[".git/HEAD"] = chance.choice(
            [Link("../../outer/data.yaml"), File("ref: ../../outer/x\n"), Special("fifo")]
        )
    elif form == 4:
        tree.late[".git/commondir"] = File("../../outer/gitdir\n")
    else:
        tree.late[".git/index"] = chance.choice([Special("fifo"), Link("/dev/zero"), File("DIRC")])


def _git_bare(draw: Draw) -> None:
    put = draw.tree.put
    put("bare/HEAD", "ref: refs/heads/main\n")
    worktree = draw.chance.choice(["", "\tworktree = ..\n", f"\tworktree = {TOP}/outer\n"])
    put(
        "bare/config",
        f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = {json.dumps(_GIT_PROGRAM)}\n{worktree}",
    )
    put("bare/objects/x", "")
    put("bare/refs/x", "")
    put("bare/nodeattrs.toml", 'store = "../saved.db"\n', "bare")
    put("bare/roles/web.json", {"name": "web", "default_attributes": {"k": 1}})
    put("bare/nodes/web1.json", {"name": "web1", "run_list": ["role[web]"]})


def _git_objects(draw: Draw) -> None:
    draw.tree.quirks.add(draw.chance.choice(["bomb", "submodule", "submodule", "missing"]))
    url = f"ext::sh -c 'echo sub >>{TOP}/ran'"
    draw.tree.put(".gitmodules", f'[submodule "s"]\n\tpath = sub\n\turl = {url}\n\tupdate = !{_GIT_PROGRAM}\n')


JINJA = (
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ lipsum.__globals__.os.popen('id').read() }}",
    "{{ cycler.__init__.__globals__ }}",
    "{% include '/etc/passwd' %}",
    "{% for i in range(99999) %}{% for j in range(99999) %}x{% endfor %}{% endfor %}",
    "{{ 9**9**9**9 }}",
    "{{ 'a'*999999999 }}",
    "{% macro m(n) %}{{ m(n) }}{{ m(n) }}{% endmacro %}{{ m(1) }}",
    "{% for x in [40] recursive %}{% if x %}{{ loop([x-1]) }}{{ loop([x-1]) }}{% endif %}{% endfor %}",
    "{{ lipsum(n=100000000) }}",
    "{{ [1]|slice(99999999)|list|length }}",
    "{{ ('%*d' % (999999999, 1)) }}",
    "{% set ns=namespace(s='ab') %}{% for i in range(60) %}{% set ns.s=ns.s~ns.s %}{% endfor %}{{ ns.s|length }}",
    "{{ (['a'*9999]*9999)|join('b'*9999) }}",
    "{{ '{0.__class__}'.format('') }}",
    "{{ ([[0]*999]*999)|sum(start=[])|length }}",
    "{{ k }}{{ a }}{{ self }}{{ undefined_name.x }}",
)
"""Templates that look for a way out of the sandbox, or for much time or memory."""

PARTS: dict[str, tuple[Callable[[Draw], None], ...]] = {
    "settings": (*[_named_setting] * 5, _other_setting, _other_setting, _settings_file),
    "chef": (_chef_parts, _chef_links, _named_setting),
    "hiera": (_hiera_paths, _hiera_paths, _hiera_three, _hiera_data, _puppet_conf, _data_links),
    "ansible": (_ansible_config, _ansible_code, _ansible_variables, _ansible_links),
    "cloud": (_includes,),
    "bindings": (_bindings_parts,),
    "fold": (_fold_parts, _named_setting),
    "catalog": (_catalog_parts,),
    "store": (_saved_parts,),
    "files": (_odd_names, _odd_files, _modules),
    "git": (_git_config, _git_config, _git_hooks, _git_files, _git_bare, _git_objects),
}
"""What a part is about -> the functions that add one to a tree."""
