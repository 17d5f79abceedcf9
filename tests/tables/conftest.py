import pytest

from tests.tables.applicants import applicants


@pytest.fixture(scope="session")
def frame():
    """Applicants with missing values, categories, codes with leading zeros, amounts and string labels."""
    return applicants(160)
