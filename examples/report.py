"""A report on loans
=================

Run with ``python examples/report.py [report.html]``.

A loan that defaults costs 60 % of its amount, one that is refused although it would have been paid back costs 10 %
in interest.
Needs the extras `report` and `cli` (for pandas).
"""

import sys
from pathlib import Path

import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cssvm import CostSensitiveSVCCV, CostThresholdClassifier, Report


def loans_report() -> Report:
    loans = pd.read_csv(Path(__file__).with_name("loans.csv"))
    X, y, amount = loans.drop(columns="outcome"), loans["outcome"], loans["amount"]
    prepare = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    )
    model = CostSensitiveSVCCV(transformer=prepare, decision="bayes", pos_label="default", Cs=6, gammas=6)
    regression = CostThresholdClassifier(make_pipeline(prepare, LogisticRegression()), pos_label="default")
    return Report(
        model,
        X,
        y,
        fn_cost=0.6 * amount,
        fp_cost=0.1 * amount,
        compare={"logistic regression": regression},
        currency="EUR",
        title="Loans: whom to refuse",
    )


# sphinx_gallery_thumbnail_path = "pictures/report.png"
if __name__ == "__main__":
    path = loans_report().save(sys.argv[1] if len(sys.argv) > 1 else "report.html")
    print(f"The report is in {path}; open it in a browser.")
