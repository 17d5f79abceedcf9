"""The paper's income table (KDD Cup 1998): whom to write to, at 0.68 dollars a letter.

The income is the weighted sum of donation - 0.68 over the people written to, scaled to the 96,367 letters of the
validation file, so that it is comparable with the paper's. Methods see donations of training samples only. `fn_cost` is
the donation minus the price of a letter, `fp_cost` the price of a letter.

Three things differ from the paper: the samples (all 4,843 donors of the learning file and 14,529 others, weighted,
instead of 95,412 and another 96,367), the split (cross-validation instead of the validation file) and the features (47
of 479). So compare with the null classifier rather than with the paper's figures. `score_validation` follows the paper
where the files of the cup are available: it trains on the learning file and scores on the validation file.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cssvm._meta import (
    CostProportionateClassifier,
    CostThresholdClassifier,
    DirectCostClassifier,
    MetaCostClassifier,
)
from cssvm._svm import BiasedPenaltySVC, CostSensitiveSVC
from cssvm.datasets import load

from .rules import FocusedRules

LETTER = 0.68
VARIANT = "donors"  # of the data set: all donors with their amounts, and some of the others
LETTERS = 96_367  # of the validation file, on which the paper scored
FACTORS = (0.1, 1.0)  # of C, in units of 1 / the mean cost of a sample
SELECTING = 1 / 3  # of the training samples, for the choice of C
RARE = 20  # samples: rarer categories share one indicator
COMMON = 0.01  # of the learning file: rarer categories of the full table share one indicator
SUPPORTS = ((0.2, 0.35), (0.1, 0.25), (0.1, 0.15))  # (min_support, max_support) of the rules to choose from
PUBLISHED_ONLY = ("KDD-Cup 98 Winner", "Res-DIPOL")


class Mailing(NamedTuple):
    """People of a mailing: the table, numeric features, donations and weights."""

    frame: Any
    features: Any
    donation: NDArray[np.float64]
    weight: NDArray[np.float64]

    @property
    def gave(self) -> NDArray[np.int64]:
        """1 for those who gave."""
        return (self.donation > 0.0).astype(np.int64)

    @property
    def fn_cost(self) -> NDArray[np.float64]:
        """The income lost by not writing to a donor."""
        return np.maximum(self.donation - LETTER, 0.0)

    @property
    def fit_params(self) -> dict[str, Any]:
        """Costs and weights for `fit`."""
        return {"fn_cost": self.fn_cost, "fp_cost": LETTER, "sample_weight": self.weight}

    @property
    def unit(self) -> float:
        """1 / the weighted mean cost of a sample, the unit of C."""
        return float(1.0 / np.average(np.where(self.gave == 1, self.fn_cost, LETTER), weights=self.weight))

    def take(self, rows: NDArray[np.intp]) -> Mailing:
        """Some of the rows."""
        return Mailing(self.frame.iloc[rows], self.features[rows], self.donation[rows], self.weight[rows])


def earned(mailing: Mailing, written: NDArray[np.bool_]) -> float:
    """Dollars: the donations of those written to, minus a letter for each."""
    return float((mailing.weight * (mailing.donation - LETTER))[written].sum())


def income_per_mailing(mailing: Mailing, written: NDArray[np.bool_]) -> float:
    """Dollars, scaled to the number of letters of the validation file."""
    return earned(mailing, written) / float(mailing.weight.sum()) * LETTERS


@functools.lru_cache(maxsize=1)
def _table(data_home: str | None) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
    found = load("kdd98", variant=VARIANT, data_home=data_home, download=data_home is None)
    return found.data, found.amounts, found.sample_weight


def make_mailing(folds: int, fold: int, seed: int, data_home: str | None) -> tuple[Mailing, Mailing]:
    """Training and test samples of one fold; preprocessing is fitted on the training samples."""
    frame, donation, weight = _table(data_home)
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    train, test = list(splitter.split(frame, donation > 0.0))[fold]
    return _prepared(_preprocessor(RARE), frame, donation, weight, train, test)


def make_cup(data_home: str | None) -> tuple[Mailing, Mailing]:
    """The learning file and the validation file of the cup; preprocessing is fitted on the learning file."""
    found = load("kdd98", variant="full", data_home=data_home, download=data_home is None)
    train, test = (np.flatnonzero(found.split == part) for part in ("train", "test"))
    prepare = _preprocessor(max(1, round(COMMON * len(train))))
    return _prepared(prepare, found.data, found.amounts, np.ones(len(found.amounts)), train, test)


def _preprocessor(min_frequency: int) -> Any:
    """That of the published figures: medians and standardised indicators, unlike `make_preprocessor`."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    encoder = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=min_frequency)
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include=np.number)),
        (encoder, make_column_selector(dtype_exclude=np.number)),
    )


