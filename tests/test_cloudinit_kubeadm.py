"""The cloud-config that Cluster API makes of a KubeadmConfig: what is in the spec is read, and what is added is named.

The judge is the code of the bootstrap provider: its templates of commit ae7ff047d, run by Go, gave `RECORDED` for
`DOCUMENT`. Left out of it are two files for kubeadm, and its command is replaced.
https://github.com/kubernetes-sigs/cluster-api/tree/ae7ff047db499ac3858ade268ba38db8c9f128bb/bootstrap/kubeadm/pkg/cloudinit
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from nodeattrs.cli import main
from nodeattrs.cloudinit import InstanceData, given_in, merge

DOCUMENT = """\
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {name: md-0, namespace: lab}
spec:
  template:
    spec:
      joinConfiguration:
        nodeRegistration: {criSocket: /run/containerd/containerd.sock}
      bootCommands:
      - echo "boot" > /run/boot
      files:
      - path: /etc/motd
        owner: root:root
        permissions: "0644"
        content: |
          Welcome.

          Two words
      - path: /etc/packed
        encoding: gzip+base64
        append: false
        content: H4sIAAAAAAAAA8tIBQBHw8lfAgAAAA==
      preKubeadmCommands:
      - hostnamectl set-hostname "$(hostname -f)"
      - |
        printf 'a\\tb\\n'
      postKubeadmCommands: ["echo ä done"]
      ntp:
        servers: [0.pool.example.org]
        enabled: true
      users:
      - name: capv
        gecos: Cluster API
        groups: sudo, docker
        homeDir: /srv/capv
        inactive: false
        lockPassword: true
        shell: /bin/bash
        primaryGroup: capv
        sudo: ALL=(ALL) NOPASSWD:ALL
        sshAuthorizedKeys:
        - ssh-ed25519 AAAA one
      diskSetup:
        partitions:
        - device: /dev/sdb
          tableType: gpt
          overwrite: false
          diskLayout:
          - {percentage: 30, partitionType: LVM}
          - {percentage: 70}
        - device: /dev/sdc
          layout: true
        filesystems:
        - device: /dev/sdb1
          filesystem: ext4
          label: etcd
          partition: auto
          overwrite: true
          replaceFS: ext3
          extraOpts: ["-E", "lazy_itable_init=1"]
      mounts:
      - [LABEL=etcd, /var/lib/etcd]
      - [LABEL=logs, /var/log, ext4, defaults]
"""

RECORDED = """\
## template: jinja
#cloud-config

write_files:
-   path: /etc/motd
    owner: root:root
    permissions: '0644'
    content: |
      Welcome.

      Two words

-   path: /etc/packed
    encoding: "gzip+base64"
    append: false
    content: |
      H4sIAAAAAAAAA8tIBQBHw8lfAgAAAA==
bootcmd:
  - "echo \\"boot\\" > /run/boot"
runcmd:
  - "hostnamectl set-hostname \\"$(hostname -f)\\""
  - "printf 'a\\\\tb\\\\n'\\n"
  - '# kubeadm init or join, which Cluster API writes here'
  - "echo ä done"
ntp:
  enabled: true
  servers:
    - 0.pool.example.org
users:
  - name: capv
    gecos: Cluster API
    groups: sudo, docker
    homedir: /srv/capv
    inactive: false
    lock_passwd: true
    shell: /bin/bash
    primary_group: capv
    sudo: ALL=(ALL) NOPASSWD:ALL
    ssh_authorized_keys:
      - ssh-ed25519 AAAA one
disk_setup:
  /dev/sdb:
    table_type: gpt
    layout:
      - [30, 8e]
      - 70
    overwrite: false
  /dev/sdc:
    layout: true
fs_setup:
  - label: etcd
    filesystem: ext4
    device: /dev/sdb1
    partition: auto
    overwrite: true
    replace_fs: ext3
    extra_opts:
      - -E
      - lazy_itable_init=1
mounts:
  - - LABEL=etcd
    - /var/lib/etcd

  - - LABEL=logs
    - /var/log
    - ext4
    - defaults
"""

COMMAND = "# kubeadm init or join, which Cluster API writes here"
NODE = """\
kind: KubeadmConfig
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
metadata: {name: node}
spec:
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "node.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def lines_of(folder: Path, text: str, *paths: str) -> list[int | None]:
    """The lines of the file for paths of the merged config."""
    (given,) = given_in(written(folder, text))
    merged = merge(given.user)
    return [merged.origins(path)[0].line for path in paths]


def test_the_spec_gives_what_the_templates_of_cluster_api_gave(tmp_path: Path) -> None:
    (given,) = given_in(written(tmp_path, DOCUMENT))
    assert given.address == "lab/md-0"
    assert merge(given.user).config == yaml.safe_load(RECORDED)


def test_values_have_their_lines_in_the_document(tmp_path: Path) -> None:
    rows = DOCUMENT.splitlines()
    at = {
        "write_files.1.encoding": "encoding:", "bootcmd.0": "- echo", "runcmd.0": "- hostnamectl",
        "runcmd.3": "postKubeadmCommands:", "users.0.homedir": "homeDir:", "users.0.lock_passwd": "lockPassword:",
        "ntp.servers.0": "servers:", "fs_setup.0.replace_fs": "replaceFS:", "mounts.1": "- [LABEL=logs",
    }  # fmt: skip
    expected = [next(n for n, row in enumerate(rows, 1) if row.strip().startswith(start)) for start in at.values()]
    assert lines_of(tmp_path, DOCUMENT, *at) == expected


