"""Models that leave the process they were trained in: files with a card and a seal."""

from .card import Column, ModelCard
from .files import SavedModel, load_card, load_model, save_model
from .seal import ModelFileError
from .trust import TRUSTED_TYPES

__all__ = [
    "TRUSTED_TYPES",
    "Column",
    "ModelCard",
    "ModelFileError",
    "SavedModel",
    "load_card",
    "load_model",
    "save_model",
]
