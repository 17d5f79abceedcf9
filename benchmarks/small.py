"""Small real data sets, and parts of larger ones, read as in `benchmarks/real.py`.

Columns of numbers are standardised, their missing entries are the mean; columns of strings become one indicator per
category. Rows come in a stratified random order.
"""

from benchmarks.real import SOURCES as LARGE
from benchmarks.real import Source, as_it_is

SMALL = {
    "heart": Source("heart"),
    "german": LARGE["german"],
    "wdbc": Source("breast_cancer_diagnostic"),
    "wbc": Source("breast_cancer_original"),
    "pima": Source("diabetes"),
    "echocardiogram": Source("echocardiogram"),
    "liver": Source("liver"),
    "sonar": Source("sonar"),
    "tic-tac-toe": Source("tic_tac_toe"),
    "wpbc": Source("breast_cancer_prognostic"),
    "hepatitis": Source("hepatitis"),
    "haberman": Source("survival"),
    "webspam": Source("webspam", stratify="label", scale=as_it_is),
    "kdd98": Source("kdd98", raw=True),
    "kdd99": Source("kdd99", subset="test", raw=True),
    "isolet": Source("isolet", stratify="letter"),
} | {name: LARGE[name] for name in ("ijcnn1", "covertype", "mnist")}
