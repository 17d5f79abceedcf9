"""Checkpoints: a search continues from its own scores only."""

import errno
import os
import subprocess
import sys
import textwrap
import threading
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, StandardScaler

from cssvm import CostSensitiveSVCCV, evaluate
from cssvm._search import checkpoint
from cssvm._search.checkpoint import Checkpoint, fingerprint
from cssvm._search.workers import MatrixWorker


@pytest.fixture(scope="module")
def data():
    return make_classification(80, 5, n_informative=3, flip_y=0.1, weights=[0.7], random_state=0)


def small(**settings):
    return CostSensitiveSVCCV(**({"Cs": [0.5, 5.0], "gammas": [0.05, 0.5], "cv": 3} | settings))


class Accuracy:
    """A scorer that counts its calls, and fails at one of them."""

    def __init__(self, limit=None):
        self.calls, self.limit = 0, limit

    def __getstate__(self):
        return {}  # what it counts does not change its values

    def __call__(self, estimator, X, y):
        if self.calls == self.limit:
            raise RuntimeError("no more")
        self.calls += 1
        return float(np.mean(estimator.predict(X) == y))


def test_a_search_continues_from_its_checkpoint(data, tmp_path):
    file = tmp_path / "search.npz"
    with pytest.raises(RuntimeError, match="no more"):
        small(scoring=Accuracy(8), checkpoint=file, n_jobs=1).fit(*data)
    scorer = Accuracy()
    resumed = small(scoring=scorer, checkpoint=file, n_jobs=1).fit(*data)
    assert scorer.calls == 12 - 8
    whole = small(scoring=Accuracy()).fit(*data)
    np.testing.assert_array_equal(resumed.cv_results_["mean_test_score"], whole.cv_results_["mean_test_score"])
    assert [each.name for each in tmp_path.iterdir()] == ["search.npz"]


def test_searches_that_differ_in_a_function_do_not_share_values(data, tmp_path):
    kernels = [lambda A, B: A @ B.T, lambda A, B: (A @ B.T + 1.0) ** 2]
    settings = {"gammas": [1.0], "scoring": "tp_auc"}
    alone, beside = (
        [
            small(**settings, kernel=kernel, checkpoint=file).fit(*data).cv_results_["mean_test_score"]
            for kernel in kernels
        ]
        for file in (None, tmp_path / "search.npz")
    )
    np.testing.assert_array_equal(beside, alone)
    assert not np.array_equal(*alone)


def power(degree):
    return lambda A, B: (A @ B.T) ** degree


def times(A, B, factor=1.0):
    return factor * (A @ B.T)


FACTOR = 2.0


def by_global(A, B):
    return FACTOR * (A @ B.T)


def columns(last):
    scaled = [(f"column {k}", StandardScaler(), [k]) for k in range(60)]
    return ColumnTransformer([*scaled, ("last", KBinsDiscretizer(last), [60])])


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def values(self, X):
        return self.factor * X


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda A, B: A @ B.T, lambda A, B: A @ B.T + 1.0),
        (lambda A, B: (A @ B.T) ** 2, lambda A, B: (A @ B.T) ** 3),
        (power(2), power(3)),
        (partial(times, factor=1.0), partial(times, factor=2.0)),
        (Scaled(1.0).values, Scaled(2.0).values),
        (FunctionTransformer(np.log1p), FunctionTransformer(np.sqrt)),
        (FunctionTransformer(lambda X: X), FunctionTransformer(lambda X: -X)),
        (make_scorer(fbeta_score, beta=1), make_scorer(fbeta_score, beta=2)),
        (columns(3), columns(4)),
        (np.arange(6), np.arange(6).reshape(2, 3)),
        (np.arange(3), np.arange(3.0)),
        (sparse.csr_array(np.eye(3)), sparse.csr_array(2.0 * np.eye(3))),
        (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"b": [1, 2]})),
        (pd.DataFrame({"a": ["x", "y"]}), pd.DataFrame({"a": ["x", "z"]})),
    ],
)
def test_what_differs_has_another_fingerprint(one, other):
    assert fingerprint(value=one) == fingerprint(value=one)
    assert fingerprint(value=one) != fingerprint(value=other)


def test_functions_count_by_the_variables_of_their_module(monkeypatch):
    before = fingerprint(kernel=by_global)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert fingerprint(kernel=by_global) != before
    monkeypatch.undo()
    assert fingerprint(kernel=by_global) == before


def test_classes_count_by_their_methods(monkeypatch):
    before = fingerprint(scoring=Scaled(1.0))
    monkeypatch.setattr(Scaled, "values", lambda self, X: X)
    assert fingerprint(scoring=Scaled(1.0)) != before


def test_functions_that_refer_to_each_other_have_a_fingerprint():
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    assert fingerprint(value=even) != fingerprint(value=odd)


