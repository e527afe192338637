"""Bytes to text and back: no encoding is lost, none invented (ED-03, 04, 05, 24)."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_server.edits.encodings import decode
from agent_server.loop.errors import EditRefused

JAVA = '// class of é\npublic class A {\n  String s = "Não é ação, français";\n  int x = 1;\n}\n'
CHINESE = "# 你好世界\nx = 1  # 注释这里是中文\n"
JAPANESE = "# こんにちは世界\nx = 1  # コメント\n"


@pytest.mark.parametrize(
    ("data", "name", "text"),
    [
        ("é\r\n".encode(), "UTF-8", "é\r\n"),
        (b"", "UTF-8", ""),
        (codecs.BOM_UTF8 + "é\r\n".encode(), "UTF-8 with BOM", "é\r\n"),
        (codecs.BOM_UTF16_LE + "é😋\n".encode("utf-16-le"), "UTF-16LE", "é😋\n"),
        (codecs.BOM_UTF16_BE + "é😋\n".encode("utf-16-be"), "UTF-16BE", "é😋\n"),
        (codecs.BOM_UTF32_LE + "é😋\n".encode("utf-32-le"), "UTF-32LE", "é😋\n"),
        (JAVA.encode("latin-1"), "ISO-8859-1", JAVA),
        ((JAVA + "// it’s\n").encode("cp1252"), "Windows-1252", JAVA + "// it’s\n"),
        (CHINESE.encode("gbk"), "GBK", CHINESE),
        (JAPANESE.encode("shift_jis"), "Shift-JIS", JAPANESE),
    ],
)
def test_a_text_is_recognised_and_written_back_byte_for_byte(
    data: bytes, name: str, text: str
) -> None:
    decoded = decode(data)
    assert decoded is not None
    found, encoding = decoded
    assert (encoding.name, found, encoding.encode(found)) == (name, text, data)


@given(st.binary(max_size=200))
def test_whatever_is_read_as_text_is_written_back_byte_for_byte(data: bytes) -> None:
    decoded = decode(data)
    assert decoded is None or decoded[1].encode(decoded[0]) == data


@pytest.mark.parametrize(
    "data",
    [
        b"\x7fELF\x02\x01\x01" + bytes(9),
        b"\x89PNG\r\n\x1a\n",
        b"PK\x03\x04mimetype",
        b"%PDF-1.7\n",
        b"a\0b",
        bytes(range(1, 256)),
        codecs.BOM_UTF16_LE + b"a",
        codecs.BOM_UTF16_LE + "a\0".encode("utf-16-le"),
    ],
)
def test_what_is_no_text_is_not_read_as_one(data: bytes) -> None:
    assert decode(data) is None


def test_a_character_the_encoding_lacks_is_refused_by_name() -> None:
    decoded = decode(JAVA.encode("latin-1"))
    assert decoded is not None
    with pytest.raises(EditRefused) as caught:
        decoded[1].encode("ok\na → b")
    assert caught.value.reason == "unencodable"
    assert (
        str(caught.value)
        == "the file is ISO-8859-1, which has no '→' (U+2192) (line 2 of the new text)"
    )


def test_a_lone_surrogate_is_refused_in_utf_8() -> None:
    decoded = decode(b"a")
    assert decoded is not None
    with pytest.raises(EditRefused, match=r"UTF-8, which has no U\+D83D"):
        decoded[1].encode("\ud83d")
