import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import StandardScaler


def _breast_cancer():
    return load_breast_cancer(return_X_y=True)


def _wine():
    X, y = load_wine(return_X_y=True)
    return X[y < 2], y[y < 2]


def _digits():
    X, y = load_digits(return_X_y=True)
    chosen = (y == 3) | (y == 8)
    return X[chosen], y[chosen]


def _german_credit(folder):
    table = np.loadtxt(folder / "german_credit" / "german.data-numeric")
    return table[:, :-1], table[:, -1].astype(int)


def _heart(folder):
    table = np.loadtxt(folder / "heart_statlog" / "heart.dat")
    return table[:, :-1], table[:, -1].astype(int)


def _sonar(folder):
    table = np.genfromtxt(folder / "sonar" / "sonar.all-data", delimiter=",", dtype=str)
    return table[:, :-1].astype(float), table[:, -1]


SHIPPED = {"breast cancer": _breast_cancer, "wine": _wine, "digits": _digits}
SHARED = {"german credit": _german_credit, "heart": _heart, "sonar": _sonar}


@pytest.fixture(params=[*SHIPPED, *SHARED])
def raw_data(request):
    """(X, y) of two classes, real and of different kinds, features as they come."""
    if request.param in SHIPPED:
        return SHIPPED[request.param]()
    return SHARED[request.param](request.getfixturevalue("shared_data"))


@pytest.fixture
def real_data(raw_data):
    """The same with standardised features."""
    X, y = raw_data
    return StandardScaler().fit_transform(X), y
