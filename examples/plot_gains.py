"""
Savings on loans
================

A loan that defaults costs 60 % of its amount, one that is refused although it would have been paid back costs 10 %
in interest. The picture shows the money saved over the share of loans refused, for a model that uses the costs of each
loan and for one without costs.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cssvm import CostSensitiveSVC, CostSensitiveSVCCV
from cssvm.displays import GainsDisplay

loans = pd.read_csv("loans.csv")  # run this in the folder of the file
train, test = train_test_split(loans, test_size=0.4, stratify=loans["outcome"], random_state=0)


def split_columns(rows):
    """Features, labels and costs."""
    costs = {"fn_cost": 0.6 * rows["amount"], "fp_cost": 0.1 * rows["amount"]}
    return rows.drop(columns="outcome"), rows["outcome"], costs


# %%
# The preprocessing is part of the search, so that it is fitted on the training samples of each fold only.

prepare = make_column_transformer(
    (make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector(dtype_include="number")),
    (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
)
X, y, costs = split_columns(train)
cost_sensitive = CostSensitiveSVCCV(transformer=prepare, decision="bayes", pos_label="default", Cs=5, gammas=5)
cost_sensitive.fit(X, y, **costs)
cost_insensitive = make_pipeline(prepare, CostSensitiveSVC(pos_label="default")).fit(X, y)

# %%
# On held-out loans, both models rank about equally well. They differ in their decisions: the dots are those of
# `predict`.

X, y, costs = split_columns(test)
_, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for name, model in {"costs of each loan": cost_sensitive, "no costs": cost_insensitive}.items():
    GainsDisplay.from_estimator(model, X, y, **costs, total=True, currency="EUR", name=name, ax=ax)
