"""Small tables of the UCI Machine Learning Repository, one text file each."""

from __future__ import annotations

from ._addresses import BROWNLEE, CC_BY, GITHUB, NOT_STATED, UCI, UCI_PAGE, uci_citation
from ._records import Dataset, Edition, File
from ._text_tables import TextTable, columns

CELL_MEASURES = columns(
    "radius texture perimeter area smoothness compactness concavity concave_points symmetry fractal_dimension"
)
CELL_COLUMNS = tuple(f"{kind}_{name}" for kind in ("mean", "error", "worst") for name in CELL_MEASURES)


def _only(*editions: Edition) -> tuple[File, ...]:
    return (File("table", editions),)


HEART = Dataset(
    name="heart",
    title="Heart disease (Statlog)",
    experiment="CSA",
    n_rows=270,
    n_features=13,
    n_positives=120,
    target_names=("absence", "presence"),
    fn_cost=5.0,
    fp_cost=1.0,
    files=_only(
        Edition(
            "heart_statlog/heart.dat",
            "f5f3b4204c285bafadd85cb735f38b47689f2be7047feb172dcbeab648110bf9",
            16_461,
            (UCI + "statlog/heart/heart.dat",),
        ),
        # Without the last newline.
        Edition("heart_statlog/heart.dat", "4d77377ff8395ae2cd7968678f61180478439fe0ab547de3380cca2eda501285", 16_460),
    ),
    read=TextTable(
        columns(
            "age sex chest_pain resting_pressure cholesterol fasting_sugar resting_ecg max_rate "
            "exercise_angina oldpeak slope vessels thal class"
        ),
        "class",
        "2",
        delimiter=None,
    ).read,
    source=UCI_PAGE + "145/statlog+heart",
    citation="Statlog (Heart) [Dataset]. UCI Machine Learning Repository. https://doi.org/10.24432/C57303",
    licence=CC_BY,
    notes="The costs are the data's own: missing a disease costs 5, a false alarm 1. All 13 columns as they come; "
    "chest_pain, resting_ecg and thal are nominal, coded as numbers. Nothing is missing.",
    paper=(270, 13),
)

BREAST_CANCER_DIAGNOSTIC = Dataset(
    name="breast_cancer_diagnostic",
    title="Breast cancer, diagnostic (Wisconsin)",
    experiment="CSU",
    n_rows=569,
    n_features=30,
    n_positives=212,
    target_names=("benign", "malignant"),
    files=_only(
        Edition(
            "wdbc/wdbc.data",
            "d606af411f3e5be8a317a5a8b652b425aaf0ff38ca683d5327ffff94c3695f4a",
            124_103,
            (UCI + "breast-cancer-wisconsin/wdbc.data",),
        )
    ),
    read=TextTable(("id", "class", *CELL_COLUMNS), "class", "M", left_out=("id",)).read,
    source=UCI_PAGE + "17/breast+cancer+wisconsin+diagnostic",
    citation=uci_citation(
        "Wolberg, W., Mangasarian, O., Street, N. and Street, W.",
        1993,
        "Breast Cancer Wisconsin (Diagnostic)",
        "C5DW2B",
    ),
    licence=CC_BY,
    notes="The id is left out; the paper's 32 features count it and the class. Nothing is missing. scikit-learn's "
    "load_breast_cancer has the same values, with malignant as 0.",
    paper=(569, 32),
)

BREAST_CANCER_ORIGINAL = Dataset(
    name="breast_cancer_original",
    title="Breast cancer, original (Wisconsin)",
    experiment="CSU",
    n_rows=699,
    n_features=9,
    n_positives=241,
    target_names=("benign", "malignant"),
    files=_only(
        Edition(
            "wbc_original/breast-cancer-wisconsin.data",
            "402c585309c399237740f635ef9919dc512cca12cbeb20de5e563a4593f22b64",
            19_889,
            (
                UCI + "breast-cancer-wisconsin/breast-cancer-wisconsin.data",
                BROWNLEE + "breast-cancer-wisconsin.data",
            ),
        )
    ),
    read=TextTable(
        columns(
            "id clump_thickness size_uniformity shape_uniformity adhesion epithelial_size bare_nuclei "
            "bland_chromatin normal_nucleoli mitoses class"
        ),
        "class",
        "4",
        left_out=("id",),
    ).read,
    source=UCI_PAGE + "15/breast+cancer+wisconsin+original",
    citation=uci_citation("Wolberg, W.", 1990, "Breast Cancer Wisconsin (Original)", "C5HP4Z"),
    licence=CC_BY,
    notes="The id is left out; the paper's 10 features count it. 16 values of bare_nuclei are missing: NaN.",
    paper=(699, 10),
)

