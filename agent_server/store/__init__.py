"""Adapters that keep the log: SQLite, one writer."""
