import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

# Label noise and a large C make a fit of many seconds; a small fit before it compiles what needs compiling.
LONG_FIT = """
import signal, time
import numpy as np
from cssvm import CostSensitiveSVC

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
rng = np.random.default_rng(0)
X, y = rng.normal(size=(25_000, 20)), rng.integers(0, 2, 25_000)
model = CostSensitiveSVC(C=100.0, fn_cost=2.0)
model.fit(X[:3000], y[:3000])
print("started", flush=True)
try:
    model.fit(X, y)
finally:
    print(time.process_time(), flush=True)
"""


@pytest.mark.system
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("delay", [0.3, 1.5])
def test_ctrl_c_ends_a_long_fit_within_a_second_of_computing(delay):
    """The clock is the processor time of a fit on one thread, which other programs do not make run faster."""
    command = [sys.executable, "-c", LONG_FIT]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, **pipes) as process:
        assert process.stdout.readline() == "started\n"
        time.sleep(delay)
        before = psutil.Process(process.pid).cpu_times()
        process.send_signal(signal.SIGINT)
        ended, errors = process.communicate(timeout=600)
    assert process.returncode != 0
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert float(ended) - before.user - before.system < 1.5  # a busy core is also a slower one
