"""Attribute files as data: what they set, when they count, what they are told, and that a program says the same."""

import itertools
import json
import textwrap

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeattrs import Node
from nodeattrs.core.claim import Origin
from nodeattrs.dialects.chef.causes import causes
from nodeattrs.dialects.chef.checks.checking import checked
from nodeattrs.dialects.chef.facts import Facts
from nodeattrs.dialects.chef.repository.attribute_data import FACT_WORDS as TESTS
from nodeattrs.dialects.chef.repository.attribute_data import SUFFIXES, WORDS, read_data, set_data
from nodeattrs.dialects.chef.repository.cookbooks import Cookbook
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.dialects.chef.run.run import run_node
from nodeattrs.errors import DocumentError
from nodeattrs.node.running import setting_as
from tests import schemas

UBUNTU = {"platform": "ubuntu", "platform_family": "debian", "platform_version": "22.04", "cpu": {"total": 4}}
FILE = "cookbooks/shop/attributes/default.yaml"


def made(folder, files, **more):
    """A repository with one node, web1, which runs the cookbook shop."""
    given = {
        "nodes/web1.json": '{"run_list": ["recipe[shop]"]}',
        "cookbooks/shop/recipes/default.py": "",
        **{(name if "/" in name else f"cookbooks/shop/attributes/{name}"): text for name, text in files.items()},
    }
    for name, text in given.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return Repository(folder)


def ran(folder, files, facts=None, **more):
    """The run of its node."""
    return run_node(made(folder, files), "web1", facts=Facts({**UBUNTU, **(facts or {})}, Origin("facts")), **more)


def read(folder, text, file="default.yaml"):
    """One file alone."""
    path = folder / file
    path.write_text(textwrap.dedent(text))
    return read_data(path, FILE, "shop::default")


