"""`agent:` documents, read-only, for clients that ask for their text (`workspace/textDocumentContent`).

agent:/edit/<txn>/<base|new>/<path>   one side of one file of an edit
agent:/page/<name>                    a text that is too long for a message
"""

from collections import OrderedDict
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from agent_server.front.proposals import Proposals
from agent_server.front.uris import file_uri
from agent_server.loop.errors import ClientMistake

SCHEME: Final = "agent"
KEPT: Final = 16
"""Pages whose text can still be asked for."""


class VirtualDocuments:
    """What can be read under the scheme. One per connection."""

    def __init__(self, proposals: Proposals) -> None:
        self._proposals = proposals
        self._pages: OrderedDict[str, str] = OrderedDict()

    def keep(self, name: str, text: str) -> tuple[str, bool]:
        """Make a page; its URI, and whether there was another text under it."""
        known = self._pages.pop(name, None)
        self._pages[name] = text
        while len(self._pages) > KEPT:
            self._pages.popitem(last=False)
        return f"{SCHEME}:/page/{quote(name)}", known not in (None, text)

    def text(self, uri: str) -> str:
        """The whole text; empty for a side that does not exist.

        Raises:
            ClientMistake, RpcError: there is no such document, or it was forgotten.
        """
        parts = urlsplit(uri)
        match parts.path.split("/", 4):
            case ["", "page", name] if parts.scheme == SCHEME and unquote(name) in self._pages:
                return self._pages[unquote(name)]
            case ["", "edit", txn, "base" | "new" as side, path] if parts.scheme == SCHEME:
                named = file_uri(f"/{unquote(path)}")
                return self._proposals.content(unquote(txn), named, side) or ""
            case _:
                raise ClientMistake(f"there is no document {uri}")
