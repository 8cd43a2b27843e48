"""The documents in which platforms keep user-data: a table with the path of user-data in each, and how it is packed.

A *form* is one kind of document, such as a template of CloudFormation. `inputs` chooses a form by name (`--input-form`)
or by the shape of a document. The results are texts and their paths; the module does not read what a text says. If the
user-data cannot be read from the document, the text is None, with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from nodeattrs.core.tree import ABSENT, Path, dig
from nodeattrs.dialects.cloudinit.kubeadm import GeneratedConfig, cloud_config_of
from nodeattrs.dialects.cloudinit.other_templates import CLOUDFORMATION, TERRAFORM, Language
from nodeattrs.formats.tags import Tagged


class _Where(NamedTuple):
    """A step of a pattern: to the maps of a list that have *value* under *key*."""

    key: str
    value: str


_EACH, _DEEP = "*", "**"
"""Steps of a pattern: to each entry of a map or list, and to each value at any depth."""

_Step = str | _Where | tuple[str, ...]
_Pattern = tuple[_Step, ...]
"""Steps from the top of a document to values. A tuple of keys is a step to the first that is there and not empty."""


class FormText(NamedTuple):
    """The user-data of one machine in a document.

    path:      the path of the value in the document
    text:      the user-data; None if the document does not have it, and with `is_config` or `made`
    name:      the name of the machine; "" if the document gives none
    why:       the reason for a missing text, as the end of a sentence; "" for none
    is_config: whether the value is a mapping that is the cloud-config itself
    is_packed: whether the platform decodes the text as base64; None: the platform takes both plain text and base64
    language:  the language of a template that another program fills in; None for a text that is no template
    made:      the cloud-config that the platform makes of the value; None for a platform that passes a text on
    """

    path: Path
    text: str | None
    name: str = ""
    why: str = ""
    is_config: bool = False
    is_packed: bool | None = None
    language: Language | None = None
    made: GeneratedConfig | None = None


class _Value(NamedTuple):
    """A value of a document, with the document and the path of the value there."""

    value: Any
    tree: Any
    path: Path


def _maybe_base64(one: _Value, is_packed: bool | None = None) -> FormText:
    """A text that may be base64: several platforms have this form, and some take base64.

    is_packed: whether the text is base64; None: it may be
    """
    return FormText(one.path, _text(one), is_packed=is_packed)


_as_it_is, _base64 = partial(_maybe_base64, is_packed=False), partial(_maybe_base64, is_packed=True)


def _text(one: _Value) -> str | None:
    return one.value if isinstance(one.value, str) else None


@dataclass(frozen=True)
class Form:
    """One kind of document: how it is recognized, and where it has user-data. `FORMS` has all of them.

    name:      the word of --input-form
    what:      its usual name, with an article
    marks:     maps of pattern -> regular expression. A document fits a map if the value at each pattern matches the
               expression; it has to fit one map
    at:        the patterns that lead to user-data
    take:      called with a value, returns the `FormText` that the platform takes from it, without name and language.
               It has a reason or `made` in place of a text
    why:       the reason for a value without a text, if *take* gives none
    is_config: True: the value is a mapping that is the cloud-config itself, and *take* is not called
    language:  called with a value, returns the template language of its text, or None

    `fits(tree)` tests a document. `texts(tree)` yields a `FormText` for each machine in it.
    """

    name: str
    what: str
    marks: tuple[dict[_Pattern, str], ...]
    at: tuple[_Pattern, ...]
    take: Callable[[_Value], FormText] = _as_it_is
    why: str = "is written in a form that is not read here"
    is_config: bool = False
    language: Callable[[Any], Language | None] = lambda value: None

    def fits(self, tree: Any) -> bool:
        """Whether a document has the shape of the form: every mark of one of the maps is in it."""
        return any(all(_has_mark(tree, *mark) for mark in marks.items()) for marks in self.marks)

    def texts(self, tree: Any) -> Iterator[FormText]:
        """Yield the user-data of each machine in a document, in the order of `at`.

        A value that cannot be read is yielded with a reason in place of its text. If one value is inside another one,
        only the inner one is yielded.
        """
        above = _name_of(tree)
        values = [found for pattern in self.at for found in _values_at(tree, pattern)]
        above_others = {path[:length] for path, _, _ in values for length in range(len(path))}
        for path, value, words in values:
            if path in above_others:
                continue
            if self.is_config:
                taken = FormText(path, None, is_config=isinstance(value, dict))
            else:
                taken = self.take(_Value(value, tree, path))
            name = "/".join(word for word in (above, *words) if word)
            why = "" if taken.is_config or taken.text is not None else taken.why or self.why
            yield taken._replace(name=name, why=why, language=self.language(value))


def _has_mark(tree: Any, pattern: _Pattern, looks: str) -> bool:
    return any(re.search(looks, str(value)) for _, value, _ in _values_at(tree, pattern))


def maps_in(value: Any) -> list[dict[Any, Any]]:
    """*value*, if it is a list of maps; [] for anything else."""
    return value if isinstance(value, list) and all(isinstance(one, dict) for one in value) else []


def _values_at(tree: Any, pattern: _Pattern) -> Iterator[tuple[Path, Any, tuple[str, ...]]]:
    """Each value that a pattern leads to, with its path and the names on the way; null and "" are left out."""
    open_: list[tuple[Path, Any, tuple[str, ...], _Pattern]] = [((), tree, (), pattern)]
    while open_:
        path, value, words, left = open_.pop()
        if not left:
            if value is not None and value != "":
                yield path, value, words
            continue
        step, *rest = left
        found = [(*one, tuple(rest)) for one in _stepped(path, value, words, step)]
        if step == _DEEP:
            found += [(at, row, (*words, _name_of(row)), left) for at, row, _ in _stepped(path, value, words, _EACH)]
            found.append((path, value, words, tuple(rest)))
        open_ += reversed(found)


def _stepped(path: Path, value: Any, words: tuple[str, ...], step: _Step) -> list[tuple[Path, Any, Any]]:
    """The values one step below."""
    if isinstance(step, _Where):
        rows = enumerate(value if isinstance(value, list) else ())
        return [
            ((*path, at), row, words) for at, row in rows if isinstance(row, dict) and row.get(step.key) == step.value
        ]
    if step == _DEEP:
        return []
    if step == _EACH:
        if isinstance(value, dict):
            return [((*path, key), entry, (*words, str(key))) for key, entry in value.items()]
        rows = enumerate(value if isinstance(value, list) else ())
        return [((*path, at), row, (*words, _name_of(row) or str(at))) for at, row in rows]
    keys = (step,) if isinstance(step, str) else step
    found = [((*path, key), value[key], words) for key in keys if isinstance(value, dict) and value.get(key)]
    return found[:1]


_NAMES: tuple[Path, ...] = (
    ("metadata", "name"), ("name",), ("vmName",), ("LaunchTemplateName",), ("LaunchTemplateId",), ("InstanceId",),
    ("id",),
)  # fmt: skip


def _name_of(row: Any) -> str:
    """The name of a document or of an entry of a list, after its namespace; "" where it has none."""
    names = [dig(row, path) for path in _NAMES]
    name = next((one for one in names if isinstance(one, str)), None)
    if name is None:
        return ""
    space = dig(row, ("metadata", "namespace"))
    return f"{space}/{name}" if isinstance(space, str) else name


# --- the text that a value means


def _kubevirt(one: _Value) -> FormText:
    """`userData` as it is, `userDataBase64` unpacked; the other keys name a secret."""
    key = one.path[-1]
    return FormText(one.path, _text(one) if key in _TEXTS else None, is_packed=key == "userDataBase64")


def _karpenter(one: _Value) -> FormText:
    """The user-data of a node class of Karpenter. The family of the image decides whether cloud-init gets it."""
    text, spec = _text(one), one.tree["spec"]
    aliases = [alias for _, alias, _ in _values_at(spec, ("amiSelectorTerms", _EACH, "alias"))]
    family = str(spec.get("amiFamily") or next(iter(aliases), "")).lower()
    if family.startswith(("bottlerocket", "windows")):
        return FormText(one.path, None, why="is read by the image's own tools, and not by cloud-init")
    is_message = str(text).lstrip().startswith(("MIME-Version:", "Content-Type:"))
    if family.startswith("al2023") and not is_message:
        return FormText(
            one.path, None, why="is passed on as a NodeConfig or a script of Amazon Linux 2023: write a MIME message"
        )
    return FormText(one.path, text, is_packed=False)


def _kubeadm(one: _Value) -> FormText:
    """The cloud-config that Cluster API makes of a spec; other bootstrap providers make theirs of other keys."""
    if not str(one.tree["kind"]).startswith("Kubeadm"):
        return FormText(one.path, None)
    if dig(one.value, ("format",)) == "ignition":
        return FormText(one.path, None, why=IGNITION)
    try:
        return FormText(one.path, None, made=cloud_config_of(one.value))
    except (AttributeError, TypeError, ValueError):
        return FormText(one.path, None, why="is no spec of Cluster API")


def _harvester(one: _Value) -> FormText:
    """The text of a ConfigMap, not decoded; the text of a machine's config, plain or as base64."""
    return FormText(one.path, _text(one), is_packed=False if one.path[0] == "data" else None)


