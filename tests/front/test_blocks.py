"""Content blocks and file URIs, both ways."""

from typing import Any

import pytest

from agent_server.front.blocks import block_of, prompt_parts
from agent_server.front.uris import display_name, file_uri, path_of
from agent_server.loop.errors import ClientMistake
from agent_server.loop.model import Image, Part, Resource, Text


def parts(*blocks: Any) -> tuple[Part, ...]:
    return prompt_parts({"prompt": list(blocks)})


def test_blocks_become_parts_in_their_order() -> None:
    assert parts(
        {"type": "text", "text": "look at "},
        {"type": "resource_link", "uri": "file:///w/a%20b.py", "name": "a b.py"},
        {"type": "resource_link", "uri": "https://example.org/x", "name": "the page"},
        {"type": "resource", "resource": {"uri": "file:///w/c.py", "text": "x = 1\n"}},
        {"type": "image", "mimeType": "image/png", "data": "AAAA", "uri": None},
    ) == (
        Text("look at "),
        Resource("file:///w/a%20b.py", "/w/a b.py"),
        Resource("https://example.org/x", "the page"),
        Resource("file:///w/c.py", "/w/c.py", "x = 1\n"),
        Image("image/png", "AAAA"),
    )


def test_embedded_bytes_are_an_image_or_a_link() -> None:
    blob = {"uri": "file:///w/a.png", "blob": "AAAA", "mimeType": "image/png"}
    other = {"uri": "file:///w/a.bin", "blob": "AAAA"}

    assert parts(
        {"type": "resource", "resource": blob}, {"type": "resource", "resource": other}
    ) == (
        Image("image/png", "AAAA"),
        Resource("file:///w/a.bin", "/w/a.bin"),
    )


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [
        (None, "prompt must be a non-empty list"),
        ("hello", "prompt must be a non-empty list"),
        ([], "prompt must be a non-empty list"),
        (["hello"], r"prompt\[0\] must be an object"),
        ([{"type": "text", "text": "a"}, {"type": "text"}], r"prompt\[1\]\.text must be a string"),
        (
            [{"type": "audio", "data": "", "mimeType": "audio/wav"}],
            r"prompt\[0\]\.type must be one of",
        ),
        ([{"text": "no type"}], r"prompt\[0\]\.type must be one of"),
        ([{"type": "resource", "resource": {"text": "x"}}], r"prompt\[0\]\.resource\.uri"),
        ([{"type": "image", "data": "AA"}], r"prompt\[0\]\.mimeType"),
    ],
)
def test_a_mistake_is_named_by_its_place(prompt: Any, sentence: str) -> None:
    with pytest.raises(ClientMistake, match=sentence):
        prompt_parts({"prompt": prompt})


@pytest.mark.parametrize(
    "part",
    [
        Text("x"),
        Image("image/png", "AA"),
        Resource("file:///w/a.py", "/w/a.py"),
        Resource("file:///w/a.py", "/w/a.py", "text"),
    ],
)
def test_a_part_survives_the_way_out_and_back(part: Part) -> None:
    assert parts(block_of(part)) == (part,)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///w/a%20b.py", "/w/a b.py"),
        ("file:///w/a b.py", "/w/a b.py"),
        ("file://localhost/w/a.py", "/w/a.py"),
        ("file:///w/%E4%BD%A0.py#L3", "/w/你.py"),
        ("file:///w/a%23b.py", "/w/a#b.py"),
        ("/w/../w/a.py", "/w/a.py"),
        ("https://example.org/a", None),
        ("untitled:Untitled-1", None),
        ("zed:///agent", None),
        ("file:relative", None),
    ],
)
def test_a_uri_names_a_path_or_nothing(uri: str, path: str | None) -> None:
    assert path_of(uri, windows=False) == path


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///c%3A/w/a.py", r"C:\w\a.py"),
        ("file:///C:/w/a.py", r"C:\w\a.py"),
        ("file://server/share/a.py", r"\\server\share\a.py"),
    ],
)
def test_windows_forms_are_understood(uri: str, path: str) -> None:
    assert path_of(uri, windows=True) == path


def test_a_path_survives_the_way_out_and_back() -> None:
    assert path_of(file_uri("/w/a b#c%.py")) == "/w/a b#c%.py"


def test_a_name_for_people_is_the_last_part() -> None:
    assert display_name("file:///w/a%20b.py") == "a b.py"
    assert display_name("https://example.org/docs/") == "docs"
    assert display_name("untitled:") == "untitled:"
