"""Versions of packages."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

from .. import __version__


def installed_versions(packages: Iterable[str]) -> dict[str, str]:
    """Versions of cssvm and of these packages, without those that are not installed."""
    found = {"cssvm": __version__}
    for package in packages:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