def _gce(one: _Value) -> FormText:
    """The user-data of an instance. Another item, `user-data-encoding`, says whether it is base64."""
    items = dig(one.tree, one.path[:-2])
    encodings = [value for _, value, _ in _values_at(items, (_Where("key", "user-data-encoding"), "value"))]
    return FormText(one.path, _text(one), is_packed=encodings == ["base64"])


def _cloudformation(one: _Value) -> FormText:
    """`Fn::Base64` packs a text, and EC2 unpacks it; a text alone has to be base64."""
    return FormText(one.path, _intrinsic(one.value), is_packed=None if isinstance(one.value, str) else False)


def _intrinsic(value: Any) -> str | None:
    """A text with CloudFormation's functions, in which filled-in values stay as markup; None for other functions."""
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
    """The language CLOUDFORMATION if a function fills in the text; else None."""
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
    """Markup for a value of another resource."""
    name, inner = _function(value)
    steps = inner if isinstance(inner, list) else [inner]
    shown = ".".join(step for step in steps if isinstance(step, str))
    return f"${{{shown or name}}}"


_CALL = re.compile(r"\[ *(base64|variables|parameters)\((.*)\) *\]", re.S)
_NAMED = re.compile(r"(variables|parameters)\('(\w+)'\)")
_LITERAL = re.compile(r"'((?:[^']|'')*)'")


