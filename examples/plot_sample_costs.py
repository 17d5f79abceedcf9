"""
Decisions by the cost of each sample
====================================

A missed fraud costs its amount, a false alarm 5. A payment is flagged if the expected cost of a missed fraud is larger
than that of a false alarm, so the threshold on the probability falls as amounts grow.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from cssvm import CostSensitiveSVC, CostThresholdClassifier
from cssvm.metrics import cost_risk

CALL = 5.0

X, y = make_classification(3000, 8, n_informative=5, weights=[0.93], flip_y=0.02, random_state=1)
amount = np.random.default_rng(0).lognormal(3.5, 1.0, len(y))
X, X_new, y, y_new, amount, amount_new = train_test_split(X, y, amount, test_size=0.5, stratify=y, random_state=0)
model = CostThresholdClassifier(CostSensitiveSVC(), fp_cost=CALL).fit(X, y)
flagged = model.predict(X_new, fn_cost=amount_new) == 1
one_threshold = model.predict(X_new, fn_cost=np.full(len(y_new), amount.mean())) == 1

# %%
# Cost per sample, if the model is given the amount of each payment and if it is given their mean:

for name, predicted in {"amount of each": flagged, "mean amount": one_threshold}.items():
    print(f"{name}: {cost_risk(y_new, predicted.astype(int), fn_cost=amount_new, fp_cost=CALL):.2f}")

# %%

_, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
probability = model.predict_proba(X_new)[:, 1]
for name, rows, colour in (("flagged", flagged, "#d55e00"), ("not flagged", ~flagged, "#999999")):
    ax.scatter(amount_new[rows], probability[rows], s=10, color=colour, label=name)
amounts = np.geomspace(amount_new.min(), amount_new.max(), 200)
ax.plot(amounts, CALL / (CALL + amounts), color="black", label="5 / (5 + amount)")
ax.set(xscale="log", xlabel="amount", ylabel="probability of fraud")
ax.legend()
