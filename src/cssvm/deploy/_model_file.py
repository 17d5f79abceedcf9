"""Models in files: what skops makes of them without pickle, a card, and a checksum.

A file is a zip archive of

    card.json           the card
    schema.json, *.npy  the model, as skops writes it

whose comment, its last bytes, is ``cssvm-model format=2 sha256=`` and 64 hexadecimal digits, the SHA-256 of all bytes
before them. It shows damage, not who wrote the file: hence the list of trusted types and the checks of the content.
Nothing is made from a file before its checksum, its format, its sizes and its types have been checked.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import re
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._runtime.files import atomic_write
from ._archive_checks import CARD, allowance, open_archive, read_card, untrusted_nodes
from ._card import ModelCard
from ._trusted_types import trusted_types

MESSAGE_LIMIT = 2000  # a message quotes what a file holds
FORMAT = 2  # raised when files of older versions can no longer be read
COMMENT = re.compile(rb"cssvm-model format=(\d{1,9}) sha256=$")
DIGITS = 64
BLANK_COMMENT = f"cssvm-model format={FORMAT} sha256=".encode() + b"0" * DIGITS


class ModelFileError(ValueError):
    """A model file that cannot be written, or must not be read; long messages are cut."""

    def __init__(self, message: str):
        super().__init__(message if len(message) <= MESSAGE_LIMIT else f"{message[:MESSAGE_LIMIT]}...")


@dataclass(frozen=True)
class SavedModel:
    """The content of a model file: the fitted `model`, and its `card`, a `ModelCard`."""

    model: Any
    card: ModelCard


def save_model(model: Any, path: Any, card: ModelCard | None = None, *, trusted: Iterable[str] = ()) -> None:
    """Write a fitted model and its card to a file, from which another process can predict.

    The file is written under another name and then renamed: a failure leaves an existing file as it was.

    Parameters
    ----------
    model : classifier
        Fitted, of two classes: an estimator of this library, or a pipeline that ends with one. A callable kernel is
        rejected, since a file holds no code.
    path : path-like
        The file, by custom ending in ``.skops``. An existing file is replaced.
    card : ModelCard, default=None
        The description of the model. If None, `ModelCard.from_model` makes it.
    trusted : iterable of str, default=()
        Types in addition to `TRUSTED_TYPES` that the model may hold. `load_model` must be given the same.

    Raises
    ------
    ModelFileError
        If the model could not be read back.

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
    card = ModelCard.from_model(model) if card is None else card
    name = f"this {type(model).__name__}"
    content = _encode(model, card, trusted)
    _decode_card(content, name)  # what cannot be read is not written
    _decode_model(content, name, trusted)
    with atomic_write(path) as file:
        file.write(content)


def load_model(path: Any, *, trusted: Iterable[str] = ()) -> SavedModel:
    """Read a model and its card from a file that `save_model` wrote.

    The checksum, the format, the sizes, all types, and the shapes and numbers of the model are checked. That protects
    from damage and from files that would run code; it cannot tell an honest model from a forged one. Estimators of
    scikit-learn get ``n_jobs=None``.

    Parameters
    ----------
    path : path-like
        The file.
    trusted : iterable of str, default=()
        Types in addition to `TRUSTED_TYPES` that the file may hold, as ``"package.module.Class"``. Name only types
        that you know: loading makes objects of them.

    Returns
    -------
    SavedModel

    Raises
    ------
    ModelFileError
        If the file must not be read.
    """
    path = Path(path)
    content = _read_verified(path)
    card, model = _decode_card(content, str(path)), _decode_model(content, str(path), tuple(trusted))
    classes = model.classes_.tolist()
    if card.classes and card.classes != classes:
        raise ModelFileError(f"{path} has a card for the classes {card.classes}, and a model for {classes}.")
    return SavedModel(model=model, card=card)


def load_card(path: Any) -> ModelCard:
    """Read only the card of a model file, after the checks of its checksum and its format.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    ModelCard
    """
    return _decode_card(_read_verified(Path(path)), str(path))


def _encode(model: Any, card: ModelCard, trusted: tuple[str, ...]) -> bytes:
    """The bytes of the file: deflated, or stored if it would unpack to more than is allowed for its size."""
    _check_parameters(model, trusted)
    content = _archive(model, card, zipfile.ZIP_DEFLATED)
    try:
        with open_archive(content) as archive:
            untrusted_nodes(archive, trusted, allowance(content))
    except Exception:  # what is wrong with the stored one too is reported when it is read back
        return _archive(model, card, zipfile.ZIP_STORED)
    return content


def _archive(model: Any, card: ModelCard, compression: int) -> bytes:
    """The archive of a model and its card, with its checksum."""
    skops_io = _import_skops_io()
    buffer = io.BytesIO()
    try:
        skops_io.dump(model, buffer, compression=compression)
    except Exception as error:  # skops raises what the state of an object makes it raise
        raise ModelFileError(f"{type(model).__name__} cannot be saved: {error}") from error
    with zipfile.ZipFile(buffer, "a", compression=compression) as archive:
        archive.writestr(CARD, card.to_json())
        archive.comment = BLANK_COMMENT
    return add_checksum(buffer.getvalue())


