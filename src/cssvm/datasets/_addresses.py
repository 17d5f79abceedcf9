"""Public homes of the files, and how they are cited and licensed."""

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
UCI_KDD = "https://kdd.ics.uci.edu/databases/"
UCI_PAGE = "https://archive.ics.uci.edu/dataset/"
FIGSHARE = "https://ndownloader.figshare.com/files/"
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"

# Copies at a fixed commit, byte for byte those on record.
GITHUB = "https://raw.githubusercontent.com/"
BROWNLEE = GITHUB + "jbrownlee/Datasets/d20fcb6402ae34e653d4513b00f39257bb37ed7f/"

CC_BY = "CC BY 4.0, as the UCI Machine Learning Repository states for its sets"
NOT_STATED = "none stated with the data"


def uci_citation(authors: str, year: int, title: str, doi: str) -> str:
    """A data set of the UCI Machine Learning Repository as it asks to be cited."""
    return f"{authors} ({year}). {title}. UCI Machine Learning Repository. https://doi.org/10.24432/{doi}"
