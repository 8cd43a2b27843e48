"""The documents in which platforms keep user-data: one table, which says where it lies and how it is packed.

`inputs` asks it about a document, by name (`--input-form`) or by shape. It finds texts and their places, and does not
look at what they mean. A form whose user-data is made elsewhere is named, and its text is None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from nodeattrs.core.tree import ABSENT, dig
from nodeattrs.core.tree import Path as TreePath
from nodeattrs.dialects.cloudinit.other_templates import CLOUDFORMATION, TERRAFORM, Language
from nodeattrs.formats.tags import Tagged


class Where(NamedTuple):
    """A step to those entries of a list that have this value under this key."""

    key: str
    value: str


EACH, DEEP = "*", "**"
"""Steps to each entry of a map or list, and to each value at any depth."""

_Step = str | Where | tuple[str, ...]
_Pattern = tuple[_Step, ...]
"""Steps from the top to the value; of a tuple of keys the first that holds something."""


class FormText(NamedTuple):
    """What a form gives to a machine.

    path:   of the value in its document
    text:   what it says, or None
    name:   of the machine in its document; "" where the document has no other
    why:    why the text is missing, as the end of a sentence
    is_config: whether the value is a mapping that is the cloud-config itself
    is_packed: whether the platform unpacks the text as base64; None where it takes both
    language: of the program that fills in the text; None where none does
    """

    path: TreePath
    text: str | None
    name: str = ""
    why: str = ""
    is_config: bool = False
    is_packed: bool | None = None
    language: Language | None = None


class Value(NamedTuple):
    """A value of a document, with the document and the path of the value there."""

    value: Any
    tree: Any
    path: TreePath

    def sibling_value(self, key: str) -> Any:
        """What the map around the value has under another key; None for nothing."""
        found = dig(self.tree, (*self.path[:-1], key))
        return None if found is ABSENT else found


class Taken(NamedTuple):
    """What a platform takes out of a value.

    text:      what it says; None for a text that is made elsewhere
    is_packed: whether the platform unpacks it as base64; None where it takes both
    why:       why the text is missing; "" for the reason that the form names
    """

    text: str | None
    is_packed: bool | None = None
    why: str = ""


def _as_it_is(one: Value) -> Taken:
    """A text that is not unpacked."""
    return Taken(_text(one), False)


def _base64(one: Value) -> Taken:
    return Taken(_text(one), True)


def _either(one: Value) -> Taken:
    """A text or base64: several platforms have this form, and differ in that."""
    return Taken(_text(one))


def _made_elsewhere(one: Value) -> Taken:
    return Taken(None)


def _text(one: Value) -> str | None:
    return one.value if isinstance(one.value, str) else None


@dataclass(frozen=True)
class Form:
    """One kind of document.

    name:   as --input-form has it
    what:   its usual name, with its article
    marks:  path -> what its value looks like; of several maps one has to fit. None: it has no shape of its own
    at:     where the user-data lies
    take:   what the platform takes out of a value
    why:    the reason that is named for a value without a text
    is_config: whether the value is a mapping that is the cloud-config itself
    language: of the program that fills in a value; None where none does
    """

    name: str
    what: str
    marks: tuple[dict[_Pattern, str], ...]
    at: tuple[_Pattern, ...]
    take: Callable[[Value], Taken] = _as_it_is
    why: str = "is written in a form that is not read here"
    is_config: bool = False
    language: Callable[[Any], Language | None] = lambda value: None

    def fits(self, tree: Any) -> bool:
        """Whether a document has the shape of the form."""
        return any(
            all(
                any(re.search(looks, str(value)) for _, value, _ in values_at(tree, pattern))
                for pattern, looks in one.items()
            )
            for one in self.marks
        )

    def texts(self, tree: Any) -> Iterator[FormText]:
        """What the document gives, machine by machine."""
        above = _name_of(tree)
        values = [found for pattern in self.at for found in values_at(tree, pattern)]
        above_others = {path[:length] for path, _, _ in values for length in range(len(path))}
        for path, value, words in values:
            if path in above_others:
                continue
            is_config = self.is_config and isinstance(value, dict)
            taken = Taken(None) if self.is_config else self.take(Value(value, tree, path))
            name = "/".join(word for word in (above, *words) if word)
            why = "" if is_config or taken.text is not None else taken.why or self.why
            yield FormText(path, taken.text, name, why, is_config, taken.is_packed, self.language(value))


def maps_in(value: Any) -> list[dict[Any, Any]]:
    """A list of maps; empty where it is anything else."""
    return value if isinstance(value, list) and all(isinstance(one, dict) for one in value) else []


def values_at(tree: Any, pattern: _Pattern) -> Iterator[tuple[TreePath, Any, tuple[str, ...]]]:
    """Each value that a pattern leads to: its path, itself, and the names on the way. Empty where it leads nowhere."""
    open_: list[tuple[TreePath, Any, tuple[str, ...], _Pattern]] = [((), tree, (), pattern)]
    while open_:
        path, value, words, left = open_.pop()
        if not left:
            if value is not None and value != "":
                yield path, value, words
            continue
        step, *rest = left
        found = [(*one, tuple(rest)) for one in _stepped(path, value, words, step)]
        if step == DEEP:
            found += [(at, row, (*words, _name_of(row)), left) for at, row, _ in _stepped(path, value, words, EACH)]
            found.append((path, value, words, tuple(rest)))
        open_ += reversed(found)


def _stepped(path: TreePath, value: Any, words: tuple[str, ...], step: _Step) -> list[tuple[TreePath, Any, Any]]:
    """The values one step below."""
    if isinstance(step, Where):
        rows = enumerate(value if isinstance(value, list) else ())
        return [
            ((*path, at), row, words) for at, row in rows if isinstance(row, dict) and row.get(step.key) == step.value
        ]
    if step == DEEP:
        return []
    if step == EACH:
        if isinstance(value, dict):
            return [((*path, key), entry, (*words, str(key))) for key, entry in value.items()]
        rows = enumerate(value if isinstance(value, list) else ())
        return [((*path, at), row, (*words, _name_of(row) or str(at))) for at, row in rows]
    keys = (step,) if isinstance(step, str) else step
    found = [((*path, key), value[key], words) for key in keys if isinstance(value, dict) and value.get(key)]
    return found[:1]


_NAMES: tuple[TreePath, ...] = (
    ("metadata", "name"), ("name",), ("vmName",), ("LaunchTemplateName",), ("LaunchTemplateId",), ("InstanceId",),
    ("id",),
)  # fmt: skip


def _name_of(row: Any) -> str:
    """What a document or an entry of a list is called; "" where it does not say."""
    names = [name for where in _NAMES if isinstance(name := dig(row, where), str)]
    space = dig(row, ("metadata", "namespace"))
    return "/".join([*([space] if isinstance(space, str) else []), *names[:1]]) if names else ""


# --- the text that a value means


def _kubevirt(one: Value) -> Taken:
    """`userData` as it is, `userDataBase64` unpacked; the other keys name a secret."""
    key = one.path[-1]
    return Taken(_text(one), key == "userDataBase64") if key in _TEXTS else Taken(None)


def _karpenter(one: Value) -> Taken:
    """What cloud-init gets of a node class: the family of the image decides how Karpenter passes it on."""
    text, spec = _text(one), one.tree["spec"]
    aliases = [alias for _, alias, _ in values_at(spec, ("amiSelectorTerms", EACH, "alias"))]
    family = str(spec.get("amiFamily") or next(iter(aliases), "")).lower()
    if family.startswith(("bottlerocket", "windows")):
        return Taken(None, why="is read by the image's own tools, and not by cloud-init")
    is_message = str(text).lstrip().startswith(("MIME-Version:", "Content-Type:"))
    if family.startswith("al2023") and not is_message:
        return Taken(None, why="is passed on as a NodeConfig or a script of Amazon Linux 2023: write a MIME message")
    return Taken(text, False)


def _harvester(one: Value) -> Taken:
    """Of a ConfigMap the text as it is; of a machine's config plain or as base64."""
    return Taken(_text(one), False if one.path[0] == "data" else None)


