import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def figures_closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture
def axis():
    import matplotlib.pyplot as plt

    return plt.subplots()[1]
