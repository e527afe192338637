"""The mirror of the editor's buffers (LSP 3.17, text document synchronisation)."""

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from pygls.workspace import Workspace

from agent_server.edits.text.lines import split_lines
from agent_server.edits.text.positions import Position, PositionEncoding, PositionMap
from agent_server.front.lsp.documents import Document, Documents

URI = "file:///w/a.py"
ENCODINGS: tuple[PositionEncoding, ...] = ("utf-8", "utf-16", "utf-32")


def documents_with(
    text: str, *, encoding: PositionEncoding = "utf-16", version: int = 1, uri: str = URI
) -> Documents:
    kind = types.PositionEncodingKind(encoding)
    documents = Documents.like(Workspace("file:///w", position_encoding=kind))
    documents.put_text_document(types.TextDocumentItem(uri, "python", version, text))
    return documents


def opened(text: str, *, encoding: PositionEncoding = "utf-16") -> Document:
    document = documents_with(text, encoding=encoding).at("/w/a.py")
    assert document is not None
    return document


def change(
    start: tuple[int, int], end: tuple[int, int], text: str
) -> types.TextDocumentContentChangePartial:
    return types.TextDocumentContentChangePartial(
        types.Range(types.Position(*start), types.Position(*end)), text
    )


def changed(document: Document, *changes: types.TextDocumentContentChangeEvent) -> str:
    document.take((document.version or 0) + 1, changes)
    return document.source


def test_a_form_feed_ends_no_line() -> None:
    document = opened("a\fb\nc\n")

    assert changed(document, change((1, 0), (1, 1), "C")) == "a\fb\nC\n"


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 18), ("utf-16", 14), ("utf-32", 12)])
def test_characters_are_counted_in_the_negotiated_encoding(
    encoding: PositionEncoding, column: int
) -> None:
    document = opened('x = "𐐀"\ns = "😋😋"  # old\n', encoding=encoding)

    text = changed(document, change((1, column), (1, column + 3), "new"))

    assert text == 'x = "𐐀"\ns = "😋😋"  # new\n'


def test_a_character_past_the_end_of_a_line_means_its_end() -> None:
    assert changed(opened("ab"), change((0, 0), (0, 99), "Q")) == "Q"


def test_a_line_past_the_end_means_the_end_of_the_text() -> None:
    assert changed(opened("ab"), change((5, 0), (9, 0), "Q")) == "abQ"


def test_the_changes_of_one_notification_apply_one_after_the_other() -> None:
    document = opened("one\ntwo\n")

    assert changed(document, change((0, 0), (1, 0), ""), change((0, 0), (0, 3), "2")) == "2\n"


def test_a_change_whose_version_is_not_newer_is_not_applied() -> None:
    document = opened("one\n")

    document.take(1, [change((0, 0), (0, 3), "two")])

    assert (document.source, document.in_step) == ("one\n", False)


def test_a_whole_text_brings_a_document_back_in_step() -> None:
    document = opened("one\n")
    document.take(1, [change((0, 0), (0, 3), "two")])

    document.take(3, [types.TextDocumentContentChangeWholeDocument("three\n")])

    assert (document.source, document.in_step) == ("three\n", True)


def test_a_change_of_an_unopened_document_is_ignored() -> None:
    documents = documents_with("one\n")
    other = types.VersionedTextDocumentIdentifier(2, "file:///w/b.py")

    documents.change(types.DidChangeTextDocumentParams(other, [change((0, 0), (0, 0), "x")]))

    assert documents.at("/w/b.py") is None


def test_a_closed_document_is_not_found() -> None:
    documents = documents_with("one\n")

    documents.remove_text_document(URI)

    assert documents.at("/w/a.py") is None


def test_a_document_is_found_by_a_path_that_its_uri_escapes_differently() -> None:
    documents = documents_with("one\n", uri="file:///w/a%20%5Bb%5D.py")

    assert documents.at("/w/a [b].py") is not None


@pytest.mark.anyio
async def test_closing_wakes_who_waits_for_a_change() -> None:
    documents = documents_with("one\n")
    document = documents.at("/w/a.py")
    assert document is not None

    async with anyio.create_task_group() as tasks:
        with anyio.fail_after(5):
            tasks.start_soon(document.changed)
            await anyio.lowlevel.checkpoint()
            documents.remove_text_document(URI)

    assert not document.is_open


TEXTS = st.text(st.sampled_from("a\r\n\f\u2028é😋"), max_size=12)
PLACES = st.tuples(st.integers(0, 6), st.integers(0, 8))


@given(TEXTS, PLACES, PLACES, TEXTS, st.sampled_from(ENCODINGS))
def test_a_change_is_a_splice_of_the_text(
    text: str, one: tuple[int, int], two: tuple[int, int], new: str, encoding: PositionEncoding
) -> None:
    start, end = sorted((one, two))
    document = opened(text, encoding=encoding)
    places = PositionMap(text, encoding)
    a, b = (places.offset(Position(*p)) for p in (start, end))

    assert changed(document, change(start, end, new)) == text[:a] + new + text[max(a, b) :]
    assert list(document.lines) == split_lines(document.source)