def _gce(one: Value) -> Taken:
    """The item beside it with the key `user-data-encoding` says whether it is base64."""
    items = dig(one.tree, one.path[:-2])
    encodings = [value for _, value, _ in values_at(items, (Where("key", "user-data-encoding"), "value"))]
    return Taken(_text(one), encodings == ["base64"])


def _cloudformation(one: Value) -> Taken:
    """`Fn::Base64` packs a text, and EC2 unpacks it; a text alone has to be base64."""
    return Taken(_intrinsic(one.value), None if isinstance(one.value, str) else False)


def _intrinsic(value: Any) -> str | None:
    """A text with CloudFormation's functions: what they fill in stays as markup."""
    name, inner = _function(value)
    if isinstance(value, str):
        return value
    if name in ("Base64", "Sub"):
        return _intrinsic(inner[0] if name == "Sub" and isinstance(inner, list) and inner else inner)
    if name == "Join" and isinstance(inner, list) and len(inner) == 2 and isinstance(inner[1], list):
        pieces = [(_intrinsic(one), one) for one in inner[1]]
        return str(inner[0]).join(_reference(one) if text is None else text for text, one in pieces)
    return None


def _filled_in(value: Any) -> Language | None:
    """CloudFormation, where one of its functions fills in a text."""
    name, inner = _function(value)
    if name in ("Sub", "Join"):
        return CLOUDFORMATION
    return _filled_in(inner) if name == "Base64" else None


