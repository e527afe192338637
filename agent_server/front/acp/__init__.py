"""ACP on a pair of descriptors: the client's files, and the wiring of the one table to a connection."""
