"""A saved and loaded model makes bit-identical predictions, in this process or another."""

import ast
import builtins
import copy
import json
import os
import pickle
import re
import stat
import subprocess
import sys
import tempfile
import zipfile
from importlib import import_module

import numpy as np
import pytest
from sklearn._loss._loss import CyHalfBinomialLoss
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import cssvm
from cssvm import CostSensitiveSVC, CostThresholdClassifier, DesignedLossClassifier
from cssvm._kernels import KERNELS
from cssvm.deploy import TRUSTED_TYPES, ModelCard, ModelFileError, load_card, load_model, save_model
from cssvm.deploy import _model_file as model_file
from cssvm.deploy._model_file import MESSAGE_LIMIT, check_savable, save_or_keep
from cssvm.losses import Loss, design_loss
from tests.deploy.models import MODELS, fitted, inputs, rows, table


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_scores_and_decides_as_the_one_that_was_saved(name, path):
    model, X = fitted(name), inputs(name)
    save_model(model, path)
    saved = load_model(path)
    assert type(saved.model) is type(model)
    assert np.array_equal(saved.model.decision_function(X), model.decision_function(X))
    assert np.array_equal(saved.model.predict(X), model.predict(X))
    assert saved.model.predict(X).dtype == model.predict(X).dtype
    if hasattr(model, "predict_proba"):
        assert np.array_equal(saved.model.predict_proba(X), model.predict_proba(X))
    assert saved.card == load_card(path)


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_every_named_kernel_can_be_saved(kernel, path):
    X, y = rows()
    X = rbf_kernel(X) if kernel == "precomputed" else X
    model = CostSensitiveSVC(kernel=kernel, fn_cost=2.0).fit(X, y)
    save_model(model, path)
    assert np.array_equal(load_model(path).model.decision_function(X), model.decision_function(X))


def test_costs_of_rows_are_taken_by_a_loaded_model(path):
    model, X = fitted("search, bayes"), table()
    costs = {"fn_cost": np.linspace(0.1, 50.0, len(X)), "fp_cost": 2.0}
    save_model(model, path)
    assert np.array_equal(load_model(path).model.predict(X, **costs), model.predict(X, **costs))


ELSEWHERE = """
import json, sys
import pandas as pd
from cssvm.deploy import load_model
saved, frame = load_model(sys.argv[1]), pd.read_parquet(sys.argv[2])
found = [saved.model.predict(frame).tolist(), saved.model.decision_function(frame).tolist()]
print(json.dumps([saved.card.pos_label, *found]))
"""


@pytest.mark.system
def test_another_process_decides_from_the_file_alone(path, tmp_path):
    model, X = fitted("search, threshold"), table()
    save_model(model, path)
    X.to_parquet(tmp_path / "rows.parquet")
    command = [sys.executable, "-c", ELSEWHERE, str(path), str(tmp_path / "rows.parquet")]
    pos_label, labels, scores = json.loads(subprocess.check_output(command, text=True))
    assert pos_label == "bad"
    assert labels == model.predict(X).tolist()
    assert scores == model.decision_function(X).tolist()


@pytest.mark.system
def test_a_card_is_read_without_the_model_and_without_scikit_learn(path):
    save_model(fitted("pipeline"), path)
    code = "import sys; from cssvm.deploy import load_card; card = load_card(sys.argv[1]); "
    code += "print(card.pos_label, 'sklearn' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code, str(path)], text=True).split() == ["bad", "False"]


def test_nothing_in_a_file_is_a_pickle(path):
    save_model(fitted("search, bayes"), path)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert all(name.endswith((".npy", ".npz", ".json")) for name in names)
        for name in names:
            if name.endswith(".npy"):
                with archive.open(name) as file:
                    np.load(file, allow_pickle=False)


def test_the_card_describes_the_model():
    card = ModelCard.from_model(fitted("search, bayes"), currency="EUR", n_rows=120)
    assert (card.classes, card.pos_label) == (["bad", "good"], "bad")
    assert (card.fn_cost, card.fp_cost, card.currency, card.n_rows) == (4.0, 1.0, "EUR", 120)
    kinds = {column.name: column.kind for column in card.columns}
    assert list(kinds) == list(table().columns)
    assert [name for name, kind in kinds.items() if kind == "category"] == ["job", "code"]
    assert card.columns[-1].categories == ["0", "01234", "1234"]
    svm = fitted("search, bayes").best_estimator_
    assert card.certificate["gap"] == svm.dual_gap_
    assert card.certificate["status"] == "converged"
    assert card.parameters["C"] == svm.C_
    assert card.versions["cssvm"] == cssvm.__version__


