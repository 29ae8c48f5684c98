"""A small Hub on this machine: the endpoints that making, filling and reading a model repository take."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN, READ_TOKEN = "hf_writer", "hf_reader"
USER = "me"


@dataclass
class Repository:
    """Branches and pull requests, each a list of commits (id, files)."""

    private: bool
    refs: dict[str, list[tuple[str, dict[str, bytes]]]] = field(default_factory=lambda: {"main": [_commit({}, "first")]})
    messages: list[str] = field(default_factory=list)

    def commit(self, revision: str) -> tuple[str, dict[str, bytes]] | None:
        if revision in self.refs:
            return self.refs[revision][-1]
        return next((c for commits in self.refs.values() for c in commits if c[0] == revision), None)

    def files(self, revision: str = "main") -> dict[str, bytes]:
        found = self.commit(revision)
        assert found is not None, f"no revision {revision}"
        return found[1]


def _commit(files: dict[str, bytes], salt: str) -> tuple[str, dict[str, bytes]]:
    content = salt + "".join(f"{name}:{hashlib.sha1(data).hexdigest()};" for name, data in sorted(files.items()))
    return hashlib.sha1(content.encode()).hexdigest(), files


@dataclass
class Hub:
    """What the server holds. fail: called with each request's method and path; it may return a status to answer, or 0 to hang up.

    Files of `large` bytes or more are sent apart from the commit, which names them by their hash (LFS), as on the real Hub.
    """

    url: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    fail: Callable[[str, str], int | None] = lambda method, path: None
    large: int = 10_000_000
    objects: dict[str, bytes] = field(default_factory=dict)

    def add(self, repo_id: str, files: dict[str, bytes] | None = None, *, private: bool = False) -> Repository:
        repository = self.repositories[repo_id] = Repository(private)
        if files:
            repository.refs["main"].append(_commit(files, "given"))
        return repository


class _Answer(Exception):
    def __init__(self, status: int, code: str = "", message: str = "") -> None:
        self.status, self.headers = status, {"X-Error-Code": code, "X-Error-Message": message}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_: Any) -> None:
        """Tests are quiet."""

    def _serve(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.requests.append(f"{self.command} {path}")
        body = self._body()
        failure = self.hub.fail(self.command, path)
        if failure == 0:
            self.close_connection = True
            self.connection.close()
            return
        try:
            if failure is not None:
                raise _Answer(failure, message="told to fail")
            status, content, headers = self._route(path.strip("/").split("/"), body)
        except _Answer as answer:
            status, content, headers = answer.status, b"", {k: v for k, v in answer.headers.items() if v}
        if not isinstance(content, bytes):
            content, headers = json.dumps(content).encode(), {**headers, "Content-Type": "application/json"}
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_POST = do_HEAD = do_PUT = _serve  # noqa: N815  # the names http.server calls

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _token(self) -> str | None:
        sent = self.headers.get("Authorization", "").removeprefix("Bearer ") or None
        if sent not in (None, TOKEN, READ_TOKEN):
            raise _Answer(401, message="Invalid credentials in Authorization header")
        return sent

    def _may_write(self, namespace: str) -> None:
        token = self._token()
        if token is None:
            raise _Answer(401, message="Invalid credentials in Authorization header")
        if token != TOKEN or namespace != USER:
            raise _Answer(403, message=f"You don't have the rights to write to the namespace {namespace!r}")

    def _repository(self, repo_id: str) -> Repository:
        token = self._token()
        found = self.hub.repositories.get(repo_id)
        if found is None or (found.private and token is None):
            raise _Answer(404 if token else 401, "RepoNotFound", "Repository not found")
        return found

    def _route(self, parts: list[str], body: bytes) -> tuple[int, Any, dict[str, str]]:
        match parts:
            case ["api", "repos", "create"]:
                return self._create(json.loads(body))
            case ["api", "validate-yaml"]:
                broken = "no such license" in json.loads(body)["content"]
                return (
                    (400 if broken else 200),
                    {"errors": [{"message": '"license" must be one of'}] * broken, "warnings": []},
                    {},
                )
            case ["api", "models", owner, name, *rest]:
                return self._model(f"{owner}/{name}", rest, body)
            case [owner, name, "info", "lfs", "objects", "batch"]:
                return self._batch(f"{owner}/{name.removesuffix('.git')}", json.loads(body))
            case ["objects", oid]:
                if hashlib.sha256(body).hexdigest() != oid:
                    raise _Answer(400, message="not what was announced")
                self.hub.objects[oid] = body
                return 200, b"", {}
            case [owner, name, "resolve", *rest]:
                return self._file(f"{owner}/{name}", rest)
        raise _Answer(404)

    def _batch(self, repo_id: str, wanted: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
        self._may_write(repo_id.split("/")[0])
        missing = [entry for entry in wanted["objects"] if entry["oid"] not in self.hub.objects]
        actions = {entry["oid"]: {"upload": {"href": f"{self.hub.url}/objects/{entry['oid']}"}} for entry in missing}
        objects = [{**entry, "actions": actions.get(entry["oid"], {})} for entry in wanted["objects"]]
        return 200, {"transfer": "basic", "objects": objects}, {"Content-Type": "application/vnd.git-lfs+json"}

    def _create(self, wanted: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
        owner = wanted.get("organization") or USER
        self._may_write(owner)
        repo_id = f"{owner}/{wanted['name']}"
        url = {"url": f"{self.hub.url}/{repo_id}", "name": repo_id, "id": repo_id}
        if repo_id in self.hub.repositories:
            return 409, {**url, "error": "You already created this model repo"}, {}
        self.hub.add(repo_id, private=wanted.get("visibility") == "private" or bool(wanted.get("private")))
        return 200, url, {}

    def _model(self, repo_id: str, rest: list[str], body: bytes) -> tuple[int, Any, dict[str, str]]:
        repository = self._repository(repo_id)
        query = parse_qs(urlsplit(self.path).query)
        match rest:
            case [] | ["revision", *_]:
                sha, files = self._found(repository, "/".join(rest[1:]) or "main")
                siblings = [{"rfilename": name} for name in files]
                return (
                    200,
                    {
                        "id": repo_id,
                        "modelId": repo_id,
                        "sha": sha,
                        "siblings": siblings,
                        "tags": [],
                        "private": repository.private,
                    },
                    {},
                )
            case ["refs"]:
                return (
                    200,
                    {
                        "branches": [
                            {"name": n, "ref": f"refs/heads/{n}", "targetCommit": c[-1][0]} for n, c in repository.refs.items()
                        ],
                        "converts": [],
                        "tags": [],
                    },
                    {},
                )
            case ["branch", *name]:
                self._may_write(repo_id.split("/")[0])
                branch = "/".join(name)
                if branch in repository.refs:
                    raise _Answer(409, message="Reference already exists")
                repository.refs[branch] = list(repository.refs["main"])
                return 200, {}, {}
            case ["tree", *place]:
                _, files = self._found(repository, _revision_and_path(place)[0])
                entries = [{"type": "file", "path": n, "size": len(c), "oid": _git_oid(c)} for n, c in files.items()]
                return 200, entries, {}
            case ["preupload", *revision]:
                self._found(repository, "/".join(revision))
                modes = [
                    {
                        "path": f["path"],
                        "uploadMode": "lfs" if f["size"] >= self.hub.large else "regular",
                        "shouldIgnore": False,
                    }
                    for f in json.loads(body)["files"]
                ]
                return 200, {"files": modes}, {}
            case ["commit", *revision]:
                return self._commit(repo_id, repository, "/".join(revision), body, "create_pr" in query)
        raise _Answer(404)

    def _found(self, repository: Repository, revision: str) -> tuple[str, dict[str, bytes]]:
        found = repository.commit(revision)
        if found is None:
            raise _Answer(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return found

    def _commit(
        self, repo_id: str, repository: Repository, revision: str, body: bytes, as_pr: bool
    ) -> tuple[int, Any, dict[str, str]]:
        if self._token() is None or not as_pr:
            self._may_write(repo_id.split("/")[0])
        head, before = self._found(repository, revision)
        files = dict(before)
        for line in map(json.loads, body.splitlines()):
            value = line["value"]
            if line["key"] == "header":
                if value.get("parentCommit", head) != head:
                    raise _Answer(412, message="A commit has happened since")
                repository.messages.append(value["summary"])
            elif line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.hub.objects[value["oid"]]
            else:
                assert line["key"] == "deletedFile", line["key"]
                del files[value["path"]]
        target = f"refs/pr/{1 + sum(name.startswith('refs/pr/') for name in repository.refs)}" if as_pr else revision
        commit = _commit(files, head)
        repository.refs.setdefault(target, list(repository.refs[revision])).append(commit)
        answer = {"success": True, "commitOid": commit[0], "commitUrl": f"{self.hub.url}/{repo_id}/commit/{commit[0]}"}
        return 200, answer | ({"pullRequestUrl": f"{self.hub.url}/{repo_id}/discussions/{target[8:]}"} if as_pr else {}), {}

    def _file(self, repo_id: str, rest: list[str]) -> tuple[int, Any, dict[str, str]]:
        repository = self._repository(repo_id)
        revision, name = _revision_and_path(rest)
        sha, files = self._found(repository, revision)
        if name not in files:
            raise _Answer(404, "EntryNotFound", "Entry not found")
        return 200, files[name], {"X-Repo-Commit": sha, "ETag": f'"{_git_oid(files[name])}"'}


def _revision_and_path(place: list[str]) -> tuple[str, str]:
    """The name of a pull request has three parts: refs/pr/1."""
    parts = 3 if place[0] == "refs" else 1
    return "/".join(place[:parts]), "/".join(place[parts:])


def _git_oid(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@contextmanager
def running_hub() -> Iterator[Hub]:
    """A Hub at `hub.url`, until the block ends."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
