"""The commands that every client has, because the server answers them: `/undo`, `/rewind` and their kin."""
