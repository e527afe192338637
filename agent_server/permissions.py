"""From settings and stored answers to the policy of a session: which rules hold, and where."""

import os
from pathlib import Path

from agent_server.config import Home, Permissions
from agent_server.loop.action import Scope
from agent_server.loop.errors import BadSetting
from agent_server.loop.model import SessionId
from agent_server.policy.grants import Grant, read_grant
from agent_server.policy.places import Places
from agent_server.policy.rules import Rule, RuleVerdict, parse_rule
from agent_server.policy.session_policy import SessionPolicy
from agent_server.session.ports import Place
from agent_server.store.sessions import SessionStore


def rules_of(permissions: Permissions) -> list[Rule | BadSetting]:
    """The rules, and what is wrong with others. In place of an `ask` or `deny` that cannot be read, everything asks."""
    lists: tuple[tuple[RuleVerdict, tuple[str, ...]], ...] = (
        ("allow", permissions.allow),
        ("ask", permissions.ask),
        ("deny", permissions.deny),
    )
    rules: list[Rule | BadSetting] = []
    for verdict, texts in lists:
        for text in texts:
            try:
                rules.append(parse_rule(verdict, text))
            except BadSetting as error:
                rules.append(error)
                if verdict != "allow":
                    rules.append(Rule("ask", "*"))
    return rules


def places_of(home: Home, place: Place) -> Places:
    """What is inside, what is the person's, and what is our own. Blocking: follows links."""
    roots = (place.cwd, *place.roots)
    own = (home.config_toml, home.sessions_db.parent, home.cache, home.log)
    return Places(
        tuple(map(os.path.realpath, roots)),
        os.path.realpath(Path.home()),
        tuple(map(os.path.realpath, own)),
    )


async def policy_of(
    place: Place,
    session: SessionId,
    *,
    places: Places,
    permissions: Permissions,
    store: SessionStore,
) -> SessionPolicy:
    """The policy of a person's session at `place`, with the answers that stand; it keeps further ones itself."""
    workspace = places.roots[0]
    stored = await store.grants(session, workspace)

    async def save(scope: Scope, grant: Grant) -> None:
        if scope != "once":
            owner = session if scope == "session" else workspace
            await store.add_grant(scope, owner, str(grant))

    kept = [read_grant(one.key) for one in stored if one.verdict == "allow"]
    return SessionPolicy(
        mode=place.mode,
        rules=[rule for rule in rules_of(permissions) if not isinstance(rule, BadSetting)],
        grants=frozenset(grant for grant in kept if grant is not None),
        places=places,
        save=save,
    )
