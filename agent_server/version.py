"""The version, baked in so that no start reads package metadata."""

__version__ = "0.1.0"
