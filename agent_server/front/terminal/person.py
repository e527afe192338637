"""The person at the terminal: asked by single keys, in words, and never when nobody is there."""

from collections.abc import Callable
from typing import Literal

from rich.console import ConsoleRenderable

from agent_server.front.terminal.input import CTRL_C, CTRL_D, Keyboard
from agent_server.front.terminal.page import Page
from agent_server.frozen import frozen

Automatic = Literal["yes", "no"]
"""The answer given to every question, in place of the person."""


class StopTurn(Exception):
    """The person pressed Ctrl-C at a question."""


@frozen
class Person:
    """Where questions are shown and answers come from."""

    page: Page
    keyboard: Keyboard
    automatic: Automatic | None
    """None: the person is asked."""
    withdrawn: Callable[[str], bool]
    """Whether nobody needs the answer about this subject any more."""
    cwd: str

    def key(self, question: ConsoleRenderable, keys: str, *, subject: str) -> str | None:
        """One of `keys`, in lower case; None when the question was withdrawn meanwhile.

        Raises:
            StopTurn: the person wants the turn to end.
        """
        screen = self.page.screen
        with self.keyboard.keys() as next_key:
            screen.draw(live=[question])
            try:
                while not self.withdrawn(subject):
                    pressed = next_key()
                    if pressed in (CTRL_C, CTRL_D):
                        raise StopTurn
                    if pressed and pressed.lower() in keys:
                        return pressed.lower()
                    if pressed:
                        self.keyboard.keep(pressed)
            finally:
                screen.draw()
        return None

    def words(self, prompt: str) -> str | None:
        """What the person says, or None.

        Raises:
            StopTurn: as for a key.
        """
        try:
            said = self.keyboard.line(prompt)
        except KeyboardInterrupt:
            raise StopTurn from None
        return said.strip() or None if said is not None else None
