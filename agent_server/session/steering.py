"""What can be said to a session while it works (loop.md R133, F21-F24): queue, steer, redirect, stop."""

from typing import Literal

from agent_server.frozen import frozen
from agent_server.loop.model import TurnId

Steer = Literal["steer", "redirect", "stop"]
"""To the running turn: hear this at the next step · drop what streams and hear this · end after the running calls."""
WhileBusy = Literal["queue", "steer", "reject"]
"""What a prompt means that comes while a turn runs."""


@frozen
class Steered:
    """What became of it."""

    outcome: Literal["steered", "redirected", "queued", "started", "stopping"]
    turn: TurnId
    """The turn that hears it: the running one, or one of its own."""
