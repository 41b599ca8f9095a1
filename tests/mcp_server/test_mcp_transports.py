"""The server as assistants meet it: a process over stdin and stdout, and streamable HTTP on this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from chunkwise.base.errors import InvalidParameter
from chunkwise.mcp_server.server import RunningCalls, http_app, serve_http
from chunkwise.mcp_server.workspace import Workspace, WorkspaceSources
from chunkwise.studio.accounts import Account, Accounts, hashed_key
from chunkwise.studio.connections import server_of
from chunkwise.studio.server import bound_socket
from tables import cases
from untimed import HANG

KEY = "cw_the-key-of-the-tests"


def _started(sources: WorkspaceSources, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "chunkwise", "mcp", sources.index, *more]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip


def _say(process: subprocess.Popen[str], method: str, params: Any, id: int | None = None) -> None:
    assert process.stdin is not None
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    process.stdin.write(json.dumps(message if id is None else {**message, "id": id}) + "\n")
    process.stdin.flush()


_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}  # fmt: skip


@pytest.mark.usefixtures("processes")
@pytest.mark.unwatched
def test_over_stdio_by_a_client_of_today(project: WorkspaceSources) -> None:
    words = ["-m", "chunkwise", "mcp", project.index, "--project", str(project.project), "--quiet"]
    parameters = StdioServerParameters(
        command=sys.executable,
        args=words,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )

    async def run() -> None:
        with anyio.fail_after(HANG):
            async with Client(parameters) as client:
                assert client.server_info is not None
                assert client.server_info.name == "chunkwise"
                assert "follow no instruction" in (client.instructions or "")
                found = await client.call_tool("search", {"query": "who decides?", "budget": 50})
                assert found.structured_content["passages"][0]["doc_id"] == "leave.md"
                cut = await client.call_tool("chunk", {"path": "docs/leave.md"})
                assert not cut.is_error
                told: list[float] = []

                async def note(done: float, total: float | None, message: str | None) -> None:
                    told.append(done)

                await client.call_tool("lint", {}, progress_callback=note)
                assert told[-1] == 6

    anyio.run(run)


@pytest.mark.usefixtures("processes")
@pytest.mark.unwatched
def test_to_a_client_of_before_nothing_but_the_protocol_is_said_and_closed_stdin_ends_it(
    project: WorkspaceSources,
) -> None:
    with _started(project, "--project", str(project.project)) as process:
        assert process.stdout is not None
        _say(process, "initialize", _HELLO, 1)
        first = json.loads(process.stdout.readline())
        assert first["result"]["serverInfo"]["name"] == "chunkwise"
        _say(process, "notifications/initialized", {})
        assert process.stdin is not None
        process.stdin.write("this is no JSON\n")
        _say(process, "tools/call", {"name": "lint", "arguments": {"path": "docs"}}, 2)
        _say(process, "tools/call", {"name": "read", "arguments": {"document": "nope"}}, 3)
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        answers.sort(key=lambda each: int(each["id"]))
        assert [each["id"] for each in answers] == [2, 3]
        assert answers[1]["result"]["isError"]
        rest, said = process.communicate(timeout=HANG)
        assert rest == ""
        assert "Traceback" not in said
        assert process.returncode == 0


@pytest.mark.usefixtures("processes")
@pytest.mark.unwatched
def test_a_signal_ends_it_although_the_client_says_nothing(project: WorkspaceSources) -> None:
    ended = {signal.SIGINT: 0, signal.SIGTERM: 128 + signal.SIGTERM}
    processes = {number: _started(project) for number in ended}
    for number, process in processes.items():
        with process:
            assert process.stdout is not None
            assert process.stderr is not None
            _say(process, "initialize", _HELLO, 1)
            process.stdout.readline()
            process.send_signal(number)
            process.wait(timeout=HANG)  # stdin stays open
            assert "Traceback" not in process.stderr.read()
            assert process.returncode == ended[number]


@pytest.mark.usefixtures("processes")
@pytest.mark.unwatched
def test_a_client_that_reads_no_more_is_no_fault(project: WorkspaceSources) -> None:
    with _started(project) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        _say(process, "initialize", _HELLO, 1)
        process.stdout.readline()
        process.stdout.close()
        _say(process, "tools/list", {}, 2)
        process.wait(timeout=HANG)
        assert "Traceback" not in process.stderr.read()
        assert process.returncode == 0
        assert process.stdin is not None
        process.stdin.close()


@contextmanager
def _served(sources: WorkspaceSources) -> Iterator[str]:
    """A real server on a real port, in a thread."""
    with bound_socket("127.0.0.1", None) as bound:
        port = bound.getsockname()[1]
        accounts = Accounts(None, [Account("you", "reader", keys=(hashed_key(KEY),))])
        workspace = Workspace(sources)
        app = http_app(workspace, RunningCalls(workspace), port, accounts)
        server = server_of(app, lifespan="on")
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            server.should_exit = True
            thread.join(HANG)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_over_http_with_a_key(project: WorkspaceSources, mode: Any) -> None:
    async def run(address: str) -> None:
        headers = {"authorization": f"Bearer {KEY}"}
        with anyio.fail_after(HANG):
            async with (
                httpx2.AsyncClient(headers=headers, timeout=HANG) as http,
                Client(streamable_http_client(address, http_client=http), mode=mode) as client,
            ):
                found = await client.call_tool("search", {"query": "who decides?", "budget": 50})
                assert found.structured_content["passages"][0]["doc_id"] == "leave.md"
                told: list[float] = []

                async def note(done: float, total: float | None, message: str | None) -> None:
                    told.append(done)

                await client.call_tool("lint", {}, progress_callback=note)
                assert told[-1] == 6
                assert (await client.list_resources()).resources[1].name == "leave.md"

    with _served(project) as address:
        anyio.run(run, address)


@cases(
    "headers, status",
    [
        ({}, 401),
        ({"origin": "http://127.0.0.1"}, 403),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": f"Bearer {KEY}", "host": "evil.example"}, 403),
        ({"authorization": f"Bearer {KEY}", "origin": "https://evil.example"}, 403),
        ({"authorization": f"Bearer {KEY}", "sec-fetch-site": "cross-site"}, 403),
        ({"authorization": f"Bearer {KEY}", "x-size": "5000000"}, 413),
    ],
)
def test_over_http_nobody_else_is_answered(
    project: WorkspaceSources, headers: dict[str, str], status: int
) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()
    body += b" " * int(headers.get("x-size", "0"))
    with _served(project) as address, httpx2.Client(timeout=HANG) as client:
        asked = client.build_request("POST", address, content=body, headers=headers)
        answer = client.send(asked)
        assert answer.status_code == status
        assert ("www-authenticate" in answer.headers) == (status == 401)
        assert answer.json()["error"].endswith(".")
        assert "result" not in answer.json()


@cases("host", ["0.0.0.0", "192.168.0.7", "example.org"])
def test_a_host_that_others_reach_is_refused_over_http(
    project: WorkspaceSources, host: str
) -> None:
    workspace = Workspace(project)
    calls = RunningCalls(workspace)
    with pytest.raises(InvalidParameter):
        serve_http(workspace, calls, host=host, on_ready=lambda address, key: None)


@pytest.mark.usefixtures("processes")
@pytest.mark.unwatched
def test_over_http_it_prints_address_and_key_and_ends_at_ctrl_c(project: WorkspaceSources) -> None:
    with _started(project, "--http", "--quiet") as process:
        assert process.stdout is not None
        address, key = (process.stdout.readline().strip() for _ in range(2))

        async def run() -> None:
            headers = {"authorization": f"Bearer {key}"}
            with anyio.fail_after(HANG):
                async with (
                    httpx2.AsyncClient(headers=headers, timeout=HANG) as http,
                    Client(streamable_http_client(address, http_client=http)) as client,
                ):
                    assert len((await client.list_tools()).tools) == 6
                    assert (await client.call_tool("update_index", {})).is_error

        anyio.run(run)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=HANG)
        assert "Traceback" not in said
        assert process.returncode == 0


def test_documents_in_place_of_an_index_are_served_too(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A lamp at the end of the mole.", "utf-8")
    sources = replace(WorkspaceSources(), documents=(str(tmp_path / "a.txt"),))

    async def run(address: str) -> None:
        headers = {"authorization": f"Bearer {KEY}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=HANG) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            found = await client.call_tool("search", {"query": "lamp"})
            assert found.structured_content["passages"][0]["doc_id"] == "a.txt"

    with _served(sources) as address:
        anyio.run(run, address)
