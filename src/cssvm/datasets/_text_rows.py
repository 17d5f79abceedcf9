"""Sparse rows made of text: reports of flights, and web pages."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import normalize

from ._addresses import GITHUB, LIBSVM, NOT_STATED
from ._files import unpacked
from ._records import Dataset, Edition, File, Subset

N_LABELS = 22


def read_siam(wanted: tuple[int, ...], paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """Reports whose labels, numbered from 0, are exactly the wanted ones, against the rest; rows of length 1."""
    tables = [_sparse_arff(path) for path in paths.values()]
    table = sp.vstack([rows for rows, _ in tables], format="csr")
    names = tables[0][1]
    labels = table[:, -N_LABELS:].toarray().astype(bool)
    target = (labels == np.isin(np.arange(N_LABELS), wanted)).all(axis=1)
    return {
        "data": normalize(table[:, :-N_LABELS]),
        "target": target.astype(np.int64),
        "feature_names": names[:-N_LABELS],
        "split": np.repeat(list(paths), [rows.shape[0] for rows, _ in tables]),
        "labels": labels,
    }


def _sparse_arff(path: Path) -> tuple[sp.csr_array, list[str]]:
    """Binary attributes as ``{3 1,17 1}``: the numbers of those that are 1. CSR float64, and the attributes' names."""
    with unpacked(path) as stream:
        head, body = stream.read().decode("ascii").split("@data", 1)
    names = [line.split()[1] for line in head.splitlines() if line.startswith("@attribute")]
    lines = [line.strip().strip("{}") for line in body.splitlines() if line.strip()]
    rows = [[int(cell.split()[0]) for cell in line.split(",") if cell] for line in lines]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    indices = np.concatenate(rows).astype(np.int32)
    return sp.csr_array((np.ones(len(indices)), indices, starts), shape=(len(rows), len(names))), names


def read_webspam(paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """Indices run from 0 with an empty column 0, so that column j is LIBSVM's index j."""
    with unpacked(paths["pages"]) as stream:
        X, labels = load_svmlight_file(stream, n_features=255, zero_based=True)
    X = sp.csr_array(X[:, 1:])
    X.eliminate_zeros()
    return {
        "data": X,
        "target": (labels == 0).astype(np.int64),
        "feature_names": [f"x{k}" for k in range(1, 255)],
        "label": np.where(labels == 0, -1, 1),
    }


MULAN = GITHUB + "tsoumakas/mulan/{}/data/multi-label/tmc2007/tmc2007-500-{}.arff"

SIAM_FILES = (
    File(
        "train",
        (
            Edition(
                "siam_tmc2007/tmc2007-500-train.arff",
                "edfe7b7615c6f80e54c92a214437610d1ae36560c5cc6c4253b51c434d258273",
                3_152_791,
                (MULAN.format("8ec379b19b8ed9b172f34efa19a7ae976323462a", "train"),),
            ),
            Edition(
                "siam_tmc2007/tmc2007-500-train.arff.gz",
                "fb9555b33c4ee29365036f86c92d9018669d59ef4e0166f661d8ac40367fcb88",
                552_815,
            ),
        ),
        subset="train",
    ),
    File(
        "test",
        (
            Edition(
                "siam_tmc2007/tmc2007-500-test.arff",
                "b24f9c3f1eba77c9da0bbaff093ba41d331b7351be0167a8e1e3852c62e25e38",
                1_054_414,
                (MULAN.format("1531119649de9c7ffec8e3009c649e5985d76c21", "test"),),
            ),
            Edition(
                "siam_tmc2007/tmc2007-500-test.arff.gz",
                "318699d2dc6dd00b64ff2457e5262c8bb18bc626ede4c62208d4f5219fd87922",
                184_893,
            ),
        ),
        subset="test",
    ),
)


def _siam(name: str, wanted: tuple[int, ...], n_positives: int) -> Dataset:
    numbers = ", ".join(map(str, wanted))
    return Dataset(
        name=name,
        title=f"SIAM text mining competition 2007, reports with labels {numbers}",
        experiment="IDL",
        n_rows=28_596,
        n_features=500,
        n_positives=n_positives,
        target_names=("other labels", f"labels {numbers}"),
        files=SIAM_FILES,
        read=partial(read_siam, wanted),
        source=LIBSVM + "multilabel.html#siam-competition2007",
        citation="Srivastava, A. and Zane-Ulman, B. (2005). Discovering recurring anomalies in text reports regarding "
        "complex space systems. IEEE Aerospace Conference; 500 features of Tsoumakas, G. and Vlahavas, I. (2007). "
        "Random k-labelsets: An ensemble method for multilabel classification. ECML",
        licence=NOT_STATED,
        notes="Reports of problems on flights with one or more of 22 labels (`labels`). The target is the set of "
        f"exactly {{{numbers}}}, numbered from 0, which gives the paper's ratio among the training rows. 21,519 "
        "training and 7,077 test rows with the 500 words of Mulan's selection, as indicators scaled to rows of length "
        "1; the paper has all 30,438 words. The selection is Mulan's, and is not known to have left out the test rows.",
        paper=(28_596, 30_438),
        has_split=True,
    )


SIAM1 = _siam("siam1", (1, 6, 7, 11), 15)
SIAM11 = _siam("siam11", (11, 12), 40)

WEBSPAM = Dataset(
    name="webspam",
    title="Web spam, normalised counts of characters",
    experiment="CSU",
    n_rows=500,
    n_features=254,
    n_positives=202,
    target_names=("spam (+1)", "no spam (-1)"),
    files=(
        File(
            "pages",
            (
                Edition(
                    "webspam/webspam_wc_normalized_unigram.svm0.test",
                    "573d9ff5b1af2492572727c693a510776cbb89c78098c2b88aac523ffe7460ce",
                    1_227_295,
                    (
                        GITHUB + "chong-z/tree-ensemble-attack/30fa13242a29fe77e338f88a81088d8435eefb1b/"
                        "data/webspam_wc_normalized_unigram.svm0.test",
                    ),
                ),
            ),
        ),
    ),
    read=read_webspam,
    source=LIBSVM + "binary.html#webspam",
    citation="Webb, S., Caverlee, J. and Pu, C. (2006). Introducing the Webb Spam Corpus: Using email spam to identify "
    "web spam automatically. CEAS",
    licence=NOT_STATED,
    notes="500 of the 350,000 rows of LIBSVM's webspam_wc_normalized_unigram, the only ones with a public copy of "
    "modest size: enough to try things out, not for the paper's figures. Rows have length 1. `label` is LIBSVM's, "
    "1 for spam.",
    paper=(350_000, 254),
)
