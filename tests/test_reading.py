"""The number of files that a call enters."""

import sys
from pathlib import Path

import numpy as np

import cssvm
from cssvm import CostSensitiveSVC, CostSensitiveSVCCV

SOURCE = Path(cssvm.__file__).parent


def files_entered(call):
    """The files of the package whose functions are called, relative to it; a first call imports and compiles."""
    call()
    found = set()

    def profile(frame, event, _):
        if event == "call":
            found.add(frame.f_code.co_filename)

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    paths = [Path(name) for name in found]
    return sorted(path.relative_to(SOURCE).as_posix() for path in paths if SOURCE in path.parents)


def test_a_fit_of_a_kernel_svm_enters_few_files():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=120) > 0.5
    files = files_entered(lambda: CostSensitiveSVC().fit(X, y, fn_cost=rng.uniform(1.0, 5.0, 120)))
    assert len(files) <= 24, files


def test_a_search_enters_few_files():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=120) > 0.5
    search = CostSensitiveSVCCV(Cs=3, gammas=3, decision="bayes", n_jobs=1)  # whose functions run on this thread
    files = files_entered(lambda: search.fit(X, y, fn_cost=rng.uniform(1.0, 5.0, 120)))
    assert len(files) <= 38, files