def _arm(one: _Value) -> FormText:
    """`base64()` packs a text, and Azure unpacks it."""
    return FormText(one.path, _arm_text(one.value, one.tree), is_packed=not str(one.value).startswith("[base64"))


def _arm_text(value: Any, tree: Any) -> str | None:
    """A text with ARM's expressions: of a literal, of a variable, or of a parameter's default."""
    if not isinstance(value, str):
        return None
    called = _CALL.fullmatch(value)
    if called is None:
        return None if _is_arm_expression(value) else value
    inner = called[2].strip() if called[1] == "base64" else f"{called[1]}({called[2]})"
    literal = _LITERAL.fullmatch(inner)
    if literal is not None:
        return literal[1].replace("''", "'")
    named = _NAMED.fullmatch(inner)
    if named is None:
        return None
    path = ("variables", named[2]) if named[1] == "variables" else ("parameters", named[2], "defaultValue")
    text = dig(tree, path)
    return text if isinstance(text, str) and text and not _is_arm_expression(text) else None


def _is_arm_expression(text: str) -> bool:
    return text.startswith("[") and not text.startswith("[[")


def _heat(one: _Value) -> FormText:
    """The user-data of a server of Heat. With the format HEAT_CFNTOOLS, Heat's own part handler takes the text."""
    if dig(one.tree, (*one.path[:-1], "user_data_format")) not in ("RAW", "SOFTWARE_CONFIG"):
        why = "is for Heat's own tools, and not for cloud-init: write user_data_format: RAW"
        return FormText(one.path, None, why=why)
    return FormText(one.path, _heat_text(one.value, one.tree), is_packed=False)


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

IGNITION = "is for Ignition, not for cloud-init"
_KIND, _IMAGE = ("kind",), ("spec", "template", "spec", "volumes", _EACH)
_DISKS = ("cloudInitNoCloud", "cloudInitConfigDrive")
_TEXTS = ("userData", "userDataBase64")
_VIRTUAL = (*_TEXTS, "secretRef", "userDataSecretRef")
_MACHINES = ("Resources", _EACH, "Properties")
_PROFILE = ("properties", "osProfile", "customData")
_SCALE_SET = ("properties", "virtualMachineProfile", "osProfile", "customData")
_ITEM = ("metadata", "items", _Where("key", "user-data"), "value")
_ANSIBLE = ("user_data", "userdata", "custom_data", "cloud_init")