def _function(value: Any) -> tuple[str, Any]:
    """The name of the function of CloudFormation in a value, written as a tag or a map, and its argument."""
    if isinstance(value, Tagged):
        return value.tag.removeprefix("!"), value.value
    if isinstance(value, dict) and len(value) == 1:
        ((name, inner),) = value.items()
        return str(name).removeprefix("Fn::"), inner
    return "", value


def _reference(value: Any) -> str:
    """Markup for what another resource says."""
    name, inner = _function(value)
    steps = inner if isinstance(inner, list) else [inner]
    shown = ".".join(step for step in steps if isinstance(step, str))
    return f"${{{shown or name}}}"


_CALL = re.compile(r"\[ *(base64|variables|parameters)\((.*)\) *\]", re.S)
_NAMED = re.compile(r"(variables|parameters)\('(\w+)'\)")
_LITERAL = re.compile(r"'((?:[^']|'')*)'")


def _arm(one: Value) -> Taken:
    """`base64()` packs a text, and Azure unpacks it."""
    return Taken(_arm_text(one.value, one.tree), not str(one.value).startswith("[base64"))


def _arm_text(value: Any, tree: Any) -> str | None:
    """A text with ARM's expressions: of a literal, of a variable, or of a parameter's default."""
    if not isinstance(value, str):
        return None
    called = _CALL.fullmatch(value)
    if called is None:
        return None if value.startswith("[") and not value.startswith("[[") else value
    inner = called[2].strip() if called[1] == "base64" else f"{called[1]}({called[2]})"
    if literal := _LITERAL.fullmatch(inner):
        return literal[1].replace("''", "'")
    named = _NAMED.fullmatch(inner)
    if named is None:
        return None
    where = ("variables", named[2]) if named[1] == "variables" else ("parameters", named[2], "defaultValue")
    found = dig(tree, where)
    is_expression = isinstance(found, str) and found.startswith("[") and not found.startswith("[[")
    return found if isinstance(found, str) and found and not is_expression else None


def _heat(one: Value) -> Taken:
    """What cloud-init gets of a server: with the format HEAT_CFNTOOLS Heat's own part handler takes the text."""
    if one.sibling_value("user_data_format") not in ("RAW", "SOFTWARE_CONFIG"):
        why = "is for Heat's own tools, and not for cloud-init: write user_data_format: RAW"
        return Taken(None, why=why)
    return Taken(_heat_text(one.value, one.tree), False)


