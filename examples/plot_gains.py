"""
What decisions on loans are worth
=================================

A loan that defaults costs 60 % of its amount, one that is refused though it would have been paid 10 % in interest. A
model that decides by the costs of each loan is drawn beside one that knows no costs: money saved over the share of
loans refused.
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


def told(rows):
    """Features, labels and costs."""
    costs = {"fn_cost": 0.6 * rows["amount"], "fp_cost": 0.1 * rows["amount"]}
    return rows.drop(columns="outcome"), rows["outcome"], costs


# %%
# The preparation goes into the search, so that it is learnt from the training rows of each fold only.

prepare = make_column_transformer(
    (make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector(dtype_include="number")),
    (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
)
X, y, costs = told(train)
priced = CostSensitiveSVCCV(transformer=prepare, decision="bayes", pos_label="default", Cs=5, gammas=5)
priced.fit(X, y, **costs)
blind = make_pipeline(prepare, CostSensitiveSVC(pos_label="default")).fit(X, y)

# %%
# On loans that neither has seen. Both rank loans about equally well; what costs bring is where the dot lies, the
# decisions of `predict`.

X, y, costs = told(test)
_, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for name, model in {"costs of each loan": priced, "no costs": blind}.items():
    GainsDisplay.from_estimator(model, X, y, **costs, total=True, currency="EUR", name=name, ax=ax)
