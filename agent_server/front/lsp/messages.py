"""`window/showMessage`: the one way to say something that every LSP client has."""

from typing import Final, Literal

from agent_server.front.rpc.connection import Connection

ERROR: Final = 1
WARNING: Final = 2
INFO: Final = 3
MessageKind = Literal[1, 2, 3]


def show_message(connection: Connection, kind: MessageKind, text: str) -> None:
    """Say it. Never blocks."""
    connection.notify("window/showMessage", {"type": kind, "message": text})
