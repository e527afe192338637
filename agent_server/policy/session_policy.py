"""The policy of one session: the kernel with the mode, rules and grants as they are now."""

from collections.abc import Awaitable, Callable, Sequence

from agent_server.loop.action import Action, Answer, Decision, Question, Scope
from agent_server.loop.model import Mode
from agent_server.policy.grants import Grant, Grants, grants_for
from agent_server.policy.kernel import decide
from agent_server.policy.places import Places
from agent_server.policy.rules import Rule, matching
from agent_server.policy.secrets import is_secret

Save = Callable[[Scope, Grant], Awaitable[None]]
"""Keeps a grant beyond this process; called once per grant, after it already counts."""


class SessionPolicy:
    """Implements `loop.ports.Policy`. The owner of the session's grants."""

    def __init__(
        self,
        *,
        mode: Callable[[], Mode],
        rules: Sequence[Rule],
        grants: Grants,
        places: Places,
        save: Save,
    ) -> None:
        """`mode` is asked at every decision; `grants` are those kept earlier for session and workspace."""
        self._mode = mode
        self._rules = tuple(rules)
        self._grants = grants
        self._places = places
        self._save = save

    @property
    def grants(self) -> Grants:
        """What is granted now."""
        return self._grants

    def revoke(self, grant: Grant) -> None:
        """Ask again about what `grant` allowed; the caller forgets it in the store."""
        self._grants -= {grant}

    def decide(self, action: Action) -> Decision:
        """The verdict as of now."""
        return decide(
            action, mode=self._mode(), rules=self._rules, grants=self._grants, places=self._places
        )

    def conceals(self, path: str) -> bool:
        """Whether a file must not show up in a listing's or search's content: a secret, ours, or denied by a rule."""
        if is_secret(path, self._places) or self._places.is_own(path):
            return True
        read = Action("read", "read", (path,))
        return matching(self._rules, "deny", read, self._places) is not None

    def reads_freely(self, path: str) -> bool:
        """Whether the model may see the file at this real path without a question."""
        return self.decide(Action("read", "read", (path,))).verdict == "allow"

    async def remember(self, question: Question, answer: Answer) -> None:
        """Keep a grant when the answer reaches further than once, and the question offered that."""
        match answer.kind:
            case "allow_session":
                scope: Scope = "session"
            case "allow_workspace":
                scope = "workspace"
            case "allow_once" | "reject" | "cancelled" | "timed_out":
                return
        # Asked anew of the kernel, not of the question: the floor may never become a grant.
        if scope not in question.scopes or self.decide(question.action).floor:
            return
        for grant in sorted(grants_for(question.action)):
            self._grants |= {grant}
            await self._save(scope, grant)
