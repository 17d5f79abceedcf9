"""KDD Cup 1998, donations to a charity: whom to send a letter that costs 68 cents.

A letter to somebody who gives `amount` earns amount - 0.68, one to anybody else loses 0.68, no letter earns nothing. So
in costs of errors, relative to the right decision,

    fn_cost = amount - 0.68 for a donor (0 where the amount is smaller),    fp_cost = 0.68.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._core.types import Vector
from ._addresses import CC_BY, GITHUB, UCI_KDD, UCI_PAGE, uci_citation
from ._files import ChecksumError, unpacked
from ._optional import optional
from ._records import Dataset, Edition, File, Subset
from ._text_tables import columns

LETTER = 0.68

# Of the learning file, which `donor_raw_data` holds all donors and part of the others of.
N_OTHERS, N_OTHERS_SAMPLED = 90_569, 14_529

# Codes without an order, even where they are numbers.
DONORS_NOMINAL = columns("URBANICITY SES CLUSTER_CODE HOME_OWNER DONOR_GENDER OVERLAY_SOURCE RECENCY_STATUS_96NK")
CUP_NOMINAL = columns(
    "OSOURCE TCODE STATE ZIP MAILCODE NOEXCH MDMAUD DOMAIN CLUSTER DATASRCE SOLP3 SOLIH GEOCODE LIFESRC MSA ADI DMA "
    "GEOCODE2"
)


def read_donors(paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """19,372 rows with amounts, and the weights that restore the share of donors."""
    pandas = optional("pandas", "Reading kdd98")
    with unpacked(paths["donors"]) as stream:
        table = pandas.read_csv(
            stream,
            dtype=dict.fromkeys((*DONORS_NOMINAL, "CONTROL_NUMBER"), "str"),
            keep_default_na=False,
            na_values=[""],
        )
    target, amounts = table.pop("TARGET_B").to_numpy(), table.pop("TARGET_D").fillna(0.0).to_numpy()
    numbers = table.pop("CONTROL_NUMBER").to_numpy().astype(np.int64)
    weight = N_OTHERS / N_OTHERS_SAMPLED
    features = _tidy(table, DONORS_NOMINAL)
    return _fields(features, target, amounts, numbers) | {"sample_weight": np.where(target == 1, 1.0, weight)}


def read_categorical(paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """Words of all 95,412 rows of the learning file, with amounts; two files in the same order."""
    pandas = optional("pandas", "Reading kdd98")
    with unpacked(paths["words"]) as stream:
        table = pandas.read_csv(stream, index_col=0, dtype="str", keep_default_na=False)
    with unpacked(paths["amounts"]) as stream:
        answers = pandas.read_csv(stream)
    features = _tidy(table.reset_index(drop=True), tuple(table.columns))
    return _fields(features, answers["TARGET_B"].to_numpy(), answers["TARGET_D"].to_numpy(), None)


def read_validation(paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """The answers to the validation file, without features."""
    answers = _read_answers(paths["answers"])
    return _fields(None, answers["TARGET_B"], answers["TARGET_D"], answers["CONTROLN"])


def read_full(paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """The learning file, then the validation file with its answers, found by control number."""
    pandas = optional("pandas", "Reading kdd98")
    tables = {part: _read_cup(paths[part], pandas) for part in ("train", "test") if part in paths}
    if "test" in tables:
        answers = _read_answers(paths["answers"])
        place = {number: row for row, number in enumerate(answers["CONTROLN"].tolist())}
        rows = [place.get(number, -1) for number in tables["test"]["CONTROLN"].tolist()]
        if -1 in rows or len(set(rows)) != len(place):
            raise ChecksumError(f"{paths['answers']} does not answer the rows of {paths['test']}, one for one")
        tables["test"]["TARGET_B"], tables["test"]["TARGET_D"] = answers["TARGET_B"][rows], answers["TARGET_D"][rows]
    is_number = pandas.api.types.is_numeric_dtype
    nominal = {name for table in tables.values() for name in table.columns if not is_number(table[name])}
    for table in tables.values():  # words also where one file happens to have only numbers
        for name in nominal.intersection(table.columns):
            if is_number(table[name]):
                table[name] = table[name].map(lambda value: "" if np.isnan(value) else f"{value:g}")
    table = pandas.concat(tables.values(), ignore_index=True)
    target, amounts = table.pop("TARGET_B").to_numpy(), table.pop("TARGET_D").to_numpy()
    numbers = table.pop("CONTROLN").to_numpy()
    return _fields(_tidy(table, tuple(nominal)), target, amounts, numbers) | {
        "split": np.repeat(list(tables), [len(part) for part in tables.values()])
    }


def _read_cup(path: Path, pandas: Any) -> Any:
    """cup98LRN or cup98VAL: blanks and lone points are missing, ZIP codes may end in a dash."""
    with unpacked(path) as stream:
        table = pandas.read_csv(
            stream,
            dtype=dict.fromkeys(CUP_NOMINAL, "str"),
            keep_default_na=False,
            na_values=["", " ", "."],
            skipinitialspace=True,
            low_memory=False,
        )
    table["ZIP"] = table["ZIP"].str.rstrip("-")
    return table


def _tidy(table: Any, nominal: tuple[str, ...]) -> Any:
    """Words as categories, a blank being a word of its own; numbers as float64, missing ones as NaN."""
    for name in table.columns:
        if name in nominal:
            table[name] = table[name].fillna("").str.strip().astype("category")
        else:
            table[name] = table[name].astype(np.float64)
    return table.copy()  # in one piece: filled column by column it is in many


def _read_answers(path: Path) -> dict[str, np.ndarray]:
    """valtargt.txt: control numbers, whether they gave, and how much."""
    with unpacked(path) as stream:
        head = stream.readline().decode("ascii").strip().split(",")
        values = np.loadtxt(stream, delimiter=",", ndmin=2)
    found = dict(zip(head, values.T, strict=True))
    return {
        "CONTROLN": found["CONTROLN"].astype(np.int64),
        "TARGET_B": found["TARGET_B"].astype(np.int64),
        "TARGET_D": found["TARGET_D"],
    }


def _fields(features: Any, target: np.ndarray, amounts: Vector, numbers: np.ndarray | None) -> dict[str, Any]:
    """What all variants have in common."""
    amounts = amounts.astype(np.float64)
    return {
        "data": features,
        "target": target.astype(np.int64),
        "fn_cost": np.where(target == 1, np.maximum(amounts - LETTER, 0.0), 0.0),
        "fp_cost": LETTER,
        "frame": features,
        "feature_names": [] if features is None else list(features.columns),
        "amounts": amounts,
        "control_number": numbers,
    }


MIRROR = UCI_KDD + "kddcup98/epsilon_mirror/"

ANSWERS = (
    Edition(
        "kdd98/valtargt.txt",
        "6d2051306c319fa0771bbc3758ad4fde3f521dee58898927629d2a7dc9b09c4c",
        1_104_529,
        (MIRROR + "valtargt.txt",),
    ),
    Edition("kdd98/valtargt.txt.gz", "4304732b711dfa3dbc16ae93115d8c17fb0a4fec288732dcd211d2e2dd4640ec", 249_614),
)

COSTS_TEXT = (
    "A letter costs 0.68 dollars. `amounts` has the donations, 0 for those who gave nothing; fn_cost is the donation "
    "less the letter (0 for the few that are smaller, and for rows that are no donors, where it does not count), "
    "fp_cost the letter. Amounts are known after the fact only: a rule that decides by them has to estimate them. "
    "Mailing everybody of the validation file earns 76,089.64 - 0.68 x 96,367 = 10,560.08 dollars."
)
TERMS = (
    "Terms, from the data's own readme: users notify the donors of the data of results and send them a copy of what "
    "is published; the sponsoring organisation is not to be named in training or education."
)
MIXED = (
    "`data` and `frame` are one DataFrame of words (categories; a blank is a word of its own) and numbers (missing: "
    "NaN)"
)


def _kdd98(
    variant: str, n_rows: int, n_features: int, n_positives: int, files: tuple[File, ...], **own: Any
) -> Dataset:
    notes = own.pop("notes")
    return Dataset(
        name="kdd98",
        variant=variant,
        title="KDD Cup 1998, donations by mail",
        experiment="CSE",
        n_rows=n_rows,
        n_features=n_features,
        n_positives=n_positives,
        target_names=("no donation", "donation"),
        files=files,
        source=UCI_PAGE + "129/kdd+cup+1998+data",
        citation=uci_citation("Parsa, I.", 1998, "KDD Cup 1998 Data", "C5401H"),
        notes=f"{notes}\n\n{COSTS_TEXT}\n\n{TERMS}",
        paper=(191_779, 479),
        **own,
    )


KDD98 = (
    _kdd98(
        "donors",
        19_372,
        47,
        4_843,
        (
            File(
                "donors",
                (
                    Edition(
                        "kdd98/donor_raw_data.csv",
                        "75ec996fb9f996ad3ef04ae9becb2018e629201b4fecd28b41079e221c7630ab",
                        2_824_750,
                        (GITHUB + "sasdazimm/SASDemo/87f3e39d15c788083acb2f971a16467139f74003/donor_raw_data.csv",),
                    ),
                    Edition(
                        "kdd98/donor_raw_data.csv.gz",
                        "328bc535b85e30a3572b72bf45beef29b696309dafaaad9af5850c82ae6bfb3a",
                        899_765,
                    ),
                ),
            ),
        ),
        read=read_donors,
        licence="none stated with this extract; do not publish it",
        notes="A table made for teaching from the learning file: all of its 4,843 donors, and 14,529 of the 90,569 "
        "others. `sample_weight`, 90,569 / 14,529 = 6.2337 for the others, restores the share of donors, so that "
        f"weighted sums estimate those of the 95,412 rows. {MIXED}; 7 columns are words. `control_number` is no "
        "feature.",
    ),
    _kdd98(
        "categorical",
        95_412,
        31,
        4_843,
        (
            File(
                "words",
                (
                    Edition(
                        "kdd98/cup98LRN_categorical.csv.zip",
                        "7ccb16cf0149d4d618b1d01ff39ac1a99f271ed581b9f9730e7a65d8d8842a8a",
                        1_915_466,
                        (
                            GITHUB + "ironhack-labs/lab-revisiting-machine-learning/"
                            "2fd13690859dbae83205a73947eb5311f5601514/categorical.csv.zip",
                        ),
                    ),
                ),
            ),
            File(
                "amounts",
                (
                    Edition(
                        "kdd98/cup98LRN_target.csv",
                        "38233a86a2cad963e6f54843405e57288b024a39deaef28d0cf71891bbd42561",
                        385_452,
                    ),
                    Edition(
                        "kdd98/cup98LRN_target.csv.gz",
                        "93c774c75b6a13bf8efe381be03add399360dba350d7ef3e2f792e242fc1f0c5",
                        11_701,
                    ),
                ),
                by_hand="take ClassMaterials/Week8/Datasources/RF-data/target.csv of "
                "https://github.com/student-IH-labs-and-stuff/BCNDATA2022 at commit 33fb4aad",
            ),
        ),
        read=read_categorical,
        licence="none stated with this extract; do not publish it",
        notes="All 95,412 rows of the learning file with 31 of its columns, all words: source, state, ZIP code, "
        "cluster, and recency, frequency and amount of earlier gifts as codes (RFA_2 to RFA_18). States with fewer "
        f"rows are OTHER. {MIXED}.",
    ),
    _kdd98(
        "full",
        191_779,
        478,
        4_843 + 4_873,
        (
            File(
                "train",
                (
                    Edition(
                        "kdd98/cup98lrn.zip",
                        "9517071741c689cf9a27aad4a84d453dc9675d2b2981f90d16a776457daf15bf",
                        None,
                        (MIRROR + "cup98lrn.zip",),
                    ),
                ),
                subset="train",
            ),
            File(
                "test",
                (
                    Edition(
                        "kdd98/cup98val.zip",
                        "3112e81cc1d830a534078e65b93067805b199848a35fd41db32f1a4286dbab96",
                        None,
                        (MIRROR + "cup98val.zip",),
                    ),
                ),
                subset="test",
            ),
            File("answers", ANSWERS, subset="test"),
        ),
        read=read_full,
        licence=CC_BY,
        notes="The learning file, 95,412 rows, and the validation file, 96,367 rows, with the answers published after "
        f"the cup, as in the paper. {MIXED}. Of the 481 columns TARGET_B, TARGET_D and CONTROLN, which is "
        "`control_number`, are no features; the paper's 479 count CONTROLN. A column is read as words if it has "
        "any, or is a code without an order, in either file.",
        has_split=True,
    ),
    _kdd98(
        "validation",
        96_367,
        0,
        4_873,
        (File("answers", ANSWERS),),
        read=read_validation,
        licence=CC_BY,
        notes="The answers to the validation file: `target`, `amounts` and `control_number`, no features. Enough to "
        "score decisions by control number, and to check the income of mailing everybody.",
    ),
)
