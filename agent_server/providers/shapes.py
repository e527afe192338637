"""JSON of others, looked at without trust: a value of another type than expected is passed over, never an error."""

from typing import cast

from agent_server.providers.fragments import Json


def as_object(value: object) -> Json | None:
    """The value if it is an object."""
    return cast("Json", value) if isinstance(value, dict) else None


def objects(value: object) -> list[Json]:
    """The objects in a list, or in an object used as one (`{"0": {}}`); an object alone is itself."""
    if isinstance(value, list):
        items = cast("list[object]", value)
    elif isinstance(value, dict):
        inner = cast("Json", value)
        numbered = bool(inner) and all(str(key).isdigit() for key in inner)
        items = list(inner.values()) if numbered else [inner]
    else:
        return []
    return [cast("Json", item) for item in items if isinstance(item, dict)]


def texts(value: object) -> list[str]:
    """The texts of a string, of a list of strings or typed blocks, or of one block."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in cast("list[object]", value) for text in texts(item)]
    block = as_object(value)
    if block is None:
        return []
    return texts(block.get("text") or block.get("content") or block.get("thinking"))
