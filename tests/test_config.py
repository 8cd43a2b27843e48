"""nodeattrs.toml."""

import pytest

from nodeattrs.errors import DocumentError, UnknownField
from nodeattrs.project.config import Config
from tests.on_disk import repository


def read(root, text):
    """The settings and the warnings that a nodeattrs.toml gives."""
    repo = repository(root, {"nodeattrs.toml": text})
    return repo.config, repo.warnings


def test_no_file_means_the_defaults(tmp_path):
    """Everything is saved, nothing is sensitive."""
    assert repository(tmp_path, {}).config == Config() == Config({}, {}, (), None, None)


def test_every_setting_of_nodeattrs_toml_is_read(tmp_path):
    """As the module's page shows them."""
    config, warnings = read(
        tmp_path,
        """\
environment = "production"
store = "saved"
sensitive = ["db.password", ["users", "*", "token"], 'a."b.c"']

[allowed]
automatic = ["network/interfaces", ["filesystem", "/dev/sda1"]]

[blocked]
automatic = []
""",
    )

    assert config == Config(
        allowed={"automatic": ["network/interfaces", ["filesystem", "/dev/sda1"]]},
        blocked={"automatic": []},
        sensitive=(("db", "password"), ("users", "*", "token"), ("a", "b.c")),
        store="saved",
        environment="production",
    )
    assert warnings == []


@pytest.mark.parametrize(
    ("text", "store", "causes"),
    [
        ("store = 'a.db'\n", "a.db", False),
        ("[store]\nplace = 'a.db'\n", "a.db", False),
        ("[store]\ncauses = true\n", None, True),
        ("store.place = 'a.db'\nstore.causes = true\n", "a.db", True),
    ],
)
def test_the_store_is_a_place_or_a_table_with_its_place(tmp_path, text, store, causes):
    """The table also says whether snapshots keep causes."""
    config, warnings = read(tmp_path, text)

    assert (store, causes, []) == (config.store, config.keeps_causes, warnings)


class TestMergeRules:
    def test_each_rule_knows_its_line(self, tmp_path):
        """So that an explanation can name it."""
        config, _ = read(tmp_path, '[merge]\n"a.b" = "append"\n"s.*" = {merge_by = "name", at = "inside"}\n')

        assert [("append", "nodeattrs.toml:2"), ("merge_by", "nodeattrs.toml:3")] == [
            (rule.policy, rule.place) for rule in config.merge
        ]
        assert config.merge[1].inside_only

    def test_a_rule_that_means_nothing_is_refused_with_its_line(self, tmp_path):
        """And with the way out."""
        with pytest.raises(DocumentError, match=r"(?s)nodeattrs\.toml:2.*did you mean append") as caught:
            read(tmp_path, '[merge]\n"a.b" = "apend"\n')

        assert caught.value.path == ("merge", "a.b")


class TestChefsSpellings:
    @pytest.mark.parametrize(
        ("name", "allowed", "blocked"),
        [
            ("allowed_automatic_attributes", {"automatic": ["a/b"]}, {}),
            ("automatic_attribute_whitelist", {"automatic": ["a/b"]}, {}),
            ("blocked_automatic_attributes", {}, {"automatic": ["a/b"]}),
            ("automatic_attribute_blacklist", {}, {"automatic": ["a/b"]}),
        ],
    )
    def test_old_and_new_spellings_of_chef_mean_the_same(self, tmp_path, name, allowed, blocked):
        """New and old, without a word."""
        config, warnings = read(tmp_path, f'{name} = ["a/b"]\n')

        assert (config.allowed, config.blocked, warnings) == (allowed, blocked, [])

    @pytest.mark.parametrize(
        ("text", "winner", "losers"),
        [
            ('automatic_attribute_whitelist = ["old"]\nallowed_automatic_attributes = ["new"]', "old", 1),
            ('allowed_automatic_attributes = ["new"]\n[allowed]\nautomatic = ["table"]', "new", 1),
            (
                'allowed_automatic_attributes = ["new"]\nautomatic_attribute_whitelist = ["old"]\n'
                '[allowed]\nautomatic = ["table"]',
                "old",
                2,
            ),
        ],
    )
    def test_the_oldest_wins_and_the_others_are_warned_of(self, tmp_path, text, winner, losers):
        """As in Chef; nothing is dropped in silence."""
        config, warnings = read(tmp_path, text)

        assert config.allowed == {"automatic": [winner]}
        assert len(warnings) == losers
        assert all("is ignored" in str(warning) for warning in warnings)

    @pytest.mark.parametrize("level", ["default", "normal", "override"])
    def test_other_levels_work_with_a_warning(self, tmp_path, level):
        """Chef advises against them."""
        config, warnings = read(tmp_path, f'# why\n{level}_attribute_blacklist = ["a"]\n')

        assert config.blocked == {level: ["a"]}
        assert len(warnings) == 1
        assert str(warnings[0]).startswith("nodeattrs.toml:2")


