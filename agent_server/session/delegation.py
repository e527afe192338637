"""Sub-agents: a call of `delegate` is answered by a child session with a log, tools, a model and steps of its own.

What nests: the cancel scope (the child runs inside the call), the budget (`Turn.charge`), the questions (they reach the
person as questions about the call that the client knows), and the rules (the policy is the person's session's). The
child's log is kept under its parent and shown in no list (R33, F35).
"""

import itertools
import logging
from collections.abc import Callable
from dataclasses import replace

import anyio

from agent_server.context.prompt import sub_agent_prompt
from agent_server.edits.documents import Documents
from agent_server.edits.transaction import OnBehalf, Transactions
from agent_server.frozen import frozen
from agent_server.loop.action import KINDS, Answer, Question
from agent_server.loop.errors import AgentServerError, ClientMistake
from agent_server.loop.events import CallFinished, CallPending, StateChanged
from agent_server.loop.limits import Limits
from agent_server.loop.loop import run
from agent_server.loop.model import CallKey, Text, ToolResult
from agent_server.loop.ports import CallContext, Tools
from agent_server.loop.turn import Gate, Turn
from agent_server.session.delegation_report import Progress, report
from agent_server.session.ports import Equipment, Place, SubAgentTerms
from agent_server.session.prompts import new_turn_id
from agent_server.session.receipts import WithReceipts
from agent_server.session.session import Session
from agent_server.session.turning import context_of
from agent_server.store.records import SessionRecord
from agent_server.store.sessions import SessionStore
from agent_server.tools.delegate import headline
from agent_server.tools.subagents import Errand

log = logging.getLogger(__name__)

WITHHELD = frozenset({"ask_user", "memory"})
"""Tools that only the person's own agent has."""
DELEGATE = "delegate"
TITLE_CHARS = 60
NAME_CHARS = 40


@frozen
class Agent:
    """Who delegates: the person's agent, or a sub-agent."""

    place: Place
    model: Callable[[], str]
    prompt: Callable[[], str]
    """Its system prompt; those it sends begin with the same bytes."""
    turn: Callable[[], Turn]
    """Its running turn."""
    transactions: Callable[[], Transactions | None]
    """Through which it changes files; what it sends changes files through them too."""
    depth: int = 0


class Delegation:
    """Implements `tools.subagents.SubAgents` for one agent."""

    def __init__(self, agent: Agent, store: SessionStore, equipment: Equipment) -> None:
        self._agent = agent
        self._store = store
        self._equipment = equipment
        self._asking = anyio.Lock()
        """One question at a time, however many sub-agents have one."""

    async def run(self, errand: Errand, context: CallContext) -> ToolResult:
        """See `SubAgents`."""
        turn = self._agent.turn()
        allowed = allowed_tools(turn.tools, errand, self._agent.depth + 1, self._terms)
        if isinstance(allowed, ToolResult):
            return allowed
        try:
            model = self._model(errand)
        except ClientMistake as mistake:
            return ToolResult(False, str(mistake), code="unknown_model", summary="no such model")
        record = await self._store.create(
            self._agent.place.cwd,
            roots=self._agent.place.roots,
            title=headline(errand.task, TITLE_CHARS),
            model=model,
            mode=self._agent.place.mode(),
            system_prompt=sub_agent_prompt(self._agent.prompt()),
            parent=self._agent.place.id,
            delegated_by=str(context.key),
        )
        try:
            return await self._work(record, errand, allowed, context)
        finally:
            with anyio.CancelScope(shield=True):
                await self._release(record)

    @property
    def _terms(self) -> SubAgentTerms:
        return self._equipment.subagents

    def _model(self, errand: Errand) -> str:
        """The model's wish counts only among the models that a person may pick from."""
        known = self._equipment.models()
        if errand.model is not None and errand.model not in known:
            raise ClientMistake(
                f"there is no model {errand.model!r} to delegate to; there are: {', '.join(known)}"
            )
        return errand.model or self._terms.model or self._agent.model()

    async def _work(
        self,
        record: SessionRecord,
        errand: Errand,
        allowed: frozenset[str],
        context: CallContext,
    ) -> ToolResult:
        turn = await self._turn(record, errand, allowed, context)
        done = await run(turn, (Text(errand.task),))
        return report(done, turn.log.entries)

    async def _turn(
        self,
        record: SessionRecord,
        errand: Errand,
        allowed: frozenset[str],
        context: CallContext,
    ) -> Turn:
        """The child's one turn, under the one that delegates."""
        above, model = self._agent.turn(), record.model or self._agent.model()
        prompt = record.system_prompt or ""
        place = self._place(record, above, context)
        below = Delegation(
            Agent(
                place, lambda: model, lambda: prompt, lambda: turn, lambda: kit.transactions,
                self._agent.depth + 1,
            ),
            self._store,
            self._equipment,
        )  # fmt: skip
        kit = await self._equipment.kit(replace(place, subagents=below))
        tools = {name: tool for name, tool in kit.tools.items() if name in allowed}
        name = f"sub-agent “{headline(errand.task, NAME_CHARS)}”"
        kept = await self._store.open_log(record.id)
        receipts = self._equipment.receipts
        turn = Turn(
            id=new_turn_id(),
            log=WithReceipts(kept, record.id, place.cwd, lambda: tools) if receipts else kept,
            model=self._equipment.model(model),
            tools=tools,
            gate=Gate(above.gate.policy, Upwards(above, context.key, name, self._asking)),
            context=context_of(prompt, tools, self._equipment),
            emit=Progress(above, context).show,
            limits=_limits(above.limits, self._terms),
            numbers=itertools.count(1),
            parent=above,
        )
        return turn

    def _place(self, record: SessionRecord, above: Turn, context: CallContext) -> Place:
        """Where its parent works. Its edits go into its person's journal, so that they go back with that turn."""
        own, place = self._agent.transactions(), self._agent.place
        lent = own and own.lent(Documents(place.editor), OnBehalf(above.id, context.key, record.id))
        return replace(place, id=record.id, root=place.root or place.id, transactions=lent)

    async def _release(self, record: SessionRecord) -> None:
        try:
            await self._store.release(record.id)
        except AgentServerError as failure:
            log.warning("sub-agent session %s stays held: %s", record.id, failure)


