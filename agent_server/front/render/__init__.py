"""Our events and records as the objects of the wires: pure functions, by hand, without pydantic.

One module per concept: `content` (what a call shows), `calls` (a call's life), `updates` (everything else that is
streamed), `options` (modes and config options), `status` (state and result of a turn), `edits` (proposals),
`replay` (a stored conversation).
"""
