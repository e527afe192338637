"""The turn loop: its vocabulary, states, events and ports. Standard library and anyio only."""