def _heat_text(value: Any, tree: Any) -> str | None:
    """A text of Heat: `str_replace` leaves its parameters as they stand, `get_resource` leads to a config."""
    if isinstance(value, str):
        return value
    replaced = dig(value, ("str_replace", "template"))
    if isinstance(replaced, str):
        return replaced
    named = dig(value, ("get_resource",))
    config = dig(tree, ("resources", named, "properties", "config")) if isinstance(named, str) else ABSENT
    return _heat_text(config, {}) if config is not ABSENT else None


# --- the table

_KIND, _IMAGE = ("kind",), ("spec", "template", "spec", "volumes", EACH)
_DISKS = ("cloudInitNoCloud", "cloudInitConfigDrive")
_TEXTS = ("userData", "userDataBase64")
_VIRTUAL = (*_TEXTS, "secretRef", "userDataSecretRef")
_MACHINES = ("Resources", EACH, "Properties")
_PROFILE = ("properties", "osProfile", "customData")
_SCALE_SET = ("properties", "virtualMachineProfile", "osProfile", "customData")
_ITEM = ("metadata", "items", Where("key", "user-data"), "value")
_ANSIBLE = ("user_data", "userdata", "custom_data", "cloud_init")

FORMS: tuple[Form, ...] = (
    Form(
        "kubevirt",
        "a virtual machine of KubeVirt or Harvester",
        ({_KIND: r"^VirtualMachine", ("apiVersion",): r"^kubevirt\.io/"},),
        ((*_IMAGE, _DISKS, _VIRTUAL), ("spec", "volumes", EACH, _DISKS, _VIRTUAL)),
        take=_kubevirt,
        why="is in a secret",
    ),
    Form(
        "karpenter",
        "a node class of Karpenter",
        ({_KIND: r"^(?:EC2NodeClass|AWSNodeTemplate)$"},),
        (("spec", "userData"),),
        take=_karpenter,
    ),
    Form(
        "kubeadm",
        "a configuration of Cluster API's bootstrap provider",
        ({_KIND: r"^(?:Kubeadm|RKE2|KThrees)Config(?:Template)?$|^(?:Kubeadm|RKE2|KThrees)ControlPlane"},),
        (("spec",),),
        take=_made_elsewhere,
        why="is made by the bootstrap provider: its secret has the user-data",
    ),
    Form(
        "harvester",
        "a configuration of Harvester or Rancher",
        (
            {_KIND: r"^ConfigMap$", ("data", ("cloudInit", "userData", "user-data")): ""},
            {_KIND: r"^(?:Harvester|Amazonec2|Azure|Digitalocean|Vmwarevsphere)Config$"},
        ),
        (("data", ("cloudInit", "userData", "user-data")), (("userData", "userdata", "customData", "cloudConfig"),)),
        take=_harvester,
    ),
    Form(
        "cloudformation",
        "a template of CloudFormation",
        ({("Resources", EACH, "Type"): r"^\w+::\w"},),
        ((*_MACHINES, "UserData"), (*_MACHINES, "LaunchTemplateData", "UserData"),
         (*_MACHINES, "LaunchSpecifications", EACH, "UserData")),
        take=_cloudformation,
        language=_filled_in,
        why="is made by a function of CloudFormation that is not read here",
    ),
    Form(
        "ec2",
        "an answer of the AWS CLI",
        (
            {("LaunchTemplateVersions", EACH, "LaunchTemplateData"): ""},
            {("InstanceId",): "", ("UserData", "Value"): ""},
            {("LaunchTemplateData", "UserData"): ""},
            {("LaunchConfigurations", EACH, "UserData"): ""},
            {("ImageId",): r"^(?:ami-|resolve:)", ("UserData",): ""},
        ),
        (("LaunchTemplateVersions", EACH, "LaunchTemplateData", "UserData"), ("UserData", "Value"),
         ("LaunchTemplateData", "UserData"), ("LaunchConfigurations", EACH, "UserData"), ("UserData",)),
        take=_base64,
    ),
    Form(
        "arm",
        "a template of Azure Resource Manager, such as Bicep makes",
        ({("$schema",): r"deploymentTemplate\.json"}, {("type",): r"^Microsoft\.Compute/", _PROFILE: ""},
         {("properties", "template", "$schema"): r"deploymentTemplate\.json"}),
        (("resources", EACH, *_PROFILE), ("resources", EACH, *_SCALE_SET),
         ("properties", "template", "resources", EACH, *_PROFILE),
         ("properties", "template", "resources", EACH, *_SCALE_SET),
         ("resources", EACH, "properties", "template", "resources", EACH, *_PROFILE), _PROFILE,
         ("variables", EACH, "customData")),
        take=_arm,
        why="is made by an expression of ARM that is not read here",
    ),
    Form(
        "gce",
        "an instance of Google Compute Engine",
        ({("kind",): r"^compute#instance"}, {("resources", EACH, "type"): r"^compute\.|gcp-types/compute"},
         {_ITEM: "", ("machineType",): ""}),
        (_ITEM, ("properties", *_ITEM), ("resources", EACH, "properties", *_ITEM),
         ("resources", EACH, "properties", "properties", *_ITEM)),
        take=_gce,
    ),
    Form(
        "heat",
        "a template of OpenStack Heat",
        ({("heat_template_version",): ""},),
        (("resources", EACH, "properties", "user_data"),),
        take=_heat,
        why="is made by a function of Heat that is not read here",
    ),
    Form(
        "heat-config",
        "a config of OpenStack Heat",
        ({("heat_template_version",): "", ("resources", EACH, "type"): r"^OS::Heat::CloudConfig$"},),
        (("resources", EACH, "properties", "cloud_config"),),
        is_config=True,
    ),
    Form(
        "openstack",
        "a server of OpenStack",
        ({("OS-EXT-SRV-ATTR:user_data",): ""}, {("server", "user_data"): ""}),
        (("OS-EXT-SRV-ATTR:user_data",), ("server", "user_data")),
        take=_base64,
    ),
    Form(
        "linode",
        "an instance of Linode",
        ({("metadata", "user_data"): "", (("type", "region"),): ""},),
        (("metadata", "user_data"),),
        take=_base64,
    ),
    Form(
        "api",
        "a request to a cloud",
        ({("user_data",): "", (("region", "server_type", "size", "plan", "zone"),): ""},),
        (("user_data",),),
        take=_either,
    ),
    Form(
        "packer",
        "a template of Packer",
        ({("builders", EACH, "type"): ""},),
        (("builders", EACH, "user_data"),
         ("builders", EACH, ("cd_content", "http_content"), ("user-data", "/user-data"))),
    ),
    Form(
        "terraform-json",
        "a configuration of Terraform in JSON",
        ({("resource", EACH, EACH): ""},),
        (("resource", EACH, EACH, ("user_data", "custom_data", "user_data_base64")),
         ("resource", EACH, EACH, "metadata", ("user-data", "user_data"))),
        take=_either,
        language=lambda value: TERRAFORM,
    ),
    Form(
        "autoinstall",
        "an autoinstall of Ubuntu's installer",
        ({("autoinstall", "version"): ""},),
        (("autoinstall", "user-data"),),
        is_config=True,
    ),
    Form(
        "ansible",
        "tasks of Ansible",
        ({(EACH, ("hosts", "tasks", "roles")): "", (DEEP, _ANSIBLE): ""}, {(EACH, "name"): "", (DEEP, _ANSIBLE): ""}),
        ((DEEP, _ANSIBLE),),
        take=_either,
    ),
)  # fmt: skip
"""Each form that is a document of YAML or JSON, in the order in which shapes are asked."""
