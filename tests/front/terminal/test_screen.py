"""Frames as a terminal takes them in, on a screen of a few lines."""

import io
import re

from rich.console import Console
from rich.text import Text

from agent_server.front.terminal.screen import Screen
from tests.front.terminal.fakes import plain_screen


class Glass:
    """As much of a terminal as the frames need: lines, cursor up, erase below."""

    def __init__(self) -> None:
        self.lines: list[str] = [""]
        self.row = 0

    def feed(self, data: str) -> list[str]:
        data = re.sub(r"\x1b\[\?\d+[hl]", "", data)
        for part in re.findall(r"\x1b\[\d*[AJ]|\r|\n|[^\x1b\r\n]+", data):
            if part.endswith("A") and part[0] == "\x1b":
                self.row -= int(part[2:-1])
            elif part == "\x1b[J":
                self.lines[self.row :] = [""]
            elif part == "\n":
                self.row += 1
                self.lines += [""] * (self.row + 1 - len(self.lines))
            elif part != "\r":
                self.lines[self.row] += part
        return self.lines


def terminal_screen(height: int = 24) -> tuple[Screen, io.StringIO]:
    out = io.StringIO()
    console = Console(file=out, width=40, height=height, force_terminal=True, color_system=None)
    return Screen(console), out


def test_live_lines_are_replaced_and_final_ones_stay() -> None:
    screen, out = terminal_screen()
    screen.draw([Text("one")], [Text("live 1"), Text("live 2")])
    screen.draw([Text("two")], [Text("live 3")])
    screen.draw([], [])
    assert Glass().feed(out.getvalue()) == ["one", "two", ""]


def test_a_frame_is_one_write_and_an_equal_one_none() -> None:
    screen, out = terminal_screen()
    screen.draw(live=[Text("a")])
    before = out.getvalue()
    screen.draw(live=[Text("a")])
    assert out.getvalue() == before
    assert before.count("\x1b[?2026h") == 1


def test_of_too_many_live_lines_the_last_ones_show() -> None:
    screen, out = terminal_screen(height=4)
    screen.draw(live=[Text(f"line {n}") for n in range(9)])
    assert Glass().feed(out.getvalue()) == ["line 6", "line 7", "line 8", ""]


def test_the_cursor_is_back_at_the_end() -> None:
    screen, out = terminal_screen()
    screen.draw(live=[Text("a")])
    screen.close()
    assert out.getvalue().rindex("\x1b[?25h") > out.getvalue().rindex("\x1b[?25l")


def test_a_pipe_gets_the_final_lines_only_and_no_control_sequence() -> None:
    screen, out = plain_screen()
    screen.draw([Text("one", style="red")], [Text("live")])
    screen.close()
    assert out.getvalue() == "one\n"
