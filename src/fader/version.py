"""The version, for those who are imported before the package is."""

__version__ = "0.2.0.dev0"
