"""Models in files: what skops makes of them without pickle, a card, and a seal.

A file is a zip archive of

    card.json           the card
    schema.json, *.npy  the model, as skops writes it
    the archive comment the seal (`seal.py`)

Nothing in a file is code, and nothing is made from it before its bytes, its format, its sizes and its types have been
checked (`seal.py`, `vetting.py`).
"""

from __future__ import annotations

import io
import os
import pickle
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._card import ModelCard
from ._seal import UNSEALED, ModelFileError, check_seal, sealed, write_whole
from ._trust import TRUSTED_TYPES
from ._vetting import CARD, allowance, opened, read_card, untrusted_nodes


@dataclass(frozen=True)
class SavedModel:
    """What a model file holds.

    Attributes
    ----------
    model : classifier
        The fitted model.
    card : ModelCard
        What it is.
    """

    model: Any
    card: ModelCard


def save_model(model: Any, path: Any, card: ModelCard | None = None, *, trusted: Iterable[str] = ()) -> None:
    """Write a fitted model and its card to a file, from which another process can decide.

    The file is written beside its target and then put in its place: a failure leaves what was there.

    Parameters
    ----------
    model : classifier
        Fitted, of two classes: an estimator of this library, or a pipeline that ends with one. A callable kernel is
        refused, since a file holds no code.
    path : path-like
        The file, by custom ending in ``.skops``; one that is there is replaced.
    card : ModelCard, default=None
        What the model is; None takes what it tells itself, `ModelCard.of`.
    trusted : iterable of str, default=()
        Types beyond `TRUSTED_TYPES` that the model may hold; `load_model` must be given the same.

    Raises
    ------
    ModelFileError
        For a model that could not be read back.

    Examples
    --------
    >>> import tempfile
    >>> from cssvm import CostSensitiveSVC
    >>> from cssvm.deploy import load_model, save_model
    >>> model = CostSensitiveSVC(C=10.0, fn_cost=5.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/model.skops")
    ...     saved = load_model(f"{folder}/model.skops")
    >>> print(saved.model.predict([[0.5], [2.5]]), saved.card.fn_cost)
    [0 1] 5.0
    """
    path = Path(path)
    trusted = tuple(trusted)
    card = ModelCard.of(model) if card is None else card
    whose = f"this {type(model).__name__}"
    content = _content(model, card, trusted)
    _card_of(content, whose)  # what cannot be read is not written
    _model_of(content, whose, trusted)
    write_whole(content, path)


def load_model(path: Any, *, trusted: Iterable[str] = ()) -> SavedModel:
    """Read a model and its card from a file that `save_model` wrote.

    The bytes are held against their digest, the format number against this version, all types against the trust list,
    and shapes and numbers of the model against each other, before the model is returned. That protects from damage
    and from files that would run code; it cannot tell an honest model from a forged one. Estimators of scikit-learn
    have ``n_jobs=None`` in the model that is returned, whatever the file says.

    Parameters
    ----------
    path : path-like
        The file.
    trusted : iterable of str, default=()
        Types beyond `TRUSTED_TYPES` that the file may hold, as ``"package.module.Class"``. Name only types that you
        know: loading makes objects of them.

    Returns
    -------
    SavedModel
        With ``model`` and ``card``.

    Raises
    ------
    ModelFileError
        For a file that must not be read, with the reason.
    """
    path = Path(path)
    content = _checked_bytes(path)
    card, model = _card_of(content, str(path)), _model_of(content, str(path), tuple(trusted))
    classes = model.classes_.tolist()
    if card.classes and card.classes != classes:
        raise ModelFileError(f"{path} has a card for the classes {card.classes}, and a model for {classes}.")
    return SavedModel(model=model, card=card)


def load_card(path: Any) -> ModelCard:
    """Read only the card of a model file, after the checks of its bytes and of its format.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    ModelCard

    Raises
    ------
    ModelFileError
        For a file that must not be read, with the reason.
    """
    path = Path(path)
    return _card_of(_checked_bytes(path), str(path))


def _content(model: Any, card: ModelCard, trusted: tuple[str, ...]) -> bytes:
    """The bytes of the file: deflated, or stored where deflating would make it suspiciously small."""
    _check_parameters(model, trusted)
    content = _archive(model, card, zipfile.ZIP_DEFLATED)
    try:
        with opened(content) as archive:
            untrusted_nodes(archive, trusted, allowance(content))
    except Exception:  # what is wrong with the stored one too is reported when it is read back
        return _archive(model, card, zipfile.ZIP_STORED)
    return content


