"""The card of a model: what it decides, at which costs, from which columns, and how far its training can be trusted.

A card is plain data. It is stored beside the model as JSON, so that it can be read without loading the model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from .._runtime.versions import installed_versions
from ._fields import check_card

NUMBER, CATEGORY = "number", "category"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "skops")  # whose versions a card names, with our own
PLAIN = (bool, int, float, str, type(None))


@dataclass(frozen=True)
class Column:
    """A column that a model reads.

    Attributes
    ----------
    name : str
        Its name in the table.
    kind : {"number", "category"}
        Whether entries are numbers or words.
    dtype : str
        The type it had in training, as NumPy or pandas call it.
    categories : list of str or None
        The words seen in training; None for numbers, and where they are not known.
    """

    name: str
    kind: str = NUMBER
    dtype: str = "float64"
    categories: list[str] | None = None

    def __post_init__(self) -> None:
        if self.kind not in (NUMBER, CATEGORY):
            raise ValueError(f'kind of column {self.name!r} must be "{NUMBER}" or "{CATEGORY}"; got {self.kind!r}.')


@dataclass(frozen=True)
class ModelCard:
    """What a saved model is, in plain data: numbers, words, lists and dictionaries of them.

    Attributes
    ----------
    task : str
        What the model does.
    target : str or None
        Name of the column that it predicts.
    classes : list
        The two labels as they were in training, sorted as in ``classes_``.
    pos_label : label
        The target class, which `fn_cost` is about.
    fn_cost, fp_cost : float, str or None
        Cost of missing the target and of a false alarm: a number, the name of a column that holds one for each row,
        or None where it is not known.
    currency : str or None
        What the costs are counted in.
    columns : list of Column
        The columns that the model reads, in order.
    n_rows, n_targets : int or None
        Training rows, and how many of them are of the target class.
    trained : str
        Date and time of the training, ISO 8601 in UTC.
    versions : dict
        Versions of the packages that trained the model.
    certificate : dict
        ``primal``, ``dual``, ``gap`` and ``status`` of the solver; empty for a model without one.
    parameters : dict
        Parameters of the model, those found by a search included.
    measures : dict
        Measured values by name, each a dictionary with ``value``, ``low`` and ``high``, the ends of an interval or
        None.
    notes : list of str
        What else a user should know.

    Examples
    --------
    >>> from cssvm import CostSensitiveSVC
    >>> from cssvm.deploy import ModelCard
    >>> model = CostSensitiveSVC(fn_cost=5.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> card = ModelCard.of(model, currency="EUR", n_rows=4)
    >>> print(card.classes, card.pos_label, card.fn_cost, card.currency, card.columns[0].name)
    [0, 1] 1 5.0 EUR x0
    >>> ModelCard.from_json(card.to_json()) == card
    True
    """

    task: str = "binary classification"
    target: str | None = None
    classes: list[Any] = field(default_factory=list)
    pos_label: Any = None
    fn_cost: float | str | None = None
    fp_cost: float | str | None = None
    currency: str | None = None
    columns: list[Column] = field(default_factory=list)
    n_rows: int | None = None
    n_targets: int | None = None
    trained: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    certificate: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    measures: dict[str, dict[str, float | None]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, model: Any, **known: Any) -> ModelCard:
        """The card of a fitted model: what the model itself tells, and what is given by name.

        Parameters
        ----------
        model : classifier
            Fitted, of two classes: an estimator of this library, or a pipeline that ends with one.
        **known
            Fields of the card that the model cannot know, or that replace what it says.

        Returns
        -------
        ModelCard
        """
        from ._anatomy import described

        card = cls(trained=datetime.now(UTC).isoformat(timespec="seconds"), versions=installed_versions(PACKAGES), **described(model))
        return replace(card, **known)

    def to_json(self) -> str:
        """The card as JSON text; numbers come back as they were, to the last bit.

        Returns
        -------
        str
        """
        return json.dumps(_plain(asdict(self), "card"), indent=2, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> ModelCard:
        """The card that `to_json` wrote; fields it does not know, or that hold something else, are refused.

        Parameters
        ----------
        text : str
            JSON text.

        Returns
        -------
        ModelCard
        """
        try:
            content = json.loads(text)
            check_card(content)
            columns = [Column(**column) for column in content.pop("columns", [])]
            return cls(**content, columns=columns)
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(f"text must be the JSON of a ModelCard: {error}.") from error


def _plain(value: Any, where: str) -> Any:
    """`value` in types that JSON has: NumPy's numbers as Python's, a number that is not finite as None."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, PLAIN):
        _check_utf8(value, where)
        return value
    if isinstance(value, dict):
        return {str(key): _plain(each, f"{where}[{key!r}]") for key, each in value.items()}
    if isinstance(value, Sequence) or hasattr(value, "tolist"):
        return [_plain(each, f"{where}[{i}]") for i, each in enumerate(value)]
    raise ValueError(
        f"{where} must be made of numbers, words, lists and dictionaries; got {type(value).__name__}. Convert it first."
    )


def _check_utf8(value: Any, where: str) -> None:
    """Refuse text that no file can hold: bytes of another encoding, as an argument of a process has them."""
    try:
        str(value).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{where} must be UTF-8 text; got {value!r}. Write it in UTF-8.") from error
