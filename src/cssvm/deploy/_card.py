"""The card of a model: what it decides, at which costs, from which columns, and how its training ended.

A card is plain data. It is stored next to the model as JSON, so that it can be read without loading the model.
"""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from types import UnionType
from typing import Any, TypedDict, TypeVar, get_args, get_origin, get_type_hints, is_typeddict

from .._runtime.versions import installed_versions

NUMBER, CATEGORY = "number", "category"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "skops")  # whose versions a card names, with our own
PLAIN = (bool, int, float, str, type(None))

Label = bool | int | float | str
FromJson = TypeVar("FromJson")


class Certificate(TypedDict, total=False):
    """How far the training is from its optimum; more keys are allowed."""

    primal: float | None
    dual: float | None
    gap: float | None
    status: str | None


class Measure(TypedDict):
    """A measured value with the ends of its interval; more keys are allowed."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Column:
    """A column that a model reads.

    Attributes
    ----------
    name : str
        Its name in the table.
    kind : {"number", "category"}
        What its entries are.
    dtype : str
        The type it had in training, as NumPy or pandas call it.
    categories : list of str or None
        The categories seen in training, if they are known.
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
    """A description of a saved model in plain data: numbers, strings, lists and dictionaries of them.

    Attributes
    ----------
    task, target : str
        What the model does, and the name of the column that it predicts.
    classes, pos_label : list, label
        The two labels, sorted as in ``classes_``, and the positive class.
    fn_cost, fp_cost, currency : float, str or None
        Costs of a false negative and of a false positive, numbers or names of columns with one for each row, and their
        unit.
    columns : list of Column
        The columns that the model reads, in order.
    n_rows, n_positives : int or None
        Training rows, and how many of them are of the positive class.
    trained, versions : str, dict
        Date and time of the training, ISO 8601 in UTC, and the versions of the packages.
    certificate : dict
        ``primal``, ``dual``, ``gap`` and ``status`` of the solver; empty for a model without one.
    parameters : dict
        Parameters of the model, including those found by a search.
    measures : dict
        Measured values by name, each with ``value``, ``low`` and ``high``, the ends of an interval or None.
    notes : list of str
        What else a user should know.

    Examples
    --------
    >>> from cssvm import CostSensitiveSVC
    >>> from cssvm.deploy import ModelCard
    >>> model = CostSensitiveSVC(fn_cost=5.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> card = ModelCard.from_model(model, currency="EUR", n_rows=4)
    >>> print(card.classes, card.pos_label, card.fn_cost, card.currency, card.columns[0].name)
    [0, 1] 1 5.0 EUR x0
    >>> ModelCard.from_json(card.to_json()) == card
    True
    """

    task: str = "binary classification"
    target: str | None = None
    classes: list[Label] = field(default_factory=list)
    pos_label: Label | None = None
    fn_cost: float | str | None = None
    fp_cost: float | str | None = None
    currency: str | None = None
    columns: list[Column] = field(default_factory=list)
    n_rows: int | None = None
    n_positives: int | None = None
    trained: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    certificate: Certificate = field(default_factory=Certificate)
    parameters: dict[str, Any] = field(default_factory=dict)
    measures: dict[str, Measure] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def from_model(cls, model: Any, **known: Any) -> ModelCard:
        """Make the card of a fitted model.

        Parameters
        ----------
        model : classifier
            As in `save_model`.
        **known
            Fields of the card that the model cannot know, or that replace its own.

        Returns
        -------
        ModelCard
        """
        from ._introspect import describe_model

        trained = datetime.now(UTC).isoformat(timespec="seconds")
        card = cls(trained=trained, versions=installed_versions(PACKAGES), **describe_model(model))
        return replace(card, **known)

    def to_json(self) -> str:
        """Return the card as JSON text. Numbers are kept to the last bit; those that are not finite become null."""
        return json.dumps(_plain(asdict(self), "card"), indent=2, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> ModelCard:
        """Return the card that `to_json` wrote as `text`. Unknown fields and values of other types are rejected."""
        try:
            content = json.loads(text)
            if isinstance(content, dict) and isinstance(content.get("columns"), list):
                columns = enumerate(content["columns"], start=1)
                content["columns"] = [_from_json(Column, each, f"column {number}") for number, each in columns]
            card = _from_json(cls, content, "the card")
            card._check_consistency()
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(f"text must be the JSON of a ModelCard: {error}.") from error
        return card

    def _check_consistency(self) -> None:
        if len(self.classes) not in (0, 2):
            raise ValueError(f"classes of the card must be two labels; got {reprlib.repr(self.classes)}")
        if self.pos_label is not None and self.pos_label not in self.classes:
            raise ValueError(f"pos_label of the card must be one of its classes {self.classes}; got {self.pos_label!r}")
        for name in ("n_rows", "n_positives"):
            if (getattr(self, name) or 0) < 0:
                raise ValueError(f"{name} of the card must not be negative; got {getattr(self, name)!r}")


def _from_json(cls: type[FromJson], content: Any, name: str) -> FromJson:
    """The dataclass with these fields, if they have the types of its type hints; `name` is for errors."""
    if not isinstance(content, dict):
        raise ValueError(f"{name} must be a JSON object; got {reprlib.repr(content)}")
    hints = get_type_hints(cls)
    if unknown := sorted(content.keys() - hints.keys()):
        raise ValueError(f"{name} has the unknown fields {unknown}")
    for key, value in content.items():
        if not _has_type(value, hints[key]):
            expected = hints[key].__name__ if isinstance(hints[key], type) else hints[key]
            raise ValueError(f"{key} of {name} must have the type {expected}; got {reprlib.repr(value)}")
    return cls(**content)


def _has_type(value: Any, hint: Any) -> bool:
    """Whether a value of JSON has the type of a type hint; an integer is a float, and a boolean is neither."""
    if hint is Any:
        return True
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is UnionType:
        return any(_has_type(value, each) for each in arguments)
    if origin is list:
        return isinstance(value, list) and all(_has_type(each, arguments[0]) for each in value)
    if origin is dict:
        return isinstance(value, dict) and all(_has_type(each, arguments[1]) for each in value.values())
    if is_typeddict(hint):
        types = get_type_hints(hint)
        return (
            isinstance(value, dict)
            and hint.__required_keys__ <= value.keys()
            and all(_has_type(value[key], types[key]) for key in types.keys() & value.keys())
        )
    if isinstance(value, bool):
        return hint is bool
    return isinstance(value, int | float if hint is float else hint)


def _plain(value: Any, where: str) -> Any:
    """`value` in types that JSON has: NumPy's numbers as Python's, a number that is not finite as None."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, PLAIN):
        try:
            str(value).encode()
        except UnicodeEncodeError as error:  # bytes of another encoding, as an argument of a process has them
            raise ValueError(f"{where} must be UTF-8 text; got {value!r}. Write it in UTF-8.") from error
        return value
    if isinstance(value, dict):
        return {str(key): _plain(each, f"{where}[{key!r}]") for key, each in value.items()}
    if isinstance(value, Sequence) or hasattr(value, "tolist"):
        return [_plain(each, f"{where}[{i}]") for i, each in enumerate(value)]
    raise ValueError(f"{where} must be made of numbers, strings, lists and dictionaries; got {type(value).__name__}.")
