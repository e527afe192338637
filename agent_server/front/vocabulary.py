"""The two vocabularies of the wires, and how a name of one is said in the other (spec §5.2).

ACP's own      session/new                   agent/session/new
ours           _agent-server/edit/resolve    agent/edit/resolve
"""

from enum import StrEnum

OWN_PREFIX = "_agent-server/"
LSP_PREFIX = "agent/"


class Vocabulary(StrEnum):
    """Which of them a connection speaks."""

    ACP = "acp"
    LSP = "lsp"


def wire_name(name: str, vocabulary: Vocabulary, *, ours: bool) -> str:
    """A method's name on the wire. `ours`: not one of ACP's."""
    match vocabulary:
        case Vocabulary.LSP:
            return LSP_PREFIX + name
        case Vocabulary.ACP:
            return OWN_PREFIX + name if ours else name
