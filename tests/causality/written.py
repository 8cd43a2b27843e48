"""Repositories written by hand, in three styles, in which every value is a number that is written exactly once.

`§` stands for such a number. FIRST writes the forms of cookbooks plainly; SECOND is a program: a library with
classes, helpers that call helpers, data bags and files read in loops; THIRD uses the standard library and objects.
"""

from __future__ import annotations

from tests.causality.system import Files

__all__ = ["FIRST", "FORMS", "SECOND", "THIRD"]

FIRST: Files = {
    "cookbooks/base/metadata.json": '{"name": "base", "version": "1.0.0"}\n',
    "cookbooks/forms/metadata.json": '{"name": "forms", "version": "1.0.0", "depends": {"base": ">= 0.0.0"}}\n',
    "cookbooks/front/metadata.json": '{"name": "front", "version": "1.0.0", "depends": {"forms": ">= 0.0.0"}}\n',
    "cookbooks/base/attributes/default.py": """
default["base"]["port"] = §
default["base"]["map"] = {"a": §, "b": {"c": §, "d": [§, §, {"e": §, "f": [§, [§, §]]}]}}
default["base"]["long"] = {
    "x": §,
    "y": {"z": [
        §,
        {"k": §},
    ]},
}
default["base"]["list"] = [§, §, §]
default["base"]["lost"] = §
default["base"]["full"] = {"gone": §, "stays": §}
include_attribute("base::more")
default["base"]["after"] = §
""",
    "cookbooks/base/attributes/more.py": """
default["more"]["k0"]["v"] = §
default["more"]["k1"]["v"] = §
default["more"]["k2"]["v"] = §
default["more"]["k3"]["v"] = §
default["more"]["k4"]["v"] = §
default["more"]["k5"]["v"] = §
default["more"]["k6"]["v"] = §
default["more"]["k7"]["v"] = §
default["more"]["k8"]["v"] = §
default["more"]["k9"]["v"] = §
default["more"]["k10"]["v"] = §
default["more"]["k11"]["v"] = §
override["more"]["k3"]["v"] = §
normal["more"]["k5"]["v"] = §
""",
    "cookbooks/base/recipes/default.py": "\n",
    "cookbooks/forms/attributes/default.py": """
PORT = §
BASE = {"u": §, "v": §}
default["const"]["port"] = PORT
default["const"]["spread"] = {**BASE, "w": §}
default["const"]["dict"] = dict(a=§, b=§)
default["const"]["tuple"] = (§, §)
def vhost(name, value, extra=§):
    default["vhost"][name]["value"] = value
    default["vhost"][name]["extra"] = extra
    default["vhost"][name]["own"] = §
vhost("one", §)
vhost("two", §, extra=§)
vhost(
    "three",
    §,
)
def settings(n):
    return {"n": n, "deep": {"m": §}}
default["returned"] = settings(§)
for name, value in {"l1": §, "l2": §, "l3": §}.items():
    default["loop"][name] = value
for name in ("m1", "m2"):
    default["loop"][name] = §
default["comp"]["list"] = [n for n in (§, §, §)]
default["comp"]["map"] = {k: v for k, v in [("a", §), ("b", §)]}
default["cond"]["if"] = § if node["platform"] == "ubuntu" else §
if node["platform"] == "ubuntu":
    default["cond"]["block"] = §
else:
    default["cond"]["block"] = §
default["cond"]["match"] = {"ubuntu": §, "debian": §}[node["platform"]]
default["copy"]["of"] = node["base"]["port"]
default["copy"]["map"] = node["base"]["long"]
default["lazy"]["of"] = lazy(lambda: node["base"]["after"])
default["lazy"]["own"] = lazy(lambda: §)
default["computed"]["sum"] = node["base"]["port"] + 1
default["computed"]["text"] = f"x{node['base']['port']}y"
class Sizes:
    small = §
    def big(self):
        return §
default["sizes"]["small"] = Sizes.small
default["sizes"]["big"] = Sizes().big()
rows = []
for n in (§, §):
    rows.append({"n": n, "c": §})
default["rows"] = rows
default["line"]["one"] = §; default["line"]["two"] = §
default["line"]["cont"] = \\
    §
default["line"]["walrus"] = (z := §)
default["line"]["z"] = z
""",
    "cookbooks/forms/recipes/default.py": "\n",
    "cookbooks/front/attributes/default.py": """
default["front"]["listen"] = [§, §]
default["front"]["listen"].append(§)
default["front"]["listen"].push(§, §)
default["front"]["listen"].concat([§,
    §])
default["front"]["listen"].insert(1, §)
default["front"]["opts"].update({"p": §, "q": §})
default["front"]["opts"].update(r=§)
default_unless["front"]["opts"]["s"] = §
override["front"]["more"] = {"a": §}
""",
    "cookbooks/front/recipes/default.py": """
import json
from pathlib import Path
HERE = Path(__file__).parent.parent
node.default["front"]["recipe"] = §
node.override["front"]["more"]["b"] = §
node.default["base"]["lost"] = §
node.default_full("base", "full", {"new": §})
site = data_bag_item("sites", "main")
node.default["bag"]["port"] = site["port"]
node.default["bag"]["all"] = site["deep"]
def host(name, **options):
    node.default["host"][name] = {"listen": §, **options}
host("h1", port=§)
host("h2", port=§, root=§)
for index in range(3):
    node.default["host"][f"i{index}"]["index"] = [§, §, §][index]
data = read_json("files/data.json")
node.default["from_json"] = data
for key, value in data["table"].items():
    node.override["table"][key] = value
plain = json.loads((HERE / "files" / "plain.json").read_text())
node.default["plain"] = plain["deep"]
node.default["front"]["listen"].append(§)
""",
    "cookbooks/front/files/data.json": """
{
 "a": §,
 "table": {
  "t1": §,
  "t2": [§, §]
 }
}
""",
    "cookbooks/front/files/plain.json": """
{
 "deep": {
  "a": §,
  "b": [
   §
  ]
 }
}
""",
    "data_bags/sites/main.json": """
{
 "id": "main",
 "port": §,
 "deep": {
  "a": §,
  "b": [§, §]
 }
}
""",
    "roles/web.json": """
{"name": "web", "run_list": ["role[py]", "recipe[front]"],
 "default_attributes": {"role": {"a": §, "list": [§,
 §]}},
 "override_attributes": {"role": {"o": §}}}
""",
    "roles/py.py": """
X = §
name("py")
run_list("recipe[base]")
default_attributes({
    "py": {"a": §, "b": X, "c": [§, §]},
    "pyloop": {f"k{i}": v for i, v in enumerate((§, §))},
})
""",
    "environments/prod.yaml": """
name: prod
default_attributes:
  env: {a: §}
override_attributes:
  env:
    b:
      - §
      - §
""",
    "nodes/n1.json": """
{
 "name": "n1",
 "chef_environment": "prod",
 "run_list": ["role[web]"],
 "normal": {
  "node": {"a": §, "l": [§, §]}
 }
}
""",
}

