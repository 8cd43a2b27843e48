"""The kinds of errors and warnings of bindings: NA12xx.

Imports only `nodeattrs.codes`; `nodeattrs codes` prints them.
"""

from __future__ import annotations

from nodeattrs.codes import kind, other_kind

SEVERAL = kind(
    "NA1202",
    "BindingErrors",
    "several",
    cause="Several things are wrong, each with its own code in a check.",
    example="nodeattrs bindings inject a",
    way_out="`nodeattrs bindings check` lists them.",
)
CONFLICT = kind(
    "NA1203",
    "conflict",
    cause="Two declarations of one key at one precedence.",
    example="bind 'a' to 1 bind 'a' to 2",
    way_out="Remove one, or move it to another layer or category.",
)
TYPE_MISMATCH = kind(
    "NA1204",
    "TypeMismatch",
    "type-mismatch",
    cause="A value that does not conform to the type that was declared or asked for.",
    example="bind Integer, 'port' to 'many'",
    way_out="Correct the value or the type.",
)
MISSING = kind(
    "NA1205",
    "NotBound",
    "missing",
    cause="A key that nothing is bound to, or that produced nothing.",
    example="nodeattrs bindings inject ssh::prot",
    way_out="The hint has near misses; `nodeattrs bindings list` prints all keys.",
)
LOOKUP_LOOP = kind(
    "NA1206",
    "LookupLoop",
    "lookup-loop",
    cause="A key that needs itself.",
    example="bind 'a' to \"${b}\" bind 'b' to \"${a}\"",
    way_out="Break the circle in one of them.",
)
ABSTRACT_NOT_OVERRIDDEN = kind(
    "NA1207",
    "abstract-not-overridden",
    cause="An abstract binding that no layer overrides.",
    example="bind abstract 'port'",
    way_out="Bind it in a higher layer.",
)
OVERRIDE_WITHOUT_BASE = kind(
    "NA1208",
    "override-without-base",
    cause="An override of what no lower layer binds.",
    example="bind override 'prot' to 2222",
    way_out="Correct the name, or leave `override` out.",
)
FINAL_OVERRIDDEN = kind(
    "NA1209",
    "final-overridden",
    cause="A final binding is bound again above.",
    example="a module binds final 'port', and the site binds 'port' again",
    way_out="Remove one of the two, or `final`.",
)
NO_PRODUCER = kind(
    "NA1210",
    "no-producer",
    cause="A binding has no producer: it does not say which value it gives.",
    example="bind 'port'",
    way_out="Write `to ...`, or `abstract`.",
)
NO_KEY = kind(
    "NA1211",
    "no-key",
    cause="A binding without type and name.",
    example="bind to 5",
    way_out="Give it a name, or say `in 'id'`.",
)
INSTANCE_AS_KEY = kind(
    "NA1212",
    "instance-as-key",
    cause="An instance exists already; its type cannot be bound to another.",
    example="bind Web['one'] to 5",
    way_out="Bind its parameters.",
)
RESERVED_NAME = kind(
    "NA1213",
    "reserved-name",
    cause="A name that begins with a slash is the library's.",
    example="bind '/classes' to []",
    way_out="Use `include`, `bind parameters` or another name.",
)
BAD_OPTION = kind(
    "NA1214",
    "bad-option",
    cause="An option that a binding, a query or a multibind does not have.",
    example="bind 'a' to 5 { colour => red }",
    way_out="The hint lists those that it has.",
)
BAD_TYPE = kind(
    "NA1215",
    "bad-type",
    cause="A text or an annotation that is no type.",
    example='Bindings("x").bind("a", "Array[String")',
    way_out="Write it as Array[String], Hash[String, Integer], class ntp.",
)
MULTIBIND_BAD_TYPE = kind(
    "NA1216",
    "multibind-bad-type",
    cause="A multibind that is neither an Array nor a Hash.",
    example="multibind Integer, 'ids'",
    way_out="multibind Array[Integer], 'ids'",
)
MULTIBIND_WITH_PRODUCER = kind(
    "NA1217",
    "multibind-with-producer",
    cause="A multibind takes no producer: its fragments do.",
    example='Bindings("x").multibind("ids", list).to([1])',
    way_out="Write bind to 1 in 'ids'.",
)
REBIND_MISSING = kind(
    "NA1218",
    "rebind-missing",
    cause="A rebinding of what nothing below binds.",
    example="rebind 'prot'",
    way_out="Correct the name.",
)
REBIND_WITH_PRODUCER = kind(
    "NA1219",
    "rebind-with-producer",
    cause="A rebinding keeps the producer, and cannot have its own.",
    example='{"kind": "rebind", "key": "port", "to": 5} in data',
    way_out="Use bind override.",
)
ABSTRACT_WITH_PRODUCER = kind(
    "NA1220",
    "abstract-with-producer",
    cause="An abstract binding with a producer.",
    example="bind abstract 'port' to 22",
    way_out="Leave one of the two out.",
)
ABSTRACT_PARAMETERS = kind(
    "NA1221",
    "abstract-parameters",
    cause="Parameters of a class cannot be abstract.",
    example="bind abstract parameters ntp to { servers => [] }",
    way_out="Leave `abstract` out: the class says what must be given.",
)
MAP_REQUIRED = kind(
    "NA1222",
    "map-required",
    cause="Two types without a parameter name in common.",
    example="bind parameters Web to Db",
    way_out="Say which fills which: { map => { port => listen } }.",
)
TYPE_ALREADY_BOUND = kind(
    "NA1223",
    "type-already-bound",
    cause="Something already gives the parameters of the type.",
    example="two instances of one type for one target",
    way_out="Remove one of them.",
)
AMBIGUOUS_CLASS = kind(
    "NA1224",
    "ambiguous-class",
    cause="Two Python classes of one name.",
    example="a.Web and b.Web",
    way_out='Name one of them: classes={"OtherWeb": ...}.',
)
TOO_DEEP = kind(
    "NA1225",
    "too-deep",
    cause="Look-ups, or data, nested too deeply.",
    example="a chain of thousands of look-ups",
    way_out="Shorten the chain.",
)
NOTHING_PRODUCED = kind(
    "NA1226",
    "nothing-produced",
    cause="A fragment, a query or an instance gave nothing.",
    example="an instance Web['gone'] that is not among the objects",
    way_out="Say `optional` where that is meant.",
)
DUPLICATE_FRAGMENT = kind(
    "NA1227",
    "duplicate-fragment",
    cause="A multibind has two fragments of one name.",
    example="multibind Hash, 'users' bind 'anna' to 1 in 'users' bind 'anna' to 2 in 'users'",
    way_out="Rename one, or set combinator.",
)
UNNAMED_FRAGMENT = kind(
    "NA1228",
    "unnamed-fragment",
    cause="A multibind that is a hash, and a fragment without a name.",
    example="multibind Hash, 'users' bind to 5 in 'users'",
    way_out="bind 'anna' to 5 in 'users'",
)
QUERY_RESULT_COUNT = kind(
    "NA1229",
    "query-result-count",
    cause="A query that must find one found none or several.",
    example="Db[?? role == main], where two have that role",
    way_out="Narrow it, pick one with select_result, or say optional.",
)
UNKNOWN_CLASS = kind(
    "NA1230",
    "unknown-class",
    cause="No class of that name.",
    example="bind 'a' to Type[Sever]",
    way_out="Correct the name, or pass classes={...}.",
)
UNKNOWN_VARIABLE = kind(
    "NA1231",
    "unknown-variable",
    cause="The variable is not set.",
    example="bind 'a' to \"$rack\"",
    way_out="Bind it with `bind variables`, or give it with the state.",
)
ARGUMENTS = kind(
    "NA1232",
    "arguments",
    cause="Arguments where none are taken, or that do not fit.",
    example="inject('a', 5) of a constant",
    way_out="Leave them out.",
)
EXPRESSION = kind(
    "NA1233",
    "expression",
    cause="An expression that cannot be evaluated.",
    example="bind 'a' to 'x' { transformer => |$x| { $x + [] } }",
    way_out="The message has the values it met.",
)
FUNCTION_FAILED = kind(
    "NA1234",
    "function-failed",
    cause="A function that bindings call raised.",
    example="a producer that divides by zero",
    way_out="Correct the function.",
)
SYNTAX = kind(
    "NA1235",
    "syntax",
    cause="A text that is not in the bindings language.",
    example="bind 'a' to",
    way_out="Correct the place that is named.",
)
FORMAT = kind(
    "NA1236",
    "format",
    cause="Data that does not have the form of bindings.",
    example='{"items": [{"kind": "bnid"}]}',
    way_out="docs/bindings.md has the form; the hint has near misses.",
)
NOT_DATA = kind(
    "NA1237",
    "not-data",
    cause="Something that has no data form.",
    example="to_data of a set that binds a Python function",
    way_out="Name it with functions={...} or classes={...}.",
)
TWO_FILES = kind(
    "NA1238",
    "two-files",
    cause="Two files hold one set of bindings.",
    example="bindings/default.pp beside bindings/default.yaml",
    way_out="Keep one.",
)
TWO_PRODUCERS = kind(
    "NA1239",
    "two-producers",
    cause="One binding with two producers.",
    example=".to(1).to(2)",
    way_out="Keep one.",
)
SET_NAME = kind(
    "NA1240",
    "set-name",
    cause="A set has another name than its file.",
    example="bindings web in bindings/default.pp",
    way_out="Rename one of them.",
)
NO_SUCH_SET = kind(
    "NA1241",
    "no-such-set",
    cause="A set that is named and is not there.",
    example="include: module:/ntp::deafult",
    way_out="Correct the name, or write ?optional behind it.",
)
BAD_URI = kind(
    "NA1242",
    "bad-uri",
    cause="A text that is no reference to sets.",
    example="include: ntp",
    way_out="Write module:/ntp::default.",
)
UNKNOWN_SCHEME = kind(
    "NA1243",
    "unknown-scheme",
    cause="A scheme without a provider.",
    example="include: vault:/x",
    way_out="Use confdir or module, or install its provider.",
)
BAD_LAYER = kind(
    "NA1244",
    "bad-layer",
    cause="A layer that is not a map with a name and references.",
    example="layers: [site]",
    way_out="Write {name: site, include: ...}.",
)
BAD_MODE = kind(
    "NA1245",
    "bad-mode",
    cause="A mode that does not exist.",
    example='mode="strict"',
    way_out="Use tuple or documented.",
)
BAD_PATH = kind(
    "NA1246",
    "bad-path",
    cause="A path that leaves the site.",
    example="confdir:/../x",
    way_out="Write paths without ..",
)
NO_SUCH_DIRECTORY = kind(
    "NA1247",
    "no-such-directory",
    cause="The site, or its confdir, is no directory.",
    example="nodeattrs bindings check --site nosuch",
    way_out="Correct the name.",
)
PROVIDER_FAILED = kind(
    "NA1248",
    "provider-failed",
    cause="A provider of sets raised.",
    example="a provider without its server",
    way_out="Correct the provider.",
)
CLASSIFIER_FAILED = kind(
    "NA1249",
    "classifier-failed",
    cause="The external node classifier cannot be asked, or did not answer with YAML.",
    example="a classifier that ends with 1",
    way_out="Run it by hand with the node's name.",
)
CATEGORY_COMMON = kind(
    "NA1250",
    "category-common",
    cause="The category common is always there, and last.",
    example="categories: [[common, true]]",
    way_out="Leave it out.",
)
CATEGORY_ENVIRONMENT_VALUE = kind(
    "NA1251",
    "category-environment-value",
    cause="The category environment has a value of its own.",
    example="environment => prod",
    way_out="Write environment => true: only its place can be chosen.",
)
CATEGORY_ORDER = kind(
    "NA1252",
    "category-order",
    cause="The category node is below environment.",
    example="environment before node",
    way_out="Put node above environment.",
)
CATEGORIES_TWICE = kind(
    "NA1253",
    "category-twice",
    "categories-twice",
    cause="A category, or the list of categories, is declared twice.",
    example="two lines for rack",
    way_out="Keep one.",
)
CATEGORY_TWICE = other_kind("category-twice", CATEGORIES_TWICE.entry)
CATEGORY_VALUE = kind(
    "NA1254",
    "category-value",
    cause="A value that a category cannot have.",
    example="rack => [1, 2]",
    way_out="Use one text.",
)
ENVIRONMENT_ATTRIBUTE = kind(
    "NA1255",
    "environment-attribute",
    cause="An environment has no such attribute, or it is not text.",
    example="environment: {colour: red}",
    way_out="The hint lists the attributes.",
)
ENVIRONMENT_TWICE = kind(
    "NA1256",
    "environment-twice",
    cause="One environment is declared twice.",
    example="two declarations of production",
    way_out="Keep one.",
)
UNKNOWN_ENVIRONMENT = kind(
    "NA1257",
    "unknown-environment",
    cause="An environment that the site does not declare.",
    example="nodeattrs bindings check -E prodution",
    way_out="Declare it, or correct the name.",
)
ENVDIR_NOT_ALLOWED = kind(
    "NA1258",
    "envdir-not-allowed",
    cause="A dynamic environment has its own directory.",
    example="envdir below dynamic",
    way_out="Leave envdir out.",
)
DYNAMIC_NOT_ABSOLUTE = kind(
    "NA1259",
    "dynamic-not-absolute",
    cause="Dynamic environments live below an absolute directory.",
    example="dynamic: {dir: environments}",
    way_out="Write the whole path.",
)
UNKNOWN_ID = kind(
    "NA1271",
    "unknown-id",
    cause="Fragments are bound in a multibind that is not declared.",
    example="bind 'a' to 5 in 'usres'",
    way_out="Correct the id, or declare it: multibind Array, 'usres'.",
)
SHARED_ID = kind(
    "NA1272",
    "shared-id",
    cause="Two multibinds have one id, and share their fragments.",
    example="multibind Array, 'users' multibind Array, 'admins' as 'users'",
    way_out="Rename one.",
)
ABSTRACT_CLASS = kind(
    "NA1273",
    "abstract-class",
    cause="A class that cannot be made, a Protocol or an abstract one, is bound.",
    example="app.bind(Repo).to_class(Repo), and Repo is a Protocol",
    way_out="Bind a class that has all methods.",
)
UNFILLED = kind(
    "NA1274",
    "unfilled",
    cause="A factory's parameter has no annotation that names a key.",
    example='app.bind("db").to_factory(lambda url: connect(url))',
    way_out=('Write `Annotated[str, named("db_url")]`, give a default, or make it a keyword of the caller.'),
)
SCOPE = kind(
    "NA1275",
    "scope",
    cause="A key of a scope is needed where no such scope is open.",
    example='app.bind(Session).to_class(Session).scope("request"), and a singleton needs it',
    way_out='Ask inside of `with injector.scope("request")`, or put its user into that scope.',
)
NEEDS_AWAIT = kind(
    "NA1276",
    "needs-await",
    cause="A value is made, or closed, asynchronously.",
    example='injector.inject("db"), where an `async def` makes it',
    way_out="Write `await injector.ainject(...)`, `await injector.aclose()`.",
)
