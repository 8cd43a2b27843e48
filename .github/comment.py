"""Put a page of Markdown under a pull request of GitHub or a merge request of GitLab, as one comment.

    python -I comment.py FILE

The comment of an earlier run is written anew, so that there is one. Where the token may not write (a pull request from
a fork), the page goes into the summary of the job. The variables of GitHub Actions and of GitLab CI say where to write.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

MARK = "<!-- nodeattrs impact -->"
"""The first line of our comment, by which the next run finds it."""

MOST = 65_000
"""Characters of a comment; GitHub allows 65,536."""

CUT = "This page is longer than a comment may be, and was cut.\n\n"

BOT_OF_GITLAB = re.compile(r"(?:project|group)_\d+_bot(?:_.*)?")
"""The name of the user that GitLab makes for a token; names of people may have "bot" in them."""

PAGES = 50
"""Pages of 100 comments that are looked through."""


class Forge(NamedTuple):
    """Where comments stand.

    comments: the address of all comments of the request
    one:      the address of one comment, before its number
    header:   the name and the value of the header with the token
    update:   the HTTP method that writes a comment anew
    """

    comments: str
    one: str
    header: tuple[str, str]
    update: str

    def ask(self, method: str, address: str, data: Any = None) -> Any:
        """The answer to a request as data. raises: HTTPError"""
        name, value = self.header
        headers = {name: value, "Accept": "application/json", "Content-Type": "application/json"}
        body = None if data is None else json.dumps(data).encode()
        with urlopen(Request(address, body, headers, method=method), timeout=30) as came:
            return json.load(came)

    def earlier(self) -> Iterator[int]:
        """The numbers of our comments of earlier runs, the oldest first; comments of people do not count."""
        for page in range(1, PAGES + 1):
            found = self.ask("GET", f"{self.comments}?per_page=100&page={page}")
            for comment in found:
                author = comment.get("user") or comment.get("author") or {}
                is_bot = author.get("type") == "Bot" or BOT_OF_GITLAB.fullmatch(author.get("username") or "")
                if is_bot and (comment["body"] or "").startswith(MARK):
                    yield comment["id"]
            if len(found) < 100:
                return

    def write(self, text: str) -> None:
        """Write our comment, in place of the one that is there. raises: HTTPError"""
        number = next(self.earlier(), None)
        if number is None:
            self.ask("POST", self.comments, {"body": text})
        else:
            self.ask(self.update, f"{self.one}/{number}", {"body": text})


def forge(environ: dict[str, str]) -> Forge | None:
    """The request that this job is about; None where the job is about none, or has no token."""
    if token := environ.get("NODEATTRS_GITLAB_TOKEN"):
        project, request = environ.get("CI_PROJECT_ID", ""), environ.get("CI_MERGE_REQUEST_IID", "")
        if not (project.isdigit() and request.isdigit()):
            return None
        notes = f"{environ['CI_API_V4_URL']}/projects/{project}/merge_requests/{request}/notes"
        return Forge(notes, notes, ("PRIVATE-TOKEN", token), "PUT")
    token = environ.get("GITHUB_TOKEN")
    if not token:
        return None
    event = json.loads(Path(environ["GITHUB_EVENT_PATH"]).read_text("utf-8"))
    request = (event.get("pull_request") or {}).get("number")
    if request is None:
        return None
    issues = f"{environ['GITHUB_API_URL']}/repos/{environ['GITHUB_REPOSITORY']}/issues"
    return Forge(
        f"{issues}/{int(request)}/comments", f"{issues}/comments", ("Authorization", f"Bearer {token}"), "PATCH"
    )


def main(argv: list[str], environ: dict[str, str]) -> int:
    """Write the page of the file argv[0]; returns 0, or 1 where neither a comment nor a summary could be written."""
    page = Path(argv[0]).read_text("utf-8")
    text = f"{MARK}\n{page}" if len(page) < MOST - len(MARK) else f"{MARK}\n{CUT}{page}"[:MOST]
    try:
        place = forge(environ)
        if place is not None:
            place.write(text)
            return 0
        why = "there is no pull request, or no token"
    except KeyError as error:
        why = f"there is no {error}"
    except (OSError, ValueError, HTTPException) as error:  # HTTPError is an OSError
        why = f"HTTP {error.code}" if isinstance(error, HTTPError) else str(error) or type(error).__name__
    summary = environ.get("GITHUB_STEP_SUMMARY")
    if summary is None:
        print(f"nodeattrs: no comment was written: {why}", file=sys.stderr)
        return 1
    print(f"nodeattrs: no comment was written ({why}); the summary of the job has the page", file=sys.stderr)
    with open(summary, "a", encoding="utf-8") as file:
        file.write(f"{page}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], dict(os.environ)))