@pytest.mark.system
def test_fingerprints_are_the_same_in_every_process(tmp_path):
    (tmp_path / "own.py").write_text(
        textwrap.dedent("""
        import functools
        import numba
        import numpy as np
        import pandas as pd
        import prices
        PRICES = pd.Series([1.0, 5.0], index=["fp", "fn"])
        @functools.lru_cache
        def cached(x):
            return PRICES["fn"] * x * prices.RATE
        half = functools.partial(np.multiply, 0.5)
        step = np.vectorize(lambda x: x > 0)
        def score(estimator, X, y):
            return cached(1.0) + half(2.0) + step(X).mean()
        @numba.njit
        def compiled(A, B):
            return A @ B.T
        SET = {"a", "b", "c"}
        def kernel(A, B):
            return np.tanh(A @ B.T) if "a" in {"a", "b", "c"} else SET
        class Scorer:
            def __call__(self, estimator, X, y):
                return kernel(X, X).sum() + (lambda x: x)(1.0)
        """)
    )
    (tmp_path / "prices.py").write_text("RATE = 2.0")
    code = """if True:
        import numpy as np, own
        from sklearn.compose import ColumnTransformer
        from sklearn.preprocessing import OneHotEncoder, StandardScaler
        from cssvm.metrics import cost_risk_scorer
        from cssvm._search.checkpoint import fingerprint
        parts = ColumnTransformer([("a", StandardScaler(), [0]), ("b", OneHotEncoder(), ["x", "y"])])
        own_parts = {'a': own.kernel, 'b': own.Scorer(), 'c': own.compiled, 'd': own.score}
        print(fingerprint(**own_parts, e=cost_risk_scorer(), f=parts, g=lambda A: A))
    """
    path = [str(tmp_path), *sys.path]
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            check=True,
            timeout=1000,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(path)},
        ).stdout
        for seed in ("1", "2")  # the second one reads what the first one has compiled
    }
    assert len(found) == 1


def test_a_value_that_cannot_be_compared_later_is_rejected_before_any_work(data, tmp_path):
    class Locked(Accuracy):
        def __getstate__(self):
            return {"lock": threading.Lock()}

    scorer = Locked()
    with pytest.raises(ValueError, match=r"a checkpoint needs scoring .* cannot pickle .*checkpoint=None"):
        small(scoring=scorer, checkpoint=tmp_path / "search.npz").fit(*data)
    assert scorer.calls == 0
    small(scoring=scorer).fit(*data)


def test_a_function_that_refers_to_a_variable_without_a_value_cannot_be_compared():
    def score(model, X, y):
        return later

    with pytest.raises(ValueError, match=r"a checkpoint needs scoring .*[Cc]ell is empty.*checkpoint=None"):
        fingerprint(scoring=score)
    later = 1.0
    assert fingerprint(scoring=score)


def test_a_file_that_cannot_hold_a_checkpoint_is_rejected_before_any_work(data, tmp_path):
    scorer, file = Accuracy(), tmp_path / "search.npz"
    file.write_text("not a search")
    with pytest.raises(ValueError, match="is not a saved search"):
        small(scoring=scorer, checkpoint=file).fit(*data)
    with file.open("wb") as stream:
        np.save(stream, np.arange(3))
    with pytest.raises(ValueError, match="is not a saved search of this version: it holds a single array"):
        small(scoring=scorer, checkpoint=file).fit(*data)
    np.savez(file, fingerprint="of an earlier version")
    with pytest.raises(ValueError, match="is not a saved search of this version"):
        small(scoring=scorer, checkpoint=file).fit(*data)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        small(scoring=scorer, checkpoint=tmp_path / "nowhere" / "search.npz").fit(*data)
    assert scorer.calls == 0


def test_searches_may_share_a_file(tmp_path):
    file, numbers = tmp_path / "search.npz", np.array([1.0, np.nan])
    one, two = (Checkpoint(file, name, (2, 1), 1) for name in ("one", "two"))
    one.record(0, 0, numbers)
    two.record(0, 0, 2.0 * numbers)
    one.record(0, 0, 3.0 * numbers[::-1])
    np.testing.assert_array_equal(Checkpoint(file, "one", (2, 1), 1).values, [[1.0], [3.0]])
    np.testing.assert_array_equal(Checkpoint(file, "two", (2, 1), 1).values, [[2.0], [np.nan]])
    assert np.isnan(Checkpoint(file, "three", (2, 1), 1).values).all()
    assert [each.name for each in tmp_path.iterdir()] == ["search.npz"]


def test_an_evaluation_of_a_search_with_a_checkpoint_continues_too(data, tmp_path, monkeypatch):
    trained, train = [], MatrixWorker.fold_scores

    def count(self, task, fits, stop):
        trained.append(task)
        return train(self, task, fits, stop)

    monkeypatch.setattr(MatrixWorker, "fold_scores", count)
    search = small(checkpoint=tmp_path / "search.npz", scoring="tp_auc")
    settings = {"cv": 2, "blind": False, "n_resamples": 10}
    plain = evaluate(clone(search).set_params(checkpoint=None), *data, **settings).model.cost
    first = evaluate(search, *data, **settings).model.cost
    assert len(trained) == 2 * (2 * 2 * 3)  # in two folds two kernels on three folds, twice
    trained.clear()
    assert evaluate(search, *data, **settings).model.cost == first == plain
    assert len(trained) == 2 * 3  # the best point, whose scores on the folds are not kept


def test_a_full_disk_does_not_end_the_search(data, tmp_path, monkeypatch):
    def full(path):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(checkpoint, "atomic_write", full)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = small(checkpoint=tmp_path / "search.npz").fit(*data)
    messages = [str(each.message) for each in caught if "checkpoint cannot be written" in str(each.message)]
    assert len(messages) == 1
    assert "No space left on device" in messages[0]
    np.testing.assert_array_equal(
        found.cv_results_["mean_test_score"], small().fit(*data).cv_results_["mean_test_score"]
    )
