"""What tests of the search share."""

import pytest

from cssvm._kernels.gram import MEGABYTE
from cssvm._search import workers


@pytest.fixture
def limit_memory(monkeypatch):
    """A function that sets how many megabytes the next searches find available for kernel values."""

    def limit(megabytes):
        monkeypatch.setattr(workers, "memory_budget", lambda *_: int(megabytes * MEGABYTE))

    return limit