class TestUnknown:
    @pytest.mark.parametrize(
        ("text", "line", "meant"),
        [
            ("\nstoer = 'x'\n", 2, "store"),
            ("[allowed]\nautomatic = []\nautomatik = []\n", 3, "automatic"),
            ("[sensitiv]\na = 1\n", 1, "sensitive"),
        ],
    )
    def test_an_unknown_key_is_a_warning_with_a_near_miss(self, tmp_path, text, line, meant):
        """And its line."""
        _, (warning,) = read(tmp_path, text)

        assert isinstance(warning, UnknownField)
        assert warning.line == line
        assert f"did you mean {meant}" in str(warning)


class TestWrongTypes:
    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("store = 3\n", 1),
            ("[store]\nplace = 3\n", 2),
            ("[store]\ncauses = 'yes'\n", 2),
            ("\nenvironment = ['a']\n", 2),
            ("sensitive = 'db.password'\n", 1),
            ("sensitive = [3]\n", 1),
            ("sensitive = [['a', 3]]\n", 1),
            ("sensitive = ['']\n", 1),
            ("sensitive = ['a..b']\n", 1),
            ("allowed = ['a']\n", 1),
            ("[allowed]\nautomatic = 'a'\n", 2),
            ("[allowed]\nautomatic = [3]\n", 2),
            ("[blocked]\nautomatic = [[]]\n", 2),
            ("store = 'x'\nautomatic_attribute_whitelist = {a = true}\n", 2),
            ("store = 'x'\nstore = 'y'\n", 2),
            ("store = \n", 1),
        ],
    )
    def test_settings_of_a_wrong_type_are_errors_with_the_line(self, tmp_path, text, line):
        """Also where the text is no TOML at all."""
        with pytest.raises(DocumentError) as caught:
            read(tmp_path, text)

        assert (caught.value.file, caught.value.line) == ("nodeattrs.toml", line)


@pytest.mark.parametrize(
    ("text", "line", "said", "way_out"),
    [
        ("[[check.rules]]\nbecause = 'x'\n", 1, "a rule is about a path or a level", 'write path = "**.password"'),
        ("[[check.rules]]\nlevel = 'automatic'\n", 2, "'automatic' is no level", "default, normal, override"),
        ("[[check.rules]]\npath = 'a'\nonly = ['rolls']\n", 3, "'rolls' is no place", "places are roles"),
        ("puppet_version = 6\n", 1, "6 is no version of Puppet", "write 7 or 8"),
        ("[fold.a]\nfiles = []\nsyntax = 'xlm'\n", 3, "there is no syntax 'xlm'", "it is one of"),
        ("[cloud-init.web]\nfiles = ['a', 3]\n", 2, "files are named by texts", 'files = ["base.yaml"]'),
        ("[ansible.groups]\nweb = ''\n", 2, "a group needs the search", 'web = "role:web"'),
        ("[ansible.groups]\nall = 'role:a'\n", 2, "all is a group that Ansible makes itself", "another name"),
        ("[chef]\nmissing_cookbooks = 'no'\n", 2, "missing_cookbooks is no 'no'", '"error", "warn" or "own"'),
        ("[chef]\nruby = 'yes'\n", 2, "ruby is true or false, and not 'yes'", ""),
        ("[chef]\nruby_seconds = 0\n", 2, "ruby_seconds is a number up to", ""),
        ("[chef]\nruby_seconds = 'a'\n", 2, "ruby_seconds is a number up to", ""),
        ("[bindings]\nclasses = ['A']\n", 2, "'A' names no code", "package.module:Name"),
        ("[bindings.providers]\nx = 'A'\n", 2, "'A' names no code", "package.module:Name"),
    ],
)
def test_a_setting_with_a_wrong_value_is_an_error_that_says_what_can_be_written(tmp_path, text, line, said, way_out):
    with pytest.raises(DocumentError) as caught:
        read(tmp_path, text)

    assert (caught.value.line, said in str(caught.value), way_out in str(caught.value)) == (line, True, True)


def test_the_values_at_the_ends_of_their_ranges_are_taken(tmp_path):
    _, warnings = read(
        tmp_path, "puppet_version = 8\n[chef]\nmissing_cookbooks = 'own'\nruby = true\nruby_seconds = 60\n"
    )

    assert warnings == []
