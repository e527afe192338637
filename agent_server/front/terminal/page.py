"""The page that a conversation makes: prints what is final with the right air between, keeps the rest live."""

import time
from collections.abc import Callable, Iterable

from rich.console import ConsoleRenderable
from rich.text import Text

from agent_server.front.terminal.screen import Screen
from agent_server.front.terminal.transcript import (
    CallItem,
    Item,
    NoticeItem,
    TextItem,
    Transcript,
    take,
)
from agent_server.front.terminal.view import air_between, item_view, live_view


class Page:
    """Knows only what was printed last."""

    def __init__(self, screen: Screen, clock: Callable[[], float] = time.monotonic) -> None:
        self.screen = screen
        self.clock = clock
        self._last: Item | None = None
        self._attached = False
        """What was added last belongs to the next tool line, its outcome."""

    def show(self, transcript: Transcript, *, closed: bool = False) -> Transcript:
        """Print what is final and draw the rest; what is left of the transcript."""
        now = self.clock()
        final, rest = take(transcript, closed=closed)
        printed = list(self._spaced(final, now))
        live = live_view(rest, now=now, width=self.screen.width)
        self.screen.draw(printed, () if closed else self._aired(live, rest))
        return rest

    def settle(self, transcript: Transcript) -> Transcript:
        """Print what is final and take the live lines away, so that something else can be shown below."""
        final, rest = take(transcript)
        self.screen.draw(list(self._spaced(final, self.clock())))
        return rest

    def add(self, *parts: ConsoleRenderable, attached: bool = False) -> None:
        """Print something that is no item, with air before it. `attached`: a tool line that follows is its outcome."""
        self.screen.print(*([Text("")] if self._last is not None else []), *parts)
        self._last = NoticeItem("info", "")
        self._attached = attached

    def start(self) -> None:
        """Nothing was printed that needs air."""
        self._last = None

    def _spaced(self, items: Iterable[Item], now: float) -> Iterable[ConsoleRenderable]:
        for item in items:
            if isinstance(item, TextItem) and not item.text.strip():
                continue
            if self._needs_air(item):
                yield Text("")
            yield item_view(item, now=now, plain=self.screen.plain)
            self._last = item
            self._attached = False

    def _needs_air(self, item: Item) -> bool:
        if self._last is None or (self._attached and isinstance(item, CallItem)):
            return False
        return air_between(self._last, item)

    def _aired(
        self, live: Iterable[ConsoleRenderable], rest: Transcript
    ) -> Iterable[ConsoleRenderable]:
        shown = [item for item in rest.items if not (isinstance(item, TextItem) and not item.text)]
        if self._last is not None and (not shown or self._needs_air(shown[0])):
            yield Text("")
        yield from live
