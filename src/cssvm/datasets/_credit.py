"""German credit, as it comes, in numbers, and as the paper's authors split it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from ._addresses import CC_BY, GITHUB, UCI, UCI_PAGE, uci_citation
from ._files import unpacked
from ._optional import frame_of
from ._records import Dataset, Edition, File, Subset
from ._text_tables import TextTable, columns, numbers

RAW_COLUMNS = columns(
    "status duration history purpose amount savings employment installment_rate personal_status debtors residence "
    "property age other_plans housing credits job liable telephone foreign class"
)
RAW_NUMBERS = columns("duration amount installment_rate residence age credits liable")

# The numeric file has no names: these were found by comparing its columns with the raw ones, row by row.
NUMERIC_COLUMNS = columns(
    "status duration history amount_in_hundreds savings employment personal_status residence property age other_plans "
    "credits liable telephone foreign purpose=A40 purpose=A41 debtors=A101 debtors=A102 housing=A151 housing=A152 "
    "job=A171 job=A172 job=A173 class"
)

NUMERIC = TextTable(NUMERIC_COLUMNS, "class", "2", delimiter=None)
RAW = TextTable(RAW_COLUMNS, "class", "2", delimiter=None)

COSTS = "The costs are the data's own: accepting a bad applicant costs 5, refusing a good one 1."


def read_german(paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """Numbers from one file, words from the other; the rows of both are the same."""
    found = NUMERIC.read({"numbers": paths["numbers"]})
    cells = RAW.cells(paths["words"])
    features = {
        name: numbers(cells[name]) if name in RAW_NUMBERS else cells[name].tolist()
        for name in RAW_COLUMNS
        if name != "class"
    }
    return found | {"frame": frame_of(features)}


def read_authors(paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """The training rows, then the test rows."""
    blocks, labels, split = [], [], []
    for part, path in paths.items():
        with unpacked(path) as stream:
            X, y = load_svmlight_file(stream, n_features=24, zero_based=False)
        blocks.append(X.toarray())
        labels.append(y)
        split += [part] * len(y)
    return {
        "data": np.vstack(blocks),
        "target": (np.concatenate(labels) > 0).astype(np.int64),
        "feature_names": list(NUMERIC_COLUMNS[:-1]),
        "split": np.array(split),
    }


CITATION = uci_citation("Hofmann, H.", 1994, "Statlog (German Credit Data)", "C5NC77")
AUTHORS = GITHUB + "airanmehr/cssvm/738bca2216e35b3f5da8c9b66be001152dc50242/datasets/"

GERMAN_CREDIT = Dataset(
    name="german_credit",
    title="German credit",
    experiment="CSA",
    n_rows=1000,
    n_features=24,
    n_positives=300,
    target_names=("good", "bad"),
    fn_cost=5.0,
    fp_cost=1.0,
    files=(
        File(
            "numbers",
            (
                Edition(
                    "german_credit/german.data-numeric",
                    "2752b044394958ab6dd193a0b56ca0f0b3a2d8bc7cb8c008e35a5e84bbec02f8",
                    102_000,
                    (UCI + "statlog/german/german.data-numeric",),
                ),
            ),
        ),
        File(
            "words",
            (
                Edition(
                    "german_credit/german.data",
                    "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
                    79_793,
                    (UCI + "statlog/german/german.data",),
                ),
            ),
        ),
    ),
    read=read_german,
    source=UCI_PAGE + "144/statlog+german+credit+data",
    citation=CITATION,
    licence=CC_BY,
    notes=f"{COSTS} `data` holds the 24 numbers that Strathclyde University made of the 20 attributes: ordered "
    "categories as integers, some others as indicators. `frame` holds the 20 attributes themselves, 13 of them words. "
    "Nothing is missing.",
    paper=(1000, 24),
)

GERMAN_CREDIT_AUTHORS = Dataset(
    name="german_credit_authors",
    title="German credit, split by the paper's authors",
    experiment="CSA",
    n_rows=1000,
    n_features=24,
    n_positives=300,
    target_names=("good", "bad"),
    fn_cost=5.0,
    fp_cost=1.0,
    files=(
        File(
            "train",
            (
                Edition(
                    "german_credit_authors/german.train",
                    "1ac427d49b841b082221fa1e53f3d18790c033d65c51ede3c939b60a110921b7",
                    80_335,
                    (AUTHORS + "german.train",),
                ),
            ),
            subset="train",
        ),
        File(
            "test",
            (
                Edition(
                    "german_credit_authors/german.test",
                    "a3dfc117db283550842c180b082fbb759ef8f311e7d515e4503551811ebb3906",
                    20_217,
                    (AUTHORS + "german.test",),
                ),
            ),
            subset="test",
        ),
    ),
    read=read_authors,
    source="https://github.com/airanmehr/cssvm",
    citation=CITATION + "; split of A. Iranmehr, https://github.com/airanmehr/cssvm",
    licence=CC_BY,
    notes=f"{COSTS} 800 training rows and 200 test rows, shuffled and scaled to [0, 1] over all 1,000 rows by the "
    "authors, so that the scaling knows the test rows.",
    paper=None,
    has_split=True,
)
