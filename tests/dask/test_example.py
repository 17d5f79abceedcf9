"""The example of a cluster trains and predicts."""

import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT


@pytest.mark.system
def test_predictions_cost_less_than_acting_on_nobody(tmp_path):
    script = str(ROOT / "examples" / "parquet_cluster.py")
    done = subprocess.run([sys.executable, script, "--rows", "8000"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "among 8,000 rows" in done.stdout
    predicted, nobody = (
        float(re.search(rf"cost of {what} ([\d,]+)", done.stdout)[1].rstrip(",").replace(",", ""))
        for what in ("the predictions", "acting on nobody")
    )
    assert predicted < nobody
