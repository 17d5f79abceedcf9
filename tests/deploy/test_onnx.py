"""onnxruntime predicts the labels of the model on all samples, and its scores up to rounding."""

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, OneHotEncoder, StandardScaler

from cssvm import (
    BiasedPenaltySVC,
    BoundaryMovementSVC,
    CostSensitiveSVC,
    CostSensitiveSVCCV,
    CostThresholdClassifier,
)
from cssvm._kernels import KERNEL_NAMES, is_pairwise
from cssvm._tables import train_table
from cssvm.deploy import Column, ModelCard, SavedModel, load_model, save_model, to_onnx
from tests.deploy.models import MODELS, NUMBERS, features, fitted, inputs, rows, string_labels, table
from tests.workflows import german

NOT_CONVERTIBLE = {
    "isotonic": "calibration by IsotonicRegression",
    "designed loss, features": "matern52",
    "direct cost": "decision_function of DirectCostClassifier",
}
KERNELS = ("linear", "rbf", "poly", "sigmoid")
LOANS = Path(__file__).parents[2] / "examples" / "loans.csv"


def feeds(X, dtype=np.float64):
    """Rows as onnxruntime takes them: a missing string is the empty one."""
    if sp.issparse(X):
        X = X.toarray()
    if isinstance(X, np.ndarray):
        return {"X": X.astype(dtype)}
    return {
        name: X[[name]].to_numpy(dtype)
        if X[name].dtype.kind in "iuf"
        else np.array([each if isinstance(each, str) else "" for each in X[name]], dtype=object)[:, np.newaxis]
        for name in X.columns
    }


def run(model, X, *, dtype=np.float64, costs=None, **options):
    """The outputs of the graph by name, every check of the graph made."""
    graph = to_onnx(model, float32_input=dtype == np.float32, row_costs=costs is not None, **options)
    onnx.checker.check_model(graph, full_check=True)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = {each.name for each in session.get_inputs()}
    fed = {name: value for name, value in {**feeds(X, dtype), **(costs or {})}.items() if name in wanted}
    assert fed.keys() == wanted
    return dict(zip([each.name for each in session.get_outputs()], session.run(None, fed), strict=True))


def agree(model, X, *, tol=1e-12, dtype=np.float64, costs=None):
    """Labels are equal on all rows, scores and probabilities to `tol`; returns the outputs."""
    found = run(model, X, dtype=dtype, costs=costs)
    expected = model.predict(X, **(costs or {}))
    assert found["output_label"].tolist() == expected.tolist()
    assert len(set(expected.tolist())) == 2, "rows of one decision show little"
    if costs is None:
        scores = model.decision_function(X)
        assert found["output_score"].dtype == np.float64
        np.testing.assert_allclose(found["output_score"], scores, rtol=tol, atol=tol * np.abs(scores).max())
    if "output_probability" in found:
        np.testing.assert_allclose(found["output_probability"], model.predict_proba(X), rtol=0, atol=max(tol, 1e-11))
    return found


@pytest.mark.parametrize("name", [name for name in MODELS if name not in NOT_CONVERTIBLE])
def test_every_kind_of_model(name):
    scale = 1e-10 if name.startswith(("search", "pipeline around")) else 1e-12  # large coefficients, which cancel
    agree(fitted(name), inputs(name), tol=scale)


@pytest.mark.parametrize("name", NOT_CONVERTIBLE)
def test_models_without_a_graph_are_rejected_by_name(name):
    with pytest.raises(ValueError, match=f"{NOT_CONVERTIBLE[name]}.* cannot be converted to ONNX"):
        to_onnx(fitted(name))


@pytest.mark.parametrize("pos_label", [0, 1])
def test_rows_that_cost_nothing_are_not_acted_on_by_the_graph_either(many, pos_label):
    X, y = many
    model = CostThresholdClassifier(LogisticRegression(), calibration=None, pos_label=pos_label).fit(X[:300], y[:300])
    fn_cost = np.where(np.arange(300) % 5 == 0, 0.0, 4.0)
    with pytest.warns(UserWarning, match="both 0 on 60 of 300 samples"):
        found = agree(model, X[:300], costs={"fn_cost": fn_cost, "fp_cost": fn_cost / 2})
    assert set(found["output_label"][::5].tolist()) == {1 - pos_label}