SECOND: Files = {
    "cookbooks/core/metadata.json": '{"name": "core", "version": "1.0.0"}\n',
    "cookbooks/site/metadata.json": '{"name": "site", "version": "1.0.0", "depends": {"core": ">= 0.0.0"}}\n',
    "cookbooks/core/libraries/shapes.py": """
from dataclasses import dataclass, field, asdict
from enum import Enum

TIMEOUT = §
LIMITS = {"soft": §, "hard": §}

class Colour(Enum):
    RED = §
    BLUE = §

@dataclass
class Service:
    name: str
    port: int
    weight: int = §
    tags: list = field(default_factory=lambda: [§, §])

    def listen(self):
        return {"port": self.port, "backlog": §}

class Base:
    retries = §
    def __init__(self, size):
        self.size = size
        self.parts = []
    def add(self, part):
        self.parts.append(part)
        return self
    @property
    def doubled(self):
        return self.size

class Child(Base):
    depth = §

def publish(node, name, **settings):
    _publish(node, name, settings)

def _publish(node, name, settings):
    for key, value in settings.items():
        node.default["pub"][name][key] = value
    node.default["pub"][name]["fixed"] = §

def rows(*numbers):
    for number in numbers:
        yield {"n": number, "fixed": §}

def read_base(node):
    return node["core"]["base"]
""",
    "cookbooks/core/attributes/default.py": """
from nodeattrs.recipe import default, override, normal, node, lazy
default["core"]["base"] = §
default["core"]["tree"] = {"x": §, "y": {"z": §}}
default["core"]["names"] = [§, §]
def pair(a, b=§):
    return a, b
first, second = pair(§)
default["core"]["first"], default["core"]["second"] = first, second
third, *others = [§, §, §]
default["core"]["third"] = third
default["core"]["others"] = others
table = {}
table["a"] = §
table.setdefault("b", {})["c"] = §
table.update({"d": §}, e=§)
table |= {"f": §}
default["core"]["table"] = table
numbers = [§]
numbers += [§, §]
numbers.extend([§])
numbers.insert(0, §)
default["core"]["numbers"] = numbers
for index, number in enumerate([§, §]):
    default["core"]["enum"][f"e{index}"] = number
for key, number in zip(("k1", "k2"), (§, §)):
    default["core"]["zip"][key] = number
default["core"]["nested"] = [[n for n in row] for row in ((§, §), (§,))]
default["core"]["dictcomp"] = {f"d{i}": {"v": v, "w": §} for i, v in enumerate([§, §])}
choose = {"one": lambda: §, "two": lambda: §}
default["core"]["choose"] = choose["one"]()
chosen = § if node["platform"] == "ubuntu" else §
default["core"]["chosen"] = chosen
match node["platform"]:
    case "ubuntu":
        matched = §
    case _:
        matched = §
default["core"]["matched"] = matched
try:
    tried = {}["x"]
except KeyError:
    tried = §
default["core"]["tried"] = tried
fallback = None or §
default["core"]["fallback"] = fallback
default["core"]["get"] = {"a": §}.get("b", §)
default["core"]["sorted"] = sorted([§, §])
default["core"]["max"] = max(§, 1)
default["core"]["fromkeys"] = dict.fromkeys(["p", "q"], §)
default["core"]["deep"].update({"m": {"n": [§, {"o": §}]}})
node.write("override", "core", "written", §) if hasattr(node, "write") else None
def outer(value):
    def inner(key):
        default["core"]["closure"][key] = value
    return inner
keep = outer(§)
keep("a")
outer(§)("b")
i = 0
while i < 2:
    default["core"]["while"][f"w{i}"] = (§, §)[i]
    i += 1
import copy
BASE = {"u": §, "v": [§, §]}
changed = copy.deepcopy(BASE)
changed["u"] = §
default["core"]["copied"] = changed
default["core"]["merged"] = {"a": §} | {"b": §}
default["core"]["star"] = [*numbers[:1], §]
total = sum([§])
default["core"]["lazyf"] = lazy(lambda: BASE["u"])
class Settings:
    class Inner:
        deep = §
    port = §
    @classmethod
    def make(cls): return cls.port
    @staticmethod
    def fixed(n): return {"n": n}
default["core"]["inner"] = Settings.Inner.deep
default["core"]["make"] = Settings.make()
default["core"]["static"] = Settings.fixed(§)
""",
    "cookbooks/site/recipes/default.py": """
import sys
from functools import partial
from pathlib import Path
from nodeattrs.recipe import node, include_recipe, data_bag, data_bag_item, read_json, read_yaml, read_toml, lazy
HERE = Path(__file__).resolve().parent.parent
LIB = HERE.parent / "core" / "libraries"
sys.path.insert(0, str(LIB))
sys.modules.pop("shapes", None)
import shapes
from shapes import Service, Colour, TIMEOUT, publish, rows, read_base
sys.path.remove(str(LIB))
node.default["site"]["timeout"] = TIMEOUT
node.default["site"]["soft"] = shapes.LIMITS["soft"]
node.default["site"]["colour"] = Colour.RED.value
service = Service("web", §)
node.default["site"]["port"] = service.port
node.default["site"]["weight"] = service.weight
node.default["site"]["tags"] = service.tags
node.default["site"]["listen"] = service.listen()
child = shapes.Child(§)
child.add(§).add(§)
node.default["site"]["retries"] = child.retries
node.default["site"]["depth"] = child.depth
node.default["site"]["size"] = child.size
node.default["site"]["doubled"] = child.doubled
node.default["site"]["parts"] = child.parts
publish(node, "one", port=§, user=§)
publish(
    node,
    "two",
    port=§,
)
for name, port in [("three", §), ("four", §)]:
    publish(node, name, port=port)
node.default["site"]["rows"] = list(rows(§, §))
node.default["site"]["readbase"] = read_base(node)
node.default["site"]["tree"] = node["core"]["tree"]
tree = node["core"]["tree"].to_dict()
node.default["site"]["x"] = tree["x"]
node.default["site"]["z"] = node.read("core", "tree", "y", "z")
for key in ("base", "first"):
    node.default["site"]["loop"][key] = node["core"][key]
for key, value in node["core"]["tree"].items():
    node.default["site"]["items"][key] = value
users = {}
for name in data_bag("users"):
    users[name] = data_bag_item("users", name)["uid"]
node.default["site"]["users"] = users
for name in data_bag("users"):
    user = data_bag_item("users", name)
    node.default["site"]["shells"][name]["quota"] = user["quota"]
config = read_yaml("files/config.yaml")
node.default["site"]["config"] = config
for host in config["hosts"]:
    node.override["site"]["hosts"][host["name"]] = host["port"]
node.default["site"]["toml"] = read_toml("files/limits.toml")["limits"]["max"]
def load(name):
    return read_json(f"files/{name}.json")
node.default["site"]["ja"] = load("a")["v"]
node.default["site"]["jb"] = load("b")["v"]
node.default["site"]["jsum"] = load("a")["w"] + 5
node.default["site"]["url"] = f"http://x:{config['base']}/"
put = partial(publish, node, "part", extra=§)
put(more=§)
def setter(level):
    def decorate(function):
        for key, value in function().items():
            level["decorated"][key] = value
        return function
    return decorate
@setter(node.default)
def decorated():
    return {"a": §, "b": §}
class Writer:
    def __init__(self, node, prefix):
        self.node, self.prefix = node, prefix
        self.scale = §
    def put(self, key, value):
        self.node.default[self.prefix][key] = value
        self.node.default[self.prefix]["scale"] = self.scale
Writer(node, "w1").put("a", §)
writer = Writer(node, "w2")
writer.put(key="b", value=§)
writer.put("c", {"d": §, "e": [§]})
[node.default["site"]["listcomp"].update({k: v}) for k, v in (("a", §), ("b", §))]
list(map(lambda pair: publish(node, pair[0], mapped=pair[1]), [("m1", §), ("m2", §)]))
settings = dict(a=§, b=dict(c=§))
settings["b"]["d"] = §
node.default["site"]["settings"] = settings
node.default["site"]["text"] = "port={}".format(settings["a"])
node.default["site"]["str"] = str(settings["a"])
include_recipe("site::more")
""",
    "cookbooks/site/recipes/more.py": """
import json, yaml, tomllib, os
from nodeattrs.recipe import node, lazy, data_bag_item
with open(os.path.join(os.path.dirname(__file__), "..", "files", "plain.json")) as stream:
    plain = json.load(stream)
node.default["more"]["plain"] = plain["p"]
FILES = os.path.dirname(os.path.dirname(__file__)) + "/files"
node.default["more"]["yaml"] = yaml.safe_load(open(FILES + "/plain.yaml").read())["y"]
def defaults():
    result = {"first": §}
    result["second"] = §
    for key in ("third",):
        result[key] = §
    return result
node.default["more"]["defaults"] = defaults()
def choose(flag):
    if flag:
        return §
    return §
node.default["more"]["chosen"] = choose(False)
def recursive(depth):
    return {"leaf": §} if depth == 0 else {"in": recursive(depth - 1)}
node.default["more"]["recursive"] = recursive(2)
level = node.override["more"]
level["alias"] = §
level["deep"]["er"] = {"x": §}
def write(path, value, to=node.default):
    here = to
    for step in path[:-1]:
        here = here[step]
    here[path[-1]] = value
write(("more", "bypath"), §)
write(["more", "bylist"], [§, §])
for spec in ({"path": ("more", "s1"), "value": §}, {"path": ("more", "s2"), "value": §}):
    write(**spec)
node.default["more"]["lz"] = lazy(lambda: node["more"]["bypath"])
copyof = node["site"]["users"]
node.default["more"]["users"] = copyof
first = next(iter([§, §]))
node.default["more"]["first"] = first
matrix = [[§, §], [§, §]]
node.default["more"]["col"] = [row[1] for row in matrix]
node.default["more"]["t"] = [list(pair) for pair in zip(*matrix)]
accounts = [{"name": "x", "uid": §}, {"name": "y", "uid": §}]
node.default["more"]["byname"] = {a["name"]: a for a in accounts if a["uid"]}
node.default["more"]["sortedby"] = sorted(accounts, key=lambda a: -a["uid"])
wide = [*accounts, {"name": "z", "uid": §}]
node.default["more"]["last"] = wide[-1]["uid"]
node.default["more"]["slice"] = wide[1:]
""",
    "cookbooks/site/files/config.yaml": """
base: §
hosts:
  - name: a
    port: §
  - name: b
    port: §
""",
    "cookbooks/site/files/limits.toml": """
[limits]
max = §
""",
    "cookbooks/site/files/a.json": """
{
 "v": §,
 "w": §
}
""",
    "cookbooks/site/files/b.json": """
{
 "v": §
}
""",
    "cookbooks/site/files/plain.json": """
{
 "p": {
  "q": §
 }
}
""",
    "cookbooks/site/files/plain.yaml": """
y:
  - §
  - §
""",
    "data_bags/users/ann.json": """
{
 "id": "ann",
 "uid": §,
 "quota": §
}
""",
    "data_bags/users/bob.yaml": """
id: bob
uid: §
quota: §
""",
    "roles/r.py": """
PORTS = {"a": §, "b": §}
def settings(n, **more):
    return {"n": n, **more}
name("r")
run_list("recipe[site]")
default_attributes({"rp": {k: {"p": v} for k, v in PORTS.items()}, "rs": settings(§, x=§)})
extra = {"y": §}
extra["z"] = §
override_attributes(extra)
""",
    "nodes/n1.json": '{"name": "n1", "run_list": ["recipe[core]", "role[r]"]}\n',
    "cookbooks/core/recipes/default.py": "\n",
}

