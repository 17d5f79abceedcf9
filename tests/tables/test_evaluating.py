"""`evaluate_table` has the results of scikit-learn and of the metrics of this library."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import brier_score_loss, precision_score, recall_score, roc_auc_score

from cssvm import DirectCostClassifier
from cssvm._tables import TableError, evaluate_table, evaluating, report_table, sources, train_table
from cssvm.deploy import ModelCard, SavedModel
from cssvm.metrics import (
    bootstrap_interval,
    cost_risk,
    min_cost_risk,
    positive_class_scores,
    savings_score,
    tn_auc_loss,
    tp_auc_loss,
)
from cssvm.metrics._bootstrap import joint_intervals
from cssvm.metrics._risk import minimum_risk
from tests.tables.applicants import TRAIN, applicants, write


@pytest.fixture(scope="module")
def saved(frame):
    trained = train_table(frame, fn_cost="0.6*amount", fp_cost="0.1*amount", currency="EUR", **TRAIN)
    return SavedModel(trained.model, trained.card)


@pytest.fixture(scope="module")
def labelled():
    return applicants(120, seed=2)


def test_measures_are_those_of_the_metrics(saved, labelled, tmp_path):
    found = evaluate_table(saved, write(tmp_path, labelled, "csv"), n_resamples=50, random_state=3)
    X, y = labelled.drop(columns="outcome").fillna({"home": ""}), labelled["outcome"].to_numpy()
    amount = labelled["amount"].to_numpy()
    costs = {"fn_cost": 0.6 * amount, "fp_cost": 0.1 * amount}
    decided, scores = saved.model.predict(X, **costs), positive_class_scores(saved.model, X)
    probability = saved.model.predict_proba(X)[:, 0]
    bad, acted = y == "bad", decided == "bad"
    expected = {
        "cost per row": cost_risk(y, decided, pos_label="bad", **costs),
        "act on nobody": cost_risk(y, np.full(120, "good"), pos_label="bad", **costs),
        "act on everybody": cost_risk(y, np.full(120, "bad"), pos_label="bad", **costs),
        "savings": savings_score(y, decided, pos_label="bad", **costs),
        "cost per row at the best cost ratio": min_cost_risk(
            y, probability * costs["fn_cost"] / ((1 - probability) * costs["fp_cost"]), pos_label="bad", **costs
        ).risk,
        "recall": recall_score(bad, acted),
        "false positive rate": acted[~bad].mean(),
        "precision": precision_score(bad, acted),
        "acted on": acted.mean(),
        "AUC": roc_auc_score(bad, scores.values),
        "TP-0.9 area loss": tp_auc_loss(y, scores, t=0.9),
        "TN-0.9 area loss": tn_auc_loss(y, scores, t=0.9),
        "Brier score": brier_score_loss(bad, probability),
    }
    assert list(found.measures) == list(expected)
    for name, value in expected.items():
        assert found.measures[name].value == pytest.approx(value, rel=1e-12), name
        assert found.measures[name].low <= value <= found.measures[name].high
    interval = bootstrap_interval(savings_score, y, decided, pos_label="bad", n_resamples=50, random_state=3, **costs)
    assert found.measures["savings"][1:] == pytest.approx(interval[1:3], rel=1e-12)
    reported = report_table(saved, labelled, n_resamples=50, random_state=3).evaluation
    for name, policy in (("cost per row", "model"), ("act on nobody",) * 2, ("act on everybody",) * 2):
        assert found.measures[name] == pytest.approx(reported[policy].cost, rel=1e-12)
    assert (found.n_rows, found.n_positives, found.n_acted) == (120, bad.sum(), acted.sum())
    assert found.evaluation.model.total == pytest.approx(
        np.where(bad, costs["fn_cost"], costs["fp_cost"])[bad != acted].sum()
    )
    assert found.evaluation.currency == "EUR"


def test_intervals_are_those_of_each_metric_resampled_by_itself(saved, labelled):
    weights = np.arange(120) % 4 / 2.0  # some rows do not count
    found = evaluate_table(
        saved, labelled.assign(w=weights), weight="w", n_resamples=60, random_state=3, confidence=0.8
    ).measures
    X, y, amount = labelled.drop(columns="outcome").fillna({"home": ""}), labelled["outcome"], labelled["amount"]
    costs = {"fn_cost": 0.6 * amount.to_numpy(), "fp_cost": 0.1 * amount.to_numpy()}
    decided, scores, p = (
        saved.model.predict(X, **costs),
        positive_class_scores(saved.model, X),
        saved.model.predict_proba(X),
    )
    ratio = p[:, 0] * costs["fn_cost"] / (p[:, 1] * costs["fp_cost"])

    def share(of, among):
        return lambda y, decided, sample_weight: np.average(
            of(y, decided)[among(y, decided)], weights=sample_weight[among(y, decided)]
        )

    def acted(y, decided):
        return decided == "bad"

    def bad(y, decided):
        return y == "bad"

    slow = {
        "savings": (savings_score, decided, {"pos_label": "bad", **costs}),
        "cost per row at the best cost ratio": (min_cost_risk, ratio, {"pos_label": "bad", **costs}),
        "recall": (share(acted, bad), decided, {}),
        "false positive rate": (share(acted, lambda *rows: ~bad(*rows)), decided, {}),
        "precision": (share(bad, acted), decided, {}),
        "acted on": (share(acted, lambda y, decided: y != ""), decided, {}),
        "AUC": (
            lambda y, s, sample_weight: roc_auc_score(y == "bad", s, sample_weight=sample_weight),
            scores.values,
            {},
        ),
        "TP-0.9 area loss": (tp_auc_loss, scores, {"t": 0.9}),
        "TN-0.9 area loss": (tn_auc_loss, scores, {"t": 0.9}),
        "Brier score": (
            lambda y, p, sample_weight: np.average((p - (y == "bad")) ** 2, weights=sample_weight),
            p[:, 0],
            {},
        ),
    }
    for name, (metric, values, options) in slow.items():
        expected = bootstrap_interval(
            metric,
            y.to_numpy(),
            values,
            n_resamples=60,
            random_state=3,
            confidence=0.8,
            sample_weight=weights,
            **options,
        )
        assert found[name] == pytest.approx(expected[:3], rel=1e-9), name


def test_rows_are_resampled_in_batches_not_one_call_for_each_measure(saved, labelled, monkeypatch):
    calls = []
    monkeypatch.setattr(
        evaluating,
        "joint_intervals",
        lambda measures, *args, **options: joint_intervals(
            lambda counts: calls.append(len(counts)) or measures(counts), *args, **options
        ),
    )
    evaluate_table(saved, labelled, n_resamples=200)
    assert sorted(calls) == [1, 200]  # the rows themselves, and all resamples at once


@pytest.mark.parametrize(("fn_cost", "fp_cost"), [(5.0, 1.0), (300.0, "0.1*amount"), ("0.6*amount", 100.0)])
@pytest.mark.parametrize("decision", ["bayes", "zero"])
def test_the_best_threshold_costs_as_in_the_report_and_not_more_than_the_decisions(
    decision, fn_cost, fp_cost, frame, labelled
):
    trained = train_table(frame, fn_cost=fn_cost, fp_cost=fp_cost, decision=decision, **TRAIN)
    model = SavedModel(trained.model, trained.card)
    found = evaluate_table(model, labelled, n_resamples=1).measures
    reported = report_table(model, labelled, n_resamples=1).evaluation
    by_ratio = decision == "bayes" and isinstance(fn_cost, str) | isinstance(fp_cost, str)
    best = found[f"cost per row at the best {'cost ratio' if by_ratio else 'threshold'}"].value
    assert best == pytest.approx(minimum_risk(reported.held_out.scored).risk, rel=1e-12)
    assert best <= found["cost per row"].value + 1e-12


def test_whole_weights_are_repeated_rows(saved, labelled):
    times = np.random.default_rng(0).integers(0, 3, len(labelled))
    weighted = evaluate_table(saved, labelled.assign(times=times.astype(float)), weight="times", n_resamples=1)
    repeated = evaluate_table(saved, labelled.loc[labelled.index.repeat(times)], n_resamples=1)
    for name, value in repeated.measures.items():
        assert weighted.measures[name].value == pytest.approx(value.value, rel=1e-9), name
    assert weighted.evaluation.model.total == pytest.approx(repeated.evaluation.model.total)


def test_rows_without_labels_are_left_out_and_chunks_change_nothing(saved, labelled, monkeypatch):
    partly = labelled.assign(outcome=labelled["outcome"].where(np.arange(120) % 3 > 0))
    whole = evaluate_table(saved, partly, n_resamples=1)
    assert (whole.n_rows, whole.n_unlabelled) == (80, 40)
    expected = evaluate_table(saved, partly.dropna(subset="outcome"), n_resamples=1)
    monkeypatch.setattr(sources, "CHUNK_ROWS", 7)
    chunked = evaluate_table(saved, partly, n_resamples=1)
    for name, value in expected.measures.items():
        assert whole.measures[name].value == pytest.approx(value.value, rel=1e-12)
        assert chunked.measures[name].value == pytest.approx(value.value, rel=1e-12)


def test_costs_can_be_given_in_place_of_the_cards(saved, labelled):
    found = evaluate_table(saved, labelled, fn_cost=5, fp_cost=1, n_resamples=1)
    y = labelled["outcome"].to_numpy()
    assert found.measures["act on nobody"].value == pytest.approx(5 * np.mean(y == "bad"))


def test_a_model_without_probabilities_has_no_brier_score(frame, labelled):
    trained = train_table(frame, fn_cost=5, decision="zero", **TRAIN)
    found = evaluate_table(SavedModel(trained.model, trained.card), labelled, n_resamples=1, fn_cost=2)
    assert "Brier score" not in found.measures
    X, y = labelled.drop(columns="outcome").fillna({"home": ""}), labelled["outcome"]
    risk = cost_risk(y, trained.model.predict(X), fn_cost=2, pos_label="bad")
    assert found.measures["cost per row"].value == pytest.approx(risk)


def test_labels_unknown_to_the_model_are_rejected(saved, labelled):
    strange = labelled.assign(outcome=labelled["outcome"].where(np.arange(120) != 17, "ugly"))
    with pytest.raises(TableError, match="holds 'ugly' in row 18; the labels of the model are 'bad', 'good'"):
        evaluate_table(saved, strange)
    with pytest.raises(TableError, match="has no column 'outcome'"):
        evaluate_table(saved, labelled.drop(columns="outcome"))
    with pytest.raises(TableError, match="holds no labels"):
        evaluate_table(saved, labelled.assign(outcome=""))
    with pytest.raises(ValueError, match="both classes"):
        evaluate_table(saved, labelled[labelled["outcome"] == "bad"])


@pytest.mark.parametrize("unknown", [0.0, np.nan], ids=["zero", "missing"])
def test_amounts_known_for_past_positives_do_not_reach_scores_by_estimated_amounts(unknown):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    y = (rng.random(300) < 1 / (1 + np.exp(1 - frame["a"]))).astype(int).to_numpy()
    amount = np.exp(1 + 0.5 * frame["b"].to_numpy())
    model = DirectCostClassifier(LogisticRegression(), LinearRegression(), cv=2).fit(frame, y, fn_cost=amount)
    card = ModelCard.from_model(model, target="y", fn_cost="gift", fp_cost=1.0)
    table = frame.assign(y=y, gift=np.where(y == 1, amount, unknown))
    found = evaluate_table(SavedModel(model, card), table, n_resamples=1).measures
    p = model.predict_proba(frame)[:, 1]
    ratio = p * model.predict_amount(frame) / (1 - p)
    expected = min_cost_risk(y, ratio, fn_cost=amount, fp_cost=1.0).risk
    assert found["cost per row at the best cost ratio"].value == pytest.approx(expected, rel=1e-12)


def test_rows_of_weight_zero_are_as_if_removed(saved, labelled):
    weights = np.arange(120) % 3 / 2.0
    found = evaluate_table(saved, labelled.assign(w=weights), weight="w", n_resamples=20, random_state=0)
    kept = labelled.assign(w=weights)[weights > 0]
    assert found == evaluate_table(saved, kept, weight="w", n_resamples=20, random_state=0)