@pytest.fixture(scope="module")
def many():
    """2,000 rows and their labels."""
    return make_classification(2000, 6, n_informative=4, weights=[0.8], flip_y=0.1, random_state=1)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("make", [CostSensitiveSVC, BoundaryMovementSVC])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kernels_on_many_rows_of_either_precision(many, kernel, make, dtype):
    X, y = many
    model = make_pipeline(StandardScaler(), make(fn_cost=5.0, kernel=kernel, coef0=0.5)).fit(X[:300], y[:300])
    if dtype == np.float32:
        agree(model, X.astype(np.float32), dtype=dtype, tol=1e-5)
    else:
        agree(model, X, tol=1e-11)


@pytest.mark.parametrize("kernel", sorted({*KERNEL_NAMES} - {*KERNELS}))
def test_other_kernels_are_rejected_by_name(kernel):
    X, y = rows()
    model = CostSensitiveSVC(kernel=kernel).fit(X @ X.T if is_pairwise(kernel) else X, y)
    with pytest.raises(
        ValueError, match=f'kernel="{kernel}" of CostSensitiveSVC cannot be converted.*"rbf".*load_model'
    ):
        to_onnx(model)


def test_a_callable_kernel_is_rejected():
    with pytest.raises(ValueError, match='kernel="callable"'):
        to_onnx(CostSensitiveSVC(kernel=lambda A, B: A @ B.T).fit(*rows()))


@pytest.mark.parametrize("apart", [0.0, 1e4])
def test_rows_far_from_zero_and_close_to_each_other_keep_their_digits(apart):
    """|x - z|^2 from products would lose them; in two groups that lie far apart, also from the mean."""
    X, y = rows()
    X = 1e-3 * X + np.where(np.arange(len(y)) % 2, 1e4, 1e4 + apart)[:, np.newaxis]
    agree(CostSensitiveSVC(gamma=1e5, fn_cost=3.0).fit(X, y), X, tol=1e-9)


def test_float32_rows_of_a_table():
    model, X = fitted("search, threshold"), table()
    narrow = X.astype(dict.fromkeys(NUMBERS, np.float32))
    found = run(model, X, dtype=np.float32)
    wide = narrow.astype(dict.fromkeys(NUMBERS, np.float64))  # what the cast in front makes of them
    assert found["output_label"].tolist() == model.predict(wide).tolist()
    np.testing.assert_allclose(found["output_score"], model.decision_function(wide), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    "labels", [[0, 1], [-1, 1], [2, 1], [False, True], [0.0, 2.0], ["b", "a"], [np.uint8(3), np.uint8(9)]]
)
@pytest.mark.parametrize("side", [0, 1])
def test_labels_of_every_type_and_positive_classes_on_either_side(labels, side):
    X, y = rows()
    named = np.array(labels)[y]
    pos_label = named.dtype.type(labels[side]).item()
    agree(CostSensitiveSVC(fn_cost=4.0, pos_label=pos_label).fit(X, named), X)
    tuned = CostThresholdClassifier(CostSensitiveSVC(), method="tuned", fn_cost=2.0, cv=3, pos_label=pos_label)
    agree(tuned.fit(X, named), X)
    if side == 0:
        agree(CostThresholdClassifier(CostSensitiveSVC(), fn_cost=2.0, cv=3, pos_label=pos_label).fit(X, named), X)


@pytest.mark.parametrize("pos_label", ["a", "b"])
def test_ties_are_broken_as_in_python(pos_label):
    """Scores of exactly 0 are of the first class."""
    X, y = np.zeros((20, 1)), np.array(["a", "b"] * 10)
    even = LogisticRegression(fit_intercept=False)
    bayes = CostThresholdClassifier(even, calibration=None, pos_label=pos_label).fit(X, y)
    assert bayes.decision_function(X[:1]) == 0
    assert run(bayes, X)["output_label"].tolist() == bayes.predict(X).tolist() == ["a"] * 20
    svc = CostSensitiveSVC(pos_label=pos_label).fit(X, y)
    svc.intercept_ = np.zeros(1)
    assert svc.decision_function(X[:1]) == 0
    assert run(svc, X)["output_label"].tolist() == svc.predict(X).tolist() == ["a"] * 20


