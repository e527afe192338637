"""`session/set_mode` and `session/set_config_option`: two doors to the same choices, kept in step (rule 32)."""

from collections.abc import Awaitable, Callable, Mapping

from agent_server.front.blocks import Json
from agent_server.front.front import Front
from agent_server.front.params import config_choice, mode, session_id
from agent_server.front.render.options import config_options, twin_updates
from agent_server.front.rpc.dispatch import Incoming, Result
from agent_server.loop.errors import ClientMistake
from agent_server.loop.model import REVIEWS, Review
from agent_server.session.session import Session


async def set_mode(front: Front, incoming: Incoming) -> Result:
    """The older door; answers nothing, and tells both."""
    session = front.sessions.get(session_id(incoming.params))
    await _choose_mode(session, incoming.params.get("modeId"))
    return _answer(front, session, {})


async def set_config_option(front: Front, incoming: Incoming) -> Result:
    """The newer door; answers every option as it now stands."""
    session = front.sessions.get(session_id(incoming.params))
    choice = config_choice(incoming.params)
    choose = _CHOOSERS.get(choice.option)
    if choose is None:
        raise ClientMistake(f"configId must be one of {', '.join(_CHOOSERS)}")
    await choose(session, choice.value)
    return _answer(front, session, {"configOptions": current_options(session)})


def current_options(session: Session) -> list[Json]:
    """The session's config options, whole."""
    return config_options(
        session.mode, session.model, session.profile.models, session.profile.review
    )


def _answer(front: Front, session: Session, value: Json) -> Result:
    view = front.peer.view(session.id)
    return Result(value, view.follow_up(twin_updates(session.mode, current_options(session))))


async def _choose_mode(session: Session, value: object) -> None:
    await session.set_mode(mode(value, field="modeId"))


async def _choose_mode_option(session: Session, value: str) -> None:
    await session.set_mode(mode(value, field="value"))


async def _choose_model(session: Session, value: str) -> None:
    if value not in (known := session.profile.models):
        raise ClientMistake(f"value must be one of {', '.join(known)}")
    await session.set_model(value)


async def _choose_review(session: Session, value: str) -> None:
    known: Mapping[str, Review] = {review: review for review in REVIEWS}
    review = known.get(value)
    if review is None:
        raise ClientMistake(f"value must be one of {', '.join(REVIEWS)}")
    await session.set_review(review)


_CHOOSERS: Mapping[str, Callable[[Session, str], Awaitable[None]]] = {
    "mode": _choose_mode_option,
    "model": _choose_model,
    "review": _choose_review,
}