class TestWhatItSets:
    @pytest.mark.parametrize(
        ("file", "text"),
        [
            ("default.yaml", "default:\n  shop:\n    port: 80\noverride: {shop: {tls: true}}\n"),
            ("default.json", '{"default":\n {"shop":\n {"port": 80}},\n"override": {"shop": {"tls": true}}}'),
            ("default.toml", "\n\n[default]\nshop.port = 80\n[override.shop]\ntls = true\n"),
        ],
    )
    def test_each_notation_says_the_same_and_each_leaf_its_line(self, tmp_path, file, text):
        """By the level, the slot of attribute files, and the place in the file."""
        done = ran(tmp_path, {file: text})

        assert {"port": 80, "tls": True} == done.node["shop"].to_dict()
        winner = done.node.trace("shop.port").winner
        assert (1, "attribute file shop::default") == (winner.rank, winner.origin.who)
        place = text.split("\n").index(next(line for line in text.split("\n") if "port" in line)) + 1
        assert f"cookbooks/shop/attributes/{file}:{place}" == winner.origin.place
        assert 9 == done.node.trace("shop.tls").winner.rank
        assert [f"shop/attributes/{file}"] == done.attribute_files

    def test_maps_meet_and_everything_else_is_replaced(self, tmp_path):
        """Lists as a whole; an empty map changes no map; a map replaces a scalar, and the history knows it."""
        files = {
            "default.yaml": "default: {a: {b: 1, l: [1, 2], m: {x: 1}, s: 5}}",
            "more.yaml": "default: {a: {b: 2, l: [3], m: {}, s: {t: 1}}}",
        }

        node = ran(tmp_path, files).node

        assert {"b": 2, "l": [3], "m": {"x": 1}, "s": {"t": 1}} == node["a"].to_dict()
        assert [5] == [event.claim.value for event in node.trace("a.s").history]

    def test_an_empty_map_over_a_map_is_what_is_left_without_that(self, tmp_path):
        """It says nothing in the value, and hides what weaker levels say once the lines inside of the map are gone."""
        files = {
            "default.json": '{"override": {"e": {"t": 1}}}',
            "more.yaml": "override:\n  e: {}\nforce_default: {e: low}",
        }

        node = ran(tmp_path, files).node

        assert {"t": 1} == node["e"].to_dict()
        (past,) = node.trace("e").history
        assert ("overwritten", {}) == (past.event, past.claim.value)
        assert "cookbooks/shop/attributes/more.yaml:2" == past.claim.origin.place

    def test_unless_sets_only_what_has_no_value_there(self, tmp_path):
        """Null counts as none; a scalar stays though a map would lie below it; what stayed silent has its line."""
        files = {
            "default.yaml": "default: {a: {b: 1, n: null, s: 5}}",
            "more.yaml": "default_unless:\n  a:\n    b: 2\n    n: 3\n    s: {t: 1}\n    z: {q: 1}\n",
        }

        node = ran(tmp_path, files).node

        assert {"b": 1, "n": 3, "s": 5, "z": {"q": 1}} == node["a"].to_dict()
        (silent,) = node.trace("a.b").history
        assert ("silent", 2) == (silent.event, silent.claim.value)
        assert "cookbooks/shop/attributes/more.yaml:3" == silent.claim.origin.place

    def test_normal_goes_on_from_the_last_run(self, tmp_path):
        """What is normal in data is laid over what was saved; `normal_unless` leaves it."""
        files = {"default.yaml": "normal: {a: {x: 1}}\nnormal_unless: {a: {y: 1}}"}
        saved = Node("web1")
        saved.normal["a"] = {"x": 7, "y": 7, "z": 7}

        assert {"x": 1, "y": 7, "z": 7} == ran(tmp_path, files, saved=saved).node["a"].to_dict()

    def test_a_condition_may_ask_a_sensitive_fact(self, tmp_path):
        files = {
            "default.yaml": "blocks: [{when: {cloud.token: t1, zones: {has: z1}}, default: {a: 1}}]",
            "./nodeattrs.toml": 'sensitive = ["cloud.token", "zones"]\n',
        }
        facts = {"cloud": {"token": "t1"}, "zones": ["z1"]}

        assert 1 == ran(tmp_path, files, facts=facts).node["a"]

    def test_sensitive_paths_are_secrets_in_it_too(self, tmp_path):
        """Also where nodes begin with it."""
        files = {"default.yaml": "default: {db: {password: x1}}", "nodeattrs.toml": "", "a/b": ""}
        files["./nodeattrs.toml"] = 'sensitive = ["db.password"]\n'

        assert "x1" not in str(ran(tmp_path, files).node.trace("db.password"))

    @given(st.data())
    def test_a_program_that_sets_each_leaf_comes_to_the_same(self, tmp_path_factory, data):
        """Values, key order and slots; some files are folded before the node is there, some are not."""
        leaf = st.one_of(st.integers(0, 3), st.lists(st.integers(0, 2), max_size=2), st.none())
        tree = st.recursive(
            leaf, lambda below: st.dictionaries(st.sampled_from("ab"), below, min_size=1, max_size=2), max_leaves=4
        )
        level = st.sampled_from(["default", "force_default", "override", "normal"])
        step = st.tuples(level, st.dictionaries(st.sampled_from("ab"), tree, min_size=1, max_size=2))
        steps = data.draw(st.lists(step, min_size=1, max_size=4))
        program_first = data.draw(st.booleans())
        folder = tmp_path_factory.mktemp("law")
        files = {f"f{at}.json": json.dumps({level: tree}) for at, (level, tree) in enumerate(steps)}
        if program_first:
            files["default.py"] = "pass\n"

        got = ran(folder, files).node
        wanted = Node("web1")
        with setting_as(wanted, "attribute file", "shop"):
            for level, tree in steps:
                for path, value in leaves(tree):
                    getattr(wanted, level).write(*path, value)

        for number in (1, 5, 7, 9):
            ours = got.slots[number].to_dict()
            ours.pop("tags", None)
            assert json.dumps(wanted.slots[number].to_dict()) == json.dumps(ours)