@pytest.mark.parametrize("name", ["search, bayes", "sigmoid", "own probabilities", "pipeline around a search"])
def test_costs_of_the_rows_are_inputs_where_asked_for(name):
    model, X = fitted(name), inputs(name)
    generator = np.random.default_rng(1)
    costs = {"fn_cost": generator.lognormal(1.0, 2.0, len(X)), "fp_cost": generator.uniform(0.5, 2.0, len(X))}
    found = agree(model, X, costs=costs)
    classes = model.classes_.tolist()
    own = classes.index(ModelCard.from_model(model).pos_label)
    distance = model.predict_proba(X)[:, own] - costs["fp_cost"] / (costs["fn_cost"] + costs["fp_cost"])
    np.testing.assert_allclose(found["output_score"], distance if own == 1 else -distance, rtol=0, atol=1e-11)
    assert found["output_label"].tolist() == [classes[int(score > 0)] for score in found["output_score"]]


def test_one_cost_may_stand_for_all_rows():
    model, X = fitted("sigmoid"), inputs("sigmoid")
    found = run(model, X, costs={"fn_cost": np.array([9.0]), "fp_cost": np.array([2.0])})
    assert found["output_label"].tolist() == model.predict(X, fn_cost=9.0, fp_cost=2.0).tolist()


@pytest.mark.parametrize("name", ["search, bayes", "sigmoid"])
@pytest.mark.parametrize(
    "costs",
    [(-5.0, 1.0), (1.0, -5.0), (-1.0, -1.0), (-1.0, 1.0), (np.nan, 1.0), (1.0, np.inf), (-np.inf, 1.0)],
    ids=str,
)
def test_costs_that_predict_rejects_fail_in_the_graph(name, costs):
    model, X = fitted(name), inputs(name)[:3]
    given = dict(zip(("fn_cost", "fp_cost"), (np.array([1.0, cost, 1.0]) for cost in costs), strict=True))
    with pytest.raises(ValueError, match="cost"):
        model.predict(X, **given)
    with pytest.raises(Exception, match=r"Gather|idx="):
        run(model, X, costs=given)


@pytest.mark.parametrize("n_costs", [2, 3])
def test_more_costs_than_rows_fail_in_the_graph(n_costs):
    model, X = fitted("sigmoid"), inputs("sigmoid")[:1]
    costs = {"fn_cost": np.full(n_costs, 2.0), "fp_cost": np.ones(1)}
    with pytest.raises(ValueError, match="fn_cost"):
        model.predict(X, **costs)
    with pytest.raises(Exception, match=r"Reshape|reshape"):
        run(model, X, costs=costs)


def test_a_model_that_was_given_costs_of_rows_needs_those_of_new_ones():
    X, y = rows()
    amounts = 1.0 + np.arange(len(y)) % 7
    search = CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], cv=3, decision="bayes")
    model = search.fit(X, y, fn_cost=amounts)
    with pytest.raises(ValueError, match="row_costs must be True for a CostSensitiveSVCCV that was given one fn_cost"):
        to_onnx(model)
    agree(model, X, costs={"fn_cost": amounts, "fp_cost": np.ones(len(y))})


def test_costs_of_rows_are_rejected_where_predict_takes_none():
    with pytest.raises(ValueError, match="row_costs must be False for CostSensitiveSVC"):
        to_onnx(fitted("cost-sensitive"), row_costs=True)


def test_missing_values_and_unknown_categories():
    model, X = fitted("pipeline"), table().copy()
    X.loc[:20, NUMBERS] = np.nan
    X.loc[10:40, "job"] = "astronaut"
    X.loc[30:50, "job"] = np.nan
    X.loc[40:60, "code"] = "999"
    X.loc[60:70, "code"] = "1234.0"
    agree(model, X)


