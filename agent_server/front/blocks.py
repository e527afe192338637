"""ACP content blocks and our message parts, both ways."""

from collections.abc import Callable, Mapping

from agent_server.front.params import as_list, as_object
from agent_server.front.uris import display_name, path_of
from agent_server.loop.errors import ClientMistake
from agent_server.loop.model import Image, JsonObject, Part, Resource, Text

Json = dict[str, object]
"""A JSON object that we build."""


def prompt_parts(params: JsonObject) -> tuple[Part, ...]:
    """`prompt` of `session/prompt`: text, resource_link, resource and image blocks, in their order."""
    prompt = as_list(params.get("prompt"))
    if not prompt:
        raise ClientMistake("prompt must be a non-empty list of content blocks")
    return tuple(_part(block, f"prompt[{index}]") for index, block in enumerate(prompt))


def text_block(text: str) -> Json:
    """A text block; clients show it as Markdown."""
    return {"type": "text", "text": text}


def block_of(part: Part) -> Json:
    """The content block that shows a message part (in replays)."""
    match part:
        case Text(text):
            return text_block(text)
        case Image(mime, data):
            return {"type": "image", "mimeType": mime, "data": data}
        case Resource(uri, name, None):
            return {"type": "resource_link", "uri": uri, "name": name}
        case Resource(uri, _, text):
            return {"type": "resource", "resource": {"uri": uri, "text": text}}


def _part(value: object, place: str) -> Part:
    block = as_object(value)
    if block is None:
        raise ClientMistake(f"{place} must be an object")
    kind = block.get("type")
    parse = _PARSERS.get(kind) if isinstance(kind, str) else None
    if parse is None:
        raise ClientMistake(f"{place}.type must be one of {', '.join(_PARSERS)}")
    return parse(block, place)


def _text(block: JsonObject, place: str) -> Part:
    return Text(_string(block, "text", place))


def _image(block: JsonObject, place: str) -> Part:
    return Image(_string(block, "mimeType", place), _string(block, "data", place))


def _link(block: JsonObject, place: str) -> Part:
    """A file is named by its decoded path, because that is what tools take; anything else as the client says."""
    uri = _string(block, "uri", place)
    name = block.get("name")
    given = name if isinstance(name, str) and name else display_name(uri)
    return Resource(uri, path_of(uri) or given)


def _embedded(block: JsonObject, place: str) -> Part:
    """Text as it is, an image as an image, other bytes as a link: a model cannot read them here."""
    inside = f"{place}.resource"
    resource = as_object(block.get("resource"))
    if resource is None:
        raise ClientMistake(f"{inside} must be an object")
    uri = _string(resource, "uri", inside)
    if isinstance(text := resource.get("text"), str):
        return Resource(uri, path_of(uri) or display_name(uri), text)
    blob = _string(resource, "blob", inside)
    mime = resource.get("mimeType")
    if isinstance(mime, str) and mime.startswith("image/"):
        return Image(mime, blob)
    return Resource(uri, path_of(uri) or display_name(uri))


def _string(block: JsonObject, name: str, place: str) -> str:
    value = block.get(name)
    if not isinstance(value, str):
        raise ClientMistake(f"{place}.{name} must be a string")
    return value


_PARSERS: Mapping[str, Callable[[JsonObject, str], Part]] = {
    "text": _text,
    "resource_link": _link,
    "resource": _embedded,
    "image": _image,
}
