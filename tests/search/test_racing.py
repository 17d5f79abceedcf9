"""Racing along C: which paths end, and that nothing else changes."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from cssvm import CostSensitiveSVCCV
from cssvm._kernels import make_kernel
from cssvm._search.grid import make_grid
from cssvm._search.racing import PathKey, Race, expected_rise, stages

CS = np.geomspace(0.01, 300.0, 8)
SETTINGS = {"Cs": CS, "gammas": [0.02, 0.1, 0.5, 3.0], "fn_cost": 3.0, "cv": StratifiedKFold(4), "refit": False}


@pytest.fixture(scope="module")
def data():
    return make_classification(300, 6, n_informative=4, flip_y=0.1, weights=[0.7], random_state=1)


def table(search):
    """The scores, (n_points, n_folds)."""
    return np.column_stack([search.cv_results_[f"split{k}_test_score"] for k in range(search.n_splits_)])


def both(X, y, fit_params=None, **settings):
    """The full grid and the race."""
    searches = [CostSensitiveSVCCV(**(SETTINGS | settings), racing=racing) for racing in (False, True)]
    return [search.fit(X, y, **(fit_params or {})) for search in searches]


@pytest.mark.parametrize("n_steps", [1, 2, 3, 10, 17])
def test_stages_are_all_steps_in_their_order(n_steps):
    assert [step for stage in stages(n_steps) for step in stage] == list(range(n_steps))


@pytest.mark.parametrize(
    ("means", "n_left", "rise"),
    [
        ([0.0, 0.0, 0.0], 3, None),  # all rows decided alike
        ([0.0, -1.0, -2.0], 3, None),  # not above its first step yet
        ([0.0, 1.0, 0.5], 3, 0.0),  # has come down
        ([0.0, 1.0, 1.0], 3, None),  # level with its best
        ([0.0, 1.0, 3.0], 3, None),  # rises faster and faster
        ([0.0, 2.0, 3.0], 1, 0.5),
        ([0.0, 2.0, 3.0], 3, 0.5 + 0.25 + 0.125),
        ([0.0], 3, None),
    ],
)
def test_the_rise_of_a_curve_is_that_of_gains_shrinking_as_before(means, n_left, rise):
    assert expected_rise(np.array(means), n_left) == (None if rise is None else pytest.approx(rise))


def race_of(curves, n_steps=4, n_folds=3, spread=0.0):
    """A race among kernels with these curves of mean scores; the folds of each point differ by `spread`."""
    kernels = [make_kernel("rbf", gamma=gamma) for gamma in range(1, len(curves) + 1)]
    grid = make_grid(
        kernels=kernels, Cs=np.geomspace(1, 8, n_steps), slopes=[(1.0, 1.0)], kappas=[1.0], example_costs=False
    )
    values = np.full((len(grid.points), n_folds), np.nan)
    rng = np.random.default_rng(0)
    for number, point in enumerate(grid.points):
        curve = curves[point.kernel]
        if point.machine.step < len(curve):
            noise = rng.normal(size=n_folds)
            values[number] = curve[point.machine.step] + spread * (noise - noise.mean())
    return Race(grid, values)


def goes_on(curves, **settings):
    """Which kernels go on after as many steps as the curves have."""
    paths = [PathKey(kernel, 0) for kernel in range(len(curves))]
    return [key.kernel for key in race_of(curves, **settings).going_on(paths, len(curves[0]))]


def test_a_path_that_has_come_down_ends_unless_it_is_the_best_or_within_chance():
    curves = [[0.0, 1.0, 2.0], [0.0, 1.0, 0.9], [0.0, 0.0, -1.0]]
    assert goes_on(curves, spread=0.1) == [0, 2]
    assert goes_on(curves, spread=10.0) == [0, 1, 2]


def tried(tops, **settings):
    """The groups of a race whose kernels have these best scores, gammas ascending."""
    race = race_of([[0.0, top] for top in tops], n_steps=2, **settings)
    groups = []
    for kernels in race.groups():
        race.going_on([PathKey(kernel, 0) for kernel in kernels], 2)
        groups.append(kernels)
    return groups


@pytest.mark.parametrize("n_kernels", [1, 2, 5, 10])
def test_kernels_are_tried_from_the_middle_outwards(n_kernels):
    order = [kernel for group in tried([1.0] * n_kernels) for kernel in group]
    assert sorted(order) == list(range(n_kernels))
    distances = [abs(kernel - (n_kernels - 1) / 2) for kernel in order]
    assert distances == sorted(distances)


def test_kernels_past_two_that_are_behind_and_falling_are_not_tried():
    assert tried([9, 1, 2, 3, 4, 5, 6, 7, 8, 9]) == [[4, 5], [3, 6], [7], [8], [9]]
    assert tried([9, 1, 2, 3, 4, 5, 4, 3, 2, 9]) == [[4, 5], [3, 6], [7]]
    everything = [[4, 5], [3, 6], [2, 7], [1, 8], [0, 9]]
    assert tried([9, 1, 2, 3, 4, 5, 4, 3, 2, 9], spread=40.0) == everything
    assert tried([9, 1, 2, 3, 4, 5, 4, 3, 2, 9], n_folds=2) == everything


def test_a_line_of_kernels_differs_in_gamma_alone():
    parameters = [(gamma, degree) for gamma in (4.0, 1.0, 2.0) for degree in (2, 3)]
    kernels = [make_kernel("poly", gamma=gamma, degree=degree, coef0=1.0) for gamma, degree in parameters]
    grid = make_grid(kernels=kernels, Cs=np.ones(1), slopes=[(1.0, 1.0)], kappas=[1.0], example_costs=False)
    assert grid.lines == [[2, 4, 0], [3, 5, 1]]
    groups = list(Race(grid, np.full((6, 3), np.nan)).groups())
    assert groups == [[4, 0], [5, 1], [2, 3]]


def test_with_fewer_than_three_folds_nothing_ends():
    assert goes_on([[0.0, 1.0, 2.0], [0.0, 1.0, 0.5]], n_folds=2) == [0, 1]


def test_scores_that_are_not_numbers_end_nothing():
    race = race_of([[0.0, 1.0, 2.0], [0.0, 1.0, np.nan], [np.nan, np.nan, np.nan], [0.0, 1.0, 0.5]])
    paths = [PathKey(kernel, 0) for kernel in range(4)]
    assert [key.kernel for key in race.going_on(paths, 3)] == [0, 1, 2]


def test_a_race_trains_less_and_its_points_score_as_in_the_full_grid(data):
    plain, raced = both(*data)
    trained = ~np.isnan(table(raced))
    assert (trained.all(axis=1) == trained.any(axis=1)).all()  # on all folds or on none
    assert trained.mean() < 0.95
    np.testing.assert_array_equal(table(raced)[trained], table(plain)[trained])
    assert raced.best_score_ == np.nanmax(raced.cv_results_["mean_test_score"])
    worst = raced.cv_results_["rank_test_score"].max()
    assert (raced.cv_results_["rank_test_score"][~trained.all(axis=1)] == worst).all()
    # A path that has ended is not taken up again.
    by_path = trained.all(axis=1).reshape(len(CS), -1)
    assert (np.diff(by_path.astype(int), axis=0) <= 0).all()


def standard_errors_lost(plain, raced):
    """How far the winner of a race is from the best point of the full grid, in that point's standard errors."""
    values = table(plain)
    best, won = values[plain.best_index_], values[raced.best_index_]
    return (best.mean() - won.mean()) / (best.std(ddof=1) / np.sqrt(len(best)))