@pytest.mark.filterwarnings("ignore:The best point lies at the edge")
@pytest.mark.parametrize("costs", [{"fn_cost": 5.0}, {"fn_cost": "0.6*amount", "fp_cost": "0.1*amount"}])
def test_a_model_that_was_trained_on_a_file_decides_all_its_rows(costs):
    """Incomes and strings with missing values, and costs of the classes or of each loan."""
    loans = pd.read_csv(LOANS)
    X = loans.drop(columns="outcome").fillna({"housing": "", "purpose": ""})
    trained = train_table(
        LOANS, target="outcome", pos_label="default", **costs, Cs=[0.5, 5.0], gammas=2, cv=3, evaluation=False
    )
    assert X["income"].isna().any()
    assert (X["purpose"] == "").any()
    shares = {name: float(cost.split("*")[0]) for name, cost in costs.items() if isinstance(cost, str)}
    of_rows = {name: share * loans["amount"].to_numpy() for name, share in shares.items()}
    agree(trained.model, X, tol=1e-8 if of_rows else 1e-10, costs=of_rows or None)  # coefficients as large as the costs
    new = X.assign(income=np.nan, housing="boat", purpose="")
    found = run(SavedModel(trained.model, trained.card), new, costs=of_rows or None)
    assert found["output_label"].tolist() == trained.model.predict(new, **of_rows).tolist()


def test_features_of_libsvm_text():
    X, y = rows()
    sparse = sp.csr_array(np.where(X > 0, X, 0.0))
    search = CostSensitiveSVCCV(Cs=[1.0], gammas=[0.5], cv=3, fn_cost=4.0, transformer=MaxAbsScaler())
    agree(search.fit(sparse, y), sparse)


ENCODERS = {
    "first dropped": OneHotEncoder(drop="first", handle_unknown="ignore"),
    "dropped if two": OneHotEncoder(drop="if_binary", handle_unknown="ignore"),
    "rare ones together": OneHotEncoder(min_frequency=30, handle_unknown="infrequent_if_exist"),
    "rare ones together, first dropped": OneHotEncoder(
        max_categories=3, drop="first", handle_unknown="infrequent_if_exist"
    ),
    "rare ones together, unknown ignored": OneHotEncoder(max_categories=3, handle_unknown="ignore"),
    "unknown rejected": OneHotEncoder(),
    "dense": OneHotEncoder(sparse_output=False, handle_unknown="ignore", dtype=np.float32),
}


def coded():
    """A table of strings and of codes that are numbers, both with missing values."""
    generator = np.random.default_rng(5)
    strings = generator.choice(
        np.array(["red", "green", "blue", "none", np.nan], dtype=object), 120, p=[0.5, 0.2, 0.15, 0.1, 0.05]
    )
    codes = generator.choice([1.0, 2.5, -3.0, np.nan], 120, p=[0.4, 0.3, 0.2, 0.1])
    return pd.DataFrame({"word": pd.Series(strings, dtype=object), "code": codes, "x": rows()[0][:, 0]})


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize("name", ENCODERS)
def test_encoders_of_strings_and_of_numbers(name):
    frame = coded()
    prepared = make_column_transformer((ENCODERS[name], ["word", "code"]), remainder=StandardScaler())
    model = make_pipeline(prepared, CostSensitiveSVC(fn_cost=3.0)).fit(frame, rows()[1])
    agree(model, frame)
    if name != "unknown rejected":
        new = frame.assign(word=["violet", "red"] * 60, code=[7.0, 2.5, np.nan] * 40)
        agree(model, new)


def test_an_unknown_category_fails_where_python_rejects_it():
    frame = coded()
    prepared = make_column_transformer((OneHotEncoder(), ["word"]), remainder="drop")
    model = make_pipeline(prepared, CostSensitiveSVC()).fit(frame, rows()[1])
    new = frame.assign(word="violet")
    with pytest.raises(ValueError, match="unknown categories"):
        model.predict(new)
    with pytest.raises(Exception, match="out of data bounds"):
        run(model, new)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_python_rejects_fail(value):
    model, X = fitted("cost-sensitive"), rows()[0].copy()
    X[7, 2] = value
    with pytest.raises(Exception, match="out of data bounds"):
        run(model, X)


