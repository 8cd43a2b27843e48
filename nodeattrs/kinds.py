"""The kinds of errors, warnings and findings that belong to no dialect, as constants with their codes.

Only `nodeattrs.codes` is imported here. `nodeattrs codes` prints the kinds.
"""

from __future__ import annotations

from nodeattrs.codes import declared, kind

# Merging: NA02xx
LAYER_IS_UNKNOWN = kind(
    "NA0204",
    "unknown-layer",
    cause="A layer that cannot be read may override the answer (exit code 5).",
    example="a level of Hiera whose data function is not here",
    way_out="Make the layer readable; the message says what it needs.",
)
ENCRYPTED = kind(
    "NA0205",
    "encrypted",
    cause="A value was not decrypted (exit code 5).",
    example="hiera lookup db::password, which hiera-eyaml encrypted",
    way_out="If you have the keys, pass --decrypt.",
)

# Documents: NA03xx
REPEATED_KEY = kind(
    "NA0303",
    "repeated-key",
    cause="A key is twice in one map; the last one counts.",
    example='{"port": 80, "port": 8080}',
    way_out="Remove one of the two.",
)
KEY_IS_NO_TEXT = kind(
    "NA0304",
    "key-is-no-text",
    cause="A key of Hiera's data that is not text is found by no lookup.",
    example="80: http",
    way_out='Quote it: "80": http.',
)
OTHER_NAME = kind(
    "NA0305",
    "other-name",
    cause="A document's name differs from its file's, which counts.",
    example='roles/web.json with "name": "www"',
    way_out="Write the file's name, or rename the file.",
)
SET_TWICE = kind(
    "NA0306",
    "set-twice",
    cause="Two spellings of one setting; the oldest counts.",
    example="automatic_attribute_whitelist = [] beside [allowed] automatic = []",
    way_out="Keep one of them.",
)
LIST_LOSES_VALUES = kind(
    "NA0307",
    "list-loses-values",
    cause="An allow list for a level that people and cookbooks set: their other values are not saved.",
    example='[allowed] normal = ["app"]',
    way_out="Restrict automatic attributes only.",
)
RUBY = kind(
    "NA0308",
    "ruby",
    cause=("A Ruby file was neither run nor read: it is an unknown layer."),
    example="cookbooks/app/attributes/default.rb",
    way_out=("Roles, environments, metadata: pip install 'nodeattrs[chef]'. Attribute files: --ruby runs them."),
)
NOT_RUN = kind(
    "NA0309",
    "not-run",
    cause="The check does not run the code of this file.",
    example="roles/web.py under nodeattrs check",
    way_out="Pass --run-code, or write the file as JSON or YAML.",
)
RUBY_LEFT = kind(
    "NA0311",
    "ruby-left",
    cause="A Python text has Ruby's #{...} in it, which is stored unchanged.",
    example='node.default["app"]["log"] = "#{node[\'app\'][\'dir\']}/log"',
    way_out="Write an f-string, inside lazy(lambda: ...) where its parts may change.",
)
NOT_LITERAL = kind(
    "NA0312",
    "not-literal",
    cause="Only Ruby could compute this (a method, a condition, the environment); the file is read, not run.",
    example='default_attributes "host" => `hostname`',
    way_out="Write the value out, or the file as JSON: knife role show NAME -F json.",
)
TWO_LANGUAGES = kind(
    "NA0313",
    "two-languages",
    cause="One attribute file or recipe in Python and in Ruby; it cannot be known which counts.",
    example="cookbooks/app/attributes/default.py beside default.rb",
    way_out="Keep one of the two.",
)
JSON_COUNTS = kind(
    "NA0314",
    "json-counts",
    cause="A role or an environment in JSON and in Ruby; the JSON counts, as in Chef.",
    example="roles/web.json beside roles/web.rb",
    way_out="Remove one of the two.",
)
NO_CONSTRAINT = kind(
    "NA0315",
    "no-constraint",
    cause=("A version constraint in metadata.json is not understood; any version will do, as in Chef."),
    example='{"dependencies": {"runit": [">= 1.0", "< 2.0"]}}',
    way_out="Write one constraint, or none.",
)
MISSING_COOKBOOK = kind(
    "NA0316",
    "missing-cookbook",
    cause="A cookbook is missing and nothing fetches it, or --roles-only skipped it.",
    example="nodeattrs run --repo . --run-list 'role[web]' --roles-only",
    way_out="Fetch it (berks vendor), or name its folder: [chef] cookbook_paths.",
)
POLICY_WITHOUT_LOCK = kind(
    "NA0470",
    "policy-without-lock",
    cause="A Policyfile has no lock: the cookbooks of the repository are used.",
    example="nodeattrs run --repo . --policy-name web, where Policyfile.rb has no Policyfile.lock.json",
    way_out="Make the lock: chef install.",
)
KITCHEN_NAME = kind(
    "NA0471",
    "kitchen-name",
    cause="The name of a Test Kitchen suite or platform is ERB, which is not run.",
    example="- name: <%= ENV['PLATFORM'] %>",
    way_out="Write the name out, for example in kitchen.local.yml.",
)
OUTSIDE = kind(
    "NA0317",
    "outside",
    cause="The repository names a file or folder outside of the repository, which is not read.",
    example='cookbook_path "/var/chef/cookbooks" in .chef/config.rb, or datadir: /srv/hieradata in hiera.yaml',
    way_out=(
        "--allow-path DIR; nodeattrs trust DIR for your own repository; [chef] for a folder of Chef's configuration."
    ),
)
NOT_TRUSTED = kind(
    "NA0318",
    "not-trusted",
    cause="A repository raises a limit, which does not count.",
    example="[limits] bytes = 100000000 in a nodeattrs.toml that came with a clone",
    way_out="--budget for one command, or nodeattrs trust DIR for your own repository.",
)
RUBY_HELPER = kind(
    "NA0320",
    "ruby-helper",
    cause=("Ruby cannot load a library that attribute files may need; or a Ruby value is kept as its text."),
    example='default["fstab"]["ignored"] = /^tmpfs/',
    way_out="Write the text itself; keep helpers of attribute files apart from what needs Chef.",
)
SEVERAL_DOCUMENTS = kind(
    "NA0330",
    "several-documents",
    cause="A YAML file holds several documents where one layer is wanted.",
    example='read_layer("all.yaml")',
    way_out="Choose with document=1; on the command line each document is a layer.",
)
NO_DOCUMENT = kind(
    "NA0331",
    "no-document",
    cause="A file has fewer documents than were asked for.",
    example="nodeattrs fold all.yaml#3",
    way_out="Documents count from 1; the message says how many there are.",
)
TAG_REFUSED = kind(
    "NA0332",
    "tag-refused",
    cause="A function of tags= could not read the value under its tag.",
    example='read_layer("a.yaml", tags={"!int": int}) of the line port: !int http',
    way_out="Correct the line, or let the function take it.",
)
NO_LEVEL = kind(
    "NA0333",
    "no-level",
    cause="A data file under attributes/ sets no level; it is passed over.",
    example='attributes/users.json with {"users": ["ada"]}',
    way_out="Write default or another level above its keys; move data of programs into files/.",
)
NUMBER_FOR_TEXT = kind(
    "NA0334",
    "number-for-text",
    cause="A condition that compares the version of a platform, which is a text, with a number.",
    example="when: {platform_version: 12}",
    way_out='Quote it, or compare versions: {version: "12"}.',
)
DOTTED_KEY = kind(
    "NA0336",
    "dotted-key",
    cause="A dotted key and a path have the same steps; Spring reads them as one.",
    example="server.port: 9090 in one file, and server: {port: 8080} in another",
    way_out="Write both in one way.",
)

