"""Tests read the weights that the set-up fetched, and keep vectors in a folder of their own."""

import gc
import os
import sys
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from chunkwise.base import allow_hosts_and_code_from_files, limits
from chunkwise.cli import progress
from chunkwise.models import home_folder
from chunkwise.models.llm import local as local_model_module
from chunkwise.models.llm.local import LocalModel, packaged
from how_many import THOROUGH
from resources import (
    browser,
    database,
    large_inputs,
    postgres,
    processes,
    pytest_collection_modifyitems,
    resources_are_asked_for,
)
from watching import (
    pytest_collection,
    pytest_runtest_call,
    pytest_runtest_setup,
    pytest_runtest_teardown,
    pytest_runtestloop,
)

# What an example takes, or to make one up, depends on what else the machine does.
_UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("chunkwise", max_examples=20, **_UNTIMED)
settings.register_profile(THOROUGH, max_examples=150, **_UNTIMED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "chunkwise"))

__all__ = [  # hooks and fixtures
    "browser", "database", "large_inputs", "postgres", "processes", "pytest_collection", "pytest_collection_finish",
    "pytest_collection_modifyitems", "pytest_runtest_call", "pytest_runtest_setup", "pytest_runtest_teardown",
    "pytest_runtestloop", "pytest_sessionfinish", "resources_are_asked_for",
]  # fmt: skip


def pytest_collection_finish() -> None:
    """Thousands of collected tests are not looked through again whenever garbage is."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_sessionfinish() -> None:
    """Servers end here: see `stop`."""
    if server := sys.modules.get("postgres_server"):
        server.stop()


@pytest.fixture(autouse=True, scope="session")
def home_of_the_tests() -> Iterator[None]:
    """Vectors kept from an earlier run would hide a model that gives others."""
    weights = home_folder.given_models() or home_folder.fetched_models()
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setenv(home_folder.MODELS_VARIABLE, os.fspath(weights))
        patch.setenv(home_folder.HOME_VARIABLE, name)
        # How far the work is, a command says after ten seconds, on a busy machine more than on an idle one.
        patch.setenv(progress.VARIABLE, "inf")
        # Loaders run where coverage looks, and what a test puts in their place counts; tests of limits turn them on.
        patch.setenv(limits.VARIABLE, os.environ.get(limits.VARIABLE, "none"))
        yield


@pytest.fixture(autouse=True)
def names_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a file of another test named is not distrusted in this one."""
    monkeypatch.setattr(allow_hosts_and_code_from_files, "_distrusted", {})


@pytest.fixture(autouse=True, scope="module")
def browser_of_the_file() -> Iterator[None]:
    """One for all tests of a file, where one of them opens it; see `stop`."""
    yield
    if browser := sys.modules.get("real_browser"):
        browser.stop()


@pytest.fixture(scope="session")
def local_model() -> Iterator[LocalModel]:
    """The small language model for real: loaded by the first question, once for all that ask it."""
    with pytest.MonkeyPatch.context() as patch:
        # Other tests have the other cores: threads that wait for each other would only keep them busy.
        patch.setattr(local_model_module, "_writing_threads", lambda: 1)
        yield packaged()