def _prepared(
    prepare: Any,
    frame: Any,
    donation: NDArray[np.float64],
    weight: NDArray[np.float64],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
) -> tuple[Mailing, Mailing]:
    """Both parts with dense features, which boosting needs."""
    prepare.fit(frame.iloc[train])

    def part(rows: NDArray[np.intp]) -> Mailing:
        features = prepare.transform(frame.iloc[rows])
        return Mailing(
            frame.iloc[rows], features.toarray() if issparse(features) else features, donation[rows], weight[rows]
        )

    return part(train), part(test)


Writes = Callable[[Mailing, Mailing, int], tuple[NDArray[np.bool_], dict[str, Any]]]


def _svm(make: Callable[[float], Any]) -> Writes:
    """An SVM whose C is chosen by the income of its decisions at zero on a third of the training samples."""

    def writes(train: Mailing, new: Mailing, seed: int) -> tuple[NDArray[np.bool_], dict[str, Any]]:
        fitted, chosen = _selected(make, FACTORS, train, seed)
        return fitted.predict(new.features) == 1, {"factor": chosen}

    return writes


def _selected(make: Callable[[float], Any], values: tuple[Any, ...], train: Mailing, seed: int) -> tuple[Any, Any]:
    """The model of the value with the largest income on a third of the training samples, trained on all of them."""
    rows = np.arange(len(train.donation))
    own, rest = train_test_split(rows, test_size=SELECTING, stratify=train.gave, random_state=seed)
    part, held_out = train.take(own), train.take(rest)
    earned = [
        income_per_mailing(held_out, fit(make(value * part.unit), part).predict(held_out.features) == 1)
        for value in values
    ]
    best = values[int(np.argmax(earned))]
    return fit(make(best * train.unit), train), best


