"""The repository on disk: where things lie, and what is said when they do not."""

import json

import pytest

from nodeattrs.dialects.chef.checks.checking import checked
from nodeattrs.dialects.chef.repository.repository import Repository
from nodeattrs.errors import (
    BadName,
    CookbookNotFound,
    DataBagItemNotFound,
    DocumentError,
    NotFound,
    UnknownField,
)
from tests.on_disk import repository

SITE = {
    "cookbooks/app/metadata.json": {"name": "app", "version": "1.2.0", "dependencies": {"base": "~> 1.0"}},
    "cookbooks/app/attributes/default.py": "default['app'] = 1\n",
    "cookbooks/app/attributes/sub/x.py": "",
    "cookbooks/app/recipes/default.py": "",
    "cookbooks/base/metadata.yaml": "name: base\nversion: '1.4'\nmaintainer: someone\n",
    "cookbooks/base/recipes/default.py": "",
    "cookbooks/.git/x": "",
    "roles/web.json": {"run_list": ["recipe[app]"]},
    "roles/web.prod.yaml": "run_list: ['role[web]']\n",
    "roles/README.md": "not a role",
    "environments/prod.json": {"cookbook_versions": {"app": "< 2.0"}},
    "nodes/web1.example.com.json": {
        "name": "web1.example.com",
        "chef_environment": "prod",
        "run_list": ["role[web]"],
        "normal": {"tags": ["blue"]},
        "automatic": {"platform": "ubuntu"},
    },
    "data_bags/users/alice.json": {"id": "alice", "uid": 1000},
    "data_bags/users/bob.yaml": "id: bob\nuid: 1001\n",
}


@pytest.fixture
def site(tmp_path):
    """A repository without a fault."""
    return repository(tmp_path, SITE)


class TestListing:
    def test_names_in_a_repository_are_listed_in_order(self, site):
        """By name and sorted; other files are left alone, dots in names are no suffixes."""
        assert site.cookbooks() == ["app", "base"]
        assert site.roles() == ["web", "web.prod"]
        assert site.environments() == ["prod"]
        assert site.nodes() == ["web1.example.com"]
        assert site.data_bag("users") == ["alice", "bob"]

    def test_an_empty_directory_is_an_empty_repository(self, tmp_path):
        """Every folder may be missing."""
        empty = Repository(tmp_path)

        assert (empty.cookbooks(), empty.roles(), empty.environments(), empty.nodes()) == ([], [], [], [])
        assert checked(empty, run_code=True).faults == []

    def test_a_repository_has_to_be_there(self, tmp_path):
        """Not an empty one in silence."""
        with pytest.raises(NotFound, match="there is no repository"):
            Repository(tmp_path / "gone")

    def test_a_role_whose_name_has_a_dot(self, site):
        """It is found under its whole name."""
        assert site.role("web.prod").run_list == ["role[web]"]


class TestReading:
    def test_a_file_is_read_once(self, site, tmp_path):
        """Changing it later does not change what one repository says."""
        first = site.role("web")
        (tmp_path / "roles" / "web.json").write_text("broken")

        assert site.role("web") is first

    @pytest.mark.parametrize("suffix", ["json", "py"])
    def test_a_directory_where_a_file_should_be(self, tmp_path, suffix):
        """Said, not taken for a missing role."""
        (tmp_path / "roles" / f"web.{suffix}").mkdir(parents=True)

        with pytest.raises(DocumentError, match=rf"roles/web.{suffix}: is not a regular file"):
            Repository(tmp_path).role("web")

    def test_a_link_to_nowhere(self, tmp_path):
        """The same."""
        (tmp_path / "roles").mkdir()
        (tmp_path / "roles" / "web.json").symlink_to(tmp_path / "gone.json")

        with pytest.raises(DocumentError, match=r"roles/web.json: cannot be read"):
            Repository(tmp_path).role("web")

    def test_a_file_where_a_directory_should_be(self, tmp_path):
        """Not an empty list in silence."""
        (tmp_path / "roles").write_text("")

        with pytest.raises(DocumentError, match=r"roles: cannot be listed"):
            Repository(tmp_path).roles()

    def test_a_file_nobody_asks_for_is_not_read(self, tmp_path):
        """One broken role does not stop a node that has no use for it."""
        repo = repository(tmp_path, {**SITE, "roles/broken.json": "{"})

        assert repo.role("web").run_list == ["recipe[app]"]

    def test_a_broken_file_is_broken_each_time(self, tmp_path):
        """The fault is not forgotten after the first time."""
        repo = repository(tmp_path, {"roles/broken.json": '{"name":\n}'})

        for _ in range(2):
            with pytest.raises(DocumentError, match=r"roles/broken.json:2"):
                repo.role("broken")


