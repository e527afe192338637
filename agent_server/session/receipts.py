"""A session's log that leaves receipts in the workspace, once the facts are durable."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

import anyio
import anyio.to_thread

from agent_server.loop.model import CallKey, Entry, ReplyEntry, SessionId, StartedEntry
from agent_server.loop.ports import Log, Tools
from agent_server.store.receipts_file import append, lines

log = logging.getLogger(__name__)


class WithReceipts:
    """Implements `loop.ports.Log` around another one.

    The file begins with the first call that really starts: a session that only reads, or whose person says no to
    everything, leaves no trace. What was pending until then is written with it. A file that cannot be written costs
    the receipts and nothing else.
    """

    def __init__(
        self, inner: Log, session: SessionId, workspace: str, tools: Callable[[], Tools]
    ) -> None:
        """`tools` are asked when there are calls; the session need not be ready before."""
        self._inner = inner
        self._session = session
        self._workspace = workspace
        self._tools = tools
        self._waiting = ""
        self._begun = _starts(inner.entries)
        self._broken = False
        self._order = anyio.Lock()

    @property
    def entries(self) -> Sequence[Entry]:
        """See `Log`."""
        return self._inner.entries

    async def append(self, *entries: Entry) -> None:
        """See `Log`."""
        await self._inner.append(*entries)
        if self._broken:
            return
        at = datetime.now(UTC)
        found = lines(entries, self._effectful(), session=self._session, at=at)
        self._waiting += "".join(line.text() for line in found)
        self._begun = self._begun or _starts(entries)
        if self._begun and self._waiting:
            # Shielded: the entries are kept already, and whoever appended them must learn that.
            with anyio.CancelScope(shield=True):
                await self._write()

    async def times(self) -> Sequence[datetime]:
        """See `Log`."""
        return await self._inner.times()

    def _effectful(self) -> Mapping[CallKey, str]:
        """The tools of the last reply's calls that can change something; no older reply has open calls (I2)."""
        tools = self._tools()
        return {
            key: name
            for key, name in _last_calls(self._inner.entries)
            if name in tools and not tools[name].read_only
        }

    async def _write(self) -> None:
        async with self._order:
            text, self._waiting = self._waiting, ""
            if not text:
                return
            try:
                await anyio.to_thread.run_sync(append, self._workspace, text)
            except OSError as error:
                self._broken = True
                log.warning("session %s leaves no more receipts: %s", self._session, error)


def _last_calls(entries: Sequence[Entry]) -> Iterator[tuple[CallKey, str]]:
    last = next((e for e in reversed(entries) if isinstance(e, ReplyEntry)), None)
    for call in () if last is None else last.reply.calls:
        yield call.key, call.name


def _starts(entries: Sequence[Entry]) -> bool:
    return any(isinstance(entry, StartedEntry) for entry in entries)
