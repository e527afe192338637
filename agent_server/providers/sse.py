"""Server-sent events out of bytes: only their data, whatever the chunks, line ends and comments."""


class ErrorData(bytes):
    """The data of an event that is named `error`."""


class SseDecoder:
    """Feeds on bytes as they come off the wire and gives the data of each event that is complete.

    Lines end with LF, CRLF or CR; several data lines of one event are joined by LF; comments and other fields are
    dropped, but an event named `error` gives `ErrorData`.
    """

    def __init__(self) -> None:
        self._rest = b""
        """The beginning of a line."""
        self._data: list[bytes] = []
        self._error = False
        """The event is named `error`."""
        self._carriage = False
        """The last byte was a CR, so a LF at the beginning of the next bytes belongs to it."""
        self._first = True

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of every event that this chunk completes."""
        if b"\r" in chunk or self._carriage:
            chunk = self._with_line_feeds(chunk)
        if self._first and chunk:
            chunk, self._first = chunk.removeprefix(b"\xef\xbb\xbf"), False
        lines = (self._rest + chunk).split(b"\n")
        self._rest = lines.pop()
        events: list[bytes] = []
        for line in lines:
            if not line:
                self._finish(events)
            elif line.startswith(b"data:"):
                self._data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif line.startswith(b"event:"):
                self._error = line[6:].strip().lower() == b"error"
        return events

    def end(self) -> list[bytes]:
        """An event whose empty line never came: the standard drops it, but some providers end that way."""
        return self.feed(b"\n\n")

    def _finish(self, events: list[bytes]) -> None:
        if self._data:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            events.append(ErrorData(data) if self._error else data)
            self._data = []
        self._error = False

    def _with_line_feeds(self, chunk: bytes) -> bytes:
        if self._carriage and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._carriage = False
        self._carriage = chunk.endswith(b"\r") or (self._carriage and not chunk)
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