def _archive(model: Any, card: ModelCard, compression: int) -> bytes:
    """The sealed archive of a model and its card."""
    io_ = _skops_io()
    buffer = io.BytesIO()
    try:
        io_.dump(model, buffer, compression=compression)
    except Exception as error:  # skops raises what the state of an object makes it raise
        raise ModelFileError(f"{type(model).__name__} cannot be saved: {error}") from error
    with zipfile.ZipFile(buffer, "a", compression=compression) as archive:
        archive.writestr(CARD, card.to_json())
        archive.comment = UNSEALED
    return sealed(buffer.getvalue())


def _checked_bytes(path: Path) -> bytes:
    """The bytes of a whole file of a known format."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    check_seal(content, path)
    return content


def _model_of(content: bytes, whose: str, trusted: tuple[str, ...]) -> Any:
    """The model in a file, if all its types are trusted and all its parts are whole; `whose` names it in errors."""
    from ._checks import check_model, limit_jobs

    io_ = _skops_io()
    _check_types(content, whose, trusted)
    try:
        model = io_.loads(content, trusted=[*TRUSTED_TYPES, *trusted])
    except Exception as error:  # a forged schema can make skops raise anything
        raise _unreadable(whose, error) from error
    try:
        check_model(model)
    except ModelFileError as error:
        raise ModelFileError(f"{whose} holds a broken model: {error}") from error
    limit_jobs(model)
    return model


def _check_types(content: bytes, whose: str, trusted: tuple[str, ...]) -> None:
    """Raise ModelFileError unless all types in a file are trusted, and its sizes are in proportion to its own."""
    try:
        with opened(content) as archive:
            unknown = untrusted_nodes(archive, trusted, allowance(content))
        unknown |= {*_skops_io().get_untrusted_types(data=content)} - {*TRUSTED_TYPES, *trusted}
    except Exception as error:
        raise _unreadable(whose, error) from error
    if unknown:
        raise ModelFileError(
            f"{whose} holds types that are not trusted: {', '.join(sorted(unknown))}. If you know that they are "
            f"harmless, pass trusted={sorted(unknown)}."
        )


def _unreadable(whose: str, error: Exception) -> ModelFileError:
    return ModelFileError(f"{whose} holds no model that can be read: {type(error).__name__}: {error}")


def _card_of(content: bytes, whose: str) -> ModelCard:
    """The card in a file; `whose` names it in errors."""
    try:
        with opened(content) as archive:
            return ModelCard.from_json(read_card(archive, allowance(content)))
    except Exception as error:  # a forged archive can make zipfile raise anything
        raise ModelFileError(f"{whose} has no card that can be read: {error}") from error


def _check_parameters(model: Any, trusted: tuple[str, ...]) -> None:
    """Refuse parameters that a file cannot hold, by their names: code, such as a callable kernel, and paths."""
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    for name, value in parameters.items():
        if isinstance(value, os.PathLike):
            raise ModelFileError(
                f"{name} of {type(model).__name__} is the path {os.fspath(value)!r}, which is no part of a model. Call "
                f"set_params({name}=None) before saving."
            )
        is_code = callable(value) and hasattr(value, "__qualname__") and not isinstance(value, type)
        code = f"{value.__module__}.{value.__qualname__}" if is_code else ""
        if is_code and code not in trusted:
            raise ModelFileError(
                f"{name} of {type(model).__name__} is the function {code}, and a model file holds no code. "
                + (
                    'Use a named kernel, or kernel="precomputed" with the matrix that the function gives.'
                    if name.endswith("kernel")
                    else f"Set {name} to a named value before saving."
                )
            )


def _skops_io() -> Any:
    try:
        import skops.io
    except ImportError as error:
        if error.name == "skops":
            raise ImportError("model files need skops: pip install 'cssvm[deploy]'") from error
        raise ImportError(
            f"skops cannot be imported: {error}. Install versions that fit together: pip install -U 'cssvm[deploy]'"
        ) from error
    return skops.io


def check_savable(part: Any) -> None:
    """Raise ModelFileError or ImportError if a model with this part could not be saved, before it is trained."""
    _check_types(_archive(part, ModelCard(), zipfile.ZIP_STORED), f"a model with this {type(part).__name__}", ())


def save_or_keep(model: Any, path: Any, card: ModelCard) -> None:
    """Save a model whose training was long; if that fails, keep it as a pickle, which the error names.

    If it cannot be pickled either, the first error is raised.
    """
    try:
        save_model(model, path, card)
    except (OSError, ValueError, ImportError, MemoryError) as error:
        with tempfile.NamedTemporaryFile(prefix="cssvm-", suffix=".pickle", delete=False) as file:
            try:
                pickle.dump((model, card), file)
                file.flush()  # a full disk shows here
            except Exception:
                os.unlink(file.name)
                raise error from None
        # The pickle comes first, as a long message loses its end.
        raise ModelFileError(
            f"The trained model was not lost: `model, card = pickle.load(open({file.name!r}, 'rb'))` reads it, and "
            f"save_model(model, path, card) saves it. {path} was not written: {error}"
        ) from error