BREAST_CANCER_PROGNOSTIC = Dataset(
    name="breast_cancer_prognostic",
    title="Breast cancer, prognostic (Wisconsin)",
    experiment="IDL",
    n_rows=198,
    n_features=32,
    n_positives=47,
    target_names=("no recurrence", "recurrence"),
    files=_only(
        Edition(
            "wpbc/wpbc.data",
            "f2bd5ccdb6086fa832370dc043319907430cf6bfcfd3b96a3961a357be345c8e",
            44_234,
            (UCI + "breast-cancer-wisconsin/wpbc.data",),
        )
    ),
    read=TextTable(
        ("id", "class", "time", *CELL_COLUMNS, "tumor_size", "lymph_nodes"), "class", "R", left_out=("id", "time")
    ).read,
    source=UCI_PAGE + "16/breast+cancer+wisconsin+prognostic",
    citation=uci_citation(
        "Wolberg, W., Street, W. and Mangasarian, O.", 1995, "Breast Cancer Wisconsin (Prognostic)", "C5GK50"
    ),
    licence=CC_BY,
    notes="The id is left out, and so is `time`, months to recurrence or of follow-up, which is known only with the "
    "outcome; the paper's 34 features count both. 4 values of lymph_nodes are missing: NaN.",
    paper=(198, 34),
)

DIABETES = Dataset(
    name="diabetes",
    title="Diabetes (Pima Indians)",
    experiment="CSU",
    n_rows=768,
    n_features=8,
    n_positives=268,
    target_names=("no diabetes", "diabetes"),
    files=_only(
        Edition(
            "pima_diabetes/pima-indians-diabetes.data",
            "6bfe5d0f379d17a0e0819b996407e3c09bf80febd4287f2ed212190dfff154af",
            23_278,
            (BROWNLEE + "pima-indians-diabetes.data.csv",),
        )
    ),
    read=TextTable(columns("pregnancies glucose pressure skin insulin mass pedigree age class"), "class", "1").read,
    source="https://www.openml.org/d/37",
    citation="Smith, J. W., Everhart, J. E., Dickson, W. C., Knowler, W. C. and Johannes, R. S. (1988). Using the ADAP "
    "learning algorithm to forecast the onset of diabetes mellitus. Proceedings of the Symposium on Computer "
    "Applications and Medical Care, 261-265",
    licence=NOT_STATED + "; no longer at UCI",
    notes="Values as they come: zeros in glucose, pressure, skin, insulin and mass stand for missing ones; they are "
    "left as zeros, as in the literature.",
    paper=(768, 8),
)

ECHOCARDIOGRAM = Dataset(
    name="echocardiogram",
    title="Echocardiogram",
    experiment="CSU",
    n_rows=131,
    n_features=9,
    n_positives=43,
    target_names=("dead", "alive"),
    files=_only(
        Edition(
            "echocardiogram/echocardiogram.data",
            "7c8a698ca3dd5b20cd5869c7643691e81f36982278005809bf752a93655cf88b",
            6_105,
            (GITHUB + "egernik2/Projects/43b57fcda8c74fa631f1e661f1b9bd5207f5cc75/echocardiogram.data",),
        ),
        # With a last newline.
        Edition(
            "echocardiogram/echocardiogram.data",
            "f7c4fbc3358e60ba86576d7edf4c9e184db9b5835f1238f9786b54693a6b2937",
            6_106,
            (UCI + "echocardiogram/echocardiogram.data",),
        ),
    ),
    read=TextTable(
        columns(
            "survival still_alive age pericardial_effusion fractional_shortening epss lvdd wall_motion_score "
            "wall_motion_index mult name group alive_at_1"
        ),
        "still_alive",
        "1",
        left_out=("survival", "name", "alive_at_1"),
    ).read,
    source=UCI_PAGE + "38/echocardiogram",
    citation="Echocardiogram [Dataset] (1988). UCI Machine Learning Repository. https://doi.org/10.24432/C5QW24",
    licence=CC_BY,
    notes="The target is still_alive, as in the paper. Left out: `survival`, the months survived, and `alive_at_1`, "
    "which is defined by it and the target: both leak; `name`, the same word in every row. One of the 132 rows is "
    "malformed and has no label: left out. Missing values, 1 to 15 in most columns, are NaN. The documentation calls "
    "`mult` derived and `group` meaningless; both are kept.",
    paper=(132, 12),
)

LIVER = Dataset(
    name="liver",
    title="Liver disorders (BUPA)",
    experiment="CSU",
    n_rows=345,
    n_features=6,
    n_positives=145,
    target_names=("selector 2", "selector 1"),
    files=_only(
        Edition(
            "liver_bupa/bupa.data",
            "a166a3e7a6f4dc41aaaedc59a107e57d8adcaeb8821f0873d756982f1ea74c92",
            7_297,
            (UCI + "liver-disorders/bupa.data",),
        )
    ),
    read=TextTable(columns("mcv alkphos sgpt sgot gammagt drinks selector"), "selector", "1").read,
    source=UCI_PAGE + "60/liver+disorders",
    citation="Liver Disorders [Dataset] (1990). UCI Machine Learning Repository. https://doi.org/10.24432/C54G67",
    licence=CC_BY,
    notes="The customary class, `selector`, was meant to split the rows, not as a diagnosis. Nothing is missing.",
    paper=(345, 6),
)