class TestCookbooks:
    def test_metadata_json_of_chef_is_read(self, site):
        """From JSON as tools write it."""
        app = site.cookbook("app")

        assert (app.version, app.depends) == ("1.2.0", {"base": "~> 1.0"})
        assert app.attribute_files == {"default": ("attributes/default.py",), "x": ("attributes/sub/x.py",)}
        assert app.shown("recipes/default.py") == "cookbooks/app/recipes/default.py"
        assert str(app.origin_of_dependency("base")) == "cookbooks/app/metadata.json:5 (cookbook app)"
        assert site.warnings == []

    @pytest.mark.parametrize(
        ("depends", "understood"),
        [
            (["base", "other"], {"base": "", "other": ""}),
            ({"base": "~> 1.0", "other": None}, {"base": "~> 1.0", "other": ""}),
            ({"base": ["= 1.0"]}, {"base": "= 1.0"}),
            (None, {}),
        ],
    )
    def test_forms_of_dependencies(self, tmp_path, depends, understood):
        """A map to constraints, or a list of names."""
        repo = repository(tmp_path, {"cookbooks/a/metadata.json": {"name": "a", "depends": depends}})

        assert repo.cookbook("a").depends == understood

    def test_a_cookbook_without_metadata(self, tmp_path):
        """It needs nothing, and has the lowest version."""
        book = repository(tmp_path, {"cookbooks/a/recipes/default.py": ""}).cookbook("a")

        assert (book.version, book.depends, list(book.recipes)) == ("0.0.0", {}, ["default"])

    @pytest.mark.parametrize(
        ("metadata", "line", "reason"),
        [
            ({"version": "one"}, 2, "'one' is no cookbook version"),
            ({"version": 1.2}, 2, "version of cookbook a must be text, not 1.2"),
            ({"name": "a", "depends": "base"}, 3, "depends of cookbook a must be a map, not 'base'"),
            ({"name": "a", "depends": {"base": "newest"}}, 4, "'newest' is no version constraint"),
            ({"depends": {}, "dependencies": {}}, 3, "both depends and dependencies"),
        ],
    )
    def test_faults_in_metadata_have_a_line(self, tmp_path, metadata, line, reason):
        """Each names the field it stands in."""
        repo = repository(tmp_path, {"cookbooks/a/metadata.json": metadata})

        with pytest.raises(DocumentError) as caught:
            repo.cookbook("a")

        assert (caught.value.file, caught.value.line) == ("cookbooks/a/metadata.json", line)
        assert reason in str(caught.value)

    def test_an_unknown_field_is_a_warning(self, tmp_path):
        """With what may have been meant."""
        repo = repository(tmp_path, {"cookbooks/a/metadata.json": {"name": "a", "dependz": {}}})
        repo.cookbook("a")

        assert [type(warning) for warning in repo.warnings] == [UnknownField]
        assert "depends" in str(repo.warnings[0])

    def test_two_metadata_files_are_an_error(self, tmp_path):
        """None of them is silently dropped."""
        repo = repository(tmp_path, {"cookbooks/a/metadata.json": {}, "cookbooks/a/metadata.yaml": "{}"})

        with pytest.raises(DocumentError, match=r"metadata.json and cookbooks/a/metadata.yaml"):
            repo.cookbook("a")

    def test_a_missing_cookbook_names_near_misses(self, site):
        """The way out."""
        with pytest.raises(CookbookNotFound, match="did you mean base"):
            site.cookbook("bace")


class TestNodes:
    def test_chefs_node_document(self, site):
        """Each level knows its lines."""
        node = site.node_document("web1.example.com")

        assert (node.environment, node.run_list) == ("prod", ("role[web]",))
        assert (node.normal, node.automatic, node.default) == ({"tags": ["blue"]}, {"platform": "ubuntu"}, {})
        assert node.locator_of("automatic").at(("platform",)).line == 13

    def test_a_node_that_has_no_document(self, site):
        """Not every node has one before its first run."""
        assert site.node_document("web2") is None

    def test_a_fault_in_a_node_has_a_line(self, tmp_path):
        """Here the environment's."""
        repo = repository(tmp_path, {"nodes/n.yaml": "name: n\nchef_environment: [a]\n"})

        with pytest.raises(DocumentError, match=r"nodes/n.yaml:2"):
            repo.node_document("n")


