"""Code actions: `quickfix.agent` for what is wrong, `refactor.rewrite.agent` for what is selected (spec §5.2).

Offering costs no model: an action carries in `data` what it is about, and becomes a command when it is resolved.
"""

from collections.abc import Callable, Sequence
from typing import Literal, assert_never

from lsprotocol import types

from agent_server.front.lsp import wording
from agent_server.front.lsp.capabilities import FIX_KIND, REWRITE_KIND, Stock
from agent_server.front.params import as_object
from agent_server.front.protocol.base import Position, Range, Wire
from agent_server.front.protocol.commands import ProblemToFix
from agent_server.front.protocol.parse import parse_params

Wanted = Literal["fix", "rewrite", "explain", "test"]


class ActionData(Wire):
    """What an action is about. Clients drop what is null or false in it (lsp.md §2.3): all but `uri` has a default."""

    uri: str
    wanted: Wanted = "fix"
    range: Range | None = None
    diagnostics: tuple[ProblemToFix, ...] = ()


class Actions:
    """The code actions of one connection."""

    def __init__(self, stock: Stock, root_of: Callable[[str], str]) -> None:
        """`root_of` gives the workspace folder of a document: paths are named from there."""
        self._stock = stock
        self._root_of = root_of

    def offer(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """What can be done here; nothing that was not asked for by kind."""
        wanted = [*self._fixes(params), *self._rewrites(params)]
        only = params.context.only
        return [a for a in wanted if only is None or any(_within(a.kind, kind) for kind in only)]

    def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """The same action with its command.

        Raises:
            ClientMistake: its `data` is not ours.
        """
        data = parse_params(ActionData, as_object(action.data) or {})
        action.command = self._command(action.title, data)
        return action

    # ---- inside ------------------------------------------------------------------------------------

    def _fixes(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        found = params.context.diagnostics
        if not found:
            return []
        words = f"Fix with the agent: {found[0].message}" if len(found) == 1 else _many(len(found))
        data = ActionData(
            uri=params.text_document.uri,
            wanted="fix",
            range=_range(params.range),
            diagnostics=tuple(_problem(one) for one in found),
        )
        return [self._action(words, FIX_KIND, data, found)]

    def _rewrites(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Of a selection all of them; of a whole document, and only when a person asks, what makes sense there."""
        part, uri = _range(params.range), params.text_document.uri
        if part.start == part.end:
            if params.context.trigger_kind is types.CodeActionTriggerKind.Automatic:
                return []
            offered = [data for data in _OFFERED if data[0] != "rewrite"]
            part = None
        else:
            offered = list(_OFFERED)
        return [
            self._action(title, REWRITE_KIND, ActionData(uri=uri, wanted=wanted, range=part))
            for wanted, title in offered
        ]

    def _action(
        self,
        title: str,
        kind: str,
        data: ActionData,
        diagnostics: Sequence[types.Diagnostic] | None = None,
    ) -> types.CodeAction:
        made = types.CodeAction(title=title, kind=kind, diagnostics=diagnostics)
        if self._stock.tags_actions:
            made.tags = [types.CodeActionTag.LlmGenerated]
        if self._stock.resolves_actions:
            made.data = data.dump()
        else:
            made.command = self._command(title, data)
        return made

    def _command(self, title: str, data: ActionData) -> types.Command:
        named: dict[str, object] = {"uri": data.uri}
        if data.range is not None:
            named["range"] = data.range.dump()
        cwd = self._root_of(data.uri)
        match data.wanted:
            case "fix":
                problems = [problem.dump() for problem in data.diagnostics]
                return _command(title, "agent.fix", {**named, "diagnostics": problems})
            case "explain":
                return _command(title, "agent.explain", named)
            case "rewrite":
                words = wording.rewrite(data.uri, data.range, cwd=cwd)
            case "test":
                words = wording.write_test(data.uri, data.range, cwd=cwd)
            case _:
                assert_never(data.wanted)
        return _command(title, "agent.prompt", {**named, "prompt": words})


_OFFERED: tuple[tuple[Wanted, str], ...] = (
    ("rewrite", "Rewrite with the agent"),
    ("explain", "Explain with the agent"),
    ("test", "Write a test with the agent"),
)


def _command(title: str, name: str, argument: dict[str, object]) -> types.Command:
    return types.Command(title, name, arguments=[argument])


def _many(count: int) -> str:
    return f"Fix {count} problems with the agent"


def _within(kind: str | None, asked: str) -> bool:
    """Kinds are a tree, by dots; an empty one is its root."""
    return kind is not None and (asked in ("", kind) or kind.startswith(f"{asked}."))


def _range(part: types.Range) -> Range:
    start, end = part.start, part.end
    return Range(
        start=Position(line=start.line, character=start.character),
        end=Position(line=end.line, character=end.character),
    )


def _problem(one: types.Diagnostic) -> ProblemToFix:
    return ProblemToFix(
        message=one.message, range=_range(one.range), source=one.source, code=one.code
    )