SONAR = Dataset(
    name="sonar",
    title="Sonar, mines and rocks",
    experiment="CSU",
    n_rows=208,
    n_features=60,
    n_positives=111,
    target_names=("rock", "mine"),
    files=_only(
        Edition(
            "sonar/sonar.all-data",
            "e90434cdbf00fcf93ffa911fe447ae25606979658e60f1d32e155c3b5240234d",
            87_776,
            (UCI + "undocumented/connectionist-bench/sonar/sonar.all-data",),
        ),
        # Without the last newline.
        Edition(
            "sonar/sonar.all-data",
            "3079c09b5d2789a0f96aff82c28e5164fafe2495c5f8da96c6c256c1bd25763f",
            87_775,
            (BROWNLEE + "sonar.csv",),
        ),
    ),
    read=TextTable((*(f"band_{k}" for k in range(1, 61)), "class"), "class", "M").read,
    source=UCI_PAGE + "151/connectionist+bench+sonar+mines+vs+rocks",
    citation=uci_citation(
        "Sejnowski, T. and Gorman, R.", 1988, "Connectionist Bench (Sonar, Mines vs. Rocks)", "C5T01Q"
    ),
    licence=CC_BY,
    notes="The paper's target +1 is taken to be the mines. Rows come rocks first, then mines, in order of the angle: "
    "shuffle before splitting. Nothing is missing.",
    paper=(208, 60),
)

SQUARES = tuple(f"{row}_{column}" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right"))

TIC_TAC_TOE = Dataset(
    name="tic_tac_toe",
    title="Tic-tac-toe endgames",
    experiment="CSU",
    n_rows=958,
    n_features=9,
    n_positives=332,
    target_names=("x has won", "x has not won"),
    files=_only(
        Edition(
            "tic_tac_toe/tic-tac-toe.data",
            "a996a756484d0cf8cbad1680d823aadbfcff8ae2d78c450e6999362d580301c5",
            25_866,
            (UCI + "tic-tac-toe/tic-tac-toe.data",),
        )
    ),
    read=TextTable(
        (*SQUARES, "class"), "class", "negative", words={square: ("b", "o", "x") for square in SQUARES}
    ).read,
    source=UCI_PAGE + "101/tic+tac+toe+endgame",
    citation=uci_citation("Aha, D.", 1991, "Tic-Tac-Toe Endgame", "C5688J"),
    licence=CC_BY,
    notes="Each of the 9 squares is x, o or b (blank): words in `frame`, three indicators in `data`. Nothing is "
    "missing.",
    paper=(958, 9),
)

HEPATITIS = Dataset(
    name="hepatitis",
    title="Hepatitis",
    experiment="IDL",
    n_rows=155,
    n_features=19,
    n_positives=32,
    target_names=("live", "die"),
    files=_only(
        Edition(
            "hepatitis/hepatitis.data",
            "9971f9d18abb4fc9dd6749eefb0f864b36fa7bdd59f54188c0b148a5c28214bc",
            7_545,
            (UCI + "hepatitis/hepatitis.data",),
        )
    ),
    read=TextTable(
        columns(
            "class age sex steroid antivirals fatigue malaise anorexia liver_big liver_firm spleen_palpable "
            "spiders ascites varices bilirubin alk_phosphate sgot albumin protime histology"
        ),
        "class",
        "1",
    ).read,
    source=UCI_PAGE + "46/hepatitis",
    citation="Hepatitis [Dataset] (1983). UCI Machine Learning Repository. https://doi.org/10.24432/C5Q59J",
    licence=CC_BY,
    notes="167 values are missing, 67 of them of protime: NaN. Columns of no and yes are 1 and 2, as they come. The "
    "paper's 20 features count the class.",
    paper=(155, 20),
)

SURVIVAL = Dataset(
    name="survival",
    title="Survival after breast cancer surgery (Haberman)",
    experiment="IDL",
    n_rows=306,
    n_features=3,
    n_positives=81,
    target_names=("survived 5 years", "died within 5 years"),
    files=_only(
        Edition(
            "haberman/haberman.data",
            "b4b7a32586a5668f9f4d6dc8be9d1bc8cd4822523affb1f6b5bfc350681ef3e2",
            3_103,
            (UCI + "haberman/haberman.data", BROWNLEE + "haberman.csv"),
        )
    ),
    read=TextTable(columns("age year nodes class"), "class", "2").read,
    source=UCI_PAGE + "43/haberman+s+survival",
    citation=uci_citation("Haberman, S.", 1976, "Haberman's Survival", "C5XK51"),
    licence=CC_BY,
    notes="All 3 columns as they come. Nothing is missing.",
    paper=(306, 3),
)
