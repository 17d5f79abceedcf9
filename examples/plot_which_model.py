"""
Which model for which costs
===========================

A cost curve shows the smallest expected cost of a model's scores for all costs and class frequencies. A model is useful
where its curve lies below both baselines, which act on nobody and on everybody.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from cssvm import CostSensitiveSVC
from cssvm.displays import CostCurveDisplay

X, y = make_classification(1200, 12, n_informative=5, weights=[0.85], class_sep=0.7, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
costs = {"fn_cost": 8.0, "fp_cost": 1.0}

_, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
models = {"cost-sensitive SVM": CostSensitiveSVC(**costs), "logistic regression": LogisticRegression()}
for name, model in models.items():
    CostCurveDisplay.from_estimator(model.fit(X, y), X_test, y_test, **costs, name=name, ax=ax)