def leaves(tree, path=()):
    """Path and value of everything that is not a map."""
    if not isinstance(tree, dict):
        return [(path, tree)]
    return list(itertools.chain.from_iterable(leaves(value, (*path, key)) for key, value in tree.items()))


CONDITIONS = [
    ("{platform: ubuntu}", True),
    ("{platform: debian}", False),
    ("{platform_version: 22.04}", False),
    ("{cpu.total: 4}", True),
    ("{cpu.total: true}", False),
    ("{cloud: null}", True),
    ("{cloud: {not: null}}", False),
    ("{cpu: null}", False),
    ("{platform_family: [rhel, debian]}", True),
    ("{cloud: [ec2, null]}", True),
    ("{platform: [debian]}", False),
    ('{platform_version: {version: ">= 22.04, < 24"}}', True),
    ('{platform_version: {version: "~> 22.1"}}', True),
    ('{platform_version: {version: "~> 22.10"}}', False),
    ('{platform_version: {version: "~> 21"}}', False),
    ('{platform_version: {version: "22.04.0"}}', True),
    ("{platform_version: {version: 22}}", False),
    ('{cpu.total: {version: ">= 4"}}', True),
    ('{cloud: {version: ">= 0"}}', False),
    ("{roles: {has: web}}", False),
    ('{recipes: {has: "shop::default"}}', True),
    ("{expanded_run_list: {not: {has: other}}}", True),
    ("{platform: {not: [debian, ubuntu]}}", False),
    ("{platform: {not: {not: ubuntu}}}", True),
    ("{platform: ubuntu, platform_family: rhel}", False),
    ("[{platform: debian}, {cpu.total: 4}]", True),
    ("{not: {platform: ubuntu, cpu.total: 5}}", True),
    ("{not: [{platform: ubuntu}, {cpu.total: 5}]}", False),
    ("{name: web1, chef_environment: _default}", True),
]


class TestConditions:
    @pytest.mark.parametrize(("when", "is_met"), CONDITIONS)
    @pytest.mark.parametrize("before", ["", "pass"], ids=["folded before", "laid after a program"])
    def test_a_block_counts_where_its_condition_is_met(self, tmp_path, when, is_met, before):
        """The table of docs/attribute-data.md; the schema takes all of them."""
        text = f"blocks:\n  - when: {when}\n    default: {{a: 1}}\n"

        assert ("a" in ran(tmp_path, {"z.yaml": text, **({"default.py": before} if before else {})}).node) == is_met

    def test_the_table_of_the_page_has_all_words(self):
        """And no other."""
        page = (schemas.FOLDER.parents[1] / "docs" / "attribute-data.md").read_text("utf-8")

        assert set(TESTS) == {"not", "has", "version"}
        assert all(f"`{word}`" in page or f"{{{word}: " in page for word in (*TESTS, *WORDS))

    def test_the_condition_of_a_file_is_that_of_its_blocks_too(self, tmp_path):
        """A file that does not count says nothing."""
        text = "when: {platform: debian}\ndefault: {a: 1}\nblocks:\n  - default: {b: 1}\n"

        assert not {"a", "b"} & set(ran(tmp_path, {"default.yaml": text}).node)

    def test_conditions_are_asked_as_the_run_begins(self, tmp_path):
        """What a program writes into automatic attributes changes none."""
        files = {
            "default.py": 'from nodeattrs.recipe import node\nnode.automatic["site"] = "x"\n',
            "more.yaml": "when: {site: x}\ndefault: {a: 1}\n",
        }

        assert "a" not in ran(tmp_path, files).node

    def test_nodes_of_one_fleet_share_what_is_folded_and_no_condition(self, tmp_path):
        """One repository, several nodes: each has what its own facts say, and they do not see each other's writes."""
        text = "default: {a: {x: 1}}\nblocks: [{when: {platform: debian}, default: {a: {x: 2}}}]"
        recipe = 'from nodeattrs.recipe import node\nnode.default["a"]["y"] = node["platform"]\n'
        repository = made(tmp_path, {"default.yaml": text, "cookbooks/shop/recipes/default.py": recipe})

        def one(platform):
            return (
                run_node(repository, "web1", facts=Facts({"platform": platform}, Origin("facts"))).node["a"].to_dict()
            )

        assert [one(name) for name in ("debian", "ubuntu", "debian")] == [
            {"x": 2, "y": "debian"},
            {"x": 1, "y": "ubuntu"},
            {"x": 2, "y": "debian"},
        ]

    def test_values_that_python_takes_for_one_are_not_one_to_conditions(self, tmp_path):
        """Each node is asked for itself, also behind one whose fact was equal, or had nothing there."""
        text = "blocks: [{when: {rack: 1}, default: {a: number}}, {when: {rack: '1'}, default: {a: text}}]"
        repository = made(tmp_path, {"default.yaml": text})

        def one(**facts):
            node = run_node(repository, "web1", facts=Facts({"platform": "x", **facts}, Origin("facts"))).node
            return node.get("a")

        racks = [{"rack": 1}, {"rack": True}, {"rack": "1"}, {"rack": "2"}, {}, {"rack": ["1"]}, {"rack": "1"}]
        assert ["number", None, "text", None, None, None, "text"] == [one(**rack) for rack in racks]

    def test_an_explanation_names_the_line_of_the_condition(self, tmp_path):
        """Beside what asked for the cookbook."""
        text = "default: {a: 1}\nblocks:\n  - when:\n      platform: ubuntu\n    default: {a: 2}\n"
        repository = made(tmp_path, {"default.yaml": text})
        run = run_node(repository, "web1", facts=Facts(UBUNTU, Origin("facts")))

        origins = [one.origin for one in run.node.trace("a").claims]

        assert [f"{FILE}:4", "nodes/web1.json:1"] == [str(one.origin.place) for one in causes(repository, run, origins)]