FORMS: tuple[Form, ...] = (
    Form(
        "kubevirt",
        "a virtual machine of KubeVirt or Harvester",
        ({_KIND: r"^VirtualMachine", ("apiVersion",): r"^kubevirt\.io/"},),
        ((*_IMAGE, _DISKS, _VIRTUAL), ("spec", "volumes", _EACH, _DISKS, _VIRTUAL)),
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
        (("spec",), ("spec", "template", "spec"), ("spec", "kubeadmConfigSpec"),
         ("spec", "template", "spec", "kubeadmConfigSpec")),
        take=_kubeadm,
        why="is made by the bootstrap provider: name its secret, as `kubectl get secret NAME -o yaml` prints it",
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
        ({("Resources", _EACH, "Type"): r"^\w+::\w"},),
        ((*_MACHINES, "UserData"), (*_MACHINES, "LaunchTemplateData", "UserData"),
         (*_MACHINES, "LaunchSpecifications", _EACH, "UserData")),
        take=_cloudformation,
        language=_filled_in,
        why="is made by a function of CloudFormation that is not read here",
    ),
    Form(
        "ec2",
        "an answer of the AWS CLI",
        (
            {("LaunchTemplateVersions", _EACH, "LaunchTemplateData"): ""},
            {("InstanceId",): "", ("UserData", "Value"): ""},
            {("LaunchTemplateData", "UserData"): ""},
            {("LaunchConfigurations", _EACH, "UserData"): ""},
            {("ImageId",): r"^(?:ami-|resolve:)", ("UserData",): ""},
        ),
        (("LaunchTemplateVersions", _EACH, "LaunchTemplateData", "UserData"), ("UserData", "Value"),
         ("LaunchTemplateData", "UserData"), ("LaunchConfigurations", _EACH, "UserData"), ("UserData",)),
        take=_base64,
    ),
    Form(
        "arm",
        "a template of Azure Resource Manager, such as Bicep makes",
        ({("$schema",): r"deploymentTemplate\.json"}, {("type",): r"^Microsoft\.Compute/", _PROFILE: ""},
         {("properties", "template", "$schema"): r"deploymentTemplate\.json"}),
        (("resources", _EACH, *_PROFILE), ("resources", _EACH, *_SCALE_SET),
         ("properties", "template", "resources", _EACH, *_PROFILE),
         ("properties", "template", "resources", _EACH, *_SCALE_SET),
         ("resources", _EACH, "properties", "template", "resources", _EACH, *_PROFILE), _PROFILE,
         ("variables", _EACH, "customData")),
        take=_arm,
        why="is made by an expression of ARM that is not read here",
    ),
    Form(
        "gce",
        "an instance of Google Compute Engine",
        ({("kind",): r"^compute#instance"}, {("resources", _EACH, "type"): r"^compute\.|gcp-types/compute"},
         {_ITEM: "", ("machineType",): ""}),
        (_ITEM, ("properties", *_ITEM), ("resources", _EACH, "properties", *_ITEM),
         ("resources", _EACH, "properties", "properties", *_ITEM)),
        take=_gce,
    ),
    Form(
        "heat",
        "a template of OpenStack Heat",
        ({("heat_template_version",): ""},),
        (("resources", _EACH, "properties", "user_data"),),
        take=_heat,
        why="is made by a function of Heat that is not read here",
    ),
    Form(
        "heat-config",
        "a config of OpenStack Heat",
        ({("heat_template_version",): "", ("resources", _EACH, "type"): r"^OS::Heat::CloudConfig$"},),
        (("resources", _EACH, "properties", "cloud_config"),),
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
        take=_maybe_base64,
    ),
    Form(
        "packer",
        "a template of Packer",
        ({("builders", _EACH, "type"): ""},),
        (("builders", _EACH, "user_data"),
         ("builders", _EACH, ("cd_content", "http_content"), ("user-data", "/user-data"))),
    ),
    Form(
        "terraform-json",
        "a configuration of Terraform in JSON",
        ({("resource", _EACH, _EACH): ""},),
        (("resource", _EACH, _EACH, ("user_data", "custom_data", "user_data_base64")),
         ("resource", _EACH, _EACH, "metadata", ("user-data", "user_data"))),
        take=_maybe_base64,
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
        ({(_EACH, ("hosts", "tasks", "roles")): "", (_DEEP, _ANSIBLE): ""},
         {(_EACH, "name"): "", (_DEEP, _ANSIBLE): ""}),
        ((_DEEP, _ANSIBLE),),
        take=_maybe_base64,
    ),
)  # fmt: skip
"""Each form that is a document of YAML or JSON, in the order in which shapes are asked."""