def test_indicators_of_missing_values():
    frame = table()
    prepared = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()), NUMBERS),
        (MissingIndicator(features="all"), NUMBERS[:2]),
        (MissingIndicator(missing_values=np.nan), ["job"]),
        (OneHotEncoder(handle_unknown="ignore"), ["job"]),
    )
    agree(make_pipeline(prepared, CostSensitiveSVC(fn_cost=3.0, pos_label="bad")).fit(frame, string_labels()), frame)


IMPUTERS = {
    "mean": SimpleImputer(),
    "constant": SimpleImputer(strategy="constant", fill_value=-7.0),
    "with indicators": SimpleImputer(add_indicator=True),
    "a number that means missing": SimpleImputer(missing_values=-1.0),
}


@pytest.mark.parametrize("name", IMPUTERS)
@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
def test_imputers_of_numbers(name):
    X, y = rows()
    missing = -1.0 if name.startswith("a number") else np.nan
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, missing, X)
    X[:, 1] = missing  # no value at all
    model = make_pipeline(IMPUTERS[name], MaxAbsScaler(), BiasedPenaltySVC(fn_cost=3.0)).fit(X, y)
    agree(model, X)


@pytest.mark.parametrize(
    "imputer", [SimpleImputer(strategy="most_frequent"), SimpleImputer(strategy="constant", fill_value="none")]
)
def test_imputers_of_strings(imputer):
    frame = coded()
    strings = make_pipeline(imputer, OneHotEncoder(handle_unknown="ignore"))
    prepared = ColumnTransformer(
        [("strings", strings, ["word"]), ("x", "passthrough", ["x"])], transformer_weights={"strings": 0.123456789}
    )
    agree(make_pipeline(prepared, CostSensitiveSVC(fn_cost=3.0)).fit(frame, rows()[1]), frame)


def test_strings_in_an_array_without_names():
    frame = coded()[["word", "x"]].to_numpy(dtype=object)
    prepared = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), [0]), ("passthrough", [1]))
    model = make_pipeline(prepared, CostSensitiveSVC(fn_cost=3.0)).fit(frame, rows()[1])
    named = pd.DataFrame({"x0": frame[:, 0], "x1": frame[:, 1].astype(float)})
    found = run(model, named)
    assert found["output_label"].tolist() == model.predict(frame).tolist()
    np.testing.assert_allclose(found["output_score"], model.decision_function(frame), rtol=1e-12, atol=1e-12)


def test_steps_and_estimators_that_are_left_to_skl2onnx():
    """Some of these compute in float32."""
    X, y = rows()
    agree(make_pipeline(PCA(3), CostSensitiveSVC(fn_cost=3.0)).fit(X, y), X, tol=1e-5)
    bayes = CostThresholdClassifier(GaussianNB(), fn_cost=3.0, calibration=None).fit(X, y)
    found = run(bayes, X)
    assert found["output_label"].tolist() == bayes.predict(X).tolist()
    np.testing.assert_allclose(found["output_score"], bayes.decision_function(X), atol=1e-5)


def test_a_step_that_nobody_can_convert_is_rejected_by_name():
    X, y = rows()
    model = make_pipeline(FunctionTransformer(np.cbrt), CostSensitiveSVC()).fit(X, y)
    with pytest.raises(ValueError, match="FunctionTransformer cannot be converted to ONNX"):
        to_onnx(model)
    nearest = CostThresholdClassifier(
        CalibratedClassifierCV(KNeighborsClassifier(), method="isotonic"), calibration=None
    )
    with pytest.raises(ValueError, match="IsotonicRegression cannot be converted"):
        to_onnx(nearest.fit(X, y))


def test_searches_of_scikit_learn_and_wrappers_of_wrappers():
    X, y = rows()
    agree(GridSearchCV(CostSensitiveSVC(fn_cost=3.0), {"C": [0.1, 1.0]}, cv=3).fit(X, y), X)
    search = CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], cv=3, fn_cost=3.0, decision="bayes")
    agree(CostThresholdClassifier(search, fn_cost=2.0, method="tuned", cv=3).fit(X, y), X)
    agree(CostThresholdClassifier(search, fn_cost=2.0, cv=3).fit(X, y), X)
    agree(CostThresholdClassifier(LogisticRegression(), fn_cost=2.0, cv=3).fit(X, y), X)


