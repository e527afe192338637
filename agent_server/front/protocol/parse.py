"""Our own messages from the wire: a model, or a mistake that names the field."""

from typing import TypeVar

from pydantic import ValidationError

from agent_server.front.protocol.base import Wire
from agent_server.loop.errors import ClientMistake
from agent_server.loop.model import JsonObject

Message = TypeVar("Message", bound=Wire)


def parse_params(model: type[Message], params: JsonObject) -> Message:
    """The params as that message.

    Raises:
        ClientMistake: they do not fit; the sentence names the first field that does not.
    """
    try:
        return model.parse(params)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "params"
        raise ClientMistake(f"{field}: {first['msg']}") from error
