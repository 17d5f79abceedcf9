"""KDD Cup 1999, intrusion detection: five classes with a cost matrix, collapsed to normal and attack.

The cup scored answers by the matrix C, rows true and columns answered (Elkan 1999). A detector that says only "normal"
or "attack" does not name a class of attack; so both errors are averaged over the classes of attack with their shares
s_k among the attacks of the training file:

    an attack passed as normal        sum_k s_k C[k, normal]  = fp_cost, as normal is the paper's target
    normal traffic called an attack   sum_k s_k C[normal, k]  = fn_cost

and right answers cost nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.types import Vector
from ._addresses import CC_BY, FIGSHARE, GITHUB, UCI_KDD, UCI_PAGE, uci_citation
from ._files import ChecksumError, unpacked
from ._optional import optional
from ._records import Dataset, Edition, File, Subset
from ._text_tables import columns

CATEGORIES = ("normal", "probe", "dos", "u2r", "r2l")

# Rows: the true class, columns: the answer, in the order of CATEGORIES.
COST_MATRIX = ((0, 1, 2, 2, 2), (1, 0, 2, 2, 2), (2, 1, 0, 2, 2), (3, 2, 2, 0, 2), (4, 2, 2, 2, 0))

# Rows of each class in the training file, kddcup.data_10_percent.
TRAINING_ROWS = (97_278, 4_107, 391_458, 52, 1_126)

# The cup's own classes: with them its test file has 4,166 probes, 229,853 dos, 228 u2r and 16,189 r2l.
ATTACKS = {
    "probe": columns("ipsweep mscan nmap portsweep saint satan"),
    "dos": columns("apache2 back land mailbomb neptune pod processtable smurf teardrop udpstorm"),
    "u2r": columns("buffer_overflow httptunnel loadmodule perl ps rootkit sqlattack xterm"),
    "r2l": columns(
        "ftp_write guess_passwd imap multihop named phf sendmail snmpgetattack snmpguess spy warezclient warezmaster "
        "worm xlock xsnoop"
    ),
}

VOCABULARIES = {
    "protocol_type": columns("icmp tcp udp"),
    "service": columns(
        "IRC X11 Z39_50 aol auth bgp courier csnet_ns ctf daytime discard domain domain_u echo eco_i ecr_i efs exec "
        "finger ftp ftp_data gopher harvest hostnames http http_2784 http_443 http_8001 icmp imap4 iso_tsap klogin "
        "kshell ldap link login mtp name netbios_dgm netbios_ns netbios_ssn netstat nnsp nntp ntp_u other pm_dump "
        "pop_2 pop_3 printer private red_i remote_job rje shell smtp sql_net ssh sunrpc supdup systat telnet tftp_u "
        "tim_i time urh_i urp_i uucp uucp_path vmnet whois"
    ),
    "flag": columns("OTH REJ RSTO RSTOS0 RSTR S0 S1 S2 S3 SF SH"),
}

COLUMNS = columns(
    "duration protocol_type service flag src_bytes dst_bytes land wrong_fragment urgent hot num_failed_logins "
    "logged_in num_compromised root_shell su_attempted num_root num_file_creations num_shells num_access_files "
    "num_outbound_cmds is_host_login is_guest_login count srv_count serror_rate srv_serror_rate rerror_rate "
    "srv_rerror_rate same_srv_rate diff_srv_rate srv_diff_host_rate dst_host_count dst_host_srv_count "
    "dst_host_same_srv_rate dst_host_diff_srv_rate dst_host_same_src_port_rate dst_host_srv_diff_host_rate "
    "dst_host_serror_rate dst_host_srv_serror_rate dst_host_rerror_rate dst_host_srv_rerror_rate label "
)


def collapsed_costs(matrix: Any = COST_MATRIX, rows: Any = TRAINING_ROWS) -> tuple[float, float]:
    """``fn_cost, fp_cost`` of the target class 0 against the rest: the formula above.

    matrix : (n_classes, n_classes), true by answered; rows : (n_classes,), how often each class occurs.
    """
    C, counts = np.asarray(matrix, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    shares = counts[1:] / counts[1:].sum()
    return float(shares @ C[0, 1:]), float(shares @ C[1:, 0])


def read_kdd99(paths: dict[str, Path], subset: Subset | None) -> dict[str, Any]:
    """Rows of the training file, then of the test file."""
    pandas = optional("pandas", "Reading kdd99")
    parts = {part: _read_table(path, pandas) for part, path in paths.items()}
    for name in (*VOCABULARIES, "label"):
        heard = {word for part in parts.values() for word in part[name].cat.categories}
        known = VOCABULARIES.get(name, ())
        for part in parts.values():
            part[name] = part[name].cat.set_categories([*known, *sorted(heard - set(known))])
    table = pandas.concat(parts.values(), ignore_index=True)
    label = table.pop("label").cat
    names = np.array([word.rstrip(".") for word in label.categories])
    category_of = {"normal": 0} | {name: CATEGORIES.index(kind) for kind, names in ATTACKS.items() for name in names}
    if unheard_of := sorted(set(names) - set(category_of)):
        raise ChecksumError(f"kdd99 has the labels {', '.join(unheard_of)}, which are not the cup's")
    data, feature_names = _encoded(table)
    return {
        "data": data,
        "target": (names == "normal").astype(np.int64)[label.codes],
        "feature_names": feature_names,
        "frame": table,
        "split": np.repeat(list(parts), [len(part) for part in parts.values()]),
        "labels": names[label.codes],
        "category": np.array([category_of[name] for name in names])[label.codes],
        "categories": list(CATEGORIES),
        "cost_matrix": np.array(COST_MATRIX, dtype=np.float64),
    }


def _read_table(path: Path, pandas: Any) -> Any:
    """One file, (n_rows, 42): words are categories, rates float64, counts int32."""
    types = {name: "float64" if name.endswith("_rate") else "int32" for name in COLUMNS}
    types |= dict.fromkeys((*VOCABULARIES, "label"), "category")
    with unpacked(path) as stream:
        return pandas.read_csv(stream, header=None, names=list(COLUMNS), dtype=types, keep_default_na=False)


def _encoded(table: Any) -> tuple[sp.csr_array, list[str]]:
    """Numbers as they are and an indicator for each word, CSR float64, with the names of the columns."""
    names: list[str] = []
    blocks: list[tuple[np.ndarray, Vector]] = []
    for name in table.columns:
        if name in VOCABULARIES:
            codes = table[name].cat.codes.to_numpy()
            for code, word in enumerate(VOCABULARIES[name]):
                rows = np.flatnonzero(codes == code)
                names.append(f"{name}={word}")
                blocks.append((rows, np.ones(len(rows))))
        else:
            values = table[name].to_numpy()
            rows = np.flatnonzero(values)
            names.append(name)
            blocks.append((rows, values[rows].astype(np.float64)))
    starts = np.concatenate([[0], np.cumsum([len(rows) for rows, _ in blocks])])
    indices = np.concatenate([rows for rows, _ in blocks]).astype(np.int32)
    values = np.concatenate([value for _, value in blocks])
    return sp.csc_array((values, indices, starts), shape=(len(table), len(names))).tocsr(), names


FN_COST, FP_COST = collapsed_costs()

TEST_FILE = File(
    "test",
    (
        Edition(
            "kdd99/corrected.gz",
            "74f0daef49b242badc09f2adbd457dea6a45b4f77177efbd11216d333651044b",
            1_409_035,
            (
                UCI_KDD + "kddcup99/corrected.gz",
                GITHUB + "potash/brf-example/cb1486bbec7069eec30474bce4bf9478e867e9d2/data/corrected.gz",
            ),
        ),
    ),
    subset="test",
)

MATRIX = """    true \\ answer  normal  probe  dos  u2r  r2l
    normal               0      1    2    2    2
    probe                1      0    2    2    2
    dos                  2      1    0    2    2
    u2r                  3      2    2    0    2
    r2l                  4      2    2    2    0"""

COSTS_TEXT = (
    "The cup's cost matrix above (`cost_matrix`, with `categories`, and `category` for each row) is collapsed with "
    "the shares of the classes among the attacks of the training file kddcup.data_10_percent: probe 4,107, dos "
    "391,458, u2r 52, r2l 1,126 of 396,743. Normal traffic called an attack costs (4,107 x 1 + 392,636 x 2) / 396,743 "
    f"= {FN_COST:.5f}, an attack passed as normal (4,107 x 1 + 391,458 x 2 + 52 x 3 + 1,126 x 4) / 396,743 = "
    f"{FP_COST:.5f}. The target, as in the paper, is normal, so the first is fn_cost. For costs of single rows take "
    "cost_matrix[category, 0] as fp_cost."
)

COLUMNS_TEXT = (
    "`data` has the 38 numbers as they come and one indicator for each word of protocol_type, service and flag, from "
    "vocabularies that are fixed; `frame` has the 41 columns. Byte counts have long tails: take their logarithm. "
    "Nothing is missing. `labels` names the attack; the test file has 17 that the training file of 10 % has not."
)

ROWS_TEXT = (
    "Most rows are repetitions: 145,586 of the 494,021 training rows of the 10 % file are distinct. Rows that occur "
    "in both parts of a random split make a model look better than it is; use the official split."
)


def _kdd99(variant: str, training: Edition, n_rows: int, n_positives: int, extra: str) -> Dataset:
    return Dataset(
        name="kdd99",
        variant=variant,
        title="KDD Cup 1999, intrusion detection",
        experiment="CSA",
        n_rows=n_rows,
        n_features=41,
        n_positives=n_positives,
        target_names=("attack", "normal"),
        fn_cost=FN_COST,
        fp_cost=FP_COST,
        files=(File("train", (training,), subset="train"), TEST_FILE),
        read=read_kdd99,
        source=UCI_PAGE + "130/kdd+cup+1999+data",
        citation=uci_citation(
            "Stolfo, S., Fan, W., Lee, W., Prodromidis, A. and Chan, P.", 1999, "KDD Cup 1999 Data", "C51C7N"
        )
        + "; costs: Elkan, C. (1999). Results of the KDD'99 Classifier Learning Contest",
        licence=CC_BY,
        notes="\n\n".join([extra, MATRIX, COSTS_TEXT, COLUMNS_TEXT, ROWS_TEXT]),
        paper=(5_209_460, 42),
        has_split=True,
    )


KDD99 = (
    _kdd99(
        "10_percent",
        Edition(
            "kdd99/kddcup.data_10_percent.gz",
            "8045aca0d84e70e622d1148d7df782496f6333bf6eb979a1b0837c42a9fd9561",
            2_144_903,
            (FIGSHARE + "5976042", UCI_KDD + "kddcup99/kddcup.data_10_percent.gz"),
        ),
        805_050,
        157_871,
        "The organisers' 10 % of the training rows, 494,021, and the labelled test file, 311,029. The paper has all "
        "training rows (variant full).",
    ),
    _kdd99(
        "full",
        Edition(
            "kdd99/kddcup.data.gz",
            "3b6c942aa0356c0ca35b7b595a26c89d343652c9db428893e7494f837b274292",
            None,
            (FIGSHARE + "5976045", UCI_KDD + "kddcup99/kddcup.data.gz"),
        ),
        5_209_460,
        972_781 + 60_593,
        "All training rows, 4,898,431, and the labelled test file, 311,029, as in the paper. It takes some GB of "
        "memory.",
    ),
)