def test_a_card_comes_back_from_json_as_it_was():
    card = ModelCard.from_model(
        fitted("pipeline"),
        target="default",
        fn_cost="amount",
        measures={"cost": {"value": np.float64(0.1) + 0.2, "low": np.nan, "high": None}},
        notes=['quotes " and <script>', "ä"],
    )
    again = ModelCard.from_json(card.to_json())
    assert again.measures == {"cost": {"value": 0.1 + 0.2, "low": None, "high": None}}
    assert (again.target, again.fn_cost, again.notes) == (card.target, card.fn_cost, card.notes)
    assert ModelCard.from_json(again.to_json()) == again


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"colour": 1}', '{"columns": [{"kind": "number"}]}', '{"columns": 3}']
)
def test_text_that_is_not_a_card_is_rejected(text):
    with pytest.raises(ValueError, match="JSON of a ModelCard"):
        ModelCard.from_json(text)


def test_a_card_of_things_that_json_lacks_is_rejected(path):
    with pytest.raises(ValueError, match=r"card\['parameters'\]\['when'\] must be made of numbers"):
        save_model(fitted("pipeline"), path, ModelCard(parameters={"when": object()}))
    assert not path.exists()


def test_a_card_with_text_that_is_not_utf8_is_rejected(path):
    with pytest.raises(ValueError, match=r"card\['currency'\] must be UTF-8 text"):
        save_model(fitted("pipeline"), path, ModelCard(currency="\udcff"))
    assert not path.exists()


