"""`Report`: what a model's decisions are worth, as one HTML file for those who pay for them.

The numbers come from an `Evaluation`; this package only words and draws them (`money`, `thresholds`, `facts`, and
`interactive` for what moves). Every string of the user passes through Jinja's escaping, or into a block of JSON from
which no markup can start (`page`); a content security policy allows the one script and the one style sheet of the
report by their hashes and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from .._evaluation import Evaluation, HeldOutDecisions, evaluate, evaluate_predictions
from .._runtime.files import atomic_write
from ..metrics._action import DECISION
from .facts import data_facts, model_facts, versions
from .interactive import interactive_data
from .money import amount, money_section
from .numbers import count
from .page import render
from .thresholds import threshold_section


class Report:
    """A report on a model's decisions in money: one HTML file that works offline and on a phone.

    First what the decisions cost, or earn, beside the plain policies and other models; then sliders for the costs and
    the share of the target, which move the best threshold, ROC, cost and gains curves and the confusion table; then
    thresholds, certificate, data and parameters. The numbers are those of `evaluate`.

    Parameters
    ----------
    model : classifier
        Not fitted, or fitted: it is cloned for each fold, and used as it is with ``cv="prefit"``.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Rows, in any form the model takes.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    fn_cost, fp_cost : float or array-like of shape (n_samples,), default=None
        What a miss and a false alarm cost, for all rows or for each; None takes the model's own, and 1 if it has none.
    tp_cost, tn_cost : float or array-like of shape (n_samples,), default=0.0
        What acting on a row of the target costs, and leaving one of the other class alone, if they do; negative where
        they earn.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    groups : array-like of shape (n_samples,), default=None
        Rows that belong together and are held out together.
    pos_label : label, default=None
        The target; None takes the model's own, then the larger label.
    cv : int, splitter, iterable of splits or "prefit", default=5
        How rows are held out; ``"prefit"``: the model is fitted, and has not seen these rows.
    compare : dict of names and models, or list of models, default=()
        Further models to compare with.
    currency : str, default=""
        Named beside every amount.
    title : str, default=""
        Heading of the report; the model's class if it is empty.
    n_resamples : int, default=1000
        Resamples of the rows for the intervals.
    confidence : float, default=0.95
        Of the intervals.
    random_state : int, RandomState instance or None, default=0
        Seed of the resampling.

    Attributes
    ----------
    evaluation : Evaluation
        The numbers; it prints as a table.
    title : str
        The heading.
    created : datetime
        When the report was made.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from cssvm import CostSensitiveSVC, Report
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), CostSensitiveSVC(pos_label=0))
    >>> report = Report(model, X, y, fn_cost=500.0, fp_cost=40.0, currency="EUR", title="Tumours")
    >>> len(report.html()) < 150_000
    True
    """

    evaluation: Evaluation
    title: str
    created: datetime

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any,
        *,
        fn_cost: Any = None,
        fp_cost: Any = None,
        tp_cost: Any = 0.0,
        tn_cost: Any = 0.0,
        sample_weight: Any = None,
        groups: Any = None,
        pos_label: Any = None,
        cv: Any = 5,
        compare: Mapping[str, Any] | Sequence[Any] = (),
        currency: str = "",
        title: str = "",
        n_resamples: int = 1000,
        confidence: float = 0.95,
        random_state: Any = 0,
    ) -> None:
        found = evaluate(
            model,
            X,
            y,
            fn_cost=fn_cost,
            fp_cost=fp_cost,
            tp_cost=tp_cost,
            tn_cost=tn_cost,
            sample_weight=sample_weight,
            groups=groups,
            pos_label=pos_label,
            cv=cv,
            compare=compare,
            n_resamples=n_resamples,
            confidence=confidence,
            random_state=random_state,
            currency=currency,
        )
        self._show(found, title)

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation, *, title: str = "") -> Report:
        """A report on what `evaluate` has found, without computing it again.

        Parameters
        ----------
        evaluation : Evaluation
            What `evaluate` returned.
        title : str, default=""
            Heading of the report; the model's class if it is empty.

        Returns
        -------
        Report
        """
        report = cls.__new__(cls)
        report._show(evaluation, title)
        return report

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        y_score: Any = None,
        *,
        fn_cost: Any = 1.0,
        fp_cost: Any = 1.0,
        tp_cost: Any = 0.0,
        tn_cost: Any = 0.0,
        sample_weight: Any = None,
        groups: Any = None,
        pos_label: Any = None,
        compare: Mapping[str, Any] | None = None,
        currency: str = "",
        title: str = "",
        n_resamples: int = 1000,
        confidence: float = 0.95,
        random_state: Any = 0,
    ) -> Report:
        """A report on decisions that were made elsewhere, by a model or by people.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes.
        y_pred : array-like of shape (n_samples,)
            Decisions, with the labels of `y_true`.
        y_score : array-like of shape (n_samples,), default=None
            Scores, higher for the target class, or what `positive_class_scores` returns. None: the sliders choose between
            these decisions, acting on nobody and on everybody.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=1.0
            What a miss and a false alarm cost, for all rows or for each.
        tp_cost, tn_cost : float or array-like of shape (n_samples,), default=0.0
            What acting on a row of the target costs, and leaving one of the other class alone; negative where they
            earn.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as those of a customer: they are drawn together for the intervals.
        pos_label : label, default=None
            The target; None means the larger of the two labels.
        compare : dict of names and decisions, default=None
            Further decisions on the same rows.
        currency : str, default=""
            Named beside every amount.
        title : str, default=""
            Heading of the report.
        n_resamples : int, default=1000
            Resamples of the rows for the intervals.
        confidence : float, default=0.95
            Of the intervals.
        random_state : int, RandomState instance or None, default=0
            Seed of the resampling.

        Returns
        -------
        Report
        """
        found = evaluate_predictions(
            y_true,
            y_pred,
            y_score=y_score,
            outcomes={"tp_cost": tp_cost, "fp_cost": fp_cost, "tn_cost": tn_cost, "fn_cost": fn_cost},
            pos_label=pos_label,
            sample_weight=sample_weight,
            groups=groups,
            compare=compare,
            resampling=(n_resamples, confidence, random_state),
            currency=currency,
        )
        return cls.from_evaluation(found, title=title)

    def _show(self, evaluation: Evaluation, title: str) -> None:
        if not isinstance(evaluation, Evaluation) or evaluation.held_out is None:
            raise ValueError(
                f"evaluation must be what evaluate returned, with its decisions; got {type(evaluation).__name__}. "
                "Pass Report.from_evaluation(evaluate(model, X, y, ...))."
            )
        self.evaluation = evaluation
        self.title = str(title)
        self.created = datetime.now(UTC)

    def html(self) -> str:
        """The report as text of one HTML page.

        Returns
        -------
        str
        """
        evaluation, held_out = self.evaluation, self.evaluation.held_out
        assert held_out is not None
        model = model_facts(held_out)
        name = model["name"] or "decisions as given"
        context = {
            "title": self.title or f"What the decisions of {name} cost",
            "created": f"{self.created:%d %B %Y, %H:%M} UTC",
            "currency": evaluation.currency,
            "money": money_section(evaluation, name),
            "thresholds": threshold_section(held_out, evaluation.confidence),
            "model": model,
            "data": data_facts(held_out, evaluation.n_rows),
            "has_scores": held_out.scores.kind != DECISION,
            "right_decisions": _right_decisions(held_out, evaluation.currency),
            "n_folds": len(held_out.models) if any(held_out.n_trained) else 0,
            "versions": versions(),
        }
        return render(context, interactive_data(held_out, evaluation.currency))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report to a file, which is replaced as a whole or not at all.

        Parameters
        ----------
        path : path
            Where to write it, for example ``"report.html"``.

        Returns
        -------
        Path
            Where it was written.
        """
        target = Path(path)
        # A lone surrogate in a name cannot be written; a question mark takes its place.
        text = self.html().encode("utf-8", errors="replace")
        with atomic_write(target) as file:
            file.write(text)
        return target

    def __repr__(self) -> str:
        return f"Report(title={self.title!r}, {self.evaluation.n_rows:,} rows); save(path) writes it as HTML"


def _right_decisions(held_out: HeldOutDecisions, currency: str) -> dict[str, str] | None:
    """What the right decision for each class costs, per case and in total, and rows on which the wrong one costs less.

    None where right decisions cost nothing.
    """
    sample, money = held_out.sample, held_out.money
    right = np.where(sample.positive, money.act, money.skip)
    wrong = np.where(sample.positive, money.skip, money.act)
    if not right.any():
        return None
    total = float(sample.weights @ right)
    return {
        "cost": amount(total / float(sample.weights.sum()), currency),
        "total": amount(total, currency),
        "fixed": count(int(np.count_nonzero(wrong < right))),
    }
