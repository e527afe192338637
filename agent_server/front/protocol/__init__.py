"""Our own messages, as pydantic models: the source of `protocol/schema.json`.

ACP's own messages are not modelled here; their schema is ACP's. Importing this package costs about 100 ms,
so nothing imports it before `initialize` is answered.
"""
