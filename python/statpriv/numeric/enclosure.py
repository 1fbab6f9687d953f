"""Enclosures: the only kind of number statpriv returns."""

from statpriv._native import Enclosure

__all__ = ["Enclosure"]
