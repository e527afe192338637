"""Edits: text algebra, proposals, applying; never a byte outside the hunks."""
