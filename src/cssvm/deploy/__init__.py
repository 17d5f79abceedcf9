"""Models that leave the process they were trained in: files with a card and a checksum, and ONNX graphs."""

from typing import TYPE_CHECKING, Any

from ._card import Column, ModelCard
from ._model_file import ModelFileError, SavedModel, load_card, load_model, save_model

if TYPE_CHECKING:
    from ._onnx import to_onnx

    TRUSTED_TYPES: tuple[str, ...]

__all__ = [
    "TRUSTED_TYPES",
    "Column",
    "ModelCard",
    "ModelFileError",
    "SavedModel",
    "load_card",
    "load_model",
    "save_model",
    "to_onnx",
]


def __getattr__(name: str) -> Any:
    # Reading a card needs neither scikit-learn nor the estimators.
    if name == "to_onnx":
        from ._onnx import to_onnx

        return to_onnx
    if name == "TRUSTED_TYPES":
        from ._trusted_types import trusted_types

        return trusted_types()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
