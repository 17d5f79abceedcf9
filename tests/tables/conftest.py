import pytest

from tests.tables.applicants import applicants


@pytest.fixture(scope="session")
def frame():
    """Applicants with gaps, words, codes with leading zeros, amounts and an outcome in words."""
    return applicants(160)