@pytest.mark.parametrize("seed", range(3))
def test_the_winner_is_within_a_standard_error_of_the_full_grids(seed):
    X, y = make_classification(250, 8, n_informative=4, flip_y=0.1, weights=[0.7], random_state=seed)
    assert standard_errors_lost(*both(X, y, Cs=10, gammas=10, cv=5)) <= 1.0


@pytest.mark.parametrize("name", ["heart", "german_credit"])
def test_the_winner_on_real_data_is_within_a_standard_error(real, name):
    bunch = real(name)
    X = StandardScaler().fit_transform(bunch.data)
    assert standard_errors_lost(*both(X, bunch.target, Cs=10, gammas=6, fn_cost=bunch.fn_cost, cv=5)) <= 1.0


@pytest.mark.parametrize(
    "settings",
    [
        {"kappas": [1.0, 0.5], "fn_costs": [1.0, 3.0]},
        {"transformer": StandardScaler()},
        {"cv": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)},
        {"scoring": "min_risk"},
        {"scoring": "balanced_accuracy"},
    ],
)
def test_a_race_goes_with_every_setting(data, settings):
    plain, raced = both(*data, **settings)
    trained = ~np.isnan(table(raced))
    assert not trained.all()
    np.testing.assert_array_equal(table(raced)[trained], table(plain)[trained])


