"""One project for all tests that only read."""

from pathlib import Path

import pytest

from chunkwise.mcp_server.workspace import WorkspaceSources
from mcp_server.made_workspace import write_project


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> WorkspaceSources:
    return write_project(Path(tmp_path_factory.mktemp("mcp") / "project"))
