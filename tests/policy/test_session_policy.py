"""The policy of a session: the mode of the moment, and answers that reach further than once."""

import pytest

from agent_server.loop.action import Action, Answer, AnswerKind, Question, Scope
from agent_server.loop.model import Mode
from agent_server.policy.grants import Grant
from agent_server.policy.places import Places
from agent_server.policy.rules import Rule, parse_rule
from agent_server.policy.session_policy import SessionPolicy

pytestmark = pytest.mark.anyio

EDIT = Action("write", "edit", ("/w/a.py",))


class Desk:
    """A session policy with everything it depends on in the open."""

    def __init__(self, *rules: Rule) -> None:
        self.mode: Mode = "ask"
        self.saved: list[tuple[Scope, Grant]] = []
        self.policy = SessionPolicy(
            mode=lambda: self.mode,
            rules=rules,
            grants=frozenset(),
            places=Places(("/w",), "/home/ann", own=("/home/ann/.agent-server",)),
            save=self.save,
        )

    async def save(self, scope: Scope, grant: Grant) -> None:
        self.saved.append((scope, grant))

    async def answer(self, action: Action, kind: AnswerKind, *scopes: Scope) -> None:
        decision = self.policy.decide(action)
        question = Question("call-1-0", "edit", action, decision, scopes or decision.scopes)
        await self.policy.remember(question, Answer(kind))


async def test_the_mode_counts_at_the_moment_of_the_decision() -> None:
    desk = Desk()
    before = desk.policy.decide(EDIT).verdict
    desk.mode = "accept_edits"

    assert (before, desk.policy.decide(EDIT).verdict) == ("ask", "allow")


@pytest.mark.parametrize(
    ("kind", "scope"), [("allow_session", "session"), ("allow_workspace", "workspace")]
)
async def test_a_lasting_yes_is_saved_and_not_asked_again(kind: AnswerKind, scope: Scope) -> None:
    desk = Desk()
    await desk.answer(EDIT, kind)

    assert desk.policy.decide(EDIT).verdict == "allow"
    assert [(s, str(g)) for s, g in desk.saved] == [(scope, "write edit(/w/a.py)")]


@pytest.mark.parametrize("kind", ["allow_once", "reject", "cancelled", "timed_out"])
async def test_any_other_answer_leaves_no_trace(kind: AnswerKind) -> None:
    desk = Desk()
    await desk.answer(EDIT, kind)

    assert desk.policy.decide(EDIT).verdict == "ask"
    assert desk.saved == []


async def test_a_client_that_claims_a_lasting_yes_on_the_floor_is_not_believed() -> None:
    desk = Desk()
    await desk.answer(
        Action("read", "read", ("/w/.env",)), "allow_workspace", "once", "session", "workspace"
    )

    assert desk.saved == []


async def test_a_lasting_yes_to_a_command_is_not_kept() -> None:
    desk = Desk()
    await desk.answer(Action("exec", "shell", ("/w",), "ls"), "allow_session", "once", "session")

    assert desk.saved == []


async def test_a_revoked_grant_asks_again() -> None:
    desk = Desk()
    await desk.answer(EDIT, "allow_session")
    for grant in desk.policy.grants:
        desk.policy.revoke(grant)

    assert desk.policy.decide(EDIT).verdict == "ask"


async def test_secrets_our_own_files_and_denied_ones_are_concealed_from_searches() -> None:
    policy = Desk(parse_rule("deny", "read(private/**)")).policy
    paths = ("/w/a.py", "/w/.env", "/w/private/x", "/home/ann/.agent-server/state/sessions.db")

    assert [p for p in paths if policy.conceals(p)] == list(paths[1:])


async def test_only_what_needs_no_question_may_be_shown_freely() -> None:
    policy = Desk(parse_rule("ask", "read(draft/**)")).policy

    assert [
        p for p in ("/w/a.py", "/w/.env", "/w/draft/x", "/etc/hosts") if policy.reads_freely(p)
    ] == ["/w/a.py"]
