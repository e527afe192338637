"""The documents of an ACP client, over `fs/read_text_file` and `fs/write_text_file` where it offers them.

ACP has no versions and no list of open documents: the client's text of a path is the truth, unsaved changes
included, and a path that it will not read is the disk's. So is one whose text the client has plainly not understood,
and one that a client which cannot write shows as it is on the disk. No `_meta` in these requests: clients refuse
unknown parameters (docs/acp.md, rule 34).
"""

import anyio
import anyio.to_thread

from agent_server.edits.beneath import Beneath, signature, text_of
from agent_server.edits.files import read_text
from agent_server.edits.ports import Applied, Refreshed, Snapshot
from agent_server.front.blocks import Json
from agent_server.front.params import as_object
from agent_server.front.peer import Seat
from agent_server.front.rpc.errors import METHOD_NOT_FOUND, ConnectionClosed, RemoteError
from agent_server.loop.errors import EditRefused
from agent_server.loop.proposal import ChangeKind, FileChange

READ = "fs/read_text_file"
WRITE = "fs/write_text_file"
READ_S = 10.0
"""An editor reads from memory or a local disk; one that needs longer hangs, and the disk serves instead."""
WRITE_S = 30.0
"""A client may format or ask its person before it writes; it is not asked to hurry."""
PROOF_S = 2.0
"""How long the written text may take to show up (edits.ports.Editor)."""
PROOF_PAUSE_S = 0.05
"""Between two looks."""
MOST = 100
"""Files that are compared with what the client shows of them."""


class AcpEditor:
    """`edits.ports.Editor` for one session."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._unserved: set[str] = set()
        """What the client advertised and then did not know: not asked again (rule 33)."""
        self._beneath: dict[str, Beneath] = {}
        """By path: what is known of the files that the client showed us."""

    async def snapshot(self, path: str) -> Snapshot | None:
        """The client's text of the path; None when it has none, cannot say, or does not answer."""
        if self._seat.session is None or not self._reads:
            return None
        found: Snapshot | None = None
        with anyio.move_on_after(READ_S):
            found = await self._read(path)
        if found is None or await self._belongs_to_disk(path, found.text):
            return None
        if path not in self._beneath and len(self._beneath) < MOST:
            self._beneath[path] = Beneath()
            await anyio.to_thread.run_sync(self._beneath[path].compare, path, found.text)
        return found

    def takes(self, kind: ChangeKind) -> bool:
        """ACP has no word for a file that is created, deleted or renamed."""
        return kind == "edit"

    async def apply(self, change: FileChange, *, txn: str, label: str) -> Applied:
        """Compare, write, look again. What stands is told by content, whatever the client answered."""
        del txn, label  # ACP has no word for them
        if change.new_text is None:
            return Applied("declined", None, reason="ACP cannot delete a file")
        before = await self.snapshot(change.path)
        if (before.text if before else None) != change.base_text:
            return Applied("stale", before.text if before else None)
        if not self._writes:
            return Applied("declined", change.base_text, reason="the client does not write files")
        refusal = await self._write(change.path, change.new_text)
        return await self._verify(change, refusal)

    async def occupied(self, path: str) -> str | None:
        """Never: ACP has no word for what a client has open."""
        del path
        return None

    async def save(self, path: str) -> bool:
        """Never: writing a file over ACP is all there is, and whether it saves is the client's."""
        del path
        return False

    async def refresh(self) -> tuple[Refreshed, ...]:
        """Files that changed beneath what the client shows of them: it cannot be asked to reload any."""
        found: list[Refreshed] = []
        for path, beneath in list(self._beneath.items()):
            if beneath.same == await anyio.to_thread.run_sync(signature, path):
                continue
            shown: Snapshot | None = None
            with anyio.move_on_after(READ_S):
                shown = await self._read(path)
            if shown is None:
                continue
            match await anyio.to_thread.run_sync(beneath.compare, path, shown.text):
                case "followed":
                    found.append(Refreshed(path, "followed"))
                case "other":
                    found.append(Refreshed(path, "differs"))
                case _:
                    pass
        return tuple(found)

    async def unsaved(self) -> tuple[str, ...]:
        """Those of which the client showed us another text than the file's."""
        found: list[str] = []
        for path in list(self._beneath):
            shown = await self.snapshot(path)
            on_disk = await anyio.to_thread.run_sync(text_of, path)
            if shown is not None and shown.text != on_disk:
                found.append(path)
        return tuple(found)

    @property
    def _reads(self) -> bool:
        return self._seat.capabilities.read_files and READ not in self._unserved

    @property
    def _writes(self) -> bool:
        return self._seat.capabilities.write_files and WRITE not in self._unserved

    async def _request(self, method: str, params: Json) -> object:
        try:
            return await self._seat.request(method, params)
        except RemoteError as error:
            if error.code == METHOD_NOT_FOUND:
                self._unserved.add(method)
            raise

    async def _belongs_to_disk(self, path: str, text: str) -> bool:
        """Whether our own reading of the file serves better than the client's."""
        if "\ufffd" in text:  # bytes that it could not decode: writing them back would lose them
            return True
        if text and self._writes:
            return False
        on_disk = await anyio.to_thread.run_sync(_text_on_disk, path)
        if on_disk is None:
            return not text  # some clients show a missing file as an empty one
        return not self._writes and _same(on_disk, text)

    async def _read(self, path: str) -> Snapshot | None:
        try:
            reply = await self._request(READ, {"path": path})
        except (RemoteError, ConnectionClosed):
            return None
        text = (as_object(reply) or {}).get("content")
        return Snapshot(text, None) if isinstance(text, str) else None

    async def _write(self, path: str, text: str) -> str | None:
        """Ask for it; returns why it was refused. An answer proves nothing, and neither does silence."""
        with anyio.move_on_after(WRITE_S):
            try:
                await self._request(WRITE, {"path": path, "content": text})
            except (RemoteError, ConnectionClosed) as error:
                return str(error)
            return None
        return f"the client did not answer within {WRITE_S:.0f} s"

    async def _verify(self, change: FileChange, refusal: str | None) -> Applied:
        """Look until the text is ours; a client that said no is looked at once."""
        found: Snapshot | None = None
        with anyio.move_on_after(PROOF_S):
            while True:
                found = await self._read(change.path)
                if found is not None and found.text == change.new_text:
                    return Applied("applied", found.text)
                if refusal is not None:
                    break
                await anyio.sleep(PROOF_PAUSE_S)
        if found is None:
            return Applied("unknown", None, reason=refusal or "the client does not show the file")
        if found.text == change.base_text:
            return Applied("failed", found.text, reason=refusal or "the client changed nothing")
        return Applied("unknown", found.text, reason=refusal or "the client wrote another text")


def _text_on_disk(path: str) -> str | None:
    """The file's text; None when there is no text file."""
    try:
        return read_text(path).text
    except EditRefused:
        return None


def _same(one: str, two: str) -> bool:
    """Whether the texts differ in line ends only, which some clients normalise."""
    return one.replace("\r\n", "\n") == two.replace("\r\n", "\n")
