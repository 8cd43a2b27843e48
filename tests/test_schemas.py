"""The schemas that are shipped: they are those of the table, and real output of every command conforms."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nodeattrs.cli import main
from nodeattrs.formats.documents import read
from tests import schemas

jsonschema = pytest.importorskip("jsonschema")

EXAMPLE = Path(__file__).parents[1] / "cookbooks_example"
LEVELS = "version: 5\nhierarchy: [{name: c, path: c.yaml}, {name: d, path: d.yaml}]\n"
INVENTORY = {
    "hosts": "[web]\nweb1 proto=https\n[db]\ndb1\n[web:vars]\nport=80\n",
    "group_vars/all.yml": "port: 8080\nurl: '{{ proto }}://{{ nosuch }}:{{ port }}'\n",
    "site.yml": "- hosts: all\n  tasks:\n  - set_fact: {port: 1}\n  - name: restart\n    debug: {msg: x}\n",
}
CATALOG = {
    "resources": [
        {"type": "File", "title": "/a", "parameters": {"content": "x"}, "metaparameters": {}},
        {"type": "File", "title": "/b", "parameters": {"content": "y"}},
    ],
    "chains": ["File['/a'] -> File['/b']"],
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory) -> dict[str, list]:
    """What they print, each as data."""
    place = tmp_path_factory.mktemp("site") / "example"
    shutil.copytree(EXAMPLE, place)
    (place / "catalog.json").write_text(json.dumps(CATALOG))
    (place / "other.json").write_text(
        json.dumps({"resources": [{"type": "File", "title": "/a"}, {"type": "File", "title": "/c"}]})
    )
    (place / "nodes.jsonl").write_text('{"name": "other", "run_list": []}\n')
    for name, text in (("hiera.yaml", LEVELS), ("data/c.yaml", "k: 1\n"), ("data/d.yaml", "k: 2\n")):
        file = place / "levels" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for name, text in INVENTORY.items():
        file = place / "ansible" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (place / "broken" / "bindings").mkdir(parents=True)
    (place / "broken" / "bindings" / "default.pp").write_text("bindings default { bind }\n")
    (place / "scratch").mkdir()
    found: dict[str, list] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for name, lines in schemas.LINES.items():
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
            f"{schemas.LINES[name][number]}: {'.'.join(map(str, fault.absolute_path))}: {fault.message[:300]}"
            for fault in jsonschema.Draft202012Validator(schema).iter_errors(data)
        ]
        assert [] == faults


def test_the_files_are_those_of_the_table():
    """`python -m tests.schemas` writes it."""
    assert schemas.shipped() == {file.name: file.read_text("utf-8") for file in schemas.FOLDER.iterdir()}


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
    def test_the_schema_command_prints_shipped_schemas(self, capsys):
        """All names, or one schema with the parts that it needs and no other."""
        assert 0 == main(["schema"])
        names = capsys.readouterr().out.split()
        assert names == sorted([*schemas.OUTPUTS, *schemas.FILES])
        for name in names:
            assert 0 == main(["schema", name])
            assert json.loads(capsys.readouterr().out) == schemas.document(name)

    def test_a_name_that_there_is_not_is_told_with_near_ones(self, capsys):
        """As everywhere."""
        assert 1 == main(["schema", "expain"])
        assert "did you mean explain?" in capsys.readouterr().err