def test_a_template_error_inside_a_file_has_the_line_of_the_block(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = "  files:\n  - path: /a\n    content: |\n      one\n      {{ ds. }}\n      three\n"
    file = written(tmp_path, f"{NODE}{files}")
    assert main(["cloud-config", "check", str(file)]) == 1
    assert f"{file}:9:" in capsys.readouterr().out


CONTROL_PLANE = """\
kind: KubeadmControlPlane
metadata: {name: cp}
spec:
  kubeadmConfigSpec:
    preKubeadmCommands: [first]
"""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"{NODE}  preKubeadmCommands: [first]\n", "node"),
        (CONTROL_PLANE, "cp"),
        ("kind: KubeadmControlPlaneTemplate\nmetadata: {name: t}\nspec: {template: {spec: {kubeadmConfigSpec: "
         "{preKubeadmCommands: [first]}}}}\n", "t"),
        (json.dumps({"kind": "KubeadmConfigTemplate", "metadata": {"name": "j"},
                     "spec": {"template": {"spec": {"preKubeadmCommands": ["first"]}}}}), "j"),
    ],
)  # fmt: skip
def test_each_kind_of_object_has_its_spec_read(text: str, name: str, tmp_path: Path) -> None:
    (given,) = given_in(written(tmp_path, text))
    assert (given.address, merge(given.user).config) == (name, {"runcmd": ["first", COMMAND]})


@pytest.mark.parametrize(
    "spec",
    [
        "preKubeadmCommands: first", "preKubeadmCommands: {a: b}", "preKubeadmCommands: [[a]]", "ntp: x", "users: x",
        "mounts: [{a: b}]", "users: [{name: u, sshAuthorizedKeys: k}]", "files: [{path: /a, content: {a: b}}]",
        "files: [{path: /a, content: !x b}]", "diskSetup: {filesystems: x}", "- a",
    ],
)  # fmt: skip
def test_a_spec_with_a_value_of_another_type_is_not_certain(
    spec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cloud-config", "merge", str(written(tmp_path, f"{NODE}  {spec}\n"))]) == 5
    done = capsys.readouterr()
    assert ("is no spec of Cluster API, and may set anything" in done.err, "{}" in done.out) == (True, True)


SPEC = """\
  files:
  - path: /etc/key
    contentFrom: {secret: {name: s, key: k}}
  - path: /etc/version
    contentFormat: Template
    content: '{{ .controlPlane.version }}'
  preKubeadmCommands: [one]
  users:
  - name: web
    passwdFrom: {secret: {name: s, key: k}}
"""


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("runcmd.0", 0), ("runcmd.1", 5), ("runcmd", 5), ("users.0.name", 0), ("users.0", 5),
        ("write_files.0.path", 5),  # certificates of a control plane come before it
    ],
)  # fmt: skip
def test_explain_is_certain_where_cluster_api_adds_nothing(path: str, code: int, tmp_path: Path) -> None:
    assert main(["cloud-config", "explain", str(written(tmp_path, f"{NODE}{SPEC}")), "--path", path]) == code


MARKED = """\
  bootCommands: ["echo {{ ds.meta_data.a }}"]
  preKubeadmCommands: [one]
"""


@pytest.mark.parametrize(
    ("text", "path", "code"),
    [
        (MARKED, "runcmd.0", 0), (MARKED, "bootcmd", 5),
        (f"{MARKED}  postKubeadmCommands: ['{{% if ds %}}']\n", "runcmd.0", 5),  # a block may be around other keys
    ],
)  # fmt: skip
def test_a_key_with_markup_leaves_the_other_keys_certain(text: str, path: str, code: int, tmp_path: Path) -> None:
    assert main(["cloud-config", "explain", str(written(tmp_path, f"{NODE}{text}")), "--path", path]) == code


def test_a_template_that_is_not_rendered_is_named_at_the_spec(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, f"{NODE}{MARKED}")
    assert main(["cloud-config", "merge", str(file)]) == 5
    assert f"{file}:4 " in capsys.readouterr().err


def test_instance_data_fill_in_a_key_with_markup(tmp_path: Path) -> None:
    (given,) = given_in(written(tmp_path, f"{NODE}{MARKED}"))
    merged = merge(given.user, instance_data=InstanceData({"ds": {"meta_data": {"a": "x"}}}))
    assert merged.config == {"bootcmd": ["echo x"], "runcmd": ["one", COMMAND]}
    assert [merged.origins("bootcmd.0")[0].line, merged.origins("runcmd.0")[0].line] == [5, 6]


def test_check_names_texts_of_secrets_and_templates_at_their_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, f"{NODE}{SPEC}")
    assert main(["cloud-config", "check", str(file)]) == 5
    out = capsys.readouterr().out
    for line, reason in ((6, "is in a secret"), (8, "is a template of Go"), (13, "is in a secret")):
        assert any(row.startswith(f"{file}:{line}:") and reason in row for row in out.splitlines())


def test_check_of_a_whole_spec_ends_with_0_and_says_what_is_added(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, CONTROL_PLANE)
    assert main(["cloud-config", "check", str(file)]) == 0
    assert f"{file}:4: what Cluster API adds is not in the file" in capsys.readouterr().err
    assert main(["cloud-config", "check", "--strict", str(file)]) == 1
    assert main(["cloud-config", "merge", str(file)]) == 5


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{NODE}  format: ignition\n  preKubeadmCommands: [a]\n", "for Ignition"),
        (f"{NODE}  files: [text]\n", "no spec of Cluster API"),
        (f"{NODE}  users: {{name: a}}\n", "no spec of Cluster API"),
        ("kind: KubeadmConfig\nspec: text\n", "no spec of Cluster API"),
    ],
)
def test_what_is_no_spec_of_cloud_init_is_named(
    text: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cloud-config", "check", str(written(tmp_path, text))]) == 5
    assert why in capsys.readouterr().out