THIRD: Files = {
    "nodes/n1.json": (
        '{"name": "n1", "chef_environment":"dev", "run_list": ["shop", "role[big]"], "normal": {"nn": §}}\n'
    ),
    "environments/dev.py": """
BASE = §
name("dev")
default_attributes({"env": {"a": BASE, "b": [x for x in (§, §)]}})
override_attributes({"env2": {"c": §}})
""",
    "roles/big.json": '{"name":"big","run_list":["shop::extra"],"default_attributes":{"big":[{"a":§},\n{"b":§}]}}\n',
    "cookbooks/shop/metadata.yaml": "name: shop\nversion: 1.0.0\n",
    "cookbooks/shop/attributes/default.py": """
import itertools, collections, types, string
from typing import NamedTuple
class Disk(NamedTuple):
    size: int
    count: int = §
DISKS = {"sda": Disk(§), "sdb": Disk(size=§, count=§)}
for name, disk in DISKS.items():
    default["disk"][name] = {"size": disk.size, "count": disk.count}
    default["disk_tuple"][name] = list(disk)
for name, disk in sorted(DISKS.items(), key=lambda item: item[0]):
    default["disk_dict"][name] = disk._asdict()
Point = collections.namedtuple("Point", "x y")
p = Point(§, §)
default["point"]["x"] = p.x
default["point"]["y"] = p.y
box = types.SimpleNamespace(w=§, h=§)
default["box"]["w"] = box.w
box.h = §
default["box"]["h"] = box.h
groups = collections.defaultdict(list)
for team, who in (("red", §), ("blue", §), ("red", §)):
    groups[team].append(who)
default["groups"] = dict(groups)
default["chain"] = list(itertools.chain([§], (§,)))
default["product"] = [{"a": a, "b": b} for a, b in itertools.product([§, §], [§])]
def scaled(n, by=1): return n * by
default["scaled"] = scaled(§, by=2)
limits = {"soft": §}
limits.update(hard=§)
default["limits"] = {key: value for key, value in limits.items() if value}
stack = [§]
while stack:
    current = stack.pop()
    default["stack"]["last"] = current
(a, b), c = (§, §), §
default["unpack"] = [a, b, c]
size = §
def closure():
    global size
    size = §
    return size
default["closure"] = closure()
if (n := §) > 3:
    default["walrus"] = n
default["ternary"] = (lambda v: v if v else §)(0)
default["lambda"] = (lambda v: v)(§)
data = {"deep": {"list": [{"id": 1, "v": §}, {"id": 2, "v": §}]}}
default["found"] = next(one["v"] for one in data["deep"]["list"] if one["id"] == 2)
default["filtered"] = [one for one in data["deep"]["list"] if one["id"] == 1]
by_id = {one["id"]: one for one in data["deep"]["list"]}
default["by_id"] = by_id[2]["v"]
default["tmpl"] = string.Template("port=$p").substitute(p=§)
default["fmt"] = "%d/%s" % (§, "x")
default["joined"] = ",".join(str(x) for x in [§, §])
""",
    "cookbooks/shop/recipes/default.py": """
from nodeattrs.recipe import node, read_yaml, read_json, data_bag, data_bag_item, include_recipe
import os
def settings_of(kind):
    return read_yaml(os.path.join("files", kind + ".yaml"))[kind]
for kind in ("small", "large"):
    conf = settings_of(kind)
    node.default["conf"][kind]["cpu"] = conf["cpu"]
    node.default["conf"][kind]["disks"] = [disk["size"] for disk in conf["disks"]]
users = [data_bag_item("users", name) for name in data_bag("users")]
for user in users:
    node.default["users"][user["id"]] = {key: user[key] for key in ("uid", "gid") if key in user}
node.default["uids"] = sorted(user["uid"] for user in users)
class Site:
    instances = []
    def __init__(self, name, **kw):
        self.name = name
        self.kw = kw
        Site.instances.append(self)
    def apply(self):
        base = node.default["sites"][self.name]
        for key in self.kw:
            base[key] = self.kw[key]
        self._ports(base)
    def _ports(self, base):
        base["ports"] = [self.kw.get("port", §), §]
Site("one", port=§, root=§)
Site("two", user=§)
for site in Site.instances:
    site.apply()
def each(items, do):
    for item in items:
        do(item)
each([("x", §), ("y", §)], lambda pair: node.override["each"].update({pair[0]: pair[1]}))
with_defaults = {**{"a": §, "b": §}, **read_json("files/over.json")}
node.default["wd"] = with_defaults
node.default["wdcopy"] = node["wd"].to_dict()
def get(path, fallback=§):
    here = node.to_dict()
    for step in path.split("."):
        here = here.get(step, {})
    return here or fallback
node.default["got"] = get("wd.a")
node.default["fell"] = get("nowhere.x")
first, second = read_json("files/pair.json")
node.default["pair"] = {"first": first, "second": second}
node.default["maxgid"] = max(user["gid"] for user in users)
node.default["w2"].write("y", §)
include_recipe("shop::extra")
""",
    "cookbooks/shop/recipes/extra.py": """
from nodeattrs.recipe import node, lazy
node.normal["extra"]["conf"] = node["conf"]["small"]
conf = node["conf"]
for kind in conf:
    node.override["extra"]["cpu"][kind] = conf[kind]["cpu"]
def late(): return node["conf"]["large"]["cpu"]
node.default["extra"]["late"] = lazy(late)
node.default["extra"]["first"] = node["users"]["u1"]["uid"]
node.default["extra"]["list"] = [*node["uids"], §]
""",
    "cookbooks/shop/files/small.yaml": "small:\n  cpu: §\n  disks:\n    - size: §\n    - size: §\n",
    "cookbooks/shop/files/large.yaml": "large:\n  cpu: §\n  disks:\n    - {size: §}\n",
    "cookbooks/shop/files/over.json": '{\n"b": §,\n"c": {"d": §}\n}\n',
    "cookbooks/shop/files/pair.json": "[\n§,\n§\n]\n",
    "data_bags/users/u1.json": '{"id": "u1",\n"uid": §,\n"gid": §}\n',
    "data_bags/users/u2.json": (
        '{"name": "x", "json_class": "Chef::DataBagItem", "chef_type": "data_bag_item", "data_bag":'
        ' "users", "raw_data": {"id": "u2",\n'
        '"uid": §,\n'
        '"gid": §}}\n'
    ),
}

