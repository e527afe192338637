"""Bytes to text and back without loss: BOM, encoding, and what is no text at all.

A file that is valid UTF-8 is UTF-8. Anything else is guessed by charset-normalizer among a few legacy encodings, and a
guess counts only when it gives back the very same bytes.
"""

from agent_server.frozen import frozen
from agent_server.loop.errors import EditRefused

_BOMS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_MAGIC = (
    (b"\x7fELF", "ELF program"), (b"MZ", "Windows program"), (b"\xcf\xfa\xed\xfe", "Mach-O program"),
    (b"\xca\xfe\xba\xbe", "Java class or Mach-O program"), (b"\x00asm", "WebAssembly module"),
    (b"\x89PNG\r\n", "PNG image"), (b"\xff\xd8\xff", "JPEG image"), (b"GIF8", "GIF image"),
    (b"%PDF-", "PDF document"), (b"PK\x03\x04", "ZIP archive"), (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\x00", "xz archive"), (b"7z\xbc\xaf\x27\x1c", "7z archive"), (b"\x28\xb5\x2f\xfd", "zstd archive"),
    (b"SQLite format 3\x00", "SQLite database"), (b"OggS", "Ogg media"), (b"RIFF", "RIFF media"),
    (b"wOF2", "WOFF2 font"),
)  # fmt: skip
_ALWAYS_BINARY = ("PDF document", "PNG image", "ZIP archive")
"""Types whose head may be valid UTF-8."""
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\b\x1b\x1a\x0b")
_LEGACY = ("cp1252", "gbk", "gb18030", "shift_jis", "cp932")
_NAMES = {
    "utf-8": "UTF-8", "utf-16-le": "UTF-16LE", "utf-16-be": "UTF-16BE", "utf-32-le": "UTF-32LE",
    "utf-32-be": "UTF-32BE", "iso8859-1": "ISO-8859-1", "cp1252": "Windows-1252", "gbk": "GBK", "gb18030": "GB 18030",
    "shift_jis": "Shift-JIS", "cp932": "Windows-31J",
}  # fmt: skip


@frozen
class Encoding:
    """How a text is written down."""

    codec: str = "utf-8"
    """Python's name."""
    bom: bytes = b""

    @property
    def name(self) -> str:
        """The name people use."""
        return _NAMES[self.codec] + (" with BOM" if self.bom == b"\xef\xbb\xbf" else "")

    def encode(self, text: str) -> bytes:
        """The bytes of `text`.

        Raises:
            EditRefused: `unencodable`; names the encoding, the character and its line.
        """
        try:
            return self.bom + text.encode(self.codec)
        except UnicodeEncodeError as error:
            character = text[error.start]
            line = text.count("\n", 0, error.start) + 1
            raise EditRefused(
                f"the file is {self.name}, which has no {_shown(character)} (line {line} of the new text)",
                reason="unencodable",
            ) from error


UTF8 = Encoding()


def decode(data: bytes) -> tuple[str, Encoding] | None:
    """Text without its BOM, and how it was written; None for bytes that are no text."""
    for bom, codec in _BOMS:
        if data.startswith(bom):
            encoding = Encoding(codec, bom)
            text = _strict(data[len(bom) :], codec)
            return None if text is None or (codec != "utf-8" and "\0" in text) else (text, encoding)
    if b"\0" in data or kind_of(data) in _ALWAYS_BINARY:
        return None
    text = _strict(data, "utf-8")
    return (text, UTF8) if text is not None else _legacy(data)


def kind_of(data: bytes) -> str | None:
    """The type of a file by its first bytes, in words; None when they are not known."""
    return next((name for magic, name in _MAGIC if data.startswith(magic)), None)


def _strict(data: bytes, codec: str) -> str | None:
    """The text, if exactly these bytes come back from it."""
    try:
        text = data.decode(codec)
        return text if text.encode(codec) == data else None
    except UnicodeError:
        return None


def _legacy(data: bytes) -> tuple[str, Encoding] | None:
    controls = sum(byte < 0x20 and byte not in _TEXT_CONTROLS for byte in data[:8192])
    if kind_of(data) or controls > len(data[:8192]) // 100:
        return None
    for codec in _guesses(data):
        text = _strict(data, codec)
        if text is not None:
            return text, Encoding(codec)
    return data.decode("iso8859-1"), Encoding("iso8859-1")


def _guesses(data: bytes) -> list[str]:
    """Legacy encodings to try, likeliest first; of a pair the narrower first, so that what we add stays in it."""
    # Imported here: only files that are not UTF-8 need it, and few sessions meet one.
    from charset_normalizer import from_bytes

    best = from_bytes(data, cp_isolation=list(_LEGACY)).best()
    match best.encoding if best else None:
        case "gbk" | "gb18030":
            return ["gbk", "gb18030"]
        case "shift_jis" | "cp932":
            return ["shift_jis", "cp932"]
        case _ if any(0x80 <= byte < 0xA0 for byte in data):
            return ["cp1252"]
        case _:
            return []


def _shown(character: str) -> str:
    return (
        f"{character!r} (U+{ord(character):04X})"
        if character.isprintable()
        else f"U+{ord(character):04X}"
    )
