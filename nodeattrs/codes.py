r"""Every code: of errors, of warnings, and of what checks find; with its cause, an example and the way out.

    NA00xx  everywhere        NA03xx  documents       NA06xx  catalog
    NA01xx  trees and paths   NA04xx  repositories    NA10xx  Hiera
    NA02xx  merging           NA05xx  stores          NA11xx  cloud-init       NA12xx  bindings
    NA13xx  Ansible

An entry is a line with the code and its names, then a cause, an example and a way out. A name in capitals is a
class of `nodeattrs.errors` or of a room's own errors; any other is a `kind` of the class that leads the room.
A code is given once: what goes away leaves a gap. Imports nothing of ours; docs/codes.md is made of it.

>>> code_named("missing", "BindingError").code
'NA1205'
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

ROOMS = {
    ("Everywhere", ""): """
NA0001 NodeattrsError
The machine refused something: a disk that is full, a stream that cannot be written, a part that cannot be loaded.
nodeattrs show web1 > /dev/full
Mend what the message names, and call again.

NA0002 usage
The command line is not understood: an option or an argument that is not there, missing, or excludes another.
nodeattrs show
`nodeattrs COMMAND --help` lists what the command takes.

NA0003 InternalError
A fault in nodeattrs itself.
any command that ends in "a fault in nodeattrs itself"
Please report it, with what --traceback shows.

NA0004 BadArgument
A call, an option or a setting that cannot mean anything.
nodeattrs show web1 --at yesterday
The message says what was given and what is wanted.

NA0005 MissingExtra
An optional library is not installed.
nodeattrs facts
Install the extra that the message names: pip install 'nodeattrs[facts]'.

NA0006 BadName
A name from outside that must not become a path.
nodeattrs show ../web1
Use a name without slashes that does not begin with a dot.

NA0007 UnknownName
A name that other tools, or older documents, mention and that is not here.
node.set["a"] = 1
The hint shows the line to write.

NA0008 BadPattern
An expression that is none, or that might search for ever.
nodeattrs search 'name~"(a+)+$"'
Mend it, or install what searches with a limit of time: pip install 'nodeattrs[regex]'.
""",
    ("Trees and paths", ""): """
NA0101 AttributeIsReadOnly
A write through a merged view.
node["app"]["port"] = 80
Say at which level: node.default["app"]["port"] = 80.

NA0102 NoSuchAttribute
Nothing is set at that path.
nodeattrs explain web1 app.worker
The hint names near misses; `nodeattrs show web1` prints what there is.

NA0103 NoSuchElement
A list is shorter than the index.
node["app"]["ports"][7]
Count from 0, or ask with `read`, which gives None.

NA0104 TypeConflict
A step or a store into something that has no such place: into a text, a number, a list.
node.default["port"] = 80; node.default["port"]["ssl"] = 443
Remove what stands there first, or choose another path.

NA0105 NullInTheWay
A step or a store into null, or into nothing at all.
node["nothing"]["below"]
Ask with `read` or `dig`, which give None, or set the map first.

NA0106 BadKey
A key that is neither text nor a whole number.
node.default[1.5] = 1
Use text.

NA0107 BadValue
A value that a tree of attributes, or the format that is written, cannot hold.
node.default["a"] = object()
Use what JSON has: maps, lists, texts, numbers, true, false, null.

NA0108 TooDeep
Deeper than 500 levels, or a container that holds itself.
a = []; a.append(a); node.default["a"] = a
Break the ring, or keep the inner part as text.

NA0109 WordNotKnownHere
A word of cookbook files outside of a run, or in the wrong sort of file.
python -c "from nodeattrs.recipe import default"
Write it into a file that a run reads: a recipe or an attribute file.

NA0110 DeferredCycle
A deferred value that needs itself to be known.
node.default["a"] = lazy(lambda node: node["a"])
Let one of them be a plain value.

NA0111 ValueWithheld
A sensitive value that no document keeps.
a recipe that uses node["db"]["password"] of an earlier run
Set it again in this run.
""",
    ("Merging", ""): """
NA0201 PolicyError
A merge policy, or a rule for a path, that contradicts itself.
fold([a, b], rules={"users": "sideways"})
The message names the rule and the words that are known.

NA0202 MergeConflict
Two values that a policy refuses to join.
a merge of the text "a" into the list [1] under append
Give both the same kind, or choose another policy for the path.

NA0203 UnknownLayer
Somebody asked to be strict, and a layer that cannot be read might decide the answer.
nodeattrs explain web1 app.port --strict
Make the layer readable, or ask without --strict.

NA0204 unknown-layer
There is an answer, and a layer that cannot be read may override it (exit code 5).
a level of Hiera whose data function is not here
Make the layer readable; the message says what it needs.

NA0205 encrypted
A value was not decrypted; what is printed says so in its place (exit code 5).
hiera lookup db::password, which hiera-eyaml encrypted
Where the keys are at hand, --decrypt uses them.

NA0210 FoldNotFound
There is no fold of that name in nodeattrs.toml.
nodeattrs fold --name shop
Write [fold.shop] with files = [...], or use a name that the hint lists.

NA0211 NoFileFits
A pattern fits no file, so that a fold would quietly lack a layer.
nodeattrs fold base.yaml 'env/*.yml'
Mend the pattern, or leave it out.
""",
    ("Documents", "DocumentError"): """
