"""Fitted models of every kind that can be deployed, small enough to be made in a moment."""

import functools
import warnings

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.datasets import make_classification
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cssvm import (
    BiasedPenaltySVC,
    BoundaryMovementSVC,
    CostProportionateClassifier,
    CostSensitiveLinearSVC,
    CostSensitiveLinearSVCCV,
    CostSensitiveSVC,
    CostSensitiveSVCCV,
    CostThresholdClassifier,
    DesignedLossClassifier,
    DirectCostClassifier,
    MetaCostClassifier,
)
from cssvm.losses import CostSensitiveHinge, LogisticLoss

N = 120
NUMBERS = ["age", "income", "card number", "score"]


@functools.cache
def rows():
    """Rows (120, 4) and labels 0 and 1 of which 1 is rare."""
    return make_classification(N, 4, n_informative=3, n_redundant=0, weights=[0.75], flip_y=0.1, random_state=3)


@functools.cache
def string_labels():
    """The same labels as strings; the positive class, "bad", is the smaller one."""
    return np.where(rows()[1] == 1, "bad", "good")


@functools.cache
def table():
    """The rows as a data frame with missing values, a column of strings and one of codes with leading zeros."""
    X, _ = rows()
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(X * [10.0, 1e4, 1.0, 100.0], columns=NUMBERS)
    for name in NUMBERS[:2]:
        frame.loc[generator.random(N) < 0.1, name] = np.nan
    frame["job"] = generator.choice(np.array(["clerk", "nurse", 'baker, "own"', np.nan], dtype=object), N)
    frame["code"] = generator.choice(["01234", "1234", "0"], N)
    return frame.astype({"job": object, "code": object})


def features(frame=None, *, unknown="ignore"):
    """Missing values replaced, numbers scaled, strings encoded."""
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), NUMBERS),
            ("strings", OneHotEncoder(handle_unknown=unknown), ["job", "code"]),
        ]
    )


def _quietly(fit):
    def fitted():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of grids whose best point lies at the edge
            return fit()

    return fitted


def _search(decision, **parameters):
    return CostSensitiveSVCCV(
        Cs=2, gammas=2, cv=3, fn_cost=4.0, decision=decision, **{"pos_label": "bad", **parameters}
    )


