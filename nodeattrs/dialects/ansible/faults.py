"""The error of the dialect, `AnsibleError`, and its kinds, NA13xx, which `nodeattrs codes` prints.

It is raised for what Ansible refuses, and collected for what Ansible warns of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodeattrs.codes import Kind, declared, kind
from nodeattrs.core.tree import Path
from nodeattrs.errors import DocumentError
from nodeattrs.formats.documents import Document

Warn = Callable[[Kind, str, str | None, int | None], None]
"""A function that notes a warning: its kind, the sentence, and its file and line or None."""

YAML = kind(
    "NA1302",
    "yaml",
    cause="A file that does not parse, or that holds two documents.",
    example="group_vars/web.yml with a tab before a key",
    way_out="Correct the line that the message names.",
)
WRONG_SHAPE = kind(
    "NA1303",
    "wrong-shape",
    cause="A list or a text where a map was needed, or the other way round.",
    example="vars: nope",
    way_out="Write name: value.",
)
EXTRA_VARS = kind(
    "NA1304",
    "extra-vars",
    cause="What -e gives is not a map of variables, or has a quote that stays open.",
    example="nodeattrs ansible vars web1 -e '[1, 2]'",
    way_out="Write name=value, {name: value} or @FILE.",
)
NO_FILE = kind(
    "NA1305",
    "no-file",
    cause="A file that is named and is not there.",
    example="nodeattrs ansible vars web1 -e @none.yml",
    way_out="Correct the name.",
)
NO_ROLE = kind(
    "NA1306",
    "no-role",
    cause="A role is in none of the folders of roles.",
    example="roles: [ngnix]",
    way_out="Correct the name, or add its folder to roles_path.",
)
CYCLE = kind(
    "NA1307",
    "cycle",
    cause="A role that depends on itself, by way of others or not.",
    example="dependencies: [web], in the role web",
    way_out="Take one of the dependencies away.",
)
UNKNOWN_KEY = kind(
    "NA1308",
    "unknown-key",
    cause="A key that a play does not have.",
    example="- hosts: all, and below it http_port: 80",
    way_out="Variables belong under vars.",
)
MISSING_KEY = kind(
    "NA1309",
    "missing-key",
    cause="A play without hosts.",
    example="- tasks: []",
    way_out="Add hosts: all.",
)
VARIABLE_NAME = kind(
    "NA1310",
    "variable-name",
    cause="A name that no variable can have: letters, digits and _ are allowed, and no digit first.",
    example="vars: {http-port: 80}",
    way_out="Use _ instead of the sign.",
)
UNDEFINED = kind(
    "NA1311",
    "undefined",
    cause="A name that must be known before any host is asked is not set.",
    example="roles: ['{{ which }}'], where only group_vars has which",
    way_out="Give it with -e or in the vars of the play.",
)
UNPARSED = kind(
    "NA1312",
    "unparsed",
    cause="An inventory source cannot be read; ansible.cfg decides between warning and error.",
    example="[web without its bracket",
    way_out="Correct the line that the message names.",
)
NOTHING_PARSED = kind(
    "NA1313",
    "nothing-parsed",
    cause="No source of the inventory could be read.",
    example="nodeattrs ansible list -i nosuch",
    way_out="Name a file, a folder or a list of hosts such as web1,web2,",
)
NO_GROUP = kind(
    "NA1314",
    "no-group",
    cause="No such group.",
    example="nodeattrs ansible graph wbe",
    way_out="The hint has near misses.",
)
NO_HOST = kind(
    "NA1315",
    "no-host",
    cause="No such host, or no task of that name for it.",
    example="nodeattrs ansible vars wbe1",
    way_out="The hint has near misses; `nodeattrs ansible graph` prints all.",
)
INVENTORY = kind(
    "NA1316",
    "inventory",
    cause="A line or an entry of an inventory has no meaning.",
    example="web1 http_port = 80",
    way_out="Write name=value without blanks on the line of a host.",
)
SETTING = kind(
    "NA1317",
    "setting",
    cause="A value of ansible.cfg, or of its environment variable, that cannot be read.",
    example="private_role_vars = perhaps",
    way_out="docs/ansible.md lists the keys that are read.",
)
DUPLICATE_KEY = kind(
    "NA1318",
    "duplicate-key",
    cause="A key that a map has twice; the last one counts.",
    example="port: 80 and, further down, port: 8080",
    way_out="Remove one of the two.",
)
GROUP_NAME = kind(
    "NA1319",
    "group-name",
    cause="A group whose name has other signs than letters, digits and _.",
    example="[web-servers]",
    way_out="Ansible keeps it, and warns; use _.",
)
GROUP_IS_HOST = kind(
    "NA1320",
    "group-is-host",
    cause="A host and a group of one name.",
    example="[web] with a host web",
    way_out="Rename one of the two.",
)
RESERVED_NAME = kind(
    "NA1321",
    "reserved-name",
    cause="A variable whose name is a word of plays and tasks.",
    example="tags: blue, in group_vars",
    way_out="Rename it.",
)
SKIPPED = kind(
    "NA1322",
    "skipped",
    cause="A group of a YAML inventory has a key that Ansible does not know.",
    example="web: {host: {web1: }}",
    way_out="A group has hosts, vars and children.",
)
VARS_FILE_SKIPPED = kind(
    "NA1323",
    "vars-file-skipped",
    cause="A name under vars_files with a template that cannot be filled in.",
    example="vars_files: ['os-{{ family }}.yml']",
    way_out="Give the facts with --facts, or the variable with -e.",
)
NO_MATCH = kind(
    "NA1324",
    "no-match",
    cause="A pattern of hosts that no host matches.",
    example="hosts: wbe",
    way_out="Correct the pattern.",
)
NOT_PROMPTED = kind(
    "NA1325",
    "not-prompted",
    cause="Ansible prompts for this variable when it runs; here it is not set.",
    example="vars_prompt: [{name: version}]",
    way_out="Give it with -e.",
)
PRECEDENCE_ENTRY = kind(
    "NA1326",
    "precedence-entry",
    cause="A word in the option precedence that is none of the six.",
    example="precedence = all_inventory, groups",
    way_out="Ansible passes over it; docs/ansible.md lists the words.",
)
MISSING = kind(
    "NA1327",
    "missing",
    cause="A file that vars_files names and that is not there; Ansible passes over it.",
    example="vars_files: [secrets.yml]",
    way_out="Correct the name, or remove it.",
)
BROKEN = kind(
    "NA1328",
    "broken",
    cause="A file of variables cannot be read; by request only its variables are missing.",
    example="nodeattrs ansible explain web1 port --lenient",
    way_out="Correct the line that the message names.",
)
NOT_EVALUATED = kind(
    "NA1330",
    "not-evaluated",
    cause="--render leaves a template as it is; the message says why.",
    example="url: \"{{ lookup('env', 'HOME') }}\"",
    way_out="Pass the variable with -e where only Ansible knows it.",
)
VAULT = kind(
    "NA1331",
    "vault",
    cause="A vault that none of the passwords opens.",
    example="nodeattrs ansible vars web1 --vault-password-file old.txt",
    way_out="Name its password; ID@FILE says for which vault ids it is.",
)
UNUSED_VARIABLE = kind(
    "NA1332",
    "unused-variable",
    cause="A variable that no template, condition, task or program of the repository mentions.",
    example="http_prot: 80 in group_vars/web.yml",
    way_out="Remove it, or correct the name.",
)
MISSPELT_VARIABLE = kind(
    "NA1333",
    "misspelt-variable",
    cause="A variable that nothing mentions, beside one that is mentioned and that nothing sets.",
    example="htpp_port: 80, and {{ http_port }} in a template",
    way_out="Correct one of the two.",
)
UNDEFINED_VARIABLE = kind(
    "NA1334",
    "undefined-variable",
    cause="A template uses a variable that is not set, and has no default for it.",
    example='listen: "{{ http_port }}"',
    way_out="Set it, or write {{ http_port | default(80) }}.",
)
SHADOWED_VARIABLE = kind(
    "NA1335",
    "shadowed-variable",
    cause="An inventory variable wins on no host.",
    example="http_port under [web:vars], and in group_vars/all.yml",
    way_out="Remove it, or move it; `nodeattrs ansible explain` says why.",
)
GROUP_SEARCH = kind(
    "NA1336",
    "group-search",
    cause="A search under [ansible.groups] that cannot be understood, or a name that another group gets, too.",
    example='web = "role:("',
    way_out="Correct the search; docs/search.md has the language.",
)
INI_COMMENT = kind(
    "NA1337",
    "ini-comment",
    cause="A # in an INI inventory: it ends a host's value, but is text under [web:vars].",
    example="web1 password=ab#cd, and comment=abc # tail under [web:vars]",
    way_out="Quote the value, and put comments on their own lines.",
)
NO_EFFECT = kind(
    "NA1338",
    "no-effect",
    cause="ansible_group_priority in a file of variables: it counts in an inventory only.",
    example="ansible_group_priority: 10, in group_vars/web.yml",
    way_out="Put it under vars of the group in the inventory.",
)
PASSED_OVER = kind(
    "NA1339",
    "passed-over",
    cause="Two files of variables share a name; Ansible reads the other.",
    example="group_vars/db.yaml beside group_vars/db.yml",
    way_out="Join them, or make a folder group_vars/db/ of them.",
)
CONDITION = kind(
    "NA1340",
    "condition",
    cause="A condition that is a template: it is an expression already.",
    example='when: "{{ is_big }}"',
    way_out="Write when: is_big.",
)
NOT_JUDGED = kind(
    "NA1341",
    "not-judged",
    cause="A place that keeps a rule of check from judging some names.",
    example="{{ vars[name] }} in a template: each variable may be the one that it reads",
    way_out="You need not do anything; the message names the variables.",
)

WARNINGS = (
    UNPARSED,
    NOTHING_PARSED,
    DUPLICATE_KEY,
    GROUP_NAME,
    GROUP_IS_HOST,
    RESERVED_NAME,
    SKIPPED,
    VARS_FILE_SKIPPED,
    NO_MATCH,
    NOT_PROMPTED,
    PRECEDENCE_ENTRY,
    MISSING,
    BROKEN,
    NOT_EVALUATED,
    VAULT,
    UNUSED_VARIABLE,
    MISSPELT_VARIABLE,
    UNDEFINED_VARIABLE,
    SHADOWED_VARIABLE,
    GROUP_SEARCH,
    INI_COMMENT,
    NO_EFFECT,
    PASSED_OVER,
    CONDITION,
    NOT_JUDGED,
)
"""The kinds of errors that are listed as warnings and not raised."""


class AnsibleError(DocumentError):
    """An error in files or options of Ansible, with file and line. It is also used for warnings.

    An error of a kind in `WARNINGS` is a warning: it is put into lists of warnings and not raised.

    kind:    one of the constants of this module, which has the code that is printed
    message: what is wrong, without the file and line
    facts:   keyword arguments of `DocumentError`, such as *file* and *line*
    """

    entry = declared(
        "NA1301",
        "AnsibleError",
        cause="A file or option of Ansible is wrong; no other code describes the reason.",
        example="nodeattrs ansible list",
        way_out="The message says what.",
    )

    kind: Kind

    def __init__(self, kind: Kind, message: str, **facts: Any) -> None:
        super().__init__(message, kind=kind, **facts)


def error_at(document: Document, path: Path, kind: Kind, message: str, hint: str | None = None) -> AnsibleError:
    """The error for the value at a path of a document, with its file and line; the caller raises it."""
    return AnsibleError(kind, message, file=document.file, line=document.place(path)[0], hint=hint)


def new_warning(kind: Kind, message: str, file: str | None, line: int | None) -> AnsibleError:
    """The warning of a kind with its place, to be listed by the caller. Nothing is raised or printed."""
    return AnsibleError(kind, message, file=file, line=line)