# Repositories and runs: NA04xx
FACT_FUNCTION_FAILED = kind(
    "NA0414",
    "fact-function-failed",
    cause="A function that gathers facts failed; what it would have set is absent.",
    example="an entry point of nodeattrs.facts that raises",
    way_out="Correct the function, or uninstall its package.",
)
EMPTY_RUN_LIST = kind(
    "NA0415",
    "empty-run-list",
    cause="Neither the repository nor the store has a run-list for the node, so nothing ran.",
    example="nodeattrs run --node web9",
    way_out="Write nodes/web9.json, or pass --run-list.",
)
SAME_KEY_AS_TEXT = kind(
    "NA0416",
    "same-key-as-text",
    cause=("A map has a number and its text as keys; the last of the two is saved."),
    example='node.default["ports"] = {80: "http", "80": "web"}',
    way_out="Write both as text.",
)
UNUSED_ROLE = kind(
    "NA0420",
    "unused-role",
    cause=("A role is on no run-list of a node, and no other text names it."),
    example="roles/old.json, where no file in nodes/ has role[old]",
    way_out="Remove it, or put it on a run-list.",
)
UNREAD_ATTRIBUTES = kind(
    "NA0421",
    "unread-attributes",
    cause="A cookbook with attribute files that no run-list reaches.",
    example="cookbooks/old/attributes/default.rb, where no node runs a recipe of old or of what depends on it",
    way_out="Remove the cookbook, or put a recipe of it on a run-list.",
)
ALWAYS_OVERRIDDEN = kind(
    "NA0422",
    "always-overridden",
    cause="A stronger value overrides this one on every node.",
    example="port: 80 in a role whose only environment has port: 8080 as an override",
    way_out="Remove it, or the value that overrides it.",
)
EQUAL_TO_OVERRIDDEN = kind(
    "NA0423",
    "equal-to-overridden",
    cause="A value that is what would be read without it, wherever it counts.",
    example="port: 80 in a role, and port: 80 in the environment of each of its nodes",
    way_out="Remove it: nodeattrs check --fix.",
)
MISSPELT = kind(
    "NA0424",
    "misspelt",
    cause="No code names this key, and it looks like one that code uses there.",
    example="apache: {listen_prot: 80} where cookbooks/apache sets listen_port",
    way_out="Write the key that the message names.",
)
TYPE_CHANGE = kind(
    "NA0425",
    "type-change",
    cause="A map overrides what is not a map, or is overridden by it: one hides the other whole.",
    example='app: "on" in an environment, and app: {port: 80} in a role',
    way_out="Write both in one shape.",
)
UNUSED_KEY = kind(
    "NA0426",
    "unused-key",
    cause="A Hiera key is no parameter of its module's class, and no text looks it up.",
    example="profile::web::prot: 80",
    way_out="Remove it, or correct the name.",
)
UNREAD_DATA_FILE = kind(
    "NA0427",
    "unread-data-file",
    cause="A file among Hiera's data that no level of the hierarchy can read.",
    example='data/nodes/web1.yml under path: "nodes/%{fqdn}.yaml"',
    way_out="Rename it, or name it in hiera.yaml.",
)
AGAINST_RULE = kind(
    "NA0428",
    "against-rule",
    cause="A value is set where a rule of `[[check.rules]]` does not allow it.",
    example='db: {password: secret} in a role, with {path = "**.password", only = ["data_bags"]}',
    way_out="Set it in one of the places that the rule names.",
)
AGAINST_SCHEMA = kind(
    "NA0429",
    "against-schema",
    cause="An attribute does not fit the JSON Schema of the repository.",
    example='port: "80" where the schema wants an integer',
    way_out="Correct the value at the line that is named, or the schema.",
)
UNUSED_ATTRIBUTE = kind(
    "NA0430",
    "unused-attribute",
    cause="An attribute that no cookbook names, in a map whose other keys cookbooks name one by one.",
    example="apache: {log_bak_dir: /srv} where cookbook apache sets and reads others below apache only",
    way_out="Remove it, or correct its path.",
)
FETCHED_COOKBOOK = kind(
    "NA0431",
    "fetched-cookbook",
    cause="A cookbook is not in the repository; a Berksfile, Cheffile or Policyfile fetches it.",
    example='depends "nginx" in a cookbook beside a Berksfile',
    way_out="For a closer check fetch it: berks vendor.",
)
SOLO_ATTRIBUTES = kind(
    "NA0432",
    "solo-attributes",
    cause=("A node document has attributes at its top, which only chef-solo reads (-j)."),
    example='nodes/web1.json: {"run_list": ["nginx"], "nginx": {"port": 80}}',
    way_out="Put them under normal, or pass the file as --json-attributes.",
)
DEPENDENCY_RING = kind(
    "NA0433",
    "dependency-ring",
    cause=("Cookbooks depend on each other in a ring; a run cuts it where it meets it."),
    example='depends "app" in cookbook db, and depends "db" in cookbook app',
    way_out="Remove a dependency where the order of attribute files matters.",
)
FOLDER_NAME = kind(
    "NA0434",
    "folder-name",
    cause=("A cookbook's folder has another name than its metadata, which Chef knows; here both work."),
    example='name "ntp" in cookbooks/ntp-cookbook/metadata.rb',
    way_out="Rename the folder.",
)
MISSING_ROLE = kind(
    "NA0435",
    "missing-role",
    cause="A run-list names a role that does not exist.",
    example='run_list: ["role[wbe]"] in nodes/web1.json',
    way_out="Write roles/NAME.json, .yaml or .py, or correct the name.",
)
MISSING_RECIPE = kind(
    "NA0436",
    "missing-recipe",
    cause="A run-list names a recipe that its cookbook does not have.",
    example='run_list: ["recipe[app::deploi]"] in roles/web.json',
    way_out="Write cookbooks/app/recipes/NAME.py, or correct the name.",
)
MISSING_ENVIRONMENT = kind(
    "NA0437",
    "missing-environment",
    cause="A node of the repository names an environment that is not there.",
    example="chef_environment: prodution in nodes/web1.json",
    way_out="Write environments/NAME.json, .yaml or .py, or correct the name.",
)
UNREAD_VALUE = kind(
    "NA0438",
    "unread-value",
    cause="No template of a Helm chart reads this value.",
    example="replicas: 2 in values-prod.yaml, where the templates read replicaCount alone",
    way_out="Remove it, or correct the name.",
)
COMPUTED_NAME = kind(
    "NA0439",
    "computed-name",
    cause="Templates of a Helm chart read values in a way that hides which, so unread ones are not looked for there.",
    example="{{ index .Values.env $name }} in templates/deployment.yaml",
    way_out="Nothing; it says what was not looked at.",
)
VALUE_CHANGES = kind(
    "NA0461",
    "value-changes",
    cause="This line changes values (`nodeattrs impact --format sarif`).",
    example="roles/web.json:12: 212 nodes: apache2.port 80 -> 8080",
    way_out="Nothing, if that is what you meant; --ignore-path PATH passes it over.",
)
NO_LONGER_ANSWERS = kind(
    "NA0462",
    "no-longer-answers",
    cause="Because of this line, nodes, sets or keys can no longer be resolved.",
    example="nodes/web1.json:5: 1 node: no answer: there is no role wbe",
    way_out="Correct what the message names.",
)
CHANGES_NOTHING = kind(
    "NA0463",
    "changes-nothing",
    cause="A changed line sets a value that is overridden on every subject.",
    example="roles/base.json:4: app.workers is overridden on all 3 nodes by environments/production.yaml:7",
    way_out="Write it where it counts, or remove it.",
)

