"""User-data inside the documents in which platforms keep it: what is handed to cloud-init, and its lines there.

Each example is written for this test. Its source is the page of the platform's documentation, or the part of its
code, that says where the text lies and how it is packed.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nodeattrs.cli import main
from nodeattrs.cloudinit import given_in, merge
from nodeattrs.dialects.cloudinit.forms import FORMS
from nodeattrs.dialects.cloudinit.inputs import FORM_NAMES
from nodeattrs.errors import BadArgument
from tests.oracles.cloudinit_documents import rows

TEXT = "#cloud-config\npackages: [vim]\nruncmd:\n- echo hi\n"
PACKED = base64.b64encode(TEXT.encode()).decode()
CONFIG = {"packages": ["vim"], "runcmd": ["echo hi"]}


def block(indent: int, text: str = TEXT) -> str:
    """The text as a block of YAML."""
    return "".join(f"{' ' * indent}{row}\n" for row in text.splitlines())


class Case(NamedTuple):
    """A document of a form: its text, the machines in it, and the lines of `runcmd` in the file, where it has some."""

    form: str
    source: str
    text: str
    machines: tuple[str, ...] = ("",)
    lines: tuple[int | None, ...] = (None,)


CASES: list[Case] = [
    Case(
        "kubevirt",
        "kubevirt.io/user-guide, Startup Scripts, Cloud-init NoCloud: spec.template.spec.volumes[].cloudInitNoCloud",
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: vm, namespace: lab}\nspec:\n  template:\n"
        "    spec:\n      volumes:\n      - name: disk\n        containerDisk: {image: x}\n      - name: init\n"
        f"        cloudInitNoCloud:\n          userData: |\n{block(12)}",
        ("lab/vm/init",),
        (15,),
    ),
    Case(
        "kubevirt",
        "the same page: userDataBase64, and cloudInitConfigDrive",
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: vm}\nspec:\n  volumes:\n"
        f"  - name: init\n    cloudInitConfigDrive: {{userDataBase64: {PACKED}}}\n",
        ("vm/init",),
    ),
    Case(
        "kubevirt",
        "kubectl get -o yaml: a list of objects",
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: kubevirt.io/v1\n  kind: VirtualMachineInstance\n"
        "  metadata: {name: a}\n  spec:\n    volumes:\n    - name: i\n      cloudInitNoCloud:\n        userData: |\n"
        f"{block(10)}",
        ("a/i",),
        (14,),
    ),
    Case(
        "karpenter",
        "karpenter.sh/docs, NodeClasses, spec.userData",
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: default\nspec:\n  amiFamily: AL2\n"
        f"  userData: |\n{block(4)}",
        ("default",),
        (10,),
    ),
    Case(
        "harvester",
        "docs.harvesterhci.io, Cloud Config Templates: a ConfigMap with data.cloudInit",
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: t}}\ndata:\n  cloudInit: |\n{block(4)}",
        ("t",),
        (8,),
    ),
    Case(
        "harvester",
        "ranchermanager.docs.rancher.com, Harvester node driver: HarvesterConfig.userData, base64",
        "apiVersion: rke-machine-config.cattle.io/v1\nkind: HarvesterConfig\nmetadata: {name: p}\n"
        f"userData: {PACKED}\n",
        ("p",),
    ),
    Case(
        "cloudformation",
        "docs.aws.amazon.com, AWS::EC2::Instance, UserData; Fn::Base64",
        "AWSTemplateFormatVersion: '2010-09-09'\nResources:\n  Web:\n    Type: AWS::EC2::Instance\n    Properties:\n"
        f"      UserData:\n        Fn::Base64: |\n{block(10)}",
        ("Web",),
        (10,),
    ),
    Case(
        "cloudformation",
        "docs.aws.amazon.com, Fn::Sub, UserData with Fn::Base64 and !Sub",
        "Resources:\n  Web:\n    Type: AWS::EC2::Instance\n    Properties:\n      UserData:\n"
        f"        Fn::Base64: !Sub |\n{block(10)}",
        ("Web",),
        (9,),
    ),
    Case(
        "cloudformation",
        "docs.aws.amazon.com, AWS::EC2::LaunchTemplate, LaunchTemplateData.UserData; Fn::Join",
        json.dumps({"Resources": {"T": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": {
            "UserData": {"Fn::Base64": {"Fn::Join": ["\n", TEXT.splitlines()]}}}}}}}),
        ("T",),
    ),
    Case(
        "ec2",
        "docs.aws.amazon.com, describe-launch-template-versions, output: UserData is base64",
        json.dumps({"LaunchTemplateVersions": [
            {"LaunchTemplateName": "t", "LaunchTemplateData": {"UserData": PACKED}}]}),
        ("t",),
    ),
    Case(
        "ec2",
        "docs.aws.amazon.com, describe-instance-attribute --attribute userData, output",
        json.dumps({"InstanceId": "i-1", "UserData": {"Value": PACKED}}),
        ("i-1",),
    ),
    Case(
        "arm",
        "learn.microsoft.com, Microsoft.Compute/virtualMachines, osProfile.customData: base64",
        json.dumps({"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
                    "resources": [{"type": "Microsoft.Compute/virtualMachines", "name": "vm",
                                   "properties": {"osProfile": {"customData": PACKED}}}]}),
        ("vm",),
    ),
    Case(
        "arm",
        "learn.microsoft.com, template functions: base64(), variables(); scale sets: virtualMachineProfile",
        json.dumps({"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
                    "variables": {"init": TEXT},
                    "resources": [{"type": "Microsoft.Compute/virtualMachineScaleSets", "name": "set", "properties": {
                        "virtualMachineProfile": {"osProfile": {"customData": "[base64(variables('init'))]"}}}}]}),
        ("set",),
    ),
    Case(
        "gce",
        "cloud.google.com/compute/docs, instances.get: metadata.items[] with the key user-data",
        json.dumps({"kind": "compute#instance", "name": "g", "metadata": {"items": [
            {"key": "startup-script", "value": "x"}, {"key": "user-data", "value": TEXT}]}}),
        ("g",),
    ),
    Case(
        "gce",
        "docs.cloud-init.io, Google Compute Engine: user-data-encoding",
        json.dumps({"kind": "compute#instance", "name": "g", "metadata": {"items": [
            {"key": "user-data", "value": PACKED}, {"key": "user-data-encoding", "value": "base64"}]}}),
        ("g",),
    ),
    Case(
        "gce",
        "cloud.google.com/deployment-manager/docs: resources[].properties.metadata.items",
        "resources:\n- name: vm\n  type: compute.v1.instance\n  properties:\n    metadata:\n      items:\n"
        f"      - key: user-data\n        value: |\n{block(10)}",
        ("vm",),
        (11,),
    ),
    Case(
        "heat",
        "docs.openstack.org/heat, OS::Nova::Server, user_data; str_replace",
        "heat_template_version: 2021-04-16\nresources:\n  server:\n    type: OS::Nova::Server\n    properties:\n"
        f"      user_data_format: RAW\n      user_data:\n        str_replace:\n          template: |\n{block(12)}"
        "          params: {$x: y}\n",
        ("server",),
        (12,),
    ),
    Case(
        "heat",
        "docs.openstack.org/heat, OS::Nova::Server, user_data_format: SOFTWARE_CONFIG; get_resource",
        "heat_template_version: 2021-04-16\nresources:\n  init:\n    type: OS::Heat::SoftwareConfig\n    properties:\n"
        f"      config: |\n{block(8)}  server:\n    type: OS::Nova::Server\n    properties:\n"
        "      user_data_format: SOFTWARE_CONFIG\n      user_data: {get_resource: init}\n",
        ("server",),
    ),
    Case(
        "heat-config",
        "docs.openstack.org/heat, OS::Heat::CloudConfig: cloud_config is the configuration",
        "heat_template_version: 2021-04-16\nresources:\n  init:\n    type: OS::Heat::CloudConfig\n    properties:\n"
        "      cloud_config:\n        packages: [vim]\n        runcmd:\n        - echo hi\n",
        ("init",),
        (8,),
    ),
    Case(
        "openstack",
        "docs.openstack.org/api-ref/compute, Show Server Details: OS-EXT-SRV-ATTR:user_data is base64",
        json.dumps({"id": "s1", "OS-EXT-SRV-ATTR:user_data": PACKED}),
        ("s1",),
    ),
    Case(
        "linode",
        "techdocs.akamai.com, Create a Linode: metadata.user_data is base64",
        json.dumps({"type": "g6-nanode-1", "region": "eu", "metadata": {"user_data": PACKED}}),
    ),
    Case(
        "api",
        "docs.hetzner.cloud, Create a Server: user_data",
        json.dumps({"name": "h", "server_type": "cx22", "user_data": TEXT}),
        ("h",),
    ),
    Case(
        "packer",
        "developer.hashicorp.com/packer, QEMU builder: cd_content, files by name",
        json.dumps({"builders": [{"type": "qemu", "cd_content": {"meta-data": "", "user-data": TEXT}}]}),
        ("0",),
    ),
    Case(
        "terraform-json",
        "developer.hashicorp.com/terraform, JSON Configuration Syntax: resource.TYPE.NAME",
        json.dumps({"resource": {"hcloud_server": {"web": {"user_data": TEXT}}}}),
        ("hcloud_server/web",),
    ),
    Case(
        "autoinstall",
        "canonical-subiquity.readthedocs-hosted.com, autoinstall reference, user-data: a mapping for cloud-init",
        "autoinstall:\n  version: 1\n  user-data:\n    packages: [vim]\n\n    runcmd:\n    - echo hi\n  ssh: {}\n",
        ("",),
        (6,),
    ),
    Case(
        "ansible",
        "docs.ansible.com, amazon.aws.ec2_instance, user_data",
        "- hosts: localhost\n  tasks:\n  - name: make it\n    amazon.aws.ec2_instance:\n      image: x\n"
        f"      user_data: |\n{block(8)}",
        ("make it",),
        (9,),
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[f"{case.form}: {case.source[:40]}" for case in CASES])
class TestEachForm:
    def test_each_form_of_user_data_is_recognised_by_its_shape(self, case: Case, tmp_path: Path) -> None:
        file = tmp_path / "document"
        file.write_text(case.text, encoding="utf-8")
        found = given_in(file)
        assert [one.address for one in found] == list(case.machines)
        assert [merge(one.user).config for one in found] == [CONFIG] * len(found)

    def test_lines_of_embedded_user_data_are_those_of_the_document(self, case: Case, tmp_path: Path) -> None:
        file = tmp_path / "document"
        file.write_text(case.text, encoding="utf-8")
        for given, line in zip(given_in(file), case.lines, strict=True):
            at = merge(given.user).origins("runcmd")[0]
            assert (at.line if line is not None else at.name) == (line or f"of {file.as_posix()}")
            assert (
                file.read_text(encoding="utf-8").splitlines()[(line or 1) - 1].strip().startswith("runcmd") or not line
            )

    def test_each_form_of_user_data_is_read_by_name(self, case: Case) -> None:
        assert [merge(one.user).config for one in given_in(case.text, form=case.form)] == [CONFIG]


def test_every_form_of_the_table_has_an_example() -> None:
    without = {"kubeadm"}  # test_cloudinit_kubeadm has it
    assert {case.form for case in CASES} == {one.name for one in FORMS} - without


UNREAD: list[tuple[str, str, str]] = [
    ("kubevirt", "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: v}\nspec: {template: {spec: "
                 "{volumes: [{name: i, cloudInitNoCloud: {secretRef: {name: s}}}]}}}\n", "is in a secret"),
    ("kubeadm", "apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: RKE2ConfigTemplate\nmetadata: {name: k}\n"
                "spec: {template: {spec: {preRKE2Commands: [a]}}}\n", "bootstrap provider: name its secret"),
    ("cloudformation", "Resources: {W: {Type: 'AWS::EC2::Instance', Properties: {UserData: !Ref Given}}}\n",
     "a function of CloudFormation"),
    ("arm", json.dumps({"$schema": "deploymentTemplate.json", "resources": [{"name": "v", "properties": {
        "osProfile": {"customData": "[base64(format('{0}', 'x'))]"}}}]}), "an expression of ARM"),
    ("heat", "heat_template_version: 2021-04-16\nresources: {s: {properties: {user_data_format: RAW, user_data: "
             "{get_file: a.yaml}}}}\n", "a function of Heat"),
    # docs.openstack.org/heat, OS::Nova::Server, user_data_format: HEAT_CFNTOOLS, the default, bundles it for cfntools
    ("heat", "heat_template_version: 2021-04-16\nresources: {s: {properties: {user_data: "
             "'a: 1'}}}\n",
     "user_data_format: RAW"),
    # karpenter.sh/docs, NodeClasses, spec.userData: AL2023 makes NodeConfig of YAML, Bottlerocket's is TOML
    ("karpenter", "kind: EC2NodeClass\nspec:\n  amiFamily: AL2023\n  userData: |\n    #cloud-config\n    a: 1\n",
     "a MIME message"),
    ("karpenter", "kind: EC2NodeClass\nspec:\n  amiSelectorTerms: [{alias: bottlerocket@latest}]\n  userData: x = 1\n",
     "the image's own tools"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "text", "why"), UNREAD, ids=[f"{one[0]}: {one[2]}" for one in UNREAD])
@pytest.mark.parametrize("command", ["check", "merge"])
def test_user_data_that_is_made_elsewhere_is_named_and_the_exit_code_is_5(
    command: str, form: str, text: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "d.yaml"
    file.write_text(text, encoding="utf-8")
    assert main(["cloud-config", command, str(file)]) == 5
    out, err = capsys.readouterr()
    assert why in out + err


def test_a_finding_stands_at_its_line_in_the_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = CASES[0]
    file = tmp_path / "vm.yaml"
    file.write_text(case.text.replace("packages: [vim]", "packges: [vim]"), encoding="utf-8")
    assert main(["cloud-config", "check", str(file)]) == 1
    assert f"{file}:14:13: warning: lab/vm/init: packges" in capsys.readouterr().out


def test_two_machines_with_one_text_have_lines_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "vms.yaml"
    file.write_text(f"{CASES[0].text}---\n{CASES[0].text}", encoding="utf-8")
    lines = [merge(one.user).origins("runcmd")[0].line for one in given_in(file)]
    assert lines == [15, 15 + CASES[0].text.count("\n") + 1]


def test_a_message_inside_a_document_has_lines_there(tmp_path: Path) -> None:
    message = (
        'Content-Type: multipart/mixed; boundary="b"\nMIME-Version: 1.0\n\n--b\nContent-Type: text/cloud-config\n\n'
        f"{TEXT}--b--\n"
    )
    file = tmp_path / "node.yaml"
    file.write_text(
        f"apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nspec:\n  userData: |\n{block(4, message)}",
        encoding="utf-8",
    )
    (one,) = given_in(file)
    assert [at.line for at in merge(one.user).origins("runcmd")] == [13]


def test_markup_of_a_document_stays_as_it_is() -> None:
    text = "Resources: {W: {Type: 'AWS::EC2::Instance', Properties: {UserData: {'Fn::Base64': {'Fn::Join': ['', "
    text += "[\"#cloud-config\\nhostname: \", !Ref Name, '-', !GetAtt Net.Id]]}}}}}\n"
    (one,) = given_in(text)
    assert merge(one.user).config == {"hostname": "${Name}-${Net.Id}"}


@pytest.mark.parametrize("form", ["nothing", "", "KubeVirt"])
def test_a_form_that_is_not_in_the_table_is_refused(form: str) -> None:
    with pytest.raises(BadArgument, match="there is no form"):
        given_in("a: 1", form=form)


def test_a_document_without_user_data_in_the_form_that_was_named_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "d.yaml"
    file.write_text("#cloud-config\npackages: [a]\n", encoding="utf-8")
    assert main(["cloud-config", "merge", str(file), "--input-form", "heat"]) == 1
    assert "no user-data" in capsys.readouterr().err


def texts_that_are_no_forms() -> list[Any]:
    return ["kind: Deployment\nspec: {user_data: x}\n", "user_data: x\n", "- a\n- user_data\n", '{"user_data": "x"}']


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (
            "kubevirt",
            f"kind: VirtualMachineInstance\nspec: {{volumes: [{{cloudInitNoCloud: {{userData: {PACKED}}}}}]}}\n",
        ),
        ("karpenter", f"kind: EC2NodeClass\nspec: {{amiFamily: AL2, userData: {PACKED}}}\n"),
        ("gce", json.dumps({"metadata": {"items": [{"key": "user-data", "value": PACKED}]}})),
    ],
)
def test_base64_that_the_platform_does_not_unpack_stays_as_it_is(form: str, text: str) -> None:
    assert [one.user[0].content for one in given_in(text, form=form)] == [PACKED]


def test_base64_in_a_seed_or_a_profile_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "user-data").write_text(PACKED)
    profile = f"config: {{cloud-init.user-data: {PACKED}}}\n"
    contents = [one.user[0].content for source in (tmp_path, profile) for one in given_in(source)]
    assert contents == [PACKED.encode(), PACKED]


@pytest.mark.parametrize("text", texts_that_are_no_forms())
def test_a_key_alone_makes_no_form(text: str) -> None:
    (one,) = given_in(text)
    assert one.address == ""


SOURCES: list[tuple[str, str, str, list[tuple[str, list[int | None]]]]] = [
    (
        "hcl",
        "developer.hashicorp.com/terraform, Strings and Templates: heredocs, <<- takes the smallest indent away",
        'resource "hcloud_server" "web" {\n  user_data = <<-EOF\n    #cloud-config\n    packages: [vim]\n    runcmd:\n'
        '    - echo hi\n  EOF\n}\nresource "aws_instance" "db" {\n  user_data_base64 = base64encode(<<EOT\n'
        f"{TEXT}EOT\n  )\n}}\n",
        [("hcloud_server.web", [5]), ("aws_instance.db", [13])],
    ),
    (
        "hcl",
        "registry.terraform.io, hashicorp/cloudinit, cloudinit_config: part.content",
        f'data "cloudinit_config" "c" {{\n  part {{\n    content = <<EOT\n{TEXT}EOT\n  }}\n}}\n',
        [("cloudinit_config.c", [6])],
    ),
    (
        "hcl",
        "registry.terraform.io, bpg/proxmox, virtual_environment_file: source_raw.data is a snippet for cicustom",
        'resource "proxmox_virtual_environment_file" "u" {\n  source_raw {\n    data = <<-EOF\n'
        f'{block(4)}    EOF\n    file_name = "u.yaml"\n  }}\n}}\n',
        [("proxmox_virtual_environment_file.u", [6])],
    ),
    (
        "hcl",
        "developer.hashicorp.com/packer, QEMU builder: cd_content; a quoted text",
        'source "qemu" "x" {\n  cd_content = {\n    "meta-data" = ""\n    "user-data" = '
        f"{json.dumps(TEXT)}\n  }}\n}}\n",
        [("qemu.x", [None])],
    ),
    (
        "vagrant",
        "developer.hashicorp.com/vagrant, Cloud-Init: config.vm.cloud_init, inline",
        'Vagrant.configure("2") do |config|\n  config.vm.define "web" do |web|\n'
        f'    web.vm.cloud_init content_type: "text/cloud-config",\n      inline: <<~EOF\n{block(8)}      EOF\n  end\n'
        "end\n",
        [("web", [7])],
    ),
    (
        "vagrant",
        "the same page: the block form",
        f'Vagrant.configure("2") do |config|\n  config.vm.cloud_init do |c|\n    c.content_type = "text/cloud-config"\n'
        f"    c.inline = <<~EOF\n{block(6)}    EOF\n  end\nend\n",
        [("", [7])],
    ),
    (
        "vagrant",
        "the same page: the type of the text is that of content_type, and the text need not say it",
        f'Vagrant.configure("2") do |config|\n  config.vm.cloud_init do |c|\n    c.content_type = "text/cloud-config"\n'
        f"    c.inline = <<-EOF\n{block(6, TEXT.partition(chr(10))[2])}    EOF\n  end\nend\n",
        [("", [6])],
    ),
]


@pytest.mark.parametrize(("form", "source", "text", "expected"), SOURCES, ids=[one[1][:50] for one in SOURCES])
def test_a_text_that_stands_in_a_source_is_read_with_its_lines(
    form: str, source: str, text: str, expected: list[tuple[str, list[int | None]]], tmp_path: Path
) -> None:
    file = tmp_path / "source"
    file.write_text(text, encoding="utf-8")
    for found in (given_in(file), given_in(file, form=form)):
        assert [merge(one.user).config for one in found] == [CONFIG] * len(expected)
        lines = [
            [None if at.name.startswith("of ") else at.line for at in merge(one.user).origins("runcmd")]
            for one in found
        ]
        assert [(one.address, of) for one, of in zip(found, lines, strict=True)] == expected


EXPRESSIONS = [
    'module "vm" {\n  source = "./vm"\n  user_data = file("a.yaml")\n}\n',
    'resource "aws_instance" "a" {\n  user_data = templatefile("a.yaml", {})\n}\n',
    'resource "aws_instance" "a" {\n  user_data = data.cloudinit_config.c.rendered\n}\n',
    'resource "aws_instance" "a" {\n  user_data = "${local.a}\\$"\n}\n',
    'resource "aws_instance" "a" {\n  user_data = "${local.a}"\n}\n',
    'resource "aws_instance" "a" {\n  user_data = <<EOF\n${local.a}\nEOF\n}\n',
    'resource "aws_instance" "a" {\n  user_data = templatefile("a", { b = <<EOF\n#cloud-config\nEOF\n })\n}\n',
    'Vagrant.configure("2") do |config|\n  config.vm.cloud_init content_type: "x", path: "a.yaml"\nend\n',
    "cores: 1\ncicustom: user=local:snippets/u.yaml,vendor=local:snippets/v.yaml\n",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_a_text_that_a_source_only_names_is_unread(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "source"
    file.write_text(text, encoding="utf-8")
    assert main(["cloud-config", "check", str(file)]) == 5
    assert "was not looked at" in capsys.readouterr().out


@pytest.mark.parametrize("comment", ["# x = <<EOF\n", "// x = <<EOF\n", '/* user_data = "b"\n   x = <<EOF */\n'])
def test_a_comment_opens_no_heredoc(comment: str) -> None:
    (one,) = given_in(f'{comment}resource "x_server" "a" {{\n  user_data = "#cloud-config\\na: 1\\n"\n}}\n')
    assert (one.address, one.user[0].content) == ("x_server.a", "#cloud-config\na: 1\n")


def test_an_expression_that_is_not_read_does_not_show_its_texts() -> None:
    rows = 'user_data = base64encode("password: topaz-11")', 'user_data = join(\'topaz-12\', ["topaz-13\\"", "topaz-14'
    for row in rows:
        (one,) = given_in(f'resource "x_server" "a" {{\n  {row}\n}}\n')
        assert "is made by an expression" in one.unknown
        assert "topaz" not in one.unknown


@pytest.mark.parametrize("named", ["{a: b}", "[a]", "7"])
def test_a_heat_template_that_names_no_resource_is_unread(named: str) -> None:
    properties = f"properties: {{user_data: {{get_resource: {named}}}}}"
    (one,) = given_in(f"heat_template_version: 2021-04-16\nresources:\n  a: {{type: OS::Nova::Server, {properties}}}\n")
    assert one.unknown


@pytest.mark.parametrize(
    "text",
    [
        'resource "aws_instance" "a" {\n  user_data = null\n  user_data_replace_on_change = true\n}\n',
        'resource "aws_instance" "a" {\n  # user_data = "#cloud-config"\n  ami = "x"\n}\n',
        'resource "local_file" "a" {\n  content = <<EOF\nuser_data = "x"\nEOF\n}\n',
    ],
)
def test_what_gives_no_user_data_is_none(text: str) -> None:
    assert [one.user[0].content for one in given_in(text)] == [text]


def test_multipass_takes_a_file_without_its_first_line(tmp_path: Path) -> None:
    """multipass.run/docs, launch --cloud-init: Multipass writes the first line itself."""
    file = tmp_path / "m.yaml"
    file.write_text("packages: [vim]\nruncmd:\n- echo hi\n", encoding="utf-8")
    (one,) = given_in(file, form="multipass")
    merged = merge(one.user)
    assert (merged.config, merged.origins("runcmd")[0].line) == (CONFIG, 2)


@pytest.mark.parametrize("words", [[], ["--each"]])
def test_a_finding_in_a_packed_text_stands_at_the_line_of_the_machine(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TEXT.replace("packages", "packges")
    file = tmp_path / "g.json"
    document = {"kind": "compute#instance", "name": "g", "metadata": {"items": [{"key": "user-data", "value": text}]}}
    file.write_text(json.dumps(document, indent=1), encoding="utf-8")
    assert main(["cloud-config", "check", str(file), *words]) == 1
    assert f"{file}:8:5: warning: g: packges is no key of cloud-init (line 2 of part-001)" in capsys.readouterr().out


def test_the_state_of_terraform_is_read_as_it_lies_in_its_file(tmp_path: Path) -> None:
    """developer.hashicorp.com/terraform, State: version 4; each instance of a resource has its attributes."""
    rows = [
        {"mode": "managed", "type": "hcloud_server", "name": "web", "module": "module.m",
         "instances": [{"index_key": at, "attributes": {"user_data": TEXT}} for at in (0, "b")]},
        {"mode": "data", "type": "cloudinit_config", "name": "c",
         "instances": [{"attributes": {"rendered": PACKED}}]},
        {"mode": "managed", "type": "aws_instance", "name": "h",
         "instances": [{"attributes": {"user_data": "a" * 40}}]},
    ]  # fmt: skip
    file = tmp_path / "terraform.tfstate"
    file.write_text(json.dumps({"version": 4, "terraform_version": "1.9.0", "resources": rows}), encoding="utf-8")
    found = {one.address: one.unknown or merge(one.user).config for one in given_in(file)}
    assert found == {
        "module.m.hcloud_server.web[0]": CONFIG,
        'module.m.hcloud_server.web["b"]': CONFIG,
        "aws_instance.h": "only its hash is there",
        "data.cloudinit_config.c": CONFIG,
    }


@pytest.mark.parametrize(("at", "mark"), [(54, b"FAT16"), (82, b"FAT32")])
def test_an_image_of_a_disk_is_named_and_not_read(
    at: int, mark: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "seed.img"
    file.write_bytes(b"\0" * at + mark + b"\0" * 512 + TEXT.encode())
    assert main(["cloud-config", "check", str(file)]) == 5
    assert "is an image of a disk" in capsys.readouterr().out


def test_sixty_public_documents_are_named_with_their_judges() -> None:
    """`python -m tests.oracles.cloudinit_documents` reads them again."""
    table = rows()
    assert len(table) >= 60
    assert {row.form for row in table} <= set(FORM_NAMES)
    assert all(len(row.commit) == 40 and row.machines and row.judge for row in table)
