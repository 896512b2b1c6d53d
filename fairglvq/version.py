"""The one place of the version; rows in the store are keyed by it."""

__version__ = "0.1.0"
