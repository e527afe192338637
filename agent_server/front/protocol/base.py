"""What every message of ours has: camelCase on the wire, and blindness to fields it does not know (`_meta`)."""

from collections.abc import Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel


def _wire_name(name: str) -> str:
    return "_meta" if name == "meta" else to_camel(name)


class Wire(BaseModel):
    """An object on the wire."""

    model_config = ConfigDict(
        alias_generator=_wire_name,
        populate_by_name=True,
        extra="ignore",
        frozen=True,
        use_attribute_docstrings=True,
    )

    @classmethod
    def parse(cls, params: Mapping[str, object]) -> Self:
        """Read an object from the wire.

        Raises:
            pydantic.ValidationError: it does not fit.
        """
        return cls.model_validate(params)

    def dump(self) -> dict[str, JsonValue]:
        """The object as it goes on the wire; a field without value is null, not absent."""
        return self.model_dump(mode="json", by_alias=True)


class Position(Wire):
    """A place in a document, as in LSP."""

    line: int = Field(ge=0)
    """0-based."""
    character: int = Field(ge=0)
    """0-based, in units of the negotiated position encoding (over ACP: UTF-16)."""


class Range(Wire):
    """From `start` up to, not including, `end`."""

    start: Position
    end: Position


class Nothing(Wire):
    """An empty object."""