def add_checksum(content: bytes) -> bytes:
    """An archive whose comment ends with `DIGITS` blank digits, with its SHA-256 in their place."""
    body = content[:-DIGITS]
    return body + hashlib.sha256(body).hexdigest().encode()


def _read_verified(path: Path) -> bytes:
    """The content of a file; raises ModelFileError unless it is a whole model file of the format of this version."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    if not content:
        raise ModelFileError(f"{path} is empty. Save the model again with save_model.")
    body, digest = content[:-DIGITS], content[-DIGITS:]
    comment = COMMENT.search(body[-2 * DIGITS :])
    if comment is None:
        raise ModelFileError(
            f"{path} is not a model file of cssvm, or has lost its end, the checksum. Copy the file again, or save the "
            "model again with save_model."
        )
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise ModelFileError(
            f"{path} was damaged or altered after it was saved: its checksum is wrong. Copy the file again, or save "
            "the model again with save_model."
        )
    number = int(comment[1])
    if number != FORMAT:
        age, remedy = (
            ("an older", "Train") if number < FORMAT else ("a newer", "Install a newer version of cssvm, or train")
        )
        raise ModelFileError(
            f"{path} was written by {age} version of cssvm in format {number}; this version reads format {FORMAT}. "
            f"{remedy} and save the model again."
        )
    return content


def _decode_model(content: bytes, name: str, trusted: tuple[str, ...]) -> Any:
    """The model in a file, if all its types are trusted and all its parts are valid; `name` is for errors."""
    from ._model_checks import check_model, limit_jobs

    skops_io = _import_skops_io()
    _check_types(content, name, trusted)
    try:
        model = skops_io.loads(content, trusted=[*trusted_types(), *trusted])
        check_model(model)
    except ModelFileError as error:
        raise ModelFileError(f"{name} holds a broken model: {error}") from error
    except Exception as error:  # a forged schema can make skops raise anything
        raise _unreadable(name, error) from error
    limit_jobs(model)
    return model


def _check_types(content: bytes, name: str, trusted: tuple[str, ...]) -> None:
    """Raise ModelFileError unless all types in a file are trusted, and what it makes is in proportion to its size."""
    try:
        with open_archive(content) as archive:
            unknown = untrusted_nodes(archive, trusted, allowance(content))
        unknown |= {*_import_skops_io().get_untrusted_types(data=content)} - {*trusted_types(), *trusted}
    except Exception as error:
        raise _unreadable(name, error) from error
    if unknown:
        raise ModelFileError(
            f"{name} holds types that are not trusted: {', '.join(sorted(unknown))}. If you know that they are "
            f"harmless, pass trusted={sorted(unknown)}."
        )


def _unreadable(name: str, error: Exception) -> ModelFileError:
    return ModelFileError(f"{name} holds no model that can be read: {type(error).__name__}: {error}")


def _decode_card(content: bytes, name: str) -> ModelCard:
    """The card in a file; `name` is for errors."""
    try:
        with open_archive(content) as archive:
            return ModelCard.from_json(read_card(archive, allowance(content)))
    except Exception as error:  # a forged archive can make zipfile raise anything
        raise ModelFileError(f"{name} has no card that can be read: {error}") from error


def _check_parameters(model: Any, trusted: tuple[str, ...]) -> None:
    """Raise ModelFileError for parameters that a file cannot hold: code, such as a callable kernel, and paths."""
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    for name, value in parameters.items():
        if isinstance(value, os.PathLike):
            raise ModelFileError(
                f"{name} of {type(model).__name__} is the path {os.fspath(value)!r}, which no file holds. Call "
                f"set_params({name}=None) before saving."
            )
        if not callable(value) or isinstance(value, type) or not hasattr(value, "__qualname__"):
            continue
        code = f"{value.__module__}.{value.__qualname__}"
        if code not in trusted:
            remedy = f"Set {name} to a named value before saving."
            if name.endswith("kernel"):
                remedy = 'Use a named kernel, or kernel="precomputed" with the matrix that the function returns.'
            raise ModelFileError(
                f"{name} of {type(model).__name__} is the function {code}, and a model file holds no code. {remedy}"
            )


def _import_skops_io() -> Any:
    try:
        import skops.io
    except ImportError as error:
        reason = "model files need skops" if error.name == "skops" else f"skops cannot be imported: {error}"
        raise ImportError(f"{reason}: pip install -U 'cssvm[deploy]'") from error
    return skops.io


def check_savable(part: Any) -> None:
    """Raise ModelFileError or ImportError if a model with this part could not be saved, before it is trained."""
    _check_types(_archive(part, ModelCard(), zipfile.ZIP_STORED), f"a model with this {type(part).__name__}", ())


def save_or_keep(model: Any, path: Any, card: ModelCard) -> None:
    """Save a model whose training took long; if that fails, keep it as a pickle, which the error names.

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
