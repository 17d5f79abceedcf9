"""
Costs of single cases move the decision
=======================================

Fraud of different amounts: a missed one costs its amount, a false alarm 5 for the call. A case is flagged if its
probability times the amount exceeds what the call may cost in vain, so that the line to cross falls as amounts grow.
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
decider = CostThresholdClassifier(CostSensitiveSVC(), fp_cost=CALL).fit(X, y)
flagged = decider.predict(X_new, fn_cost=amount_new) == 1
one_cut = decider.predict(X_new, fn_cost=np.full(len(y_new), amount.mean())) == 1

# %%
# What the decisions cost per case, by the amounts themselves and by their mean:

for name, decided in {"own amounts": flagged, "mean amount": one_cut}.items():
    print(f"{name}: {cost_risk(y_new, decided.astype(int), fn_cost=amount_new, fp_cost=CALL):.2f}")

# %%

_, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
probability = decider.predict_proba(X_new)[:, 1]
for name, rows, colour in (("flagged", flagged, "#d55e00"), ("left alone", ~flagged, "#999999")):
    ax.scatter(amount_new[rows], probability[rows], s=10, color=colour, label=name)
amounts = np.geomspace(amount_new.min(), amount_new.max(), 200)
ax.plot(amounts, CALL / (CALL + amounts), color="black", label="5 / (5 + amount)")
ax.set(xscale="log", xlabel="amount", ylabel="probability of fraud")
ax.legend()
