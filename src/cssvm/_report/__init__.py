"""A report on a model's decisions in money, as one HTML file."""

from .report import Report

__all__ = ["Report"]
