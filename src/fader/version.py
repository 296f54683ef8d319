"""The version, for those who are imported before the package is."""

__version__ = "0.1.0"
