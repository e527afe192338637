"""`/undo`: the edits of the last turn that still has some are taken back, at once; the answer says how to undo that."""

import anyio

from agent_server.edits.undo_run import Rewound
from agent_server.loop.errors import EditRefused
from agent_server.session.builtin.command import Here
from agent_server.session.builtin.words import NO_EDIT, left_alone, names, paragraphs
from agent_server.session.edits import SessionEdits


async def undo(here: Here) -> str:
    """What was taken back, and what was not."""
    edits = SessionEdits(here.session)
    cwd, rewound = here.session.cwd, Rewound((), ())
    try:
        # A cancel comes too late for it: files that went back and a model that does not hear of it must not be.
        with anyio.CancelScope(shield=True):
            rewound = await edits.undo(turn=True)
    except EditRefused as refused:
        if refused.reason == "not_applied":
            return f"{NO_EDIT.capitalize()}."
        raise
    left = "\n".join(left_alone(rewound.left, cwd))
    if rewound.undo is None:
        return paragraphs("Nothing was taken back.", left)
    note = edits.not_covered(rewound)
    here.show(rewound.undo, "files")
    return paragraphs(
        f"Taken back: {names([c.path for c in rewound.changes], cwd)}.",
        left,
        f"Note: {note}." if note else None,
        f"`/rewind {rewound.undo} files apply` undoes it.",
    )