class TestOrder:
    def test_data_comes_before_the_program_of_its_name(self, tmp_path):
        """The default files first, as always, and the program sees what the data has set."""
        files = {
            "default.py": 'from nodeattrs.recipe import default, node\ndefault["seen"] = node["a"]\ndefault["a"] = 2\n',
            "default.yaml": "default: {a: 1}",
            "b.json": '{"default": {"b": 1}}',
            "a.py": "pass\n",
        }

        done = ran(tmp_path, files)

        assert (1, 2) == (done.node["seen"], done.node["a"])
        names = ["default.yaml", "default.py", "a.py", "b.json"]
        assert [f"shop/attributes/{name}" for name in names] == done.attribute_files

    def test_including_a_name_loads_both(self, tmp_path):
        """And each once."""
        files = {
            "default.py": 'from nodeattrs.recipe import *\ninclude_attribute("shop::z")\ndefault["s"] = node["z"]\n',
            "z.yaml": "default: {z: 1}",
            "z.py": 'from nodeattrs.recipe import default\ndefault["z"] = 2\n',
        }

        done = ran(tmp_path, files)

        assert 2 == done.node["s"]
        assert ["default.py", "z.yaml", "z.py"] == [file.rpartition("/")[2] for file in done.attribute_files]

    @pytest.mark.parametrize(
        ("files", "wanted"),
        [
            (["attributes/default.yaml"], {"default": ("attributes/default.yaml",)}),
            (["attributes/a.yaml", "attributes/x/a.yaml"], {"a": ("attributes/x/a.yaml",)}),
            (["attributes/x/a.yaml", "attributes/a.py"], {"a": ("attributes/x/a.yaml", "attributes/a.py")}),
            (["attributes.py", "attributes/default.toml"], {"default": ("attributes/default.toml", "attributes.py")}),
            (["attributes.yaml", "files/a.yaml", "attributes.json"], {}),
        ],
    )
    def test_names_are_those_of_programs(self, files, wanted):
        """Of two files of one name and kind the last one counts; none beside the metadata."""
        assert wanted == Cookbook("shop", files=tuple(files)).attribute_files

    @pytest.mark.parametrize("pair", list(itertools.combinations(("yaml", "json", "toml", "yml"), 2)))
    def test_one_name_in_two_notations_is_an_error(self, pair):
        """It cannot be known which counts."""
        files = tuple(f"attributes/default.{suffix}" for suffix in pair)

        with pytest.raises(DocumentError, match="are one file in two") as caught:
            _ = Cookbook("shop", files=files).attribute_files
        assert "two-languages" == caught.value.kind


