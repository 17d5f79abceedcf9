"""Large sets of numbers: cover types, engine knocks, spoken letters, digits."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from ._addresses import CC_BY, FIGSHARE, GITHUB, LIBSVM, NOT_STATED, UCI, UCI_PAGE, uci_citation
from ._files import ChecksumError, check_archive, unpacked
from ._optional import optional
from ._records import Dataset, Edition, File, Subset
from ._text_tables import columns

COVERTYPE_COLUMNS = (
    *columns(
        "Elevation Aspect Slope Horizontal_Distance_To_Hydrology Vertical_Distance_To_Hydrology "
        "Horizontal_Distance_To_Roadways Hillshade_9am Hillshade_Noon Hillshade_3pm Horizontal_Distance_To_Fire_Points"
    ),
    *(f"Wilderness_Area{k}" for k in range(1, 5)),
    *(f"Soil_Type{k}" for k in range(1, 41)),
)


def read_covertype(paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """With or without a header line; values are integers of at most four digits, exact in float32."""
    pandas = optional("pandas", "Reading covertype")
    with unpacked(paths["table"]) as stream:
        first = stream.peek(1)[:1]  # type: ignore[attr-defined]
        table = pandas.read_csv(stream, header=None, skiprows=int(not first.isdigit()), dtype=np.int16).to_numpy()
    return {
        "data": table[:, :-1].astype(np.float32, order="C"),
        "target": (table[:, -1] == 4).astype(np.int64),
        "feature_names": list(COVERTYPE_COLUMNS),
        "cover_type": table[:, -1].astype(np.int64),
    }


def read_ijcnn(paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """Dense, since 13 of the 22 features of a row are not zero."""
    blocks, labels = [], []
    for path in paths.values():
        with unpacked(path) as stream:
            X, y = load_svmlight_file(stream, n_features=22, zero_based=False)
        blocks.append(X.toarray())
        labels.append(y)
    return {
        "data": np.vstack(blocks),
        "target": (np.concatenate(labels) > 0).astype(np.int64),
        "feature_names": [f"x{k}" for k in range(1, 23)],
        "split": np.repeat(list(paths), [len(y) for y in labels]),
    }


def read_mnist(paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """Pixels 0 to 255, exact in float32."""
    parts = [part for part in ("train", "test") if f"{part} images" in paths]
    images = [_idx(paths[f"{part} images"], 3) for part in parts]
    digits = [_idx(paths[f"{part} labels"], 1) for part in parts]
    digit = np.concatenate(digits).astype(np.int64)
    return {
        "data": np.concatenate(images).reshape(len(digit), -1).astype(np.float32),
        "target": (digit == 5).astype(np.int64),
        "feature_names": [f"pixel_{row}_{column}" for row in range(28) for column in range(28)],
        "split": np.repeat(parts, [len(part) for part in digits]),
        "digit": digit,
    }


def _idx(path: Path, n_dimensions: int) -> np.ndarray:
    """An array of unsigned bytes in the idx format: a magic number, the shape, the values."""
    with unpacked(path) as stream:
        content = stream.read()
    header = np.frombuffer(content, dtype=">u4", count=1 + n_dimensions)
    if header[0] != 0x800 + n_dimensions:
        raise ChecksumError(f"{path} is no idx file of bytes with {n_dimensions} dimensions")
    return np.frombuffer(content, dtype=np.uint8, offset=header.nbytes).reshape(header[1:].astype(int))


# Of the sorted rows, each the 617 values times 10,000, the letter and whether it is of isolet5, as little-endian int16.
ISOLET_CONTENT = "cd6a1ec5b6d7e9b338c48a998b1ed0379409364e49a420e5ca53a132be536513"


def read_isolet(paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """The five files one after the other."""
    check_archive(paths["letters"])
    with np.load(paths["letters"], allow_pickle=False) as saved:
        values, letter, group = saved["X_times_10000"], saved["y"], saved["group"]
    split = np.where(group == 5, "test", "train")
    chosen = np.full(len(split), True) if subset is None else split == subset
    return _isolet(values[chosen], letter[chosen], split[chosen]) | {"groups": group[chosen].astype(np.int64)}


def read_isolet_text(paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """The two text files of UCI. They have no checksum on record: their rows are compared with those that have."""
    tables = []
    for path in paths.values():
        with unpacked(path) as stream:
            tables.append(np.loadtxt(stream, delimiter=",", ndmin=2))
    values = np.rint(np.vstack([table[:, :-1] for table in tables]) * 10_000).astype("<i2")
    letter = np.concatenate([table[:, -1] for table in tables]).astype("<i2")
    split = np.repeat(list(paths), [len(table) for table in tables])
    rows = np.column_stack([values, letter, (split == "test").astype("<i2")])
    if hashlib.sha256(b"".join(sorted(row.tobytes() for row in rows))).hexdigest() != ISOLET_CONTENT:
        raise ChecksumError(f"{' and '.join(map(str, paths.values()))} do not hold the rows of ISOLET")
    chosen = np.full(len(split), True) if subset is None else split == subset
    return _isolet(values[chosen], letter[chosen], split[chosen])


def _isolet(values: np.ndarray, letter: np.ndarray, split: np.ndarray) -> dict[str, Any]:
    return {
        "data": values / 10_000.0,
        "target": (letter == 11).astype(np.int64),
        "feature_names": [f"f{k}" for k in range(1, values.shape[1] + 1)],
        "split": split,
        "letter": letter.astype(np.int64),
    }


COVERTYPE = Dataset(
    name="covertype",
    title="Forest cover types",
    experiment="IDL",
    n_rows=581_012,
    n_features=54,
    n_positives=2_747,
    target_names=("another type", "cottonwood or willow"),
    files=(
        File(
            "table",
            (
                Edition(
                    "covertype/covtype.data.gz",
                    "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
                    11_240_707,
                    (FIGSHARE + "5976039", UCI + "covtype/covtype.data.gz"),
                ),
                # With a header line.
                Edition(
                    "covertype/covtype.csv.gz",
                    "1e80ec39004c046787627c4a56f7aa900bfc0f65cd804eccacd0266f42fd316a",
                    10_775_012,
                ),
            ),
        ),
    ),
    read=read_covertype,
    source=UCI_PAGE + "31/covertype",
    citation=uci_citation("Blackard, J.", 1998, "Covertype", "C50K5N"),
    licence=CC_BY,
    notes="Type 4 of 7 against the rest; `cover_type` has all seven. 10 measurements and 44 indicators of area and "
    "soil, as they come, in float32, which holds them exactly. Nothing is missing.",
    paper=(581_012, 54),
)

TICK = GITHUB + "X-DataInitiative/tick-datasets/9d959b6e53e17145e93e9849ff1f9f6d2de8ae51/binary/ijcnn1/"

IJCNN = Dataset(
    name="ijcnn",
    title="IJCNN 2001 challenge, engine misfires",
    experiment="IDL",
    n_rows=141_691,
    n_features=22,
    n_positives=13_565,
    target_names=("-1", "+1"),
    files=(
        File(
            "train",
            (
                Edition(
                    "ijcnn1/ijcnn1.trn.bz2",
                    "b38a4198ce142d43e96fb86d17b87211feec1f909ac344fa057455c69de29de3",
                    1_395_175,
                    (TICK + "ijcnn1.trn.bz2",),
                ),
            ),
            subset="train",
        ),
        File(
            "test",
            (
                Edition(
                    "ijcnn1/ijcnn1.tst.bz2",
                    "acd1db430684fdd3f0c768ecc49aa8e749d0004fc117611220c2aa576a7b6a24",
                    2_597_597,
                    (TICK + "ijcnn1.tst.bz2",),
                ),
            ),
            subset="test",
        ),
    ),
    read=read_ijcnn,
    source=LIBSVM + "binary.html#ijcnn1",
    citation="Prokhorov, D. (2001). IJCNN 2001 neural network competition. Slide presentation in IJCNN'01, Ford "
    "Research Laboratory; features of Chang, C.-C. and Lin, C.-J. (2001). IJCNN 2001 challenge: Generalization ability "
    "and text decoding",
    licence=NOT_STATED,
    notes="49,990 training rows, of which the last 14,990 are LIBSVM's ijcnn1.val, and 91,701 test rows. 22 features "
    "as they come; the 2 in the paper's table is a slip. Nothing is missing.",
    paper=(141_691, 2),
    has_split=True,
)

ISOLET_TITLE = "Spoken letters (ISOLET)"
ISOLET_CITATION = uci_citation("Cole, R. and Fanty, M.", 1991, "ISOLET", "C51G69")
ISOLET_PAGE = UCI_PAGE + "54/isolet"
ISOLET_NOTES = (
    "K against the rest; `letter` has all 26, 1 for A. 617 features between -1 and 1, as they come. Nothing is "
    "missing. The split is UCI's: the fifth group of 30 speakers is for testing. "
)

ISOLET = (
    Dataset(
        name="isolet",
        variant="uci",
        title=ISOLET_TITLE,
        experiment="IDL",
        n_rows=7_797,
        n_features=617,
        n_positives=300,
        target_names=("another letter", "K"),
        files=tuple(
            File(
                part,
                (Edition(f"isolet/{name}.data", None, None),),
                by_hand=f"download {UCI}isolet/{name}.data.Z and unpack it with `gzip -d {name}.data.Z`",
            )
            for part, name in (("train", "isolet1+2+3+4"), ("test", "isolet5"))
        ),
        read=read_isolet_text,
        source=ISOLET_PAGE,
        citation=ISOLET_CITATION,
        licence=CC_BY,
        notes=ISOLET_NOTES + "Rows in the order of UCI's files, whose content is compared with the rows on record.",
        paper=(7_797, 617),
        has_split=True,
    ),
    Dataset(
        name="isolet",
        variant="grouped",
        title=ISOLET_TITLE,
        experiment="IDL",
        n_rows=7_797,
        n_features=617,
        n_positives=300,
        target_names=("another letter", "K"),
        files=(
            File(
                "letters",
                (
                    Edition(
                        "isolet/isolet_int16.derived.npz",
                        "98a88af1324f3cb413275882b922adec903e5c7bf1788707b7bdf2d54818add9",
                        7_596_005,
                    ),
                ),
                by_hand="this file was derived from UCI's and is not published; leave variant out to read UCI's own "
                "files",
            ),
        ),
        read=read_isolet,
        source=ISOLET_PAGE,
        citation=ISOLET_CITATION,
        licence=CC_BY,
        notes=ISOLET_NOTES + "`groups` has the five groups of speakers.",
        paper=(7_797, 617),
        has_split=True,
        stands_in=True,
    ),
)

MNIST_HOMES = ("https://storage.googleapis.com/cvdf-datasets/mnist/", "https://ossci-datasets.s3.amazonaws.com/mnist/")


def _mnist_file(part: Subset, kind: str, name: str, original: tuple[str, int], repacked: tuple[str, int]) -> File:
    """A file as published, or the same content packed anew."""
    urls = tuple(home + name for home in MNIST_HOMES)
    editions = (Edition(f"mnist/{name}", *original, urls), Edition(f"mnist/{name}", *repacked))
    return File(f"{part} {kind}", editions, subset=part)


MNIST = Dataset(
    name="mnist",
    title="Handwritten digits (MNIST)",
    experiment="IDL",
    n_rows=70_000,
    n_features=784,
    n_positives=6_313,
    target_names=("another digit", "5"),
    files=(
        _mnist_file(
            "train",
            "images",
            "train-images-idx3-ubyte.gz",
            ("440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609", 9_912_422),
            ("0b367032e93c5d0cea0925647cfdb18614af8ee15f83e6f2fc2ad904a6835971", 9_719_438),
        ),
        _mnist_file(
            "train",
            "labels",
            "train-labels-idx1-ubyte.gz",
            ("3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c", 28_881),
            ("1787548bbe0bff1ec2ecdc0ef292b02df999e2d1a6002d27500982c652b17203", 28_857),
        ),
        _mnist_file(
            "test",
            "images",
            "t10k-images-idx3-ubyte.gz",
            ("8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6", 1_648_877),
            ("1a1a05eab793c14bb050b398624a11b0ffd1a2953baed553b1b9bd079e2a20be", 1_616_508),
        ),
        _mnist_file(
            "test",
            "labels",
            "t10k-labels-idx1-ubyte.gz",
            ("f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6", 4_542),
            ("b91679a0acfe4ba0e50a2437a903084cba1f5f92592b016a25a7dfd00455798b", 4_517),
        ),
    ),
    read=read_mnist,
    source=LIBSVM + "multiclass.html#mnist",
    citation="LeCun, Y., Bottou, L., Bengio, Y. and Haffner, P. (1998). Gradient-based learning applied to document "
    "recognition. Proceedings of the IEEE 86 (11), 2278-2324",
    licence=NOT_STATED,
    notes="5 against the rest; `digit` has all ten. Pixels from 0 to 255, as they come, in float32, which holds them "
    "exactly: divide by 255. The paper counts 780 features, up to the last pixel that is ever inked.",
    paper=(70_000, 780),
    has_split=True,
)
