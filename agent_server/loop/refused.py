"""What to leave out of later requests after a provider refused one for its form, so that the session can go on.

A refused request is refused again for as long as the same content is in it. Pictures go first: they are what providers
refuse most, and each in words of its own. Else what was said in the turn that failed, where the refusal names a message
or comes a second time: one that has another reason, such as a model that does not exist, takes nothing away.
"""

import re
from collections.abc import Sequence
from typing import Final

from agent_server.loop.errors import ModelFailure
from agent_server.loop.faults import Fault
from agent_server.loop.model import Entry, Image, TurnEndEntry, TurnId, Withheld
from agent_server.loop.ports import Request, UserMessage

FORM_STATUS: Final = frozenset({400, 404, 413, 415, 422})
_IMAGES: Final = re.compile(
    r"image|picture|photo|vision|visual|multi.?modal|modalit|media|base64|attachment|content.?type|content.?part",
    re.IGNORECASE,
)
_VARYING: Final = re.compile(r"[0-9a-fA-F-]{6,}|\d+")
"""Ids of requests and the like, by which the same refusal differs each time."""
_MESSAGE: Final = re.compile(r"messages?[.\[ ]{0,2}\d|\bcontent\.\d|contents\[\d", re.IGNORECASE)


def is_about_form(failure: ModelFailure, request: Request) -> bool:
    """Whether the provider refused what the request holds, rather than who asks, for what, or how often."""
    if failure.status not in FORM_STATUS:
        return False
    return failure.fault is Fault.INVALID or (failure.status == 413 and has_images(request))


def has_images(request: Request) -> bool:
    """Whether there is a picture in the request."""
    return any(
        isinstance(part, Image)
        for message in request.messages
        if isinstance(message, UserMessage)
        for part in message.parts
    )


def withhold(
    failure: ModelFailure, request: Request, entries: Sequence[Entry], turn: TurnId
) -> Withheld | None:
    """What to leave out from now on; None when nothing of the content seems to be the reason."""
    if not is_about_form(failure, request):
        return None
    words = str(failure)
    again = _ended_so(entries, words, turn)
    if has_images(request) and (failure.status == 413 or again or _IMAGES.search(words)):
        return "images"
    return "turn" if again or _MESSAGE.search(words) else None


def _ended_so(entries: Sequence[Entry], words: str, turn: TurnId) -> bool:
    """Whether the turn before ended with the same words."""
    ends = (e for e in reversed(entries) if isinstance(e, TurnEndEntry) and e.turn != turn)
    last = next(ends, None)
    return last is not None and _VARYING.sub("#", last.message or "") == _VARYING.sub("#", words)
