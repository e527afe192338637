r"""The documents that the editor has open, as it last told us.

pygls' workspace and document, with the two things about them that lose text replaced: lines end at `\n`, `\r\n` and
`\r` only (pygls splits at form feeds too, and then applies changes in the wrong place), and a change that does not
follow the version we hold is not applied. A change costs what it touches, not the whole text.
"""

import logging
import os
from collections.abc import Sequence
from urllib.parse import unquote

import anyio
from lsprotocol import types
from pygls.workspace import PositionCodec, TextDocument, Workspace

from agent_server.edits.beneath import Signature, signature
from agent_server.edits.text.lines import split_lines
from agent_server.edits.text.positions import Position, PositionEncoding, PositionMap
from agent_server.front.uris import path_of

logger = logging.getLogger(__name__)


class Document(TextDocument):
    """One open document."""

    def __init__(
        self, uri: str, text: str, version: int, *, language: str | None, codec: PositionCodec
    ) -> None:
        super().__init__(uri, version=version, language_id=language, position_codec=codec)
        self._lines = split_lines(text)
        self._joined: str | None = text
        self._changed = anyio.Event()
        self.in_step = True
        """False after a change that did not follow: what the editor shows is no longer known here."""
        self.is_open = True
        path = path_of(uri)
        self.real_path = None if path is None else os.path.realpath(path)
        """Absolute, links resolved; None when it is no file."""
        self.opened_with = _unchanged(self.real_path, text)
        """How its file looked when the editor last said that it has that text: as it opened or saved it."""

    def saved(self) -> None:
        """The editor wrote it down."""
        self.opened_with = None if self.real_path is None else signature(self.real_path)

    @property
    def source(self) -> str:
        """The whole text."""
        if self._joined is None:
            self._joined = "".join(self._lines)
        return self._joined

    @property
    def lines(self) -> Sequence[str]:
        """The lines, their ends kept."""
        return self._lines

    @property
    def encoding(self) -> PositionEncoding:
        """The unit that the client counts characters in."""
        return _unit(self.position_codec.encoding)

    def text_between(self, start: tuple[int, int], end: tuple[int, int]) -> str:
        """The text between two positions (line, character), in the client's units."""
        places = PositionMap(self.source, self.encoding)
        return self.source[places.offset(Position(*start)) : places.offset(Position(*end))]

    def take(self, version: int, changes: Sequence[types.TextDocumentContentChangeEvent]) -> None:
        """Go to `version` by the changes of one notification.

        A version that is not newer means that a notification came twice or was lost. What the editor shows is then
        unknown until it sends the whole text again.
        """
        whole = any(isinstance(c, types.TextDocumentContentChangeWholeDocument) for c in changes)
        self.in_step = whole or (self.in_step and version > (self.version or 0))
        if self.in_step:
            for change in changes:
                self.apply_change(change)
        else:
            logger.warning("didChange of %s to version %d does not follow", self.uri, version)
        self.version = version
        self.announce()

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Apply one change of a didChange notification."""
        if isinstance(change, types.TextDocumentContentChangePartial):
            self._replace(change.range, change.text)
        else:
            self._lines = list(split_lines(change.text))
        self._joined = None

    def announce(self) -> None:
        """Wake those who wait for a change."""
        self._changed.set()
        self._changed = anyio.Event()

    async def changed(self) -> None:
        """Wait until the document is changed or closed; unbounded, the caller limits it."""
        await self._changed.wait()

    def _replace(self, place: types.Range, text: str) -> None:
        first, before = self._split_at(place.start)
        last, after = self._split_at(place.end)
        head = self._lines[first][:before] if first < len(self._lines) else ""
        tail = self._lines[last][after:] if last < len(self._lines) else ""
        middle = head + text + tail
        # At either border a line end may have been torn apart, put together, added or removed.
        if first > 0 and not self._lines[first - 1].endswith("\n"):
            first -= 1
            middle = self._lines[first] + middle
        if last + 1 < len(self._lines) and not middle.endswith("\n"):
            last += 1
            middle += self._lines[last]
        self._lines[first : last + 1] = split_lines(middle)

    def _split_at(self, position: types.Position) -> tuple[int, int]:
        """Line and code-point column of a position; past the end of a line or of the text means that end."""
        if position.line >= len(self._lines):
            return len(self._lines), 0
        places = PositionMap(self._lines[position.line], self.encoding)
        return position.line, places.offset(Position(0, position.character))


class Documents(Workspace):
    """All open documents, found by URI (pygls) or by path (ours)."""

    @classmethod
    def like(cls, other: Workspace) -> "Documents":
        """The same root, folders and encoding as `other`, without documents."""
        return cls(
            other.root_uri,
            types.TextDocumentSyncKind.Incremental,
            list(other.folders.values()),
            other.position_encoding,
        )

    @property
    def unit(self) -> PositionEncoding:
        """The unit that the client counts characters in."""
        return _unit(self.position_encoding)

    def at(self, path: str) -> Document | None:
        """The open document at an absolute path, links resolved on both sides."""
        wanted = os.path.realpath(path)
        return next((d for d in self._open() if d.real_path == wanted), None)

    @property
    def opened(self) -> tuple[Document, ...]:
        """Every one."""
        return tuple(self._open())

    def saved(self, uri: str) -> None:
        """The editor wrote a document down."""
        document = self._find(uri)
        if document is not None:
            document.saved()

    def real_path_of(self, uri: str) -> str | None:
        """The file of an open document, links resolved; None when it is not open, or no file."""
        document = self._find(uri)
        return None if document is None else document.real_path

    def put_text_document(
        self, text_document: types.TextDocumentItem, notebook_uri: str | None = None
    ) -> None:
        """Take a document that the editor opened (or opened again)."""
        self.remove_text_document(text_document.uri)
        super().put_text_document(text_document, notebook_uri)

    def change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply a didChange notification, unless it does not follow what we hold."""
        uri, version = params.text_document.uri, params.text_document.version
        document = self._find(uri)
        if document is None:
            logger.warning("didChange for %s, which is not open", uri)
            return
        document.take(version, params.content_changes)

    def remove_text_document(self, doc_uri: str) -> None:
        """Forget a closed document; the disk is its truth again."""
        gone = self._find(doc_uri)
        super().remove_text_document(doc_uri)
        if gone is not None:
            gone.is_open = False
            gone.announce()

    def _find(self, uri: str) -> Document | None:
        found = self.text_documents.get(unquote(uri))
        return found if isinstance(found, Document) else None

    def _open(self) -> list[Document]:
        return [d for d in self.text_documents.values() if isinstance(d, Document)]

    def _create_text_document(
        self,
        doc_uri: str,
        source: str | None = None,
        version: int | None = None,
        language_id: str | None = None,
    ) -> TextDocument:
        if (
            source is None or version is None
        ):  # not open: pygls reads the disk, which nothing of ours asks for
            return super()._create_text_document(doc_uri, source, version, language_id)
        return Document(doc_uri, source, version, language=language_id, codec=self.position_codec)


def _unchanged(path: str | None, text: str) -> Signature | None:
    """How the file looks, when it may well have this text; a look at its size is all that opening should cost."""
    seen = None if path is None else signature(path)
    return seen if seen is not None and seen[1] == len(text.encode("utf-8", "replace")) else None


def _unit(kind: object) -> PositionEncoding:
    match kind:
        case types.PositionEncodingKind.Utf8:
            return "utf-8"
        case types.PositionEncodingKind.Utf32:
            return "utf-32"
        case _:
            return "utf-16"