IMPACT_NOT_KNOWN = kind(
    "NA0464",
    "impact-not-known",
    cause="`impact` may miss effects: a node cannot be resolved, or code was not run.",
    example="impact main..HEAD, where a node needs a cookbook that is not there",
    way_out="Correct what the details name, pass --facts, or accept it with --allow-unknown.",
)

# Stores: NA05xx
DAMAGED = kind(
    "NA0503",
    "damaged",
    cause="Stored data cannot be read back, or do not fit together.",
    example="nodeattrs store check, after a disk has failed",
    way_out="An older revision may be whole (`nodeattrs history`); else import an export.",
)
SAVED_NOTE = kind(
    "NA0505",
    "saved-note",
    cause=("A saved node's origins are not known: there is no snapshot, or the document was edited."),
    example="nodeattrs explain web1, after `store import` of a document that Chef wrote",
    way_out="Run the node again.",
)

# Fleets: NA14xx
WORKER_DIED = kind(
    "NA1402",
    "worker-died",
    cause="A process that ran nodes died, or several did over the same nodes.",
    example="nodeattrs fleet resolve --jobs 64",
    way_out="Memory may be short: run fewer at a time.",
)
CLUSTER_GONE = kind(
    "NA1403",
    "cluster-gone",
    cause="The scheduler of a cluster does not answer, or has no worker.",
    example="nodeattrs fleet resolve --executor dask:tcp://nowhere:8786",
    way_out="Start it again, and go on with --since.",
)
STORE_GONE = kind(
    "NA1404",
    "store-gone",
    cause="The store failed for many nodes in a row.",
    example="a server of PostgreSQL that was stopped, a disk that is full",
    way_out="Repair the store, and go on with --since.",
)
OTHER_REPOSITORY = kind(
    "NA1405",
    "other-repository",
    cause="A worker has another repository, or none.",
    example="a worker whose checkout is of yesterday",
    way_out="Update it there, or send it: --ship.",
)
OTHER_VERSION = kind(
    "NA1406",
    "other-version",
    cause="A worker has another version of nodeattrs, or none.",
    example="a worker that was not upgraded",
    way_out="Install the same version there.",
)
OTHER_CLOCK = kind(
    "NA1407",
    "other-clock",
    cause="The clock of a worker is another one, so that --since would pass over the wrong nodes.",
    example="a machine without NTP",
    way_out="Set the clock.",
)
BAD_PACK = kind(
    "NA1408",
    "bad-pack",
    cause="A repository that was sent is damaged, or holds something that is not its file.",
    example="a pack with the path ../../etc/passwd",
    way_out="Send it again; nothing was written.",
)
LEADS_OUT = kind(
    "NA1409",
    "leads-out",
    cause="A link leads out of the repository, and --ship sends nothing from elsewhere.",
    example="cookbooks/ntp -> /home/ann/ntp",
    way_out="Copy the target into the repository, or keep the repository on every machine.",
)
ALREADY_RUN = declared(
    "NA1410",
    "AlreadyRun",
    cause="A node that a fleet was to run again, after its worker was taken for dead.",
    example="A cluster hands web1 out again after a worker has lost its connection.",
    way_out="Nothing: what it left is there.",
)
