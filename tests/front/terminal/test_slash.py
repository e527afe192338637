import pytest

from agent_server.front.terminal.slash import NAMES, SERVERS, Mistaken, Slash, parse_slash
from agent_server.session.builtin.registry import COMMANDS


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/help", Slash("help")),
        (" /mode  plan ", Slash("mode", "plan")),
        ("/model openai/x", Slash("model", "openai/x")),
        ("/exit", Slash("quit")),
        ("/fork", Slash("fork")),
        ("/undo", Slash("undo")),
        ("/rewind 2", Slash("rewind", "2")),
        ("/title Fix the parser", Slash("title", "Fix the parser")),
        ("/mod ask", Mistaken("there is no command /mod; did you mean /mode?")),
        ("/zzz", Mistaken("there is no command /zzz; /help lists them")),
    ],
)
def test_a_command_is_known_by_its_slash(text: str, command: Slash | Mistaken) -> None:
    assert parse_slash(text) == command


def test_every_command_of_the_server_is_had_here_or_left_to_it() -> None:
    assert {one.name for one in COMMANDS} <= {*NAMES, *SERVERS}


@pytest.mark.parametrize(
    "text", ["/cost", "/compact", "what does /help do?", "/etc/hosts is odd", "/a\nb", ""]
)
def test_other_text_is_a_prompt(text: str) -> None:
    assert parse_slash(text) is None