WRONG = [
    ("defualt: {a: 1}", "1:1", "no level called defualt", "did you mean default?"),
    ("default_attributes: {a: 1}", "1:1", "no level called default_attributes", "write default"),
    ("default: {}\ndefault_full: {a: 1}", "2:1", "no level called default_full", "write it in Python"),
    ("default: [1]", "1:1", "must be a map", ""),
    ("blocks: [{wehn: {a: 1}}]", "1:11", "no level called wehn", "did you mean when?"),
    ("blocks: {a: 1}", "1:1", "must be a list", ""),
    ("blocks: [{blocks: []}]", "1:11", "no level called blocks", "the levels are"),
    ("when: ubuntu", "1:1", "a condition is a map of facts", ""),
    ("when: {platform: {verison: '1'}}", "1:19", "no condition is called verison", "did you mean version?"),
    ("when: {kernel: {machine: x}}", "1:17", "no condition is called machine", "kernel.machine: ..."),
    ("when: {platform: {version: 'x > 1'}}", "1:19", "is no version constraint", "write an operator"),
    ("when: {platform: [{a: 1}]}", "1:8", "a list in a condition has", ""),
    ("when: {platform: {}}", "1:8", "is never empty", ""),
    ("when: {'a..b': 1}", "1:8", "cannot read the path", ""),
    ("when: {12: 1}", "1:8", "12 is no path of a fact", ""),
    ("when: {roles: {has: [a]}}", "1:16", "has names one element", ""),
]


class TestWhatIsWrong:
    @pytest.mark.parametrize(("text", "place", "message", "hint"), WRONG)
    def test_an_error_names_its_place_and_the_way_out(self, tmp_path, text, place, message, hint):
        """File, line and column of the key."""
        with pytest.raises(DocumentError) as caught:
            read(tmp_path, text)

        assert str(caught.value).startswith(f"{FILE}:{place}: "), caught.value
        assert message in str(caught.value)
        assert hint in str(caught.value)

    def test_all_that_is_wrong_is_one_error(self, tmp_path):
        """Each with its line."""
        with pytest.raises(DocumentError) as caught:
            read(tmp_path, "defualt: {}\noverride: 3\nblocks:\n  - when: 1\n")

        assert [1, 2, 4] == [line for line in range(1, 5) if f"{FILE}:{line}:" in str(caught.value)]

    @pytest.mark.parametrize("text", ["users: [ada]", "[1, 2]", "plain"])
    def test_a_file_of_somebody_else_is_passed_over_with_a_warning(self, tmp_path, text):
        """Programs may keep data beside themselves."""
        done = ran(tmp_path, {"users.yaml": text})

        assert ["no-level"] == [one.kind for one in done.warnings]
        assert "users" not in done.node

    def test_an_empty_file_says_nothing(self, tmp_path):
        """And is no fault."""
        assert [] == ran(tmp_path, {"default.yaml": "# later\n"}).warnings

    def test_a_version_as_a_number_is_a_warning(self, tmp_path):
        """Facts have it as a text."""
        (warning,) = read(tmp_path, "when: {platform_version: 12}").warnings

        assert ("number-for-text", 'write "12"') == (warning.kind, warning.hint)

    @pytest.mark.parametrize(
        ("text", "is_valid"),
        [
            ('default: {a: {b: [1]}}\nwhen: {a: {version: "> 1"}}\nblocks: [{when: [{a: {not: [1, null]}}]}]', True),
            *((f"when: {when}", True) for when, _ in CONDITIONS),
            *((text, False) for text, *_ in WRONG if not any(one in text for one in ("x > 1", "{}}", "..", "12:"))),
        ],
    )
    def test_the_schema_takes_what_we_take(self, tmp_path, text, is_valid):
        """What an editor marks is what a run refuses, but for texts in it."""
        path = tmp_path / "a.yaml"
        path.write_text(text)
        from nodeattrs.formats.documents import read as document

        assert jsonschema.Draft202012Validator(schemas.document("attributes")).is_valid(document(path).tree) == is_valid


