"""What stands under a pull request: one comment on what changes, written as a job of CI writes it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from nodeattrs.verbs.comparing import Value
from nodeattrs.verbs.hunks import Line
from nodeattrs.verbs.impact import ChangeGroup, Impact
from nodeattrs.verbs.impact_report import ImpactReport
from tests.tutorials import programs_in

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / ".github/comment.py"
BOT, PERSON = {"type": "Bot", "username": "project_7_bot"}, {"type": "User", "username": "ann"}
MARK = "<!-- nodeattrs impact -->"


class _Forge(BaseHTTPRequestHandler):
    """A forge with comments and without anything else; what it is asked stays in `server.asked`."""

    server: Any

    def do_GET(self) -> None:
        page = int(parse_qs(urlsplit(self.path).query)["page"][0])
        self._answer(self.server.comments[(page - 1) * 100 : page * 100])

    def do_POST(self) -> None:
        self._written()

    do_PATCH = do_PUT = do_POST

    def _written(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        token = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN")
        self.server.asked.append((self.command, self.path, token, body["body"]))
        self._answer({"id": 1})

    def _answer(self, data: Any) -> None:
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(json.dumps(data).encode())

    def log_message(self, *arguments: object) -> None:
        """Nothing: a test prints no log of requests."""


@pytest.fixture
def forge() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Forge)
    server.comments, server.asked, server.status = [], [], 200
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))  # seconds until it sees its end
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def job(forge: Any, tmp_path: Path) -> dict[str, str]:
    """The variables of a job of GitHub Actions on pull request 12."""
    (tmp_path / "event.json").write_text('{"pull_request": {"number": 12}}')
    return {
        "GITHUB_API_URL": f"http://127.0.0.1:{forge.server_port}",
        "GITHUB_REPOSITORY": "shop/infra",
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_TOKEN": "t",
    }


def commented(folder: Path, environment: dict[str, str], text: str = "port 80 → 81\n") -> tuple[int, str]:
    """The exit code of the script for a page with a text, and its errors."""
    (folder / "page.md").write_text(text, "utf-8")
    line = [sys.executable, "-I", str(SCRIPT), str(folder / "page.md")]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


class TestComments:
    def test_the_first_run_writes_a_comment(self, forge: Any, job: dict[str, str], tmp_path: Path) -> None:
        assert (0, "") == commented(tmp_path, job)
        assert forge.asked == [("POST", "/repos/shop/infra/issues/12/comments", "Bearer t", f"{MARK}\nport 80 → 81\n")]

    def test_the_next_run_writes_the_same_comment_anew(self, forge: Any, job: dict[str, str], tmp_path: Path) -> None:
        others = [{"id": n, "user": PERSON, "body": "nice"} for n in range(99)]
        others.append({"id": 99, "user": BOT, "body": None})
        forge.comments = [*others, {"id": 700, "user": BOT, "body": f"{MARK}\nport 80 → 82\n"}]
        assert (0, "") == commented(tmp_path, job)
        assert [one[:2] for one in forge.asked] == [("PATCH", "/repos/shop/infra/issues/comments/700")]

    def test_the_comment_of_a_person_is_never_changed(self, forge: Any, job: dict[str, str], tmp_path: Path) -> None:
        forge.comments = [{"id": 5, "user": PERSON, "body": f"{MARK}\nmine"}]
        assert (0, "") == commented(tmp_path, job)
        assert [one[0] for one in forge.asked] == ["POST"]

    def test_a_page_that_is_too_long_is_cut(self, forge: Any, job: dict[str, str], tmp_path: Path) -> None:
        assert (0, "") == commented(tmp_path, job, "x" * 90_000)
        said = forge.asked[0][3]
        assert (len(said), said.startswith(f"{MARK}\nThis page is longer")) == (65_000, True)

    def test_an_answer_that_breaks_off_writes_the_summary(
        self, forge: Any, job: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_Forge, "do_GET", lambda handler: handler.wfile.write(b"HTTP/1.1 nonsense\r\n\r\n"))
        code, errors = commented(tmp_path, job)
        assert (code, (tmp_path / "summary.md").is_file(), "Traceback" in errors) == (0, True, False)

    def test_a_job_without_its_event_writes_the_summary(self, job: dict[str, str], tmp_path: Path) -> None:
        del job["GITHUB_EVENT_PATH"]
        code, errors = commented(tmp_path, job)
        assert (code, "there is no 'GITHUB_EVENT_PATH'" in errors) == (0, True)

    def test_a_token_that_may_only_read_writes_the_summary(
        self, forge: Any, job: dict[str, str], tmp_path: Path
    ) -> None:
        forge.status = 403
        code, errors = commented(tmp_path, job)
        assert (code, (tmp_path / "summary.md").read_text("utf-8")) == (0, "port 80 → 81\n\n")
        assert "no comment was written (HTTP 403); the summary of the job has the page" in errors

    def test_a_job_without_a_pull_request_writes_the_summary(
        self, forge: Any, job: dict[str, str], tmp_path: Path
    ) -> None:
        (tmp_path / "event.json").write_text('{"ref": "refs/heads/main"}')
        code, errors = commented(tmp_path, job)
        assert (code, forge.asked) == (0, [])
        assert "there is no pull request" in errors

    def test_a_job_that_can_write_nowhere_fails(self, tmp_path: Path) -> None:
        code, errors = commented(tmp_path, {"CI": "true"})
        assert (code, errors.strip()) == (
            1,
            "nodeattrs: no comment was written: there is no pull request, or no token",
        )

    def test_gitlab_gets_a_note_that_is_written_anew(self, forge: Any, tmp_path: Path) -> None:
        environment = {
            "CI_API_V4_URL": f"http://127.0.0.1:{forge.server_port}/api/v4",
            "CI_PROJECT_ID": "7",
            "CI_MERGE_REQUEST_IID": "3",
            "NODEATTRS_GITLAB_TOKEN": "g",
        }
        assert (0, "") == commented(tmp_path, environment)
        names = ("talbot", "project_7_bot_1f")
        forge.comments = [{"id": n, "author": {"username": name}, "body": MARK} for n, name in enumerate(names, 8)]
        assert (0, "") == commented(tmp_path, environment)
        assert [one[:3] for one in forge.asked] == [
            ("POST", "/api/v4/projects/7/merge_requests/3/notes", "g"),
            ("PUT", "/api/v4/projects/7/merge_requests/3/notes/9", "g"),
        ]


class TestTheStepOfTheAction:
    """The step `Impact` of action.yml, as a runner runs it on a pull request, but for the installation."""

    def run(self, folder: Path, environment: dict[str, str], arguments: str = "") -> subprocess.CompletedProcess[str]:
        action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
        (step,) = [one for one in action["runs"]["steps"] if one.get("name") == "Impact"]
        programs_in(folder / "runner/nodeattrs/bin")
        around = {
            **os.environ,
            **environment,
            "RUNNER_TEMP": str(folder / "runner"),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_BASE_REF": "main",
            "PYTHONPATH": str(ROOT),
            "REPO": ".",
            "ARGUMENTS": arguments,
        }
        line = ["bash", "-e", "-c", step["run"]]
        return subprocess.run(line, cwd=folder / "clone", env=around, capture_output=True, text=True, check=False)

    @pytest.fixture
    def clone(self, tmp_path: Path) -> Path:
        """A clone with origin/main and one commit more, which changes a role; a recipe would leave a mark."""
        origin, clone = tmp_path / "origin", tmp_path / "clone"
        files = {
            "roles/web.json": '{"name": "web", "default_attributes": {"port": 80}}\n',
            "nodes/web1.json": '{"name": "web1", "run_list": ["role[web]", "recipe[app]"]}\n',
            "cookbooks/app/metadata.json": '{"name": "app", "version": "1.0.0"}\n',
            "cookbooks/app/recipes/default.py": f"open({str(tmp_path / 'mark')!r}, 'w')\n",
        }
        for name, text in files.items():
            (origin / name).parent.mkdir(parents=True, exist_ok=True)
            (origin / name).write_text(text)
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
            subprocess.run([*git, *words], cwd=origin, check=True)
        subprocess.run([*git, "clone", "-q", str(origin), str(clone)], check=True)
        (clone / "roles/web.json").write_text(files["roles/web.json"].replace("80", "81"))
        subprocess.run([*git, "commit", "-qam", "two"], cwd=clone, check=True)
        return clone

    def test_the_comment_names_the_value_its_line_and_what_was_not_read(
        self, clone: Path, forge: Any, job: dict[str, str], tmp_path: Path
    ) -> None:
        done = self.run(tmp_path, job)
        assert done.returncode == 0, done.stderr
        (said,) = [one[3] for one in forge.asked]
        assert "80 → 81" in said
        assert "roles/web.json:1" in said
        assert "not known" in said
        assert not (tmp_path / "mark").exists()

    def test_a_path_that_must_not_change_fails_the_job(
        self, clone: Path, forge: Any, job: dict[str, str], tmp_path: Path
    ) -> None:
        assert self.run(tmp_path, job, "--forbid nosuch\n--forbid port\n").returncode == 1
        assert len(forge.asked) == 1


def test_of_many_changes_twenty_stand_open_and_the_others_are_behind_one_fold() -> None:
    groups = [
        ChangeGroup("nodes", "attribute", (f"a{n}",), Value(1), Value(2), (Line("f.json", n + 1),), ("web1",))
        for n in range(25)
    ]
    said = ImpactReport(Impact("one", "two", groups=groups)).markdown()
    assert said.index("1 node: a19") < said.index("<summary>5 changes more</summary>") < said.index("1 node: a20")
    assert said.count("<details>") == said.count("</details>") == 26