def fit(model: Any, mailing: Mailing) -> Any:
    """Fit with the costs and weights that the model supports."""
    given = dict(mailing.fit_params)
    if isinstance(model, DirectCostClassifier):
        del given["fp_cost"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the table shows the results
        return model.fit(mailing.features, mailing.gave, **given)


def _with_costs(make: Callable[[int], Any]) -> Writes:
    """An estimator with a cost for each sample."""

    def writes(train: Mailing, new: Mailing, seed: int) -> tuple[NDArray[np.bool_], dict[str, Any]]:
        return fit(make(seed), train).predict(new.features) == 1, {}

    return writes


def _boundary_movement(train: Mailing, new: Mailing, seed: int) -> tuple[NDArray[np.bool_], dict[str, Any]]:
    """The standard SVM with the threshold of the largest income on held-out training samples."""
    model = CostThresholdClassifier(CostSensitiveSVC(), method="tuned", cv=3)
    return fit(model, train).predict(new.features) == 1, {"threshold": float(model.threshold_)}


def _direct_boosting(train: Mailing, new: Mailing, seed: int) -> tuple[NDArray[np.bool_], dict[str, Any]]:
    """Boosted probabilities and the mean donation."""
    estimator = HistGradientBoostingClassifier(max_iter=60, learning_rate=0.05, random_state=seed)
    mean = float(np.average(train.fn_cost[train.gave == 1]))
    model = CostThresholdClassifier(estimator, fn_cost=mean, fp_cost=LETTER, calibration=None)
    model.fit(train.features, train.gave, sample_weight=train.weight)
    return model.predict(new.features) == 1, {"mean": mean}


def _rules(train: Mailing, new: Mailing, seed: int) -> tuple[NDArray[np.bool_], dict[str, Any]]:
    """Rules after FAR, their supports chosen on a third of the training samples."""
    rows = np.arange(len(train.donation))
    own, rest = train_test_split(rows, test_size=SELECTING, stratify=train.gave, random_state=seed)
    part, held_out = train.take(own), train.take(rest)

    def fitted(supports: tuple[float, float], mailing: Mailing) -> FocusedRules:
        model = FocusedRules(LETTER, min_support=supports[0], max_support=supports[1])
        return model.fit(mailing.frame, mailing.donation, mailing.weight)

    earned = [income_per_mailing(held_out, fitted(each, part).predict(held_out.frame)) for each in SUPPORTS]
    best = SUPPORTS[int(np.argmax(earned))]
    return fitted(best, train).predict(new.frame), {"supports": best}


def _everybody(train: Mailing, new: Mailing, seed: int) -> tuple[NDArray[np.bool_], dict[str, Any]]:
    return np.ones(len(new.donation), bool), {}


def _recent_donors(train: Mailing, new: Mailing, seed: int) -> tuple[NDArray[np.bool_], dict[str, Any]]:
    """Write to those who answered more than one letter in recent years; in the full table this is the code RFA_2F."""
    known = "RECENT_RESPONSE_COUNT" if "RECENT_RESPONSE_COUNT" in new.frame else "RFA_2F"
    return new.frame[known].to_numpy(float) > 1, {}


def _tree(seed: int) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(min_samples_leaf=100, random_state=seed)


def _small_tree(seed: int) -> DecisionTreeClassifier:
    """A tree for a few hundred resampled samples."""
    return DecisionTreeClassifier(min_samples_leaf=20, random_state=seed)


def _costing(estimator: Any, seed: int) -> CostProportionateClassifier:
    """Many estimators, since each is fitted on a few hundred samples."""
    return CostProportionateClassifier(estimator, n_estimators=100, random_state=seed)


# The methods of the paper's table by their names there, then ours.
METHODS: dict[str, Writes] = {
    "FAR": _rules,
    "DCSM": _with_costs(lambda seed: DirectCostClassifier(_tree(seed), LinearRegression(), fp_cost=LETTER)),
    "BB-C4.5": _with_costs(lambda seed: _costing(_small_tree(seed), seed)),
    "ED-CS-SVM": _svm(lambda C: CostSensitiveSVC(C, kappa=0.97)),
    "ED-CS-SVM, tied": _svm(lambda C: CostSensitiveSVC(C, kappa="tied")),
    "ED-MetaCost": _with_costs(
        lambda seed: MetaCostClassifier(_tree(seed), amount_estimator=LinearRegression(), random_state=seed)
    ),
    "ED-BP-SVM": _svm(lambda C: BiasedPenaltySVC(C)),
    "P-ED-BP-SVM": _svm(lambda C: BiasedPenaltySVC(C, kernel="poly", degree=2, coef0=1.0)),
    "BB-SVM": _with_costs(lambda seed: _costing(CostSensitiveSVC(), seed)),
    "Res-ED-BP-SVM": _with_costs(
        lambda seed: CostProportionateClassifier(
            BiasedPenaltySVC(), sampling="with_replacement", max_samples=8000, n_estimators=1, random_state=seed
        )
    ),
    "BM-CI-SVM": _boundary_movement,
    "Null Classifier": _everybody,
    "answered twice lately": _recent_donors,
    "boosting, mean donation": _direct_boosting,
    "boosting x boosted amount": _with_costs(
        lambda seed: DirectCostClassifier(
            HistGradientBoostingClassifier(max_iter=60, learning_rate=0.05, random_state=seed),
            HistGradientBoostingRegressor(max_iter=60, learning_rate=0.05, random_state=seed),
            fp_cost=LETTER,
            calibration=None,
            cv=3,
        )
    ),
}


def run_method(name: str, *, folds: int, fold: int, seed: int, data_home: str | None) -> tuple[float, dict[str, Any]]:
    """The income of a method on the test samples of one fold."""
    train, new = make_mailing(folds, fold, seed, data_home)
    written, detail = METHODS[name](train, new, seed)
    counts = {"n_train": len(train.donation), "n_test": len(new.donation), "written": float(written.mean())}
    return income_per_mailing(new, written), detail | counts


def score_validation(name: str, *, data_home: str | None = None, seed: int = 0) -> tuple[float, dict[str, Any]]:
    """Income of a method on cup98VAL after training on cup98LRN, in dollars as in the paper, and its details."""
    if name not in METHODS:
        raise ValueError(f"There is no method {name!r} for kdd98; there are {', '.join(METHODS)}.")
    train, new = make_cup(data_home)
    written, detail = METHODS[name](train, new, seed)
    return earned(new, written), detail | {"letters": int(written.sum())}
