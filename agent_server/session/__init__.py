"""Sessions: one actor each."""
