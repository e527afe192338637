"""The algebra of edits: lines, positions, differences, hunks, matching. Pure functions over strings, no I/O."""
