"""A report on the costs of a model's decisions, as one HTML file."""

from .report import Report

__all__ = ["Report"]