def delegation_of(
    session: Session, place: Place, store: SessionStore, equipment: Equipment
) -> Delegation | None:
    """What the agent of a person's session may send; None where the settings allow no sub-agents."""
    if equipment.subagents.max_depth < 1:
        return None
    agent = Agent(
        place,
        lambda: session.model,
        lambda: session.system_prompt or "",
        lambda: _running(session),
        lambda: session.transactions,
    )
    return Delegation(agent, store, equipment)


def _running(session: Session) -> Turn:
    if session.running is None:
        raise RuntimeError(f"session {session.id} delegates without a turn")
    return session.running


def allowed_tools(
    own: Tools, errand: Errand, depth: int, terms: SubAgentTerms
) -> frozenset[str] | ToolResult:
    """The names of the tools of a sub-agent at `depth`: never more than its parent's `own`; a result when it errs."""
    names = own.keys() - WITHHELD - (set() if depth < terms.max_depth else {DELEGATE})
    if errand.tools is None:
        return frozenset(names)
    if unknown := sorted(set(errand.tools) - names):
        text = f"tools: a sub-agent cannot have {', '.join(unknown)}; it can have {', '.join(sorted(names))}"
        return ToolResult(False, text, code="bad_arguments", summary="bad arguments")
    return frozenset(errand.tools)


def _limits(above: Limits, terms: SubAgentTerms) -> Limits:
    """Its own steps; tokens, cost and time are those of the turn above, which every step is charged to."""
    return replace(
        above,
        max_turns=terms.max_steps,
        max_session_tokens=None,
        max_cost_usd=None,
        max_wall_s=None,
    )


@frozen
class Upwards:
    """Asks whoever the turn above asks, naming who wants it (CP-12).

    The person's client is asked about a call that it can know: one made for the question, which begins before it and
    ends with its answer. The call that sent the sub-agent runs, and nothing may be asked about a running call (ACP).
    """

    above: Turn
    key: CallKey
    name: str
    one_at_a_time: anyio.Lock

    async def ask(self, question: Question) -> Answer:
        """Exactly one question upwards."""
        named = replace(question, title=f"{self.name}: {question.title}", within=str(self.key))
        async with self.one_at_a_time:
            if self.above.parent is not None:
                return await self.above.gate.approver.ask(named)
            return await self._as_a_call(named)

    async def _as_a_call(self, question: Question) -> Answer:
        turn, key, tool = self.above, CallKey(next(self.above.numbers), 0), question.action.tool
        kind, title = KINDS[question.action.kind], question.title
        turn.emit(CallPending(turn.id, key, tool, title, kind, proposal=question.proposal))
        turn.emit(StateChanged(turn.id, "confirming", f"Waiting for you: {title}"))
        answer = Answer("cancelled")
        try:
            answer = await turn.gate.approver.ask(replace(question, call_id=str(key)))
            turn.emit(StateChanged(turn.id, "executing", "Running tools"))
        finally:
            word = "allowed" if answer.allows else "not allowed"
            result = ToolResult(answer.allows, word, code=None if answer.allows else "denied")
            turn.emit(CallFinished(turn.id, key, tool, replace(result, summary=word), "none"))
        return answer
