"""The kinds of errors and warnings of cloud-init: NA11xx.

Imports only `nodeattrs.codes`; `nodeattrs codes` prints them.
"""

from __future__ import annotations

from nodeattrs.codes import kind

FORMAT = kind(
    "NA1102",
    "format",
    cause="A merge string is malformed.",
    example="merge_how: append",
    way_out="Write list(append)+dict(recurse_list).",
)
UNKNOWN_MERGER = kind(
    "NA1103",
    "unknown-merger",
    cause="A merger of that name does not exist.",
    example="merge_how: set(append)",
    way_out="The mergers are dict, list and str, and those that were registered.",
)
DEFINITION = kind(
    "NA1104",
    "definition",
    cause="A structured definition is malformed, or a merger refuses its options.",
    example="merge_how: {name: list}",
    way_out="Write a list: [{name: list, settings: [append]}].",
)
TYPE = kind(
    "NA1105",
    "type",
    cause="Two values cannot be combined under these mergers; or conf_d is not text.",
    example="l: 5 after l: [1] under list(append)",
    way_out="Give both the same kind, or choose another merger.",
)
EMPTY = kind(
    "NA1106",
    "empty",
    cause="Broken YAML, several documents, nothing, or a root that is no mapping.",
    example="#cloud-config and then a list",
    way_out="Write one mapping below #cloud-config.",
)
PATCH_SYNTAX = kind(
    "NA1107",
    "patch-syntax",
    cause="The JSON patch is no JSON.",
    example="#cloud-config-jsonp and then [{op: add}]",
    way_out="Quote keys and texts.",
)
PATCH_CONFLICT = kind(
    "NA1108",
    "patch-conflict",
    cause="An operation of a patch does not apply, or its test is false.",
    example='{"op": "remove", "path": "/nosuch"}',
    way_out="Put the patch behind the part that sets the value.",
)
PATCH_INVALID = kind(
    "NA1109",
    "patch-invalid",
    cause="No well-formed patch, or a pointer into something that is not there.",
    example='{"op": "add", "value": 1}',
    way_out="Each operation needs op and path.",
)
DECOMPRESS = kind(
    "NA1110",
    "decompress",
    cause="A part says it is gzip and is not.",
    example="the first half of a .gz",
    way_out="Pack it again.",
)
ARCHIVE = kind(
    "NA1111",
    "archive",
    cause="An entry of an archive that cannot be made a part.",
    example="#cloud-config-archive and then [5]",
    way_out="Each entry is a text, or a mapping with content.",
)
ENCODING = kind(
    "NA1112",
    "encoding",
    cause="A message that is not UTF-8 text.",
    example="a header in Latin-1",
    way_out="Save it as UTF-8.",
)
TOO_LARGE = kind(
    "NA1113",
    "too-large",
    cause="Past a stated limit of size.",
    example="10 MB of zeros in a small .gz",
    way_out="Make it smaller; docs/cloudinit.md has the limits.",
)
TOO_DEEP = kind(
    "NA1114",
    "too-deep",
    cause="Past 500 levels, or inside itself.",
    example="&a [*a]",
    way_out="Make it flatter.",
)
EXTRA = kind(
    "NA1115",
    "extra",
    cause="A part that needs a library which is not installed.",
    example="#cloud-config-jsonp without jsonpatch",
    way_out="pip install 'nodeattrs[cloudinit]'",
)
INPUT = kind(
    "NA1131",
    "input",
    cause="A file or folder holds no user-data.",
    example="nodeattrs cloud-config merge plan.json",
    way_out=("Name user-data, a Terraform plan, a secret of Cluster API, or an instance folder."),
)
TEMPLATE = kind(
    "NA1132",
    "template",
    cause="A Jinja template cannot be rendered, or asks for something forbidden.",
    example="## template: jinja followed by {% if",
    way_out="Correct it; `cloud-init query` shows the instance data.",
)
INSTANCE_DATA = kind(
    "NA1133",
    "instance-data",
    cause="Instance data that is no JSON map.",
    example="nodeattrs cloud-config merge user-data --instance-data metadata.yaml",
    way_out=(
        "Give what cloud-init keeps in /run/cloud-init/instance-data-sensitive.json, or what `cloud-init query "
        "--all` prints."
    ),
)
VENDOR_SWITCH = kind(
    "NA1134",
    "vendor-switch",
    cause="A setting of vendor-data that makes cloud-init stop.",
    example="vendor_data: {enabled: true, disabled_handlers: 5}",
    way_out="Write a list of content types.",
)
VALUE = kind(
    "NA1135",
    "value",
    cause=("A scalar does not fit its tag, so cloud-init fails; or a part has no text."),
    example="a: !!bool maybe",
    way_out="Remove the tag, or quote the text.",
)
UNDEFINED_VARIABLE = kind(
    "NA1136",
    "undefined-variable",
    cause=("A template's variable is not in the instance data; the result is CI_MISSING_JINJA_VAR/NAME."),
    example="hostname: {{ nope }}",
    way_out='Look at `cloud-init query --all`, or write {{ nope | default("x") }}.',
)
NO_DICT_MERGER = kind(
    "NA1151",
    "no-dict-merger",
    cause="A definition without a dict merger drops the whole part.",
    example="merge_how: list(append)",
    way_out="Add dict(recurse_list).",
)
DEFINITION_TOO_EARLY = kind(
    "NA1152",
    "definition-too-early",
    cause="An earlier part's definition does not rule this one.",
    example="merge_how in the first of two parts only",
    way_out="Repeat it in each part that wants it.",
)
DEFAULT_REPLACES = kind(
    "NA1153",
    "default-replaces",
    cause="The default replaces a list or mapping of an earlier part.",
    example="packages: [vim] in two parts",
    way_out=("Write merge_how: dict(recurse_list)+list(append) into the later part; dict(replace) if it is meant."),
)
POSITION_LOSES = kind(
    "NA1154",
    "position-loses",
    cause="A list merged by position loses items.",
    example="l: [7, 8] after l: [1] under list()",
    way_out="Write list(append).",
)
SPREAD = kind(
    "NA1155",
    "spread",
    cause="A text or mapping is spread into a list.",
    example="l: bc after l: [a] under list(append)",
    way_out="Write a list with one item.",
)
UNKNOWN_OPTION = kind(
    "NA1156",
    "unknown-option",
    cause="An option that has no effect.",
    example="merge_how: dict(unique)",
    way_out="Take it out.",
)
REPEATED_MERGER = kind(
    "NA1157",
    "repeated-merger",
    cause="A second merger for one type is not used.",
    example="merge_how: dict()+dict(replace)",
    way_out="Name each merger once.",
)
BOTH_KEYS = kind(
    "NA1158",
    "both-keys",
    cause="merge_how and merge_type in one part: merge_type stays as data.",
    example="merge_how: dict() beside merge_type: dict()",
    way_out="Write one of the two.",
)
HEADER_CASE = kind(
    "NA1159",
    "header-case",
    cause="A merge header in the wrong case is not seen.",
    example="merge-type: list(append)",
    way_out="Write Merge-Type.",
)
HEADER_ON_GZIP = kind(
    "NA1160",
    "header-on-gzip",
    cause="A part that was packed on its own loses its merge header.",
    example="Merge-Type on a gzip part",
    way_out="Write merge_how into the body.",
)
CONFD_APPEND_ORDER = kind(
    "NA1161",
    "confd-append-order",
    cause="append in conf.d files gives the reverse order of the files.",
    example="list(append) in 10-a.cfg and 20-b.cfg",
    way_out="Write list(prepend) in each file.",
)
SETTINGS_TEXT = kind(
    "NA1162",
    "settings-text",
    cause="Settings given as text are searched for option names.",
    example="settings: no_replace",
    way_out="Write settings: [no_replace].",
)
DUPLICATES = kind(
    "NA1163",
    "duplicates",
    cause="Items are in the list twice after append or prepend.",
    example="packages: [vim] appended to packages: [vim]",
    way_out="Remove one of each.",
)
INCLUDE_NOT_FOLLOWED = kind(
    "NA1164",
    "include-not-followed",
    cause="An include is listed, and not followed: nothing is fetched.",
    example="#include https://example.com/base.yaml",
    way_out="Put a copy into a folder and name it with --include-root.",
)
UNKNOWN_TYPE = kind(
    "NA1165",
    "unknown-type",
    cause="A part of a type that is not handled.",
    example="a file that begins with neither #cloud-config nor #!",
    way_out="Begin it with #cloud-config, or give it a content type.",
)
REPEATED_KEY = kind(
    "NA1166",
    "repeated-key",
    cause="One mapping has a key twice: the last one counts.",
    example="runcmd: [a] and then runcmd: [b] in one file",
    way_out="Remove one, or join both lists.",
)
USERS_WITHOUT_DEFAULT = kind(
    "NA1167",
    "users-without-default",
    cause="users lacks default: the image's own user is not created.",
    example="users: [{name: web}]",
    way_out="Write - default as the first item, if that user is wanted.",
)
LIST_HIDDEN = kind(
    "NA1168",
    "list-hidden",
    cause="A weaker layer's list is not used: user-data or vendor-data has one.",
    example="packages: [vim] in vendor-data, and packages: [git] in user-data",
    way_out="Write all items into the stronger one.",
)
COMMANDS_NO_LIST = kind(
    "NA1169",
    "commands-no-list",
    cause="runcmd or bootcmd is not a list: nothing of it is run.",
    example="runcmd: echo hello",
    way_out="Write each command as an item.",
)
COMMAND_NO_TEXT = kind(
    "NA1170",
    "command-no-text",
    cause="A command is neither a text nor a list: no command of the list is run.",
    example="- echo a: b",
    way_out="Quote the whole line, or write a block.",
)
PERMISSIONS_NUMBER = kind(
    "NA1171",
    "permissions-number",
    cause="Permissions are a number; without a leading zero it is not read as octal.",
    example="permissions: 644",
    way_out="Write '0644', in quotes.",
)
MISSPELT_KEY = kind(
    "NA1172",
    "misspelt-key",
    cause="A key that cloud-init does not know, and that looks like one it knows.",
    example="package: [vim]",
    way_out="Write the key that the hint names.",
)
BYTE_ORDER_MARK = kind(
    "NA1173",
    "byte-order-mark",
    cause="A byte order mark is before the first line, so cloud-init does not recognize the line.",
    example="a file that an editor on Windows saved",
    way_out="Save it as UTF-8 without a byte order mark.",
)
FIRST_LINE = kind(
    "NA1174",
    "first-line",
    cause="The first line is misspelt, or is further down: the part is ignored.",
    example="# cloud-config",
    way_out="Write #cloud-config, without a blank, as the first line.",
)
BLANK_LINES_FIRST = kind(
    "NA1175",
    "blank-lines-first",
    cause="Blank lines before the first line: a script is not started then, and some readers refuse a config.",
    example="an empty line, and then #!/bin/sh",
    way_out="Begin with the line itself.",
)
OVER_SIZE = kind(
    "NA1176",
    "over-size",
    cause="More than a cloud takes as user-data.",
    example="20,000 bytes on AWS, which takes 16,384",
    way_out="Pack it with gzip, or fetch what is large; --cloud names the cloud.",
)
UNEXPANDED = kind(
    "NA1177",
    "unexpanded",
    cause="A template that has not been filled in.",
    example="hostname: ${name}",
    way_out="Check what the template is filled in to.",
)
CRLF_SCRIPT = kind(
    "NA1178",
    "crlf-script",
    cause="A carriage return at the end of a line breaks a script.",
    example="#!/bin/sh and a line feed, then lines that end with both",
    way_out="Save it with line feeds alone.",
)
SCHEMA = kind(
    "NA1179",
    "schema",
    cause="The JSON schema of cloud-init does not allow it.",
    example='ntp: {enabled: "yes"} with --schema',
    way_out="Write what the message says; the schema is the file that --schema names.",
)
SCHEMA_DEPRECATED = kind(
    "NA1180",
    "schema-deprecated",
    cause="The JSON schema of cloud-init calls it deprecated; a note.",
    example="apt_update: true with --schema",
    way_out="Write what the hint says.",
)
COMMAND_WORDS = kind(
    "NA1181",
    "command-words",
    cause="Words of one command are items of runcmd or bootcmd: each runs as a command.",
    example="runcmd: [systemctl, enable, nginx]",
    way_out="Write a list in the list: - [systemctl, enable, nginx].",
)
NOT_IN_USER_DATA = kind(
    "NA1183",
    "not-in-user-data",
    cause="cloud-init reads this key before user-data: it has no effect there.",
    example="network: {version: 2} below #cloud-config",
    way_out="Use the data source's network-config, or a file in /etc/cloud/cloud.cfg.d.",
)
OWNER_TOO_EARLY = kind(
    "NA1182",
    "owner-too-early",
    cause="A file belongs to a user that cloud-init makes after it writes files.",
    example="write_files: [{path: /a, owner: app}] beside users: [default, {name: app}]",
    way_out="Write defer: true into the entry.",
)
PASSWD_NO_HASH = kind(
    "NA1184",
    "passwd-no-hash",
    cause="passwd is a plain password, and cloud-init takes a hash: no login accepts it.",
    example="users: [{name: web, passwd: hunter2}]",
    way_out="Write a hash (`mkpasswd --method=sha-512`), or use plain_text_passwd.",
)