NA0301 DocumentError
A file or a text that cannot be read as what it should be.
{"default": {"port": 80}
The place in the message is where reading stopped; the hint says what was expected.

NA0302 UnknownField
A field whose name nobody knows; it is ignored.
{"name": "web", "run_lists": ["recipe[app]"]}
Write one of the names in the hint, or remove the field.

NA0303 repeated-key
A key stands twice in one map; the last one counts.
{"port": 80, "port": 8080}
Remove one of the two.

NA0304 key-is-no-text
A key of Hiera's data that is no text is found by no lookup.
80: http
Quote it: "80": http.

NA0305 other-name
The name inside a document is not the one it is filed under; the file's own counts.
roles/web.json with "name": "www"
Write the file's name, or rename the file.

NA0306 set-twice
Two spellings of one setting; the oldest counts.
automatic_attribute_whitelist = [] beside [allowed] automatic = []
Keep one of them.

NA0307 list-loses-values
A list of what may be saved for a level that people and cookbooks set.
[allowed] normal = ["app"]
Restrict automatic attributes only.

NA0308 ruby
A file in Ruby was neither run nor read: an unknown layer stands for it, so that explanations say what it may override.
cookbooks/app/attributes/default.rb
For roles, environments and metadata: pip install 'nodeattrs[chef]'. Attribute files: --ruby runs them.

NA0309 not-run
A check does not run code: what this file says is not known to it.
roles/web.py under nodeattrs check
Let the check run it (--run-code), or write it as JSON or YAML.

NA0310 TooMuch
What is read, or asked, takes more than a limit allows.
a document of a few bytes whose aliases stand for millions of values
Make it smaller; where it is meant, raise the limit: --budget, or [limits] in nodeattrs.toml.

NA0311 ruby-left
A text of a Python file has Ruby's #{...} in it, which is stored as it stands.
node.default["app"]["log"] = "#{node['app']['dir']}/log"
Write an f-string, with lazy(lambda: ...) around it where what it reads may change.

NA0312 not-literal
Ruby that only Ruby could know: a method, a condition, the environment. It is read here and not run.
default_attributes "host" => `hostname`
Write the value out, or the whole file as JSON: knife role show NAME -F json.

NA0313 two-languages
One attribute file or recipe in Python and in Ruby; it cannot be known which counts.
cookbooks/app/attributes/default.py beside default.rb
Keep one of the two.

NA0314 json-counts
A role or an environment in JSON and in Ruby; the JSON counts, as in Chef.
roles/web.json beside roles/web.rb
Remove one of the two.

NA0315 no-constraint
A metadata.json asks for a version of a cookbook in words that are no constraint; any version will do, as in Chef.
{"dependencies": {"runit": [">= 1.0", "< 2.0"]}}
Write one constraint, or none.

NA0316 missing-cookbook
A cookbook is not there, and nothing says what fetches it; or it was not read: --roles-only.
nodeattrs run --repo . --run-list 'role[web]' --roles-only
Fetch it (berks vendor), or name its folder: [chef] cookbook_paths.

NA0317 outside
Chef's configuration names a folder outside of the repository, which is not followed of itself.
cookbook_path "/var/chef/cookbooks" in .chef/config.rb
Name it under [chef] in nodeattrs.toml, if it is meant.

NA0320 ruby-helper
A library that Ruby cannot load, so that an attribute file may lack it; or a value of Ruby that is kept as its text.
default["fstab"]["ignored"] = /^tmpfs/
Write the text itself; of a library, keep what attribute files need apart from what needs Chef.

NA0330 several-documents
A YAML file holds several documents where one layer is wanted.
read_layer("all.yaml")
Say which, document=1, or fold the file on the command line: each document is a layer there.

NA0331 no-document
A file has fewer documents than the one that was asked for.
nodeattrs fold all.yaml#3
The message says how many there are; they count from 1.

NA0332 tag-refused
What was given for a YAML tag in tags= could make no value of what stands under it.
read_layer("a.yaml", tags={"!int": int}) of the line port: !int http
Mend the line, or let the function take it.
""",
    ("Repositories and runs", "NodeattrsError"): """
NA0401 RunListError
A run-list that cannot be read or expanded.
--run-list "role[web"
Write recipe[NAME], recipe[NAME::PART] or role[NAME].

NA0402 InvalidRunListItem
An item that is no recipe[...], role[...] or bare recipe name.
--run-list "rolle[web]"
Write recipe[NAME], recipe[NAME::PART] or role[NAME].

NA0403 AmbiguousRunList
A document with both `run_list` and `recipes`.
{"run_list": ["role[web]"], "recipes": ["app"]}
Keep run_list.

NA0404 CookbookVersionConflict
Two versions are asked of one cookbook, or one that is not there.
depends: {"base": ">= 2.0"} where base is 1.4.0
Change the constraint, or the version in the cookbook's metadata.

NA0405 NotFound
Something that was named and is not there.
nodeattrs run --repo nosuch
Look at the name; near misses stand in the hint.

NA0406 RoleNotFound
A role that does not exist.
--run-list "role[wbe]"
Write roles/NAME.json, .yaml or .py, or mend the name.

NA0407 EnvironmentNotFound
An environment that does not exist.
nodeattrs run -E prodution
Write environments/NAME.json, .yaml or .py, or mend the name.

NA0408 CookbookNotFound
A cookbook on a run-list, among dependencies or in an include that does not exist.
--run-list "recipe[ap]"
Put it below cookbooks/, or mend the name.

NA0409 AttributeFileNotFound
An attribute file that was included and does not exist.
include_attribute("app::tuning")
Write cookbooks/app/attributes/tuning.py, or mend the name.

NA0410 RecipeNotFound
A recipe that does not exist in its cookbook.
--run-list "recipe[app::deploi]"
Write cookbooks/app/recipes/NAME.py, or mend the name.

NA0411 NodeNotFound
A node that neither the store nor the repository knows.
nodeattrs show wbe1
`nodeattrs status` lists those that are kept; --store names another store.

NA0412 DataBagItemNotFound
A data bag, or an item of one, that does not exist.
data_bag_item("users", "anna")
Write data_bags/users/anna.json, or mend the name.

NA0413 RecipeFailed
Code of a cookbook raised.
workers = 1 / 0
The lines below the error are the way through the cookbooks; --traceback shows all of it.

NA0414 fact-function-failed
A function that gathers facts failed; what it would have set is absent.
an entry point of nodeattrs.facts that raises
Mend the function, or uninstall its package.

NA0415 empty-run-list
Nothing was known of the node, so nothing ran.
nodeattrs run --node web9
Write nodes/web9.json, or name what is to run: --run-list.

NA0416 same-key-as-text
A number and its own text are keys of one map; what is saved has text for keys, and keeps the last of the two.
node.default["ports"] = {80: "http", "80": "web"}
Write both as text.

NA0417 PolicyNotFound
A policy that nothing in the repository locks.
nodeattrs run --repo . --policy web
Lock it (chef install), or name the file: --policy web.lock.json.

NA0418 CannotDecrypt
An item of a data bag is encrypted, and its secret is not named, or is another one; or it is an item of chef-vault.
data_bag_item("passwords", "db")
Name the file that holds the secret: --secret-file, or [chef] secret_file in nodeattrs.toml.

NA0420 unused-role
A role that is in the run-list of no node that the repository describes, and that no other text of it names.
roles/old.json, where no file in nodes/ has role[old]
Remove it, or put it on a run-list.

NA0421 unread-attributes
A cookbook with attribute files that no run-list reaches.
cookbooks/old/attributes/default.rb, where no node runs a recipe of old or of what depends on it
Remove the cookbook, or put a recipe of it on a run-list.

NA0422 always-overridden
A value that something stronger overrides wherever it counts: on every node, nobody ever reads it.
port: 80 in a role whose only environment has port: 8080 as an override
Remove it, or the value that overrides it.

NA0423 equal-to-overridden
A value that is what would be read without it, wherever it counts.
port: 80 in a role, and port: 80 in the environment of each of its nodes
Remove it: nodeattrs check --fix.

NA0424 misspelt
A key that no code names, and that looks like one that code reads or sets in the same place.
apache: {listen_prot: 80} where cookbooks/apache sets listen_port
Write the key that the message names.

NA0425 type-change
A map overrides what is no map, or is overridden by it: one hides the other whole.
app: "on" in an environment, and app: {port: 80} in a role
Write both in one shape.

NA0426 unused-key
A key of Hiera's data that is a parameter of no class of its module, and that no text looks up.
profile::web::prot: 80
Remove it, or mend the name.

NA0427 unread-data-file
A file among Hiera's data that no level of the hierarchy can read.
data/nodes/web1.yml under path: "nodes/%{fqdn}.yaml"
Rename it, or name it in hiera.yaml.

NA0428 against-rule
A value stands where a rule of `[[check.rules]]` does not want it.
db: {password: secret} in a role, with {path = "**.password", only = ["data_bags"]}
Set it in one of the places that the rule names.

NA0429 against-schema
An attribute does not fit the JSON Schema of the repository.
port: "80" where the schema wants an integer
Mend the value at the line that is named, or the schema.

NA0430 unused-attribute
An attribute that no cookbook names, in a map whose other keys cookbooks name one by one.
apache: {log_bak_dir: /srv} where cookbook apache sets and reads others below apache only
Remove it, or mend its path.

NA0431 fetched-cookbook
A cookbook that is not in the repository; a Berksfile, Cheffile or Policyfile says what is fetched.
depends "nginx" in a cookbook beside a Berksfile
For a closer check fetch it: berks vendor.

NA0432 solo-attributes
A node document has attributes at its top, which only chef-solo reads there (-j); here they are not set.
nodes/web1.json: {"run_list": ["nginx"], "nginx": {"port": 80}}
Put them under normal, or give the file to a run as --json-attributes.

NA0433 dependency-ring
Cookbooks depend on each other in a ring. A run loads each once, and cuts the ring where it meets it.
depends "app" in cookbook db, and depends "db" in cookbook app
Take one of the dependencies out, where the order of attribute files matters.

NA0434 folder-name
The folder of a cookbook has another name than its metadata gives it. Chef knows that one only; here both find it.
name "ntp" in cookbooks/ntp-cookbook/metadata.rb
Call the folder so, too.

NA0460 NoRevision
A commit, or what it holds, that git does not have here.
nodeattrs impact origin/main..HEAD, in a clone that has one commit only
`git fetch --unshallow`, or in CI a checkout with `fetch-depth: 0`; or name two folders.

NA0461 value-changes
A line because of which values are others than before: what `nodeattrs impact --format sarif` notes.
roles/web.json:12: 212 nodes: apache2.port 80 -> 8080
Nothing, if that is what was meant; --ignore PATH passes it over.

NA0462 no-longer-answers
A line because of which nodes, sets or keys can no longer be resolved.
nodes/web1.json:5: 1 node: no answer: there is no role wbe
Mend what the message names.

NA0463 changes-nothing
A changed line that sets a value which something else overrides for everybody who was asked.
roles/base.json:4: app.workers is overridden on all 3 nodes by environments/production.yaml:7
Write it where it counts, or leave it out.
""",
    ("Stores", "StoreError"): """
NA0501 StoreError
A store that cannot be read or written.
nodeattrs show web1 --store postgresql://nowhere/nodes
The message has the reason of the system or the database.

NA0502 NewerRevision
A node that a newer nodeattrs has saved.
nodeattrs show web1
Upgrade, or read it where it was saved.

NA0503 damaged
Something that is kept cannot be read back, or does not fit together.
nodeattrs store check, after a disk has failed
An older revision may be whole (`nodeattrs history`); else import an export.

NA0504 unreadable-revision
A revision is gone, or its line cannot be read.
nodeattrs history web1, after .history/web1.log was cut
`nodeattrs store check` says what is damaged; `store prune` forgets it.

NA0505 saved-note
What is odd about a saved node: its origins are not known, or it was changed by hand.
nodeattrs explain web1, after web1.json was edited
Run the node again.

NA0506 QueryNotUnderstood
A query that cannot be read.
nodeattrs search "role:"
docs/search.md has the language; the message says where reading stopped.

NA0507 QueryNotSupported
A query with something that the language has and search does not.
nodeattrs search "+role:web"
The hint shows how to write it.
""",
    ("Catalog", ""): """
NA0601 DuplicateResource
Two declarations of one resource, or of one place on the machine.
file("/etc/motd"); file("/etc/motd")
Remove one, or declare it in a recipe that both include.

NA0602 ReferenceNotFound
A relationship with a resource that is not in the catalog.
file("/a", require="Package[nosuch]")
Declare the resource, or mend the reference.

NA0603 DependencyCycle
Resources that wait for each other: nothing can be applied.
file("/a", before="File[/b]"); file("/b", before="File[/a]")
Remove one of the edges; the message has the line of each.

NA0604 ResourceFailed
A resource that cannot be read, or cannot be brought into the state that was asked for.
file("/proc/x", content="a")
The message has the reason of the system.

NA0605 FolderMissing
The folder that something is to stand in is not there.
file("/srv/new/motd", content="a")
Declare the folder: directory("/srv/new").

NA0606 RefreshComesLater
A timing such as `:immediately`; a refresh comes when its target's turn comes.
notifies=("restart", Service["ntpd"], ":immediately")
Leave the timing out, or order the resources.

NA0607 NoopDoesNotReach
A container in no-op mode, with resources in it that are really changed.
a class with noop=True that contains a file with noop=False
Write noop=True on the resources, or use --noop.

NA0620 MoreRelations
Types of modules whose resources an agent may relate or refresh in ways that are not known here.
nodeattrs catalog check --puppet web1.json, with a mysql_grant
Name the folder of their modules with --modulepath; what remains only their Ruby could say.
""",
    ("Hiera", "HieraError"): """
NA1001 HieraError
An error of a lookup of which no more is known.
nodeattrs hiera lookup KEY
The message says it.

NA1002 KeyNotFound not_found
Nothing has the key, and there is no default (exit code 3).
nodeattrs hiera lookup ntp::sevrers
`nodeattrs hiera who-has KEY` and `explain KEY` show where it was looked for.

NA1003 BadLookup bad_arguments
A call that cannot mean anything: merge is no strategy, an argument of the wrong kind.
scope.lookup("a", merge=7)
Write merge="deep", or merge={"strategy": "deep", ...}.

NA1004 BadData data_parse_error
A data file that its format does not allow.
users: [anna
Mend the place that is named.

NA1005 CannotMerge not_a_hash
A hash merge met something that is no map.
--merge hash where a level has a list
Use unique or deep for lists, or mend the level.

NA1006 CannotDig dig_type_mismatch
A step of a dotted key into a text, a number, or past a list.
nodeattrs hiera lookup users.anna.uid.x
A list takes a number from 0, a map a key.

NA1007 hash_in_unique
A unique merge met a map.
--merge unique where a level has a map
Use hash or deep.

NA1008 undef_in_unique
A unique merge met null.
servers: ~
Remove the key.

NA1009 cannot_sort
sort_merged_arrays met elements that have no order.
[1, "a"]
Make them of one kind, or leave the option out.

NA1010 empty_knockout_prefix
The knock-out prefix is empty.
--knock-out-prefix=
Write '--', or leave it out.

NA1011 bad_pattern
A regular expression that cannot be used.
Pattern[/(/]
Mend it: a special character needs a backslash.

NA1012 unknown_strategy
A merge strategy that nobody knows.
--merge depe
Use first, unique, hash or deep.

NA1013 missing_strategy
merge is a map without a strategy.
merge: {knockout_prefix: "--"}
Add strategy: deep.

NA1014 bad_option
An option that the strategy does not know, or a value that the option does not take.
merge: {strategy: hash, knockout_prefix: "--"}
The hint lists those that it knows.

NA1015 key_syntax
A key that cannot be split into steps.
nodeattrs hiera lookup a..b
One dot between steps; quote a step with a dot in it: a.'b.c'.0.

NA1016 value_type_mismatch
The value is not of the type that was asked for (exit code 4).
nodeattrs hiera lookup port --type String
Mend the data, the type, or convert it: convert_to in lookup_options.

NA1017 recursive_lookup
A key that needs itself.
a: "%{lookup('b')}" and b: "%{lookup('a')}"
Break the circle in one of them.

NA1018 alias_not_entire_string
alias(..) stands inside of a text.
a: "x %{alias('b')}"
Write the expression alone, or use lookup(..).

NA1019 unknown_interpolation_method
An interpolation calls a function that there is not.
a: "%{lokup('b')}"
Use lookup, hiera, alias, literal or scope.

NA1020 method_not_allowed_here
A lookup inside of hiera.yaml.
path: "%{lookup('role')}.yaml"
Use variables only, such as %{facts.os.family}.

NA1021 path_outside
A location was filled in with a value that leads out of its folder.
path: "%{facts.team}.yaml" with the fact ../../etc
A fact that names a file must not have `..` or begin with a slash.

NA1022 bad_glob
A glob with too many alternatives.
glob: "%{facts.x}/*" with braces in the fact
Take the braces out of the fact.

NA1023 lookup_options_not_a_hash
lookup_options is no map.
lookup_options: deep
Write a key, and `merge:` below it.

NA1024 lookup_options_key_outside_module
A module sets options for a key that is not its own.
lookup_options of module ntp with the key ssh::port
Write ntp::..., or move it to the environment.

NA1025 lookup_options_pattern_outside_module
A module sets options for a pattern that is not bound to its own keys.
lookup_options of module ntp with ^.*servers
Begin the pattern with ^ntp::.

NA1026 convert_failed
convert_to could not convert the value.
convert_to: Integer of "many"
Mend the value, or the type.

NA1027 convert_bad_type
A text that is no type.
convert_to: Array[String
Write it as in Puppet: Array[String].

NA1028 unknown_type
A type that is not known here.
--type Intger
The hint has near misses.

NA1029 missing_parameter
A class has no value for a parameter without a default.
class ntp ($servers) with no ntp::servers anywhere
Write the key into the data, or give a default.

NA1030 data_not_a_hash
A data file whose root is no map has no keys.
- a list at the root of common.yaml
Write a map of keys.

NA1031 unreadable_file
A data file that cannot be read.
data/common.yaml with mode 000
Mend its permissions.

NA1032 bad_data_value
A key holds what data may not hold: a date, a time, a key that is no text.
since: 2024-01-02
Put it in quotes.

NA1033 config_invalid
hiera.yaml says something that means nothing.
hierarchy: common.yaml
Write a list of entries, each with a name and a path.

NA1034 unsupported_version
A hiera.yaml of another version than 5.
version: 3
Convert it: Puppet's manual has "Upgrading to Hiera 5".

NA1035 duplicate_hierarchy_name
Two entries of one name.
two entries with name: Common
Rename one of them.

NA1036 multiple_locations
An entry with several sorts of location.
path: a.yaml beside paths: [b.yaml]
Keep one of them.

NA1037 multiple_data_functions
An entry with several data functions.
data_hash beside lookup_key
One entry has one data function.

NA1038 missing_data_function
An entry without a data function, and no default.
a hierarchy whose defaults name none
Add `data_hash: yaml_data` to defaults.

NA1039 unknown_data_function
A data function that nobody has.
lookup_key: vault_lookup
Pass it to Hiera, or install the package with its entry point.

NA1040 data_function_failed
A data function raised.
lookup_key: a function without its server
Mend the function or its options.

NA1041 data_function_needs_path
yaml_data and json_data need a file.
an entry without path
Add `path: common.yaml`.

NA1042 reserved_option
The options `path` and `uri` are Hiera's own.
options: {path: a}
Use another name.

NA1043 default_hierarchy_not_in_module
default_hierarchy outside of a module.
default_hierarchy in the hiera.yaml of an environment
Move its entries to the end of hierarchy.

NA1044 no_data_files
Not one file of a hierarchy is there; a warning.
datadir: /etc/puppetlabs/code/environments/production/data, on another machine
Name a datadir beside hiera.yaml, or give the facts that its paths need.

NA1045 cannot_decrypt
A key does not decrypt a value of eyaml.
--eyaml-private-key another.pem
Name the key that it was encrypted for.
""",
    ("cloud-init", "CloudConfigError"): """
NA1101 CloudConfigError
User-data that cannot be read or merged, and of which no more is known.
nodeattrs cloud-config merge user-data
The message says it.

NA1102 format
A merge string is malformed.
merge_how: append
Write list(append)+dict(recurse_list).

NA1103 unknown-merger
A merger of that name does not exist.
merge_how: set(append)
The mergers are dict, list and str, and those that were registered.

NA1104 definition
A structured definition is malformed, or a merger refuses its options.
merge_how: {name: list}
Write a list: [{name: list, settings: [append]}].

NA1105 type
Two values cannot be combined under these mergers; or conf_d is something and no text.
l: 5 after l: [1] under list(append)
Give both the same kind, or choose another merger.

NA1106 empty
Broken YAML, several documents, nothing, or a root that is no mapping.
#cloud-config and then a list
Write one mapping below #cloud-config.

NA1107 patch-syntax
The JSON patch is no JSON.
#cloud-config-jsonp and then [{op: add}]
Quote keys and texts.

NA1108 patch-conflict
An operation of a patch does not apply, or its test is false.
{"op": "remove", "path": "/nosuch"}
Put the patch behind the part that sets the value.

NA1109 patch-invalid
No well-formed patch, or a pointer into something that is not there.
{"op": "add", "value": 1}
Each operation needs op and path.

NA1110 decompress
A part says it is gzip and is not.
the first half of a .gz
Pack it again.

NA1111 archive
An entry of an archive that cannot be made a part.
#cloud-config-archive and then [5]
Each entry is a text, or a mapping with content.

NA1112 encoding
A message that is not UTF-8 text.
a header in Latin-1
Save it as UTF-8.

NA1113 too-large
Past a stated limit of size.
10 MB of zeros in a small .gz
Make it smaller; docs/cloudinit.md has the limits.

NA1114 too-deep
Past 500 levels, or inside itself.
&a [*a]
Make it flatter.

NA1115 extra
A part that needs a library which is not installed.
#cloud-config-jsonp without jsonpatch
pip install 'nodeattrs[cloudinit]'

NA1131 input
A file or folder that is named as user-data, and has none.
nodeattrs cloud-config merge plan.json
Name a file that has some: user-data, a plan of Terraform, a secret of Cluster API, an instance folder.

NA1132 template
A Jinja template that cannot be rendered, or that asks for something that templates may not do.
## template: jinja followed by {% if
Mend the template; `cloud-init query` shows what instance data there is.

NA1133 instance-data
Instance data that is no JSON map.
nodeattrs cloud-config merge user-data --instance-data metadata.yaml
Give what cloud-init keeps in /run/cloud-init/instance-data-sensitive.json, or what `cloud-init query --all` prints.

NA1134 vendor-switch
A setting of vendor-data at which cloud-init stops.
vendor_data: {enabled: true, disabled_handlers: 5}
Write a list of content types.

NA1135 value
A scalar that its tag cannot mean, at which cloud-init itself fails; or a part that has no text at all.
a: !!bool maybe
Leave the tag out, or quote the text.

NA1136 undefined-variable
A template asks for a variable that the instance data do not have: cloud-init writes CI_MISSING_JINJA_VAR/ and its name.
hostname: {{ nope }}
See what there is with `cloud-init query --all`, or write {{ nope | default("x") }}.

NA1151 no-dict-merger
A definition without a dict merger drops the whole part.
merge_how: list(append)
Add dict(recurse_list).

NA1152 definition-too-early
An earlier part's definition does not rule this one.
merge_how in the first of two parts only
Repeat it in each part that wants it.

NA1153 default-replaces
The default replaces a list or mapping of an earlier part.
packages: [vim] in two parts
Write merge_how: dict(recurse_list)+list(append) into the later part; dict(replace) if it is meant.

NA1154 position-loses
A list merged by position loses items.
l: [7, 8] after l: [1] under list()
Write list(append).

NA1155 spread
A text or mapping is spread into a list.
l: bc after l: [a] under list(append)
Write a list with one item.

NA1156 unknown-option
An option that has no effect.
merge_how: dict(unique)
Take it out.

NA1157 repeated-merger
A second merger for one type is not used.
merge_how: dict()+dict(replace)
Name each merger once.

NA1158 both-keys
merge_how and merge_type in one part: merge_type stays as data.
merge_how: dict() beside merge_type: dict()
Write one of the two.

NA1159 header-case
A merge header in the wrong case is not seen.
merge-type: list(append)
Write Merge-Type.

NA1160 header-on-gzip
A part that was packed on its own loses its merge header.
Merge-Type on a gzip part
Write merge_how into the body.

NA1161 confd-append-order
append in conf.d files gives the reverse order of the files.
list(append) in 10-a.cfg and 20-b.cfg
Write list(prepend) in each file.

NA1162 settings-text
Settings given as text are searched for option names.
settings: no_replace
Write settings: [no_replace].

NA1163 duplicates
Items are in the list twice after append or prepend.
packages: [vim] appended to packages: [vim]
Remove one of each.

NA1164 include-not-followed
An include is listed, and not followed: nothing is fetched.
#include https://example.com/base.yaml
Put a copy into a folder and name it with --include-root.

NA1165 unknown-type
A part of a type that nobody here handles.
a file that begins with neither #cloud-config nor #!
Begin it with #cloud-config, or give it a content type.

NA1166 repeated-key
A key is written twice in one mapping: only the last one counts.
runcmd: [a] and then runcmd: [b] in one file
Remove one of the two, or make one list of both.

NA1167 users-without-default
users without default: the image's own user is not created.
users: [{name: web}]
Write - default as the first item; leave it out only if that user is not wanted.

NA1168 list-hidden
The list of a weaker layer is not used, since user-data or vendor-data has one.
packages: [vim] in vendor-data, and packages: [git] in user-data
Write all items into the stronger one: layers are not joined list by list.

NA1169 commands-no-list
runcmd or bootcmd is no list: nothing of it is run.
runcmd: echo hello
Write each command as an item.

NA1170 command-no-text
A command is neither a text nor a list: no command of the list is run.
- echo a: b
Quote the whole line, or write it as a block.

NA1171 permissions-number
Permissions are a number; without a leading zero it is not read as octal.
permissions: 644
Write '0644', in quotes.

NA1172 misspelt-key
A key that cloud-init does not know, and that looks like one it knows.
package: [vim]
Write the key that the hint names.

NA1173 byte-order-mark
A byte order mark stands before the first line, which is not seen then.
a file that an editor on Windows saved
Save it as UTF-8 without a byte order mark.

NA1174 first-line
The first line is nearly the one that is needed, or stands further down: the part is ignored.
# cloud-config
Write #cloud-config, without a blank, as the first line.

NA1175 blank-lines-first
Blank lines before the first line: a script is not started then, and some readers refuse a config.
an empty line, and then #!/bin/sh
Begin with the line itself.

NA1176 over-size
More than a cloud takes as user-data.
20,000 bytes on AWS, which takes 16,384
Pack it with gzip, or fetch what is large; --cloud names the cloud.

NA1177 unexpanded
A template that has not been filled in.
hostname: ${name}
Check what the template is filled in to.

NA1178 crlf-script
A carriage return at the end of a line breaks a script.
#!/bin/sh and a line feed, then lines that end with both
Save it with line feeds alone.

NA1179 schema
The JSON schema of cloud-init does not allow it.
ntp: {enabled: "yes"} with --schema
Write what the message says; the schema is the file that --schema names.

NA1180 schema-deprecated
The JSON schema of cloud-init calls it deprecated; a note.
apt_update: true with --schema
Write what the hint says.
""",
    ("Bindings", "BindingError"): """
NA1201 BindingError
Something is wrong with bindings, and no more is known of it.
nodeattrs bindings check
The message says it.

NA1202 BindingErrors several
Several things are wrong, each with its own code in a check.
nodeattrs bindings inject a
`nodeattrs bindings check` lists them.

NA1203 conflict
Two declarations of one key at one precedence.
bind 'a' to 1 bind 'a' to 2
Remove one, or move it to another layer or category.

NA1204 TypeMismatch type-mismatch
A value that does not conform to the type that was declared or asked for.
bind Integer, 'port' to 'many'
Mend the value or the type.

NA1205 NotBound missing
A key that nothing is bound to, or that produced nothing.
nodeattrs bindings inject ssh::prot
The hint has near misses; `nodeattrs bindings list` prints all keys.

NA1206 LookupLoop lookup-loop
A key that needs itself.
bind 'a' to "${b}" bind 'b' to "${a}"
Break the circle in one of them.

NA1207 abstract-not-overridden
An abstract binding that nobody overrides.
bind abstract 'port'
Bind it in a higher layer.

NA1208 override-without-base
An override of what no lower layer binds.
bind override 'prot' to 2222
Mend the name, or leave `override` out.

NA1209 final-overridden
A final binding is bound again above.
a module binds final 'port', and the site binds 'port' again
Remove one of the two, or `final`.

NA1210 no-producer
A binding says nothing of what it gives.
bind 'port'
Write `to ...`, or `abstract`.

NA1211 no-key
A binding without type and name.
bind to 5
Give it a name, or say `in 'id'`.

NA1212 instance-as-key
An instance exists already; its type cannot be bound to another.
bind Web['one'] to 5
Bind its parameters.

NA1213 reserved-name
A name that begins with a slash is the library's.
bind '/classes' to []
Use `include`, `bind parameters` or another name.

NA1214 bad-option
An option that a binding, a query or a multibind does not have.
bind 'a' to 5 { colour => red }
The hint lists those that it has.

NA1215 bad-type
A text or an annotation that is no type.
Bindings("x").bind("a", "Array[String")
Write it as Array[String], Hash[String, Integer], class ntp.

NA1216 multibind-bad-type
A multibind that is neither an Array nor a Hash.
multibind Integer, 'ids'
multibind Array[Integer], 'ids'

NA1217 multibind-with-producer
A multibind takes no producer: its fragments do.
Bindings("x").multibind("ids", list).to([1])
Write bind to 1 in 'ids'.

NA1218 rebind-missing
A rebinding of what nothing below binds.
rebind 'prot'
Mend the name.

NA1219 rebind-with-producer
A rebinding keeps the producer, and cannot have its own.
{"kind": "rebind", "key": "port", "to": 5} in data
Use bind override.

NA1220 abstract-with-producer
An abstract binding with a producer.
bind abstract 'port' to 22
Leave one of the two out.

NA1221 abstract-parameters
Parameters of a class cannot be abstract.
bind abstract parameters ntp to { servers => [] }
Leave `abstract` out: the class says what must be given.

NA1222 map-required
Two types without a parameter name in common.
bind parameters Web to Db
Say which fills which: { map => { port => listen } }.

NA1223 type-already-bound
Something already gives the parameters of the type.
two instances of one type for one target
Remove one of them.

NA1224 ambiguous-class
Two Python classes of one name.
a.Web and b.Web
Name one of them: classes={"OtherWeb": ...}.

NA1225 too-deep
Look-ups, or data, nested too deeply.
a chain of thousands of look-ups
Shorten the chain.

NA1226 nothing-produced
A fragment, a query or an instance gave nothing.
an instance Web['gone'] that is not among the objects
Say `optional` where that is meant.

NA1227 duplicate-fragment
A multibind has two fragments of one name.
multibind Hash, 'users' bind 'anna' to 1 in 'users' bind 'anna' to 2 in 'users'
Rename one, or set combinator.

NA1228 unnamed-fragment
A multibind that is a hash, and a fragment without a name.
multibind Hash, 'users' bind to 5 in 'users'
bind 'anna' to 5 in 'users'

NA1229 query-result-count
A query that must find one found none or several.
Db[?? role == main], where two have that role
Narrow it, pick one with select_result, or say optional.

NA1230 unknown-class
No class of that name.
bind 'a' to Type[Sever]
Mend the name, or pass classes={...}.

NA1231 unknown-variable
Nobody knows the variable.
bind 'a' to "$rack"
Bind it with `bind variables`, or give it with the state.

NA1232 arguments
Arguments where none are taken, or that do not fit.
inject('a', 5) of a constant
Leave them out.

NA1233 expression
An expression that means nothing.
bind 'a' to 'x' { transformer => |$x| { $x + [] } }
The message has the values it met.

NA1234 function-failed
A function that bindings call raised.
a producer that divides by zero
Mend the function.

NA1235 syntax
A text that the language does not read.
bind 'a' to
Mend the place that is named.

NA1236 format
Data that does not have the form of bindings.
{"items": [{"kind": "bnid"}]}
docs/bindings.md has the form; the hint has near misses.

NA1237 not-data
Something that has no data form.
to_data of a set that binds a Python function
Name it with functions={...} or classes={...}.

NA1238 two-files
Two files hold one set of bindings.
bindings/default.pp beside bindings/default.yaml
Keep one.

NA1239 two-producers
One binding with two producers.
.to(1).to(2)
Keep one.

NA1240 set-name
The name of a set is not that of its file.
bindings web in bindings/default.pp
Rename one of them.

NA1241 no-such-set
A set that is named and is not there.
include: module:/ntp::deafult
Mend the name, or write ?optional behind it.

NA1242 bad-uri
A text that is no reference to sets.
include: ntp
Write module:/ntp::default.

NA1243 unknown-scheme
A scheme that nobody provides.
include: vault:/x
Use confdir or module, or install its provider.

NA1244 bad-layer
A layer that is no map with a name and references.
layers: [site]
Write {name: site, include: ...}.

NA1245 bad-mode
A mode that there is not.
mode="strict"
Use tuple or documented.

NA1246 bad-path
A path that leaves the site.
confdir:/../x
Write paths without ..

NA1247 no-such-directory
The site, or its confdir, is no directory.
nodeattrs bindings check --site nosuch
Mend the name.

NA1248 provider-failed
A provider of sets raised.
a provider without its server
Mend the provider.

NA1249 classifier-failed
The external node classifier cannot be asked, or did not answer with YAML.
a classifier that ends with 1
Run it by hand with the node's name.

NA1250 category-common
The category common is always there, and last.
categories: [[common, true]]
Leave it out.

NA1251 category-environment-value
The category environment has a value of its own.
environment => prod
Write environment => true: only its place can be chosen.

NA1252 category-order
The category node stands below environment.
environment before node
Put node above environment.

NA1253 category-twice categories-twice
A category, or the list of categories, stands twice.
two lines for rack
Keep one.

NA1254 category-value
A value that a category cannot have.
rack => [1, 2]
Use one text.

NA1255 environment-attribute
An environment has no such attribute, or it is no text.
environment: {colour: red}
The hint lists the attributes.

NA1256 environment-twice
One environment is declared twice.
two declarations of production
Keep one.

NA1257 unknown-environment
An environment that the site does not declare.
nodeattrs bindings check -E prodution
Declare it, or mend the name.

NA1258 envdir-not-allowed
A dynamic environment has its own directory.
envdir below dynamic
Leave envdir out.

NA1259 dynamic-not-absolute
Dynamic environments live below an absolute directory.
dynamic: {dir: environments}
Write the whole path.

NA1271 unknown-id
Fragments are bound in a multibind that nobody declares.
bind 'a' to 5 in 'usres'
Mend the id, or declare it: multibind Array, 'usres'.

NA1272 shared-id
Two multibinds have one id, and share their fragments.
multibind Array, 'users' multibind Array, 'admins' as 'users'
Rename one.
""",
    ("Ansible", "AnsibleError"): """
NA1301 AnsibleError
Something of Ansible's is wrong, and no more is known of it.
nodeattrs ansible list
The message says it.

NA1302 yaml
A file that does not parse, or that holds two documents.
group_vars/web.yml with a tab before a key
Mend the line that the message names.

NA1303 wrong-shape
A list or a text where a map was needed, or the other way round.
vars: nope
Write name: value.

NA1304 extra-vars
What -e gives is no map of variables, or has a quote that stays open.
nodeattrs ansible vars web1 -e '[1, 2]'
Write name=value, {name: value} or @FILE.

NA1305 no-file
A file that is named and is not there.
nodeattrs ansible vars web1 -e @none.yml
Mend the name.

NA1306 no-role
A role that is in none of the folders where roles are sought.
roles: [ngnix]
Mend the name, or name its folder in roles_path.

NA1307 cycle
A role that depends on itself, by way of others or not.
dependencies: [web], in the role web
Take one of the dependencies away.

NA1308 unknown-key
A key that a play does not have.
- hosts: all, and below it http_port: 80
Variables belong under vars.

NA1309 missing-key
A play without hosts.
- tasks: []
Add hosts: all.

NA1310 variable-name
A name that no variable can have: letters, digits and _ are allowed, and no digit first.
vars: {http-port: 80}
Use _ instead of the sign.

NA1311 undefined
A name that must be known before any host is asked, and that is not.
roles: ['{{ which }}'], where only group_vars has which
Give it with -e or in the vars of the play.

NA1312 unparsed
A source of the inventory that cannot be read: a warning, or an error where ansible.cfg asks for it.
[web without its bracket
Mend the line that the message names.

NA1313 nothing-parsed
No source of the inventory could be read.
nodeattrs ansible list -i nosuch
Name a file, a folder or a list of hosts such as web1,web2,

NA1314 no-group
No such group.
nodeattrs ansible graph wbe
The hint has near misses.

NA1315 no-host
No such host, or no task of that name for it.
nodeattrs ansible vars wbe1
The hint has near misses; `nodeattrs ansible graph` prints all.

NA1316 inventory
A line or an entry of an inventory that cannot be meant.
web1 http_port = 80
Write name=value without blanks on the line of a host.

NA1317 setting
A value of ansible.cfg, or of its environment variable, that cannot be read.
private_role_vars = perhaps
docs/ansible.md lists the keys that are read.

NA1318 duplicate-key
A key that a map has twice; the last one counts.
port: 80 and, further down, port: 8080
Remove one of the two.

NA1319 group-name
A group whose name has other signs than letters, digits and _.
[web-servers]
Ansible keeps it, and warns; use _.

NA1320 group-is-host
A host and a group of one name.
[web] with a host web
Rename one of the two.

NA1321 reserved-name
A variable whose name is a word of plays and tasks.
tags: blue, in group_vars
Rename it.

NA1322 skipped
A group, or a key of a group, of an inventory in YAML that means nothing.
web: {host: {web1: }}
A group has hosts, vars and children.

NA1323 vars-file-skipped
A name under vars_files with a template that cannot be filled in.
vars_files: ['os-{{ family }}.yml']
Give the facts with --facts, or the variable with -e.

NA1324 no-match
A pattern of hosts that no host matches.
hosts: wbe
Mend the pattern.

NA1325 not-prompted
A variable that a person is asked for, and was not.
vars_prompt: [{name: version}]
Give it with -e.

NA1326 precedence-entry
A word in the option precedence that is none of the six.
precedence = all_inventory, groups
Ansible passes over it; docs/ansible.md lists the words.

NA1327 missing
A file that vars_files names and that is not there; Ansible passes over it.
vars_files: [secrets.yml]
Mend the name, or remove it.

NA1328 broken
A file of variables that cannot be read and costs only its own variables, since that was asked for.
nodeattrs ansible explain web1 port --lenient
Mend the line that the message names.
""",
}  # fmt: skip


class Code(NamedTuple):
    """One entry.

    names: the class, or the kinds, that have it
    owner: the class whose kinds they are; "" where there is none
    """

    code: str
    names: tuple[str, ...]
    owner: str
    room: str
    cause: str
    example: str
    way_out: str

    @property
    def name(self) -> str:
        """What people call it: its last name, which is the kind where there is one."""
        return self.names[-1]

    @property
    def page(self) -> str:
        """Where it is described."""
        return f"docs/codes.md#{self.code.lower()}"


def _entries() -> Iterator[Code]:
    for (room, owner), text in ROOMS.items():
        for entry in text.strip().split("\n\n"):
            head, cause, example, way_out = entry.split("\n")
            code, *names = head.split()
            yield Code(code, tuple(names), owner, room, cause, example, way_out)


@cache
def codes() -> dict[str, Code]:
    """Every code and its entry, in order."""
    return {one.code: one for one in _entries()}


@cache
def _by_name() -> dict[tuple[str, str], Code]:
    return {("" if name[0].isupper() else one.owner, name): one for one in codes().values() for name in one.names}


def code_named(name: str, owner: str = "") -> Code:
    """The entry of a class, or of a kind of the class *owner*. raises: KeyError"""
    return _by_name()[owner, name]


def code_of(family: type, kind: str = "") -> str:
    """The code of an error of a class with a kind: of the nearest class that has one.

    >>> code_of(LookupError, "no such kind")
    'NA0003'
    """
    owners = [one.__name__ for one in family.__mro__]
    known = _by_name()
    found = [*(known.get((owner, kind)) for owner in owners), *(known.get(("", owner)) for owner in owners)]
    return next((one.code for one in found if one), known["", "InternalError"].code)