FORMS = (
    'default["KEY"] = §',
    'default["KEY"] = {"a": §, "b": [§, {"c": §}]}',
    'KEY = §\ndefault["KEY"] = KEY',
    'def KEY(value, more=§):\n    default["KEY"] = {"value": value, "more": more, "own": §}\nKEY(§)',
    'def KEY(name, **more):\n    default["KEY"][name].update(more)\nKEY("a", x=§)\nKEY("b", x=§, y=§)',
    'def KEY_in(name, value):\n    default["KEY"][name] = value\n'
    "def KEY(**many):\n    for name, value in many.items():\n        KEY_in(name, value)\nKEY(a=§, b=§)",
    'for one, two in (("a", §), ("b", §)):\n    default["KEY"][one] = two',
    'for at, one in enumerate([§, §]):\n    default["KEY"][f"k{at}"] = {"v": one, "w": §}',
    'KEY = []\nfor one in (§, §):\n    KEY.append({"n": one, "c": §})\ndefault["KEY"] = KEY',
    'KEY = {"a": §}\nKEY["b"] = §\nKEY.setdefault("c", {})["d"] = §\nKEY.update(e=§)\ndefault["KEY"] = KEY',
    'class KEY:\n    one = §\n    def two(self, n=§):\n        self.n = n\n        return {"n": n, "one": self.one}\n'
    'default["KEY"] = KEY().two(§)\ndefault["KEY"]["one"] = KEY.one',
    "class KEY:\n    def __init__(self, n):\n        self.n = n\n    def put(self, name, value):\n"
    '        default["KEY"][name] = value\n        default["KEY"]["n"] = self.n\nKEY(§).put("a", §)',
    'def KEY(n):\n    yield n\n    yield §\ndefault["KEY"] = list(KEY(§))',
    'def KEY(n):\n    def inner(name):\n        default["KEY"][name] = n\n    return inner\nKEY(§)("a")\nKEY(§)("b")',
    'KEY = [{"k": "a", "v": §}, {"k": "b", "v": §}]\ndefault["KEY"] = {one["k"]: one["v"] for one in KEY}',
    'KEY, *KEY_more = [§, §, §]\ndefault["KEY"] = {"first": KEY, "more": KEY_more}',
    'default["KEY"]["a"] = §\ndefault["KEY"]["b"] = node["KEY"]["a"]\n'
    'default["KEY"]["c"] = f"{node[\'KEY\'][\'b\']}/x"',
    'default["KEY"]["a"] = §\nfor one in ("b", "c"):\n    default["KEY"][one] = node["KEY"]["a"] + 1',
    'default["KEY"] = read_json("files/data.json")["KEY_data"]',
    'for one, two in read_json("files/data.json")["KEY_data"].items():\n    default["KEY"][one] = {"is": two}',
    'default["KEY"] = [§]\ndefault["KEY"].append(§)\ndefault["KEY"].concat([§, §])',
    'default["KEY"] = {**{"a": §}, **dict(b=§)} | {"c": §}',
    'KEY = {"one": lambda: §, "two": lambda: §}\ndefault["KEY"] = KEY["two"]()',
    'KEY = None\nif KEY is None:\n    KEY = §\ndefault["KEY"] = lazy(lambda: KEY)',
)
"""Statements of an attribute file; KEY is a name of their own."""
