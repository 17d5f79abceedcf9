"""Models as ONNX graphs, in float64 from the first step to the last."""

from .export import to_onnx

__all__ = ["to_onnx"]