def test_a_single_row_and_no_support_vectors():
    X, y = rows()
    model = fitted("cost-sensitive")
    assert run(model, X[:1])["output_label"].tolist() == model.predict(X[:1]).tolist()
    bare = CostSensitiveSVC().fit(X, y)
    bare.support_, bare.support_vectors_ = bare.support_[:0], bare.support_vectors_[:0]
    bare.dual_coef_ = bare.dual_coef_[:, :0]
    found = run(bare, X)
    assert found["output_score"].tolist() == [bare.intercept_[0]] * len(X)


def test_a_file_a_graph_and_python_agree(tmp_path):
    model, X = fitted("search, bayes"), table()
    save_model(model, tmp_path / "model.skops", ModelCard.from_model(model, currency="EUR"))
    saved = load_model(tmp_path / "model.skops")
    found = run(saved, X)
    assert found["output_label"].tolist() == saved.model.predict(X).tolist() == model.predict(X).tolist()
    graph = to_onnx(saved)
    (card,) = [each.value for each in graph.metadata_props if each.key == "card"]
    assert json.loads(card)["currency"] == "EUR"


def test_columns_that_the_model_does_not_read_are_rejected():
    model = fitted("pipeline")
    with pytest.raises(ValueError, match="columns must be the 6 columns that the model reads, in the order of its fit"):
        to_onnx(model, [Column("age")])
    columns = SavedModel(model, ModelCard.from_model(model)).card.columns
    with pytest.raises(ValueError, match="in the order of its fit"):
        to_onnx(model, columns[::-1])


def test_strings_where_the_model_expects_numbers_are_rejected():
    X, y = rows()
    with pytest.raises(ValueError, match="strings must be encoded"):
        to_onnx(CostSensitiveSVC().fit(X, y), [Column(f"x{i}", "category") for i in range(4)])


def test_a_column_that_is_called_like_an_output_is_rejected():
    X, y = rows()
    model = CostSensitiveSVC().fit(pd.DataFrame(X, columns=["a", "b", "c", "output_label"]), y)
    with pytest.raises(ValueError, match="must not be called 'output_label'"):
        to_onnx(model)


def test_dropped_columns_are_not_inputs():
    prepared = features()
    prepared.set_params(strings="drop")
    model = make_pipeline(prepared, CostSensitiveSVC(fn_cost=3.0, pos_label="bad")).fit(table(), string_labels())
    assert [each.name for each in to_onnx(model).graph.input] == NUMBERS


def test_what_is_not_fitted_is_rejected():
    with pytest.raises(ValueError, match="not fitted"):
        to_onnx(CostSensitiveSVC())


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("scaler", [StandardScaler(), MaxAbsScaler()])
def test_a_single_feature_keeps_its_digits(kernel, scaler):
    """A product by one number next to a matrix product is fused with it by onnxruntime, in float32."""
    X, y = rows()
    model = make_pipeline(scaler, CostSensitiveSVC(kernel=kernel, fn_cost=4.0)).fit(X[:, 1:2] * 1.2345678901, y)
    agree(model, X[:, 1:2] * 1.2345678901)


def test_scores_without_a_constant_keep_their_digits():
    X, y = rows()
    estimator = LogisticRegression(fit_intercept=False)
    agree(CostThresholdClassifier(estimator, fn_cost=4.0, cv=3).fit(X, y), X)
    agree(CostThresholdClassifier(estimator, fn_cost=4.0, method="tuned", cv=3).fit(X, y), X)
    X = X.copy()
    X[3, 1] = np.nan
    with pytest.raises(Exception, match="out of data bounds"):
        run(estimator.fit(*rows()), X)


def test_real_data_of_categories_and_numbers(real):
    X, y = german.raw(real, n=1000)
    search = CostSensitiveSVCCV(
        Cs=[1.0], gammas=[0.02], cv=3, fn_cost=5.0, pos_label=2, decision="bayes",
        transformer=german.preparation(X),
    )  # fmt: skip
    agree(search.fit(X.iloc[:400], y.iloc[:400]), X)
