"""The commands that are not a server or a client: `sessions`, `doctor`, `schema`, and how arguments are read."""