@pytest.mark.filterwarnings("ignore:The best point lies at the edge")
@pytest.mark.parametrize(
    "model",
    [
        cssvm.CostSensitiveSVCCV(Cs=2, gammas=2, cv=2, fp_cost=3.0),
        cssvm.CostSensitiveSVC(fp_cost=3.0),
        cssvm.CostSensitiveLinearSVC(fp_cost=3.0),
        cssvm.MetaCostClassifier(DecisionTreeClassifier(), fp_cost=3.0, n_estimators=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_costs_given_for_each_row_are_not_in_the_card(model):
    X, y = rows()
    model.fit(X, y, fn_cost=np.arange(1.0, len(y) + 1))
    card = ModelCard.from_model(model)
    assert (card.fn_cost, card.fp_cost) == (None, 3.0)
    card = ModelCard.from_model(model.fit(X, y, fn_cost=2.0))
    assert (card.fn_cost, card.fp_cost) == (2.0, 3.0)


def own_kernel(A, B):
    return A @ B.T


@pytest.mark.parametrize("around", [lambda svc: svc, lambda svc: make_pipeline(svc)])
def test_a_callable_kernel_is_rejected_with_the_reason(around, path):
    model = around(CostSensitiveSVC(kernel=own_kernel)).fit(*rows())
    with pytest.raises(
        ModelFileError, match=r"kernel of .* is the function .*own_kernel, and a model file holds no code"
    ):
        save_model(model, path)
    assert not path.exists()


def test_a_loss_made_of_functions_is_rejected(path):
    loss = design_loss(lambda p: p * (1 - p), lambda p: 2 * p - 1, lambda v: (v + 1) / 2)
    with pytest.raises(ModelFileError):
        save_model(DesignedLossClassifier(loss).fit(*rows()), path)
    assert not path.exists()


class Foreign(LogisticRegression):
    """A class from outside this package."""


def test_a_foreign_estimator_is_rejected_by_name_and_taken_when_it_is_trusted(path):
    model = CostThresholdClassifier(Foreign(), calibration=None).fit(*rows())
    name = f"{Foreign.__module__}.Foreign"
    with pytest.raises(ModelFileError, match=rf"types that are not trusted: {name}"):
        save_model(model, path)
    save_model(model, path, trusted=[name])
    with pytest.raises(ModelFileError, match=rf"types that are not trusted: {name}"):
        load_model(path)
    loaded = load_model(path, trusted=[name]).model
    assert np.array_equal(loaded.predict(rows()[0]), model.predict(rows()[0]))


@pytest.mark.parametrize("model", [CostSensitiveSVC(), object(), MLPClassifier()])
def test_what_is_not_fitted_is_rejected(model, path):
    with pytest.raises((ValueError, TypeError), match=r"fitted|not an estimator"):
        save_model(model, path)
    assert not path.exists()


@pytest.mark.filterwarnings("ignore:The best point lies at the edge")
def test_a_search_without_a_final_model_and_one_with_a_path_are_rejected(path, tmp_path):
    search = cssvm.CostSensitiveSVCCV(Cs=2, gammas=2, cv=3, checkpoint=tmp_path / "points.npz").fit(*rows())
    with pytest.raises(ModelFileError, match=r"checkpoint of .* is the path .*set_params\(checkpoint=None\)"):
        save_model(search, path)
    save_model(search.set_params(checkpoint=None), path)
    path.unlink()
    del search.best_estimator_
    with pytest.raises(ModelFileError, match="it has no final model"):
        save_model(search, path)


def test_more_than_two_classes_are_rejected(path):
    X, y = make_classification(60, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0)
    with pytest.raises(ValueError, match="two classes"):
        save_model(RandomForestClassifier(n_estimators=2).fit(X, y), path)


def test_a_failed_save_leaves_the_old_file_and_nothing_next_to_it(path, monkeypatch):
    save_model(fitted("cost-sensitive"), path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save_model(fitted("biased penalty"), path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_file_gets_the_permissions_that_files_get_and_keeps_those_it_has(path):
    umask = os.umask(0o022)
    try:
        save_model(fitted("cost-sensitive"), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o644
        path.chmod(0o600)
        save_model(fitted("cost-sensitive"), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(umask)


def public_classes(*modules):
    return [getattr(module, name) for module in modules for name in module.__all__]


def test_every_public_estimator_kernel_and_loss_is_trusted_and_every_trusted_type_of_ours_exists():
    estimators = {
        found
        for found in public_classes(cssvm, cssvm._svm, cssvm._search, cssvm._meta)
        if isinstance(found, type) and issubclass(found, BaseEstimator)
    }
    functions = {"DesignedLoss"}  # made of the user's functions, which no file holds
    untrainable = {"ZeroOneLoss", "Loss"}
    losses = {
        found
        for found in public_classes(cssvm.losses)
        if isinstance(found, type) and issubclass(found, Loss)
        if found.__name__ not in functions | untrainable
    }
    for found in estimators | losses | set(KERNELS.values()):
        assert f"{found.__module__}.{found.__qualname__}" in TRUSTED_TYPES
    for name in TRUSTED_TYPES:
        module, _, attribute = name.rpartition(".")
        assert hasattr(import_module(module), attribute), name


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ModuleNotFoundError("No module named 'skops'", name="skops"), "model files need skops: pip install"),
        (ImportError("cannot import name 'Huber'", name="sklearn"), "skops cannot be imported: cannot import name"),
    ],
)
def test_an_import_error_inside_of_skops_is_not_taken_for_a_missing_skops(error, said, path, monkeypatch):
    real = builtins.__import__

    def importing(name, *arguments, **options):
        if name.startswith("skops"):
            raise error
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", importing)
    with pytest.raises(ImportError, match=said):
        save_model(fitted("linear"), path)


def test_a_model_that_cannot_be_saved_after_its_training_is_kept_as_a_pickle(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    model, card = fitted("linear"), ModelCard.from_model(fitted("linear"))
    with pytest.raises(ModelFileError, match="The trained model was not lost") as caught:
        save_or_keep(model, tmp_path / "nowhere" / "model.skops", card)
    with open(re.search(r"'([^']*\.pickle)'", str(caught.value))[1], "rb") as file:
        kept, kept_card = pickle.load(file)
    assert kept_card == card
    assert np.array_equal(kept.predict(rows()[0]), model.predict(rows()[0]))


TREE = "sklearn.tree._tree.Tree"
LOSS = f"{CyHalfBinomialLoss.__module__}.CyHalfBinomialLoss"


@pytest.mark.parametrize(
    ("estimator", "trusted"),
    [
        (DecisionTreeClassifier(), [TREE]),
        (RandomForestClassifier(3), [TREE]),
        (
            KNeighborsClassifier(),
            ["sklearn.metrics._dist_metrics.EuclideanDistance64", "sklearn.neighbors._kd_tree.KDTree"],
        ),
    ],
    ids=repr,
)
def test_estimators_whose_arrays_hold_records_can_be_saved_if_their_types_are_named(estimator, trusted, path):
    X, y = rows()
    model = CostThresholdClassifier(estimator, calibration=None).fit(X, y)
    with pytest.raises(ModelFileError, match=re.escape(f"pass trusted={trusted}")):
        save_model(model, path)
    save_model(model, path, trusted=trusted)
    assert np.array_equal(load_model(path, trusted=trusted).model.decision_function(X), model.decision_function(X))


def test_gradient_boosting_whose_trees_are_an_array_of_two_dimensions_can_be_saved(path):
    X, y = rows()
    model = GradientBoostingClassifier(n_estimators=3, random_state=0).fit(X, y)
    trusted = [TREE, LOSS, "numpy.random.mtrand.RandomState"]
    save_model(model, path, trusted=trusted)
    assert np.array_equal(load_model(path, trusted=trusted).model.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    "loss",
    [
        pytest.param(
            "log_loss",
            marks=pytest.mark.skipif(
                not LOSS.startswith("sklearn."), reason="this scikit-learn does not name the package of its losses"
            ),
        ),
        "modified_huber",
        "hinge",
    ],
)
def test_losses_of_scikit_learn_are_trusted(loss, path):
    X, y = rows()
    model = SGDClassifier(loss=loss, random_state=0).fit(X, y)
    save_model(model, path)
    assert np.array_equal(load_model(path).model.decision_function(X), model.decision_function(X))


def test_boosted_trees_can_be_saved_with_the_types_that_the_error_names(path):
    X, y = rows()
    model = CostThresholdClassifier(HistGradientBoostingClassifier(max_iter=2), calibration=None).fit(X, y)
    with pytest.raises(ModelFileError) as caught:
        save_model(model, path)
    trusted = ast.literal_eval(re.search(r"trusted=(\[.*\])", str(caught.value))[1])
    save_model(model, path, trusted=trusted)
    assert np.array_equal(load_model(path, trusted=trusted).model.decision_function(X), model.decision_function(X))


def test_the_pickle_is_named_however_long_the_reason_is(tmp_path, monkeypatch):
    def failing(*_):
        raise ModelFileError("long " * MESSAGE_LIMIT)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(model_file, "save_model", failing)
    with pytest.raises(ModelFileError) as caught:
        save_or_keep(fitted("linear"), tmp_path / "model.skops", ModelCard())
    (kept,) = tmp_path.glob("*.pickle")
    assert str(kept) in str(caught.value)


def test_a_model_that_can_neither_be_saved_nor_pickled_raises_the_first_error_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    X, y = rows()
    model = CostSensitiveSVC(kernel=lambda A, B: A @ B.T).fit(X, y)
    with pytest.raises(ModelFileError, match="kernel"):
        save_or_keep(model, tmp_path / "model.skops", ModelCard())
    assert list(tmp_path.iterdir()) == []


def test_a_step_that_no_file_can_hold_is_rejected_before_the_training():
    check_savable(make_pipeline(StandardScaler()).fit(rows()[0]))
    with pytest.raises(ModelFileError, match="a model with this Foreign holds types that are not trusted"):
        check_savable(Foreign())


@pytest.mark.parametrize(
    "cv",
    [
        GroupKFold(3),
        GroupShuffleSplit(2, random_state=0),
        KFold(3),
        LeaveOneGroupOut(),
        LeaveOneOut(),
        PredefinedSplit(np.arange(12) % 3),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
        ShuffleSplit(2, random_state=0),
        StratifiedGroupKFold(3),
        StratifiedKFold(3),
        StratifiedShuffleSplit(2, random_state=0),
        TimeSeriesSplit(3),
    ],
    ids=lambda cv: type(cv).__name__,
)
def test_a_search_with_a_splitter_of_scikit_learn_can_be_saved(path, cv):
    model = copy.copy(fitted("search without transformer")).set_params(cv=cv)
    save_model(model, path)
    loaded = load_model(path).model.cv
    y = np.arange(12) % 2
    groups = np.arange(12) // 2 if "Group" in type(cv).__name__ else None
    for ours, theirs in zip(loaded.split(y, y, groups), cv.split(y, y, groups), strict=True):
        assert all(map(np.array_equal, ours, theirs))