class TestChecks:
    def found(self, folder, files):
        """Kind, place and message of each finding."""
        done = checked(made(folder, files))
        return [(one.kind, f"{one.file}:{one.line}", one.message) for one in (*done.faults, *done.warnings)]

    def test_a_file_is_read_by_a_check(self, tmp_path):
        """Faults and warnings."""
        found = self.found(tmp_path, {"default.yaml": "defualt: {}", "b.yaml": "x: 1"})

        assert {("", f"{FILE}:1"), ("no-level", "cookbooks/shop/attributes/b.yaml:1")} == {one[:2] for one in found}

    def test_a_key_that_code_spells_otherwise_is_misspelt(self, tmp_path):
        """In data as in a role; and a role is judged by what data sets."""
        files = {
            "default.yaml": "default:\n  shop: {listen_prot: 1, listen_host: a}\n",
            "cookbooks/shop/recipes/default.py": 'a = node["shop"]["listen_port"]\nb = node["shop"]["listen_host"]\n',
            "roles/r.yaml": "name: r\ndefault_attributes: {shop: {listen_hots: b}}\n",
            "nodes/web1.json": '{"run_list": ["recipe[shop]", "role[r]"]}',
        }

        found = [one[:2] for one in self.found(tmp_path, files) if one[0] == "misspelt"]

        assert [("misspelt", f"{FILE}:2"), ("misspelt", "roles/r.yaml:2")] == found

    def test_a_role_that_shadows_a_map_of_data_is_found(self, tmp_path):
        """One hides the other."""
        files = {
            "default.yaml": "default: {shop: {tls: {port: 1}}}",
            "roles/r.yaml": "default_attributes: {shop: {tls: 1}}",
            "nodes/web1.json": '{"run_list": ["recipe[shop]", "role[r]"]}',
        }

        assert "type-change" in [one[0] for one in self.found(tmp_path, files)]

    def test_a_fact_that_is_spelled_nearly_so_is_found(self, tmp_path):
        """By the facts at hand; one that nothing is like is let be."""
        files = {
            "default.yaml": "when:\n  platform_famly: debian\n  rack: r1\n  roles: {has: x}\n  kernel.machnie: x\n"
        }

        found = [one for one in self.found(tmp_path, files) if one[0] == "misspelt"]

        assert [f"{FILE}:2", f"{FILE}:5"] == [place for _, place, _ in found]
        assert "did you mean platform_family?" in found[0][2]

    def test_what_data_sets_between_two_layers_keeps_them_from_being_judged_equal(self, tmp_path):
        """As a program would."""
        same = "default_attributes: {a: 1}\noverride_attributes: {a: 1}\nname: r\n"
        node = {"nodes/web1.json": '{"run_list": ["recipe[shop]", "role[r]"]}', "roles/r.yaml": same}

        kinds = [
            {one[0] for one in self.found(tmp_path / name, {**node, "default.yaml": f"{name}: {{a: 3}}"})}
            for name in ("force_default", "default")
        ]

        assert [False, True] == ["equal-to-overridden" in found for found in kinds]


def test_facts_are_the_only_ones_asked(tmp_path):
    """A file alone, set on a node that knows nothing of a run."""
    data = read(tmp_path, "when: {site: main}\ndefault: {a: 1}")
    node = Node()

    set_data(node, data, {"site": "spare"})
    assert "a" not in node
    set_data(node, data, {"site": "main"})
    assert 1 == node["a"]
    assert all(suffix.startswith(".") for suffix in SUFFIXES)
