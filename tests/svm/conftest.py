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


def _one_and_two(bunch):
    return bunch.data, bunch.target + 1


def _words(bunch):
    return bunch.data, np.array(bunch.target_names)[bunch.target]


SHIPPED = {"breast cancer": _breast_cancer, "wine": _wine, "digits": _digits}
FETCHED = {"german_credit": _one_and_two, "heart": _one_and_two, "sonar": _words}


@pytest.fixture(params=[*SHIPPED, *(pytest.param(name, marks=pytest.mark.system) for name in FETCHED)])
def raw_data(request):
    """(X, y) of two classes, real and of different kinds, features as they come."""
    if request.param in SHIPPED:
        return SHIPPED[request.param]()
    return FETCHED[request.param](request.getfixturevalue("real")(request.param))


@pytest.fixture
def real_data(raw_data):
    """The same with standardised features."""
    X, y = raw_data
    return StandardScaler().fit_transform(X), y
