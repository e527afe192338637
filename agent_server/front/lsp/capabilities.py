"""What a client can do of LSP itself, resolved once; what it can do of ours is `front/capabilities.py`'s."""

from typing import Final

from lsprotocol import types

from agent_server.front.capabilities import Capabilities, own_capabilities
from agent_server.front.params import as_object
from agent_server.frozen import frozen

FIX_KIND: Final = "quickfix.agent"
REWRITE_KIND: Final = "refactor.rewrite.agent"


@frozen
class Stock:
    """The parts of LSP that stand in for our messages where a client has no plugin of ours."""

    apply_edit: bool = False
    """`workspace/applyEdit`."""
    file_operations: frozenset[str] = frozenset()
    """The kinds of file operations that may be in it: `create`, `delete`, `rename`."""
    show_document: bool = False
    """`window/showDocument`."""
    progress: bool = False
    """`window/workDoneProgress/create`."""
    actions: bool = False
    """`textDocument/codeAction`; a client with our plugin has its own, unless it says that it wants ours."""
    resolves_actions: bool = False
    """Sends an action back with its `data`, to get the command."""
    tags_actions: bool = False
    """Knows that an action is a language model's."""
    lenses: bool = False
    """`textDocument/codeLens`; a client that shows proposals itself needs none."""
    refreshes_lenses: bool = False
    """`workspace/codeLens/refresh`."""
    pulls_configuration: bool = False
    """`workspace/configuration`; a client with our plugin has its own settings under our section."""
    registers_configuration: bool = False
    """Tells of changed configuration only when it was asked to."""
    watches_files: bool = False
    """`workspace/didChangeWatchedFiles`, when it is asked to."""
    virtual_documents: bool = False
    """Reads and shows `agent:` documents; likewise."""


def stock_capabilities(declared: types.ClientCapabilities) -> Stock:
    """From `initialize`. `window/showMessage` and `showMessageRequest` have no capability: everyone has them."""
    workspace, window, own = declared.workspace, declared.window, own_of(declared)
    text = declared.text_document or types.TextDocumentClientCapabilities()
    actions, lenses = text.code_action, workspace and workspace.code_lens
    pulls = bool(workspace and workspace.configuration) and not own.updates
    told = workspace and workspace.did_change_configuration
    watched = workspace and workspace.did_change_watched_files
    shows = bool(window and window.show_document and window.show_document.support)
    edits = workspace and workspace.workspace_edit
    operations = (edits and edits.resource_operations) or ()
    resolved = actions and actions.data_support and actions.resolve_support
    tags = actions and actions.tag_support
    return Stock(
        actions=actions is not None and (not own.updates or own.code_actions),
        resolves_actions=bool(resolved and "command" in resolved.properties),
        tags_actions=bool(tags and types.CodeActionTag.LlmGenerated in tags.value_set),
        lenses=text.code_lens is not None and not own.edit_proposed,
        refreshes_lenses=bool(lenses and lenses.refresh_support),
        virtual_documents=bool(workspace and workspace.text_document_content)
        and shows
        and not own.edit_proposed,
        pulls_configuration=pulls,
        registers_configuration=bool(pulls and told and told.dynamic_registration),
        watches_files=bool(watched and watched.dynamic_registration),
        apply_edit=bool(workspace and workspace.apply_edit),
        file_operations=frozenset(str(kind.value) for kind in operations),
        show_document=shows,
        progress=bool(window and window.work_done_progress),
    )


def advertise(offered: types.ServerCapabilities, stock: Stock) -> None:
    """Say what this client is offered beyond documents and commands, and nothing more."""
    offered.code_action_provider = _actions(stock) if stock.actions else None
    offered.code_lens_provider = (
        types.CodeLensOptions(resolve_provider=False) if stock.lenses else None
    )
    workspace = offered.workspace = offered.workspace or types.WorkspaceOptions()
    workspace.workspace_folders = types.WorkspaceFoldersServerCapabilities(
        supported=True, change_notifications=True
    )
    schemes = types.TextDocumentContentOptions(schemes=["agent"])
    workspace.text_document_content = schemes if stock.virtual_documents else None


def _actions(stock: Stock) -> types.CodeActionOptions:
    return types.CodeActionOptions(
        code_action_kinds=[FIX_KIND, REWRITE_KIND], resolve_provider=stock.resolves_actions
    )


def own_of(declared: types.ClientCapabilities) -> Capabilities:
    """`capabilities.experimental.agent`."""
    experimental = as_object(declared.experimental) or {}
    return own_capabilities(experimental.get("agent"))
