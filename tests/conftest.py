"""Tests read the weights that the set-up fetched, and keep vectors in a folder of their own."""

import os
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings

from chunkwise.models import folder

# What an example takes depends on what else the machine does.
settings.register_profile("chunkwise", deadline=None)
settings.load_profile("chunkwise")


@pytest.fixture(autouse=True, scope="session")
def home_of_the_tests() -> Iterator[None]:
    """Vectors kept from an earlier run would hide a model that gives others."""
    weights = folder.given_models() or folder.fetched_models()
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setenv(folder.MODELS_VARIABLE, os.fspath(weights))
        patch.setenv(folder.HOME_VARIABLE, name)
        yield
