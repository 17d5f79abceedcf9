import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data():
    """Folder with the real data sets that are not part of the repository."""
    folder = Path(os.environ.get("CSSVM_TEST_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no data sets in {folder}; set CSSVM_TEST_DATA to a folder that holds them")
    return folder
