"""The kinds of errors and warnings of Hiera: NA10xx.

Imports only `nodeattrs.codes`; `nodeattrs codes` prints them.
"""

from __future__ import annotations

from nodeattrs.codes import kind

NOT_FOUND = kind(
    "NA1002",
    "KeyNotFound",
    "not_found",
    cause="The key is not set, and there is no default (exit code 3).",
    example="nodeattrs hiera lookup ntp::sevrers",
    way_out="`nodeattrs hiera who-has KEY` and `explain KEY` show where it was looked for.",
)
BAD_ARGUMENTS = kind(
    "NA1003",
    "BadLookup",
    "bad_arguments",
    cause="A call has an argument that is not allowed: merge names no strategy, or has the wrong type.",
    example='scope.lookup("a", merge=7)',
    way_out='Write merge="deep", or merge={"strategy": "deep", ...}.',
)
DATA_PARSE_ERROR = kind(
    "NA1004",
    "BadData",
    "data_parse_error",
    cause="A data file that its format does not allow.",
    example="users: [anna",
    way_out="Correct the place that is named.",
)
NOT_A_HASH = kind(
    "NA1005",
    "CannotMerge",
    "not_a_hash",
    cause="A hash merge met something that is not a map.",
    example="--merge hash where a level has a list",
    way_out="Use unique or deep for lists, or correct the level.",
)
DIG_TYPE_MISMATCH = kind(
    "NA1006",
    "CannotDig",
    "dig_type_mismatch",
    cause="A step of a dotted key into a text, a number, or past a list.",
    example="nodeattrs hiera lookup users.anna.uid.x",
    way_out="Use a number from 0 for a list, a key for a map.",
)
HASH_IN_UNIQUE = kind(
    "NA1007",
    "hash_in_unique",
    cause="A unique merge met a map.",
    example="--merge unique where a level has a map",
    way_out="Use hash or deep.",
)
UNDEF_IN_UNIQUE = kind(
    "NA1008",
    "undef_in_unique",
    cause="A unique merge met null.",
    example="servers: ~",
    way_out="Remove the key.",
)
CANNOT_SORT = kind(
    "NA1009",
    "cannot_sort",
    cause="sort_merged_arrays met elements that have no order.",
    example='[1, "a"]',
    way_out="Make them of one kind, or leave the option out.",
)
EMPTY_KNOCKOUT_PREFIX = kind(
    "NA1010",
    "empty_knockout_prefix",
    cause="The knock-out prefix is empty.",
    example="--knock-out-prefix=",
    way_out="Write '--', or leave it out.",
)
BAD_PATTERN = kind(
    "NA1011",
    "bad_pattern",
    cause="A regular expression that cannot be used.",
    example="Pattern[/(/]",
    way_out="Correct it: a special character needs a backslash.",
)
UNKNOWN_STRATEGY = kind(
    "NA1012",
    "unknown_strategy",
    cause="An unknown merge strategy.",
    example="--merge depe",
    way_out="Use first, unique, hash or deep.",
)
MISSING_STRATEGY = kind(
    "NA1013",
    "missing_strategy",
    cause="merge is a map without a strategy.",
    example='merge: {knockout_prefix: "--"}',
    way_out="Add strategy: deep.",
)
BAD_OPTION = kind(
    "NA1014",
    "bad_option",
    cause="The strategy does not know the option, or the option the value.",
    example='merge: {strategy: hash, knockout_prefix: "--"}',
    way_out="The hint lists those that it knows.",
)
KEY_SYNTAX = kind(
    "NA1015",
    "key_syntax",
    cause="A key that cannot be split into steps.",
    example="nodeattrs hiera lookup a..b",
    way_out="One dot between steps; quote a step with a dot in it: a.'b.c'.0.",
)
VALUE_TYPE_MISMATCH = kind(
    "NA1016",
    "value_type_mismatch",
    cause="The value is not of the requested type (exit code 4).",
    example="nodeattrs hiera lookup port --type String",
    way_out="Correct the data or the type, or convert it: convert_to in lookup_options.",
)
RECURSIVE_LOOKUP = kind(
    "NA1017",
    "recursive_lookup",
    cause="A key that needs itself.",
    example="a: \"%{lookup('b')}\" and b: \"%{lookup('a')}\"",
    way_out="Break the circle in one of them.",
)
ALIAS_NOT_ENTIRE_STRING = kind(
    "NA1018",
    "alias_not_entire_string",
    cause="alias(..) is inside of a text.",
    example="a: \"x %{alias('b')}\"",
    way_out="Write the expression alone, or use lookup(..).",
)
UNKNOWN_INTERPOLATION_METHOD = kind(
    "NA1019",
    "unknown_interpolation_method",
    cause="An interpolation calls a function that does not exist.",
    example="a: \"%{lokup('b')}\"",
    way_out="Use lookup, hiera, alias, literal or scope.",
)
METHOD_NOT_ALLOWED_HERE = kind(
    "NA1020",
    "method_not_allowed_here",
    cause="A lookup inside of hiera.yaml.",
    example="path: \"%{lookup('role')}.yaml\"",
    way_out="Use variables only, such as %{facts.os.family}.",
)
PATH_OUTSIDE = kind(
    "NA1021",
    "path_outside",
    cause="An interpolated location leads out of its folder.",
    example='path: "%{facts.team}.yaml" with the fact ../../etc',
    way_out="A fact that names a file must not have `..` or begin with a slash.",
)
BAD_GLOB = kind(
    "NA1022",
    "bad_glob",
    cause="A glob with too many alternatives.",
    example='glob: "%{facts.x}/*" with braces in the fact',
    way_out="Take the braces out of the fact.",
)
LOOKUP_OPTIONS_NOT_A_HASH = kind(
    "NA1023",
    "lookup_options_not_a_hash",
    cause="lookup_options is not a map.",
    example="lookup_options: deep",
    way_out="Write a key, and `merge:` below it.",
)
LOOKUP_OPTIONS_KEY_OUTSIDE_MODULE = kind(
    "NA1024",
    "lookup_options_key_outside_module",
    cause="A module sets options for a key that is not its own.",
    example="lookup_options of module ntp with the key ssh::port",
    way_out="Write ntp::..., or move it to the environment.",
)
LOOKUP_OPTIONS_PATTERN_OUTSIDE_MODULE = kind(
    "NA1025",
    "lookup_options_pattern_outside_module",
    cause="A module sets options for a pattern that is not bound to its own keys.",
    example="lookup_options of module ntp with ^.*servers",
    way_out="Begin the pattern with ^ntp::.",
)
CONVERT_FAILED = kind(
    "NA1026",
    "convert_failed",
    cause="convert_to could not convert the value.",
    example='convert_to: Integer of "many"',
    way_out="Correct the value, or the type.",
)
CONVERT_BAD_TYPE = kind(
    "NA1027",
    "convert_bad_type",
    cause="A text that is no type.",
    example="convert_to: Array[String",
    way_out="Write it as in Puppet: Array[String].",
)
UNKNOWN_TYPE = kind(
    "NA1028",
    "unknown_type",
    cause="A type that is not known here.",
    example="--type Intger",
    way_out="The hint has near misses.",
)
MISSING_PARAMETER = kind(
    "NA1029",
    "missing_parameter",
    cause="A class has no value for a parameter without a default.",
    example="class ntp ($servers) with no ntp::servers anywhere",
    way_out="Write the key into the data, or give a default.",
)
DATA_NOT_A_HASH = kind(
    "NA1030",
    "data_not_a_hash",
    cause="A data file whose root is not a map has no keys.",
    example="- a list at the root of common.yaml",
    way_out="Write a map of keys.",
)
UNREADABLE_FILE = kind(
    "NA1031",
    "unreadable_file",
    cause="A data file that cannot be read.",
    example="data/common.yaml with mode 000",
    way_out="Correct its permissions.",
)
BAD_DATA_VALUE = kind(
    "NA1032",
    "bad_data_value",
    cause="A key holds a date, a time, or a key that is not text.",
    example="since: 2024-01-02",
    way_out="Put it in quotes.",
)
CONFIG_INVALID = kind(
    "NA1033",
    "config_invalid",
    cause="hiera.yaml has an entry that Hiera does not understand.",
    example="hierarchy: common.yaml",
    way_out="Write a list of entries, each with a name and a path.",
)
UNSUPPORTED_VERSION = kind(
    "NA1034",
    "unsupported_version",
    cause="A hiera.yaml has a version that does not exist, or does not count there.",
    example="version: 3 in an environment",
    way_out="Write version 5; the message shows it.",
)
DUPLICATE_HIERARCHY_NAME = kind(
    "NA1035",
    "duplicate_hierarchy_name",
    cause="Two entries of one name.",
    example="two entries with name: Common",
    way_out="Rename one of them.",
)
MULTIPLE_LOCATIONS = kind(
    "NA1036",
    "multiple_locations",
    cause="An entry with several sorts of location.",
    example="path: a.yaml beside paths: [b.yaml]",
    way_out="Keep one of them.",
)
MULTIPLE_DATA_FUNCTIONS = kind(
    "NA1037",
    "multiple_data_functions",
    cause="An entry with several data functions.",
    example="data_hash beside lookup_key",
    way_out="One entry has one data function.",
)
MISSING_DATA_FUNCTION = kind(
    "NA1038",
    "missing_data_function",
    cause="An entry without a data function, and no default.",
    example="a hierarchy whose defaults name none",
    way_out="Add `data_hash: yaml_data` to defaults.",
)
UNKNOWN_DATA_FUNCTION = kind(
    "NA1039",
    "unknown_data_function",
    cause="A data function that does not exist here.",
    example="lookup_key: vault_lookup",
    way_out="Pass it to Hiera, or install the package with its entry point.",
)
DATA_FUNCTION_FAILED = kind(
    "NA1040",
    "data_function_failed",
    cause="A data function raised.",
    example="lookup_key: a function without its server",
    way_out="Correct the function or its options.",
)
DATA_FUNCTION_NEEDS_PATH = kind(
    "NA1041",
    "data_function_needs_path",
    cause="yaml_data and json_data need a file.",
    example="an entry without path",
    way_out="Add `path: common.yaml`.",
)
RESERVED_OPTION = kind(
    "NA1042",
    "reserved_option",
    cause="The options `path` and `uri` are Hiera's own.",
    example="options: {path: a}",
    way_out="Use another name.",
)
DEFAULT_HIERARCHY_NOT_IN_MODULE = kind(
    "NA1043",
    "default_hierarchy_not_in_module",
    cause="default_hierarchy outside of a module.",
    example="default_hierarchy in the hiera.yaml of an environment",
    way_out="Move its entries to the end of hierarchy.",
)
NO_DATA_FILES = kind(
    "NA1044",
    "no_data_files",
    cause="No file of a hierarchy exists.",
    example="datadir: /etc/puppetlabs/code/environments/production/data, on another machine",
    way_out="Name a datadir beside hiera.yaml, or give the facts that its paths need.",
)
CANNOT_DECRYPT = kind(
    "NA1045",
    "cannot_decrypt",
    cause="A key does not decrypt a value of eyaml.",
    example="--eyaml-private-key another.pem",
    way_out="Name the key that it was encrypted for.",
)
OLD_VERSION = kind(
    "NA1046",
    "old_version",
    cause="Puppet calls hiera.yaml of version 3 or 4 deprecated; this one counts.",
    example="version: 3 in the global layer",
    way_out="Write version 5; the message shows it.",
)
UNSET_VARIABLE = kind(
    "NA1047",
    "UnsetVariable",
    "unset_variable",
    cause="A text names an unset variable: an error in Puppet 8, a warning in Puppet 7.",
    example='motd: "on %{facts.site}" for a node without the fact site',
    way_out="Set it (--facts, --set), remove it, or pass --puppet-version 7.",
)
NEVER_DECRYPTED = kind(
    "NA1048",
    "never_decrypted",
    cause="Puppet hands on a text that hiera-eyaml encrypted.",
    example="password: | with ENC[PKCS7,..] below it, or ENC[PKCS7,..] in a level of yaml_data",
    way_out="Write > (a folded block) in place of |; give the level lookup_key: eyaml_lookup_key.",
)
USELESS_OPTION = kind(
    "NA1049",
    "useless_option",
    cause="An entry of lookup_options, or a part of it, counts for no lookup.",
    example="ntp::servers: {merge: deep, knockout_prefix: '--'}: the prefix belongs into merge",
    way_out="The message says where it counts, or which key was meant.",
)
LEGACY_FACT = kind(
    "NA1051",
    "legacy_fact",
    cause="A level or value names a legacy fact, which Puppet 8 agents do not send.",
    example="path: os/%{::osfamily}.yaml",
    way_out="Write the fact that the message names; or set puppet_version = 7.",
)
REDACTED_TEXT = kind(
    "NA1050",
    "redacted_text",
    cause="A Sensitive inside a text becomes `Sensitive [value redacted]`, in Puppet too.",
    example="url: \"db://%{lookup('pw')}@db\" where lookup_options converts pw to Sensitive",
    way_out="Convert the whole text to Sensitive, and leave its key as it is.",
)
