"""What the server asks of the editor, each message behind a capability."""

from agent_server.front.protocol.base import Wire


class SaveDocument(Wire):
    """Save an open document."""

    uri: str


class DocumentSaved(Wire):
    """Whether the document on disk is now what the editor shows."""

    saved: bool