# name: (a function that fits the model, whether it reads the table or the bare rows)
MODELS = {
    "cost-sensitive": (lambda: CostSensitiveSVC(fn_cost=4.0).fit(*rows()), False),
    "strings as labels": (
        lambda: CostSensitiveSVC(fn_cost=4.0, pos_label="bad").fit(rows()[0], string_labels()),
        False,
    ),
    "biased penalty": (lambda: BiasedPenaltySVC(fn_cost=4.0).fit(*rows()), False),
    "boundary movement": (lambda: BoundaryMovementSVC(fn_cost=4.0, cv=TimeSeriesSplit(3)).fit(*rows()), False),
    "sparse vectors": (lambda: CostSensitiveSVC(fn_cost=4.0).fit(sp.csr_matrix(rows()[0]), rows()[1]), False),
    "sparse array": (lambda: CostSensitiveSVC(fn_cost=4.0).fit(sp.csr_array(rows()[0]), rows()[1]), False),
    "designed loss": (lambda: DesignedLossClassifier(LogisticLoss(C1=4.0)).fit(*rows()), False),
    "designed loss, features": (
        lambda: DesignedLossClassifier(LogisticLoss(C1=4.0), kernel="matern52", random_state=0).fit(*rows()),
        False,
    ),
    "designed hinge": (lambda: DesignedLossClassifier(CostSensitiveHinge(4.0, 2.0), kernel="rbf").fit(*rows()), False),
    "search, zero": (lambda: _search("zero", transformer=features()).fit(table(), string_labels()), True),
    "search, threshold": (lambda: _search("threshold", transformer=features()).fit(table(), string_labels()), True),
    "search, bayes": (lambda: _search("bayes", transformer=features()).fit(table(), string_labels()), True),
    "search without transformer": (lambda: _search("bayes", pos_label=1).fit(*rows()), False),
    "linear": (lambda: CostSensitiveLinearSVC(fn_cost=4.0, kappa=0.5).fit(*rows()), False),
    "linear search": (
        lambda: CostSensitiveLinearSVCCV(Cs=2, cv=3, fn_cost=4.0, decision="threshold").fit(*rows()),
        False,
    ),
    "linear search, bayes": (
        lambda: CostSensitiveLinearSVCCV(
            Cs=[0.1, 1.0], cv=3, fn_cost=3.0, decision="bayes", pos_label="bad", transformer=features()
        ).fit(table(), string_labels()),
        True,
    ),
    "sigmoid": (lambda: CostThresholdClassifier(CostSensitiveSVC(), fn_cost=4.0, cv=3).fit(*rows()), False),
    "isotonic": (
        lambda: CostThresholdClassifier(CostSensitiveSVC(), fn_cost=4.0, calibration="isotonic", cv=3).fit(*rows()),
        False,
    ),
    "own probabilities": (
        lambda: CostThresholdClassifier(LogisticRegression(), fn_cost=4.0, calibration=None).fit(*rows()),
        False,
    ),
    "tuned": (
        lambda: CostThresholdClassifier(
            Pipeline([("features", features()), ("svm", CostSensitiveSVC())]),
            fn_cost=4.0,
            method="tuned",
            cv=3,
            pos_label="bad",
        ).fit(table(), string_labels()),
        True,
    ),
    "sigmoid of a pipeline": (
        lambda: CostThresholdClassifier(
            make_pipeline(features(), BiasedPenaltySVC(kernel="poly", degree=2, coef0=1.0)),
            fn_cost=4.0,
            cv=3,
            pos_label="bad",
        ).fit(table(), string_labels()),
        True,
    ),
    "pipeline": (
        lambda: make_pipeline(features(), CostSensitiveSVC(fn_cost=4.0, pos_label="bad")).fit(table(), string_labels()),
        True,
    ),
    "columns selected by type": (
        lambda: make_pipeline(
            make_column_transformer(
                (make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector(dtype_include=np.number)),
                (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
            ),
            CostSensitiveSVC(fn_cost=4.0, pos_label="bad"),
        ).fit(table().astype({"job": "str", "code": "category"}), string_labels()),
        True,
    ),
    "metacost": (
        lambda: MetaCostClassifier(LogisticRegression(), fn_cost=4.0, n_estimators=3, random_state=0).fit(*rows()),
        False,
    ),
    "metacost of SVMs": (
        lambda: MetaCostClassifier(CostSensitiveSVC(), fn_cost=4.0, n_estimators=3, voting="hard", random_state=0).fit(
            *rows()
        ),
        False,
    ),
    "cost-proportionate": (
        lambda: CostProportionateClassifier(CostSensitiveSVC(), fn_cost=4.0, n_estimators=3, random_state=0).fit(
            *rows()
        ),
        False,
    ),
    "cost-proportionate probabilities": (
        lambda: CostProportionateClassifier(
            LogisticRegression(), fn_cost=4.0, n_estimators=3, pos_label="bad", random_state=0
        ).fit(rows()[0], string_labels()),
        False,
    ),
    "direct cost": (
        lambda: DirectCostClassifier(LogisticRegression(), LinearRegression(), cv=3).fit(
            *rows(), fn_cost=1.0 + np.arange(N) % 9
        ),
        False,
    ),
    "pipeline around a search": (
        lambda: make_pipeline(features(), _search("bayes")).fit(table(), string_labels()),
        True,
    ),
}


@functools.cache
def fitted(name):
    """The model of this name, fitted once; not to be changed."""
    return _quietly(MODELS[name][0])()


def inputs(name):
    """What the model of this name reads."""
    return table() if MODELS[name][1] else rows()[0]
