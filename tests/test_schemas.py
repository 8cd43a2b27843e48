"""The schemas that are shipped: they are those of the table, and real output of every command conforms."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.texts.documents import read
from tests import schemas

jsonschema = pytest.importorskip("jsonschema")

EXAMPLE = Path(__file__).parents[1] / "cookbooks_example"
CATALOG = {
    "resources": [
        {"type": "File", "title": "/a", "parameters": {"content": "x"}, "metaparameters": {}},
        {"type": "File", "title": "/b", "parameters": {"content": "y"}},
    ],
    "chains": ["File['/a'] -> File['/b']"],
}
HERE = "--repo . --node web1 --facts facts"
LEVELS = "version: 5\nhierarchy: [{name: c, path: c.yaml}, {name: d, path: d.yaml}]\n"

SAID = {
    "run": [
        "run --all --facts facts",
        "run --node web1 --facts facts -E staging",
        "run --all --run-list role[x] --facts facts -W",
        "run --node web1 --facts facts --noop --root scratch",
    ],
    "explain": [
        "explain web1 app",
        "explain web1 app.workers",
        "explain web1 apache2.listen_ports",
        "explain web1 app.legacy_queue",
        "explain web1 app.database.password --at 1",
        f"explain web1 app.workers {HERE.replace('--node web1 ', '')} --all",
    ],
    "show": ["show web1 app --origins", "show web1 app --slot 12 --slot 4", "show web1 app --level default --origins"],
    "facts": ["facts kernel.release --facts facts/web1.json --origins", "facts --facts facts/web2.json"],
    "history": ["history web1"],
    "diff": ["diff web1", "diff web1 web2 --slots"],
    "search": ["search *:*", "search role:web -a app.workers -a nosuch"],
    "search-line": ["search name:web1 --json-lines -a app.workers"],
    "status": ["status"],
    "node": ["node set web1 a.c 2", "node restore web1 1", "node delete web2"],
    "store": [
        "store migrate --to x.db",
        "store prune --keep 1",
        "store migrate",
        "store import nodes.jsonl",
    ],
    "fleet": ["fleet resolve --facts facts --node db1 --jobs 1", "fleet resolve --node nobody --jobs 1"],
    "check": ["check", "check --repo . --run-code"],
    "store-check": ["store check"],
    "codes": ["codes", "codes NA1203"],
    "config": ["config --store x"],
    "hiera-lookup": [
        "hiera lookup ntp::servers --hiera hiera --facts facts",
        "hiera lookup nobody --hiera hiera --facts facts",
    ],
    "hiera-explain": [
        "hiera explain ntp::servers --hiera hiera --facts facts --all",
        "hiera explain ntp::servers --options --hiera hiera",
        "hiera explain nobody --hiera hiera",
        "hiera explain k --hiera levels",
    ],
    "hiera-list": ["hiera list --hiera hiera --facts facts"],
    "hiera-diff": ["hiera diff web1 web2 --hiera hiera --facts facts"],
    "hiera-who-has": ["hiera who-has ntp::servers --hiera hiera"],
    "hiera-unused": ["hiera unused --hiera levels"],
    "hiera-matrix": [
        "hiera matrix ntp::servers --hiera hiera --facts facts",
        "hiera matrix nobody --hiera hiera --facts facts",
    ],
    "hiera-variables": ["hiera variables --hiera hiera --facts facts"],
    "bindings-check": ["bindings check --site bindings", "bindings check --site broken"],
    "bindings-inject": ["bindings inject ssh::port --site bindings"],
    "bindings-explain": ["bindings explain ssh::port --site bindings --all"],
    "bindings-list": ["bindings list --site bindings"],
    "bindings-graph": ["bindings graph --site bindings"],
    "catalog-check": [f"catalog check {HERE}"],
    "catalog-order": ["catalog order --from catalog.json"],
    "catalog-why": ["catalog why File[/a] File[/b] --from catalog.json"],
    "catalog-explain": ["catalog explain File[/a] --from catalog.json", f"catalog explain Recipe[app::default] {HERE}"],
    "catalog-impact": ["catalog impact File[/a] --from catalog.json"],
    "catalog-apply": ["catalog apply --from catalog.json --root scratch"],
    "cloud-config-explain": [
        "cloud-config explain cloud-init/base.yaml cloud-init/web.yaml",
        "cloud-config explain cloud-init/base.yaml cloud-init/web.yaml --path packages --all --steps",
    ],
    "cloud-config-check": [
        "cloud-config check cloud-init/base.yaml cloud-init/careless.yaml",
        "cloud-config check cloud-init/base.yaml facts/web1.json",
    ],
}
"""Of each schema the command lines whose output it describes, in the order in which they are said."""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory) -> dict[str, list]:
    """What they print, each as data."""
    place = tmp_path_factory.mktemp("site") / "example"
    shutil.copytree(EXAMPLE, place)
    (place / "catalog.json").write_text(json.dumps(CATALOG))
    (place / "nodes.jsonl").write_text('{"name": "other", "run_list": []}\n')
    for name, text in (("hiera.yaml", LEVELS), ("data/c.yaml", "k: 1\n"), ("data/d.yaml", "k: 2\n")):
        file = place / "levels" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (place / "broken" / "bindings").mkdir(parents=True)
    (place / "broken" / "bindings" / "default.pp").write_text("bindings default { bind }\n")
    (place / "scratch").mkdir()
    found: dict[str, list] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for name, lines in SAID.items():
            found[name] = [_printed(line if "--json-lines" in line else f"{line} --format json") for line in lines]
    return found


def _printed(line: str) -> dict:
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        main(line.split())
    assert out.getvalue(), line
    return json.loads(out.getvalue())


@pytest.mark.parametrize("name", schemas.OUTPUTS)
def test_real_output_conforms(outputs, name):
    """No field is missing, and none is there that the schema does not know."""
    schema = schemas.document(name, strict=True)
    jsonschema.Draft202012Validator.check_schema(schema)

    for number, data in enumerate(outputs[name]):
        faults = [
            f"{SAID[name][number]}: {'.'.join(map(str, fault.absolute_path))}: {fault.message[:300]}"
            for fault in jsonschema.Draft202012Validator(schema).iter_errors(data)
        ]
        assert [] == faults


def test_the_files_are_those_of_the_table():
    """`python -m tests.schemas` writes them."""
    assert {file.stem: file.read_text("utf-8") for file in schemas.FOLDER.glob("*.json")} == {
        name: schemas.text_of(name) for name in (*schemas.OUTPUTS, "settings")
    }


class TestSettings:
    @pytest.mark.parametrize(
        ("text", "is_valid"),
        [
            ((EXAMPLE / "nodeattrs.toml").read_text("utf-8"), True),
            (
                'store = "x"\n[merge]\na = "append"\n"l" = {merge_by = "name", at = "inside"}\n',
                True,
            ),
            ('allowed_automatic_attributes = ["a/b"]\n', True),
            ('stoer = "x"\n', False),
            ('[allowed]\nstore = "x"\n', False),
            ('[merge]\na = "apend"\n', False),
            ("store = 1\n", False),
        ],
    )
    def test_what_is_told_of_the_file_is_what_its_schema_says(self, tmp_path, monkeypatch, capsys, text, is_valid):
        """A file has a warning or an error where, and only where, it does not conform."""
        (tmp_path / "nodeattrs.toml").write_text(text)
        monkeypatch.chdir(tmp_path)
        main(["config"])

        schema = jsonschema.Draft202012Validator(schemas.document("settings"))
        assert is_valid == schema.is_valid(read(tmp_path / "nodeattrs.toml").tree) == ("" == capsys.readouterr().err)


class TestTheCommand:
    def test_it_prints_what_is_shipped(self, capsys):
        """All names, or one schema."""
        assert 0 == main(["schema"])
        names = capsys.readouterr().out.split()
        assert names == sorted([*schemas.OUTPUTS, "settings"])
        assert 0 == main(["schema", "explain"])
        assert json.loads(capsys.readouterr().out) == schemas.document("explain")

    def test_a_name_that_there_is_not_is_told_with_near_ones(self, capsys):
        """As everywhere."""
        assert 1 == main(["schema", "expain"])
        assert "did you mean explain?" in capsys.readouterr().err
