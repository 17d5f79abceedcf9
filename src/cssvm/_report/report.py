"""`Report`: an evaluation as one HTML file for stakeholders.

The numbers come from an `Evaluation`. User strings pass through Jinja's escaping, or into a block of JSON in which no
markup can start. A content security policy allows the report's one script and one style sheet by their hashes, and
nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from .._evaluation import Evaluation, evaluate, evaluate_predictions
from .._evaluation.action_scores import DECISION
from .._runtime.files import atomic_write
from .._runtime.versions import installed_versions
from .sections import (
    cost_section,
    data_section,
    model_section,
    right_decision_costs,
    slider_data,
    threshold_section,
)

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


class Report:
    """An evaluation as one HTML file that works offline and on a phone.

    It compares what the decisions cost or earn with baselines and other models, as `evaluate` does, and shows sliders
    for the costs and the share of the positive class, curves, thresholds, certificates, data and parameters.

    Parameters
    ----------
    model : classifier
        Not fitted, or fitted: it is cloned for each fold, and used as it is with ``cv="prefit"``.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Samples, in any form the model accepts.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    title : str, default=""
        Heading of the report. If it is empty, the class of the model is used.
    **options
        Keyword arguments of `evaluate`, such as ``fn_cost``, ``fp_cost``, ``cv``, ``compare`` and ``currency``.

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

    def __init__(self, model: Any, X: Any, y: Any, *, title: str = "", **options: Any) -> None:
        self._set(evaluate(model, X, y, **options), title)

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation, *, title: str = "") -> Report:
        """Make a report from the result of `evaluate`.

        Parameters
        ----------
        evaluation : Evaluation
            What `evaluate` returned.
        title : str, default=""
            Heading of the report, as for the class.

        Returns
        -------
        Report
        """
        report = cls.__new__(cls)
        report._set(evaluation, title)
        return report

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, y_score: Any = None, *, title: str = "", **options: Any
    ) -> Report:
        """Make a report on predictions made elsewhere, by a model or by people.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes.
        y_pred : array-like of shape (n_samples,)
            Predicted labels.
        y_score : array-like of shape (n_samples,), default=None
            Scores, higher for the positive class, or what `positive_class_scores` returns. If None, the sliders choose
            between these predictions, acting on nobody and acting on everybody.
        title : str, default=""
            Heading of the report.
        **options
            ``fn_cost`` and ``fp_cost``, 1 by default, and ``tp_cost``, ``tn_cost``, ``sample_weight``, ``groups``,
            ``pos_label``, ``n_resamples``, ``confidence``, ``random_state`` and ``currency`` as for `evaluate`;
            ``compare``, further predicted labels for the same samples by name.

        Returns
        -------
        Report
        """
        return cls.from_evaluation(evaluate_predictions(y_true, y_pred, y_score, **options), title=title)

    def _set(self, evaluation: Evaluation, title: str) -> None:
        if not isinstance(evaluation, Evaluation) or evaluation.held_out is None:
            raise ValueError(
                f"evaluation must be what evaluate returned, with its predictions; got {type(evaluation).__name__}. "
                "Pass Report.from_evaluation(evaluate(model, X, y, ...))."
            )
        self.evaluation = evaluation
        self.title = str(title)
        self.created = datetime.now(UTC)

    def html(self) -> str:
        """The report as an HTML page.

        Returns
        -------
        str
        """
        try:
            from jinja2 import Environment, StrictUndefined
            from markupsafe import Markup
        except ImportError as error:
            raise ImportError("A report needs jinja2. Run `pip install cssvm[report]`.") from error
        evaluation, held_out = self.evaluation, self.evaluation.held_out
        assert held_out is not None
        model, currency = model_section(held_out), evaluation.currency
        name = model["name"] or "predictions made elsewhere"
        script, style = _package_file("script.js"), _package_file("style.css")
        environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        return environment.from_string(_package_file("template.html")).render(
            title=self.title or f"What the decisions of {name} cost",
            created=f"{self.created:%d %B %Y, %H:%M} UTC",
            currency=currency,
            costs=cost_section(evaluation, name),
            thresholds=threshold_section(held_out, evaluation.confidence),
            model=model,
            data=data_section(held_out, evaluation.n_rows),
            has_scores=held_out.score_kind != DECISION,
            right_decisions=right_decision_costs(held_out, currency),
            n_folds=len(held_out.models) if any(held_out.n_trained) else 0,
            versions={"Python": platform.python_version(), **installed_versions(PACKAGES)},
            json=Markup(_inert_json(slider_data(held_out, currency))),
            script=Markup(script),
            style=Markup(style),
            script_hash=_content_hash(script),
            style_hash=_content_hash(style),
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report to a file, which is replaced as a whole or not at all.

        Parameters
        ----------
        path : path
            File to write, for example ``"report.html"``.

        Returns
        -------
        Path
            The file written.
        """
        target = Path(path)
        # A lone surrogate in a name cannot be written; a question mark takes its place.
        text = self.html().encode("utf-8", errors="replace")
        with atomic_write(target) as file:
            file.write(text)
        return target

    def _repr_html_(self) -> str:
        return self.evaluation._repr_html_()

    def __repr__(self) -> str:
        return f"Report(title={self.title!r}, {self.evaluation.n_rows:,} rows); save(path) writes it as HTML"


def _package_file(name: str) -> str:
    """The text of a file of this package."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def _inert_json(data: Any) -> str:
    """ASCII JSON without ``<``, ``>`` and ``&``, so that no markup starts or ends in it."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _content_hash(text: str) -> str:
    """The hash of an inline script or style sheet for a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
