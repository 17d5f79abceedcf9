"""Write loans.csv, an invented table of loans with missing values and categories: `python examples/make_loans.py`."""

from pathlib import Path

import numpy as np
import pandas as pd

N = 800

rng = np.random.default_rng(7)
income = np.exp(rng.normal(7.9, 0.45, N))
amount = np.exp(rng.normal(8.2, 0.7, N)).round(-1)
years = rng.gamma(2.0, 3.0, N).round()
housing = rng.choice(["rent", "own", "parents"], N, p=[0.5, 0.35, 0.15])
purpose = rng.choice(["car", "furniture", "business", "repairs"], N)
strain = amount / (12 * income)
log_odds = (
    -3.2
    + 14.0 * np.minimum(strain, 0.6)
    - 0.35 * years
    + 1.0 * (housing == "rent")
    + 2.0 * (purpose == "business")
    - 2.0 * np.exp(-(((np.log(income) - 8.1) / 0.3) ** 2))
)
defaulted = rng.random(N) < 1 / (1 + np.exp(-log_odds))
table = pd.DataFrame(
    {
        "amount": amount,
        "income": np.where(rng.random(N) < 0.08, np.nan, income.round()),
        "years_employed": np.where(rng.random(N) < 0.05, np.nan, years),
        "housing": housing,
        "purpose": np.where(rng.random(N) < 0.03, None, purpose),
        "outcome": np.where(defaulted, "default", "paid"),
    }
)
table.to_csv(Path(__file__).with_name("loans.csv"), index=False)
print(table["outcome"].value_counts().to_dict())