def test_costs_of_single_rows_go_with_a_race(data):
    X, y = data
    amounts = np.where(np.arange(len(y)) % 10 == 0, 0.0, np.random.default_rng(0).uniform(0.5, 4.0, len(y)))
    plain, raced = both(X, y, {"fn_cost": amounts}, kappas=[1.0, "tied"])
    trained = ~np.isnan(table(raced))
    assert not trained.all()
    np.testing.assert_array_equal(table(raced)[trained], table(plain)[trained])


def test_a_race_does_not_depend_on_threads_or_memory(data):
    reference = table(CostSensitiveSVCCV(**SETTINGS, racing=True, n_jobs=1).fit(*data))
    # 2 MB: room for the distances and the matrix of one task, none to keep matrices from stage to stage.
    for settings in ({"n_jobs": 2}, {"n_jobs": 1, "cache_size": 2}, {"n_jobs": 2, "cache_size": 2}):
        np.testing.assert_array_equal(
            table(CostSensitiveSVCCV(**SETTINGS, racing=True, **settings).fit(*data)), reference
        )


def test_a_race_without_kernel_matrices_trains_the_same_points(data):
    settings = SETTINGS | {"tol": 1e-6, "racing": True}
    roomy, tight = (table(CostSensitiveSVCCV(**settings, cache_size=size).fit(*data)) for size in (100, 0.01))
    np.testing.assert_allclose(tight, roomy, atol=1e-9)


class Accuracy:
    """A scorer that stands for Ctrl-C, or for an error, after some calls."""

    def __init__(self, limit=None, error=KeyboardInterrupt):
        self.calls, self.limit, self.error = 0, limit, error

    def __getstate__(self):
        return {}  # what it counts does not change its values

    def __call__(self, estimator, X, y):
        if self.calls == self.limit:
            raise self.error
        self.calls += 1
        return float(np.mean(estimator.predict(X) == y))


@pytest.mark.parametrize("n_calls", [5, 30, 50, 70])
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
@pytest.mark.filterwarnings("ignore:The search was interrupted")
def test_an_interrupted_race_goes_on_to_the_same_end(data, tmp_path, n_calls, error):
    scorer = Accuracy()
    whole = CostSensitiveSVCCV(**SETTINGS, racing=True, scoring=scorer, n_jobs=1).fit(*data)
    settings = SETTINGS | {"racing": True, "checkpoint": tmp_path / "race.npz", "n_jobs": 1}
    first, second = Accuracy(n_calls, error), Accuracy()
    try:
        interrupted = CostSensitiveSVCCV(**settings, scoring=first).fit(*data)
    except error:
        pass
    else:
        known = ~np.isnan(table(interrupted))
        np.testing.assert_array_equal(table(interrupted)[known], table(whole)[known])
    resumed = CostSensitiveSVCCV(**settings, scoring=second).fit(*data)
    np.testing.assert_array_equal(table(resumed), table(whole))
    # What tasks had finished is not scored again: at most the last one's machines of the first stage are.
    assert second.calls <= scorer.calls - n_calls + len(next(stages(len(CS))))


def test_progress_ends_with_the_machines_that_were_trained(data, capsys):
    raced = CostSensitiveSVCCV(**SETTINGS, racing=True, verbose=1).fit(*data)
    n_trained = int((~np.isnan(table(raced))).sum())
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"search: {n_trained} of {n_trained} machines")
