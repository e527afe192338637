"""The formats by name, and the one way to make a document: masked first, then rendered."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from agent_server.export import data, markdown, webpage
from agent_server.export.conversation import About, Turn, masking, turns
from agent_server.loop.model import Entry

Format = Literal["md", "json", "html"]

RENDERERS: Mapping[Format, Callable[[About, Sequence[Turn]], str]] = {
    "md": markdown.render,
    "json": data.render,
    "html": webpage.render,
}


def document(
    form: Format, about: About, entries: Sequence[Entry], *, secrets: Iterable[str]
) -> str:
    """The session as a document in which none of `secrets` stands."""
    mask = masking(secrets)
    title = None if about.title is None else mask(about.title)
    return RENDERERS[form](replace(about, title=title, cwd=mask(about.cwd)), turns(entries, mask))