class TestDataBags:
    def test_an_item_belongs_to_who_asks(self, site):
        """A recipe may change what it got; the next one gets it as it is on disk."""
        site.data_bag_item("users", "alice")["uid"] = 0

        assert site.data_bag_item("users", "alice") == {"id": "alice", "uid": 1000}

    def test_knifes_wrapping_is_taken_off(self, tmp_path):
        """The item is what it wraps."""
        wrapped = {
            "name": "data_bag_item_users_alice",
            "json_class": "Chef::DataBagItem",
            "chef_type": "data_bag_item",
            "data_bag": "users",
            "raw_data": {"id": "alice", "uid": 1000},
        }

        repo = repository(tmp_path, {"data_bags/users/alice.json": wrapped})

        assert repo.data_bag_item("users", "alice") == {"id": "alice", "uid": 1000}

    def test_a_missing_data_bag_or_item_has_near_misses(self, site):
        """A bag, or an item of it, each with near misses."""
        with pytest.raises(DataBagItemNotFound, match="there is no data bag user\n  did you mean users"):
            site.data_bag("user")
        with pytest.raises(DataBagItemNotFound, match="data bag users has no item alise\n  did you mean alice"):
            site.data_bag_item("users", "alise")

    @pytest.mark.parametrize("name", ["../users/alice", "..", "", "a/b", ".x"])
    def test_names_stay_inside(self, site, name):
        """Both of them."""
        with pytest.raises(BadName):
            site.data_bag_item(name, "alice")
        with pytest.raises(BadName):
            site.data_bag_item("users", name)

    def test_an_id_that_is_not_the_files_is_a_warning(self, tmp_path):
        """And an item is a map."""
        repo = repository(tmp_path, {"data_bags/b/i.json": {"id": "j"}, "data_bags/b/l.json": [1]})

        repo.data_bag_item("b", "i")
        assert "id says 'j'" in str(repo.warnings[0])
        with pytest.raises(DocumentError, match=r"data_bags/b/l.json:1:1"):
            repo.data_bag_item("b", "l")


class TestCheck:
    def test_a_sound_repository(self, site):
        """No fault, no warning."""
        assert checked(site, run_code=True).faults == []
        assert site.warnings == []

    def test_every_fault_is_given_at_once(self, tmp_path):
        """One of each sort, each with its file and line."""
        broken = {
            **SITE,
            "nodeattrs.toml": "store = 3\n",
            "roles/broken.py": "1 / 0\n",
            "roles/lost.json": {"run_list": ["role[gone]", "recipe[app::gone]", "recipe[ghost]"]},
            "environments/prod.json": {"cookbook_versions": {"app": ">= 2.0"}},
            "nodes/n.json": {"chef_environment": "gone"},
            "cookbooks/needy/metadata.json": {"name": "needy", "depends": {"ghost": ""}},
            "data_bags/users/carol.json": "{",
        }

        said = "\n".join(str(fault) for fault in checked(repository(tmp_path, broken), run_code=True).faults)

        for place in (
            "nodeattrs.toml:1",
            "roles/broken.py:1: ZeroDivisionError",
            "roles/lost.json:3:3: there is no role gone",
            "roles/lost.json:4:3: cookbook app has no recipe gone",
            "roles/lost.json:5:3: there is no cookbook ghost",
            "cookbook app is at 1.2.0 (cookbooks/app/metadata.json:3)",
            ">= 2.0 is required by environments/prod.json:3",
            "nodes/n.json:2:2: there is no environment gone",
            "cookbooks/needy/metadata.json:4:3: there is no cookbook ghost",
            "data_bags/users/carol.json:1",
        ):
            assert place in said
        assert len(said.splitlines()) > 9

    @pytest.mark.parametrize(
        ("depends", "rings"),
        [
            ({"a": ["b"], "b": ["a"]}, ["a -> b -> a"]),
            ({"a": ["a"]}, ["a -> a"]),
            ({"a": ["b"], "b": ["c"], "c": ["b"]}, ["b -> c -> b"]),
            ({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}, []),
        ],
    )
    def test_rings_of_dependencies_are_named(self, tmp_path, depends, rings):
        """A run cuts them; whoever checks a repository wants to know. A diamond is no ring."""
        files = {
            f"cookbooks/{name}/metadata.json": {"name": name, "depends": needed} for name, needed in depends.items()
        }

        faults = checked(repository(tmp_path, files), run_code=True).faults

        assert [str(fault).split("ring: ")[1].splitlines()[0] for fault in faults] == rings
        assert all(fault.file and fault.line for fault in faults)

    def test_a_second_check_gives_the_same_answer(self, tmp_path):
        """With the same answer; warnings of what was read do not pile up."""
        repo = repository(tmp_path, {**SITE, "roles/odd.json": json.dumps({"runlist": []})})

        first, second = ([str(one) for one in checked(repo, run_code=True).faults] for _ in range(2))
        assert first == second
        assert len(repo.warnings) == 1
