"""Conversations as Markdown files: what is there, what is said, what must stand in the log afterwards."""
