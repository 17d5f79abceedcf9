"""All data sets, in the order of the paper's Table 1, and the search for one by name."""

from __future__ import annotations

import difflib

from ._credit import GERMAN_CREDIT, GERMAN_CREDIT_AUTHORS
from ._kdd98 import KDD98
from ._kdd99 import KDD99
from ._large import COVERTYPE, IJCNN, ISOLET, MNIST
from ._records import Dataset
from ._text_rows import SIAM1, SIAM11, WEBSPAM
from ._uci import (
    BREAST_CANCER_DIAGNOSTIC,
    BREAST_CANCER_ORIGINAL,
    BREAST_CANCER_PROGNOSTIC,
    DIABETES,
    ECHOCARDIOGRAM,
    HEART,
    HEPATITIS,
    LIVER,
    SONAR,
    SURVIVAL,
    TIC_TAC_TOE,
)

TABLE_1 = (
    *(GERMAN_CREDIT, HEART, *KDD99, *KDD98),
    *(BREAST_CANCER_DIAGNOSTIC, BREAST_CANCER_ORIGINAL, DIABETES, ECHOCARDIOGRAM, LIVER, SONAR, TIC_TAC_TOE, WEBSPAM),
    *(BREAST_CANCER_PROGNOSTIC, COVERTYPE, HEPATITIS, IJCNN, *ISOLET, MNIST, SIAM1, SIAM11, SURVIVAL),
)

# By name; of several variants the first is the default.
DATASETS: dict[str, tuple[Dataset, ...]] = {}
for _dataset in (*TABLE_1, GERMAN_CREDIT_AUTHORS):
    DATASETS[_dataset.name] = (*DATASETS.get(_dataset.name, ()), _dataset)


def find(name: str, variant: str | None = None) -> Dataset:
    """The entry of a name, and of a variant of it; None for the default."""
    if name not in DATASETS:
        close = difflib.get_close_matches(str(name), DATASETS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"There is no data set {name!r}.{hint} Known are {', '.join(DATASETS)}.")
    entries = DATASETS[name]
    if variant is None:
        return entries[0]
    for entry in entries:
        if entry.variant == variant:
            return entry
    known = [repr(entry.variant) for entry in entries if entry.variant]
    raise ValueError(
        f"{name} has no variant {variant!r}; "
        + (f"it has {', '.join(known)}." if known else "it has no variants: leave the argument out.")
    )
