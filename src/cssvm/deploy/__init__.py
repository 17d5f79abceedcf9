"""Models that leave the process they were trained in: files with a card and a seal, and ONNX graphs."""

from typing import TYPE_CHECKING, Any

from ._card import Column, ModelCard
from ._files import SavedModel, load_card, load_model, save_model
from ._seal import ModelFileError
from ._trust import TRUSTED_TYPES

if TYPE_CHECKING:
    from ._onnx import to_onnx

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
    if name == "to_onnx":  # who reads a card needs no scikit-learn
        from ._onnx import to_onnx

        return to_onnx
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
