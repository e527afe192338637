"""The terminal client, `chat` and `demo`: a person's side of ACP, and the reference client of our protocol.

From the wire to the screen: `client` (requests, answers) → `updates` (JSON → values) → `transcript` (values → what a
turn looks like) → `view` (what it looks like → rich) → `screen` (frames). Two threads: the connection has an event loop
of its own (`link`), the person's thread draws and reads keys, so neither ever waits for the other.
"""
