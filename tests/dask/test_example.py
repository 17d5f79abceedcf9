"""The example of a cluster does what it says."""

import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT


@pytest.mark.system
def test_from_a_folder_of_parquet_to_decisions_that_cost_less_than_none(tmp_path):
    script = str(ROOT / "examples" / "parquet_cluster.py")
    done = subprocess.run([sys.executable, script, "--rows", "8000"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "among 8,000 rows" in done.stdout
    decided, nobody = (
        float(re.search(rf"cost of {what} ([\d,]+)", done.stdout)[1].rstrip(",").replace(",", ""))
        for what in ("the decisions", "acting on nobody")
    )
    assert decided < nobody
