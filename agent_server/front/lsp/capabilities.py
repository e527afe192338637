"""What a client can do of LSP itself, resolved once; what it can do of ours is `front/capabilities.py`'s."""

from dataclasses import dataclass

from lsprotocol import types

from agent_server.front.capabilities import Capabilities, own_capabilities
from agent_server.front.params import as_object


@dataclass(frozen=True, slots=True)
class Stock:
    """The parts of LSP that stand in for our messages where a client has no plugin of ours."""

    apply_edit: bool = False
    """`workspace/applyEdit`."""
    show_document: bool = False
    """`window/showDocument`."""
    progress: bool = False
    """`window/workDoneProgress/create`."""


def stock_capabilities(declared: types.ClientCapabilities) -> Stock:
    """From `initialize`. `window/showMessage` and `showMessageRequest` have no capability: everyone has them."""
    workspace, window = declared.workspace, declared.window
    return Stock(
        apply_edit=bool(workspace and workspace.apply_edit),
        show_document=bool(window and window.show_document and window.show_document.support),
        progress=bool(window and window.work_done_progress),
    )


def own_of(declared: types.ClientCapabilities) -> Capabilities:
    """`capabilities.experimental.agent`."""
    experimental = as_object(declared.experimental) or {}
    return own_capabilities(experimental.get("agent"))
