"""What is known about models: window, largest output, prices. From litellm's table on the disk, without its code.

The table is one JSON object of 3.5 MB, one model a key. Parsing it costs 30 ms and 20 MB, so single entries are looked
up in its text instead.
"""

import json
import math
import mmap
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agent_server.config import PriceSettings
from agent_server.frozen import frozen
from agent_server.loop.model import Usage

DEFAULT_WINDOW = 128_000
"""Tokens, for a model nobody knows: what most current models have at least."""

_TABLE = "model_prices_and_context_window_backup.json"
_MILLION = Decimal(1_000_000)


@frozen
class Price:
    """US dollars for one token."""

    input: Decimal
    output: Decimal
    cached: Decimal
    cache_write: Decimal

    def of(self, usage: Usage) -> Decimal:
        """What these tokens cost."""
        plain = max(0, usage.input - usage.cached - usage.cache_write)
        return (
            plain * self.input
            + usage.cached * self.cached
            + usage.cache_write * self.cache_write
            + usage.output * self.output
        )

    @staticmethod
    def from_settings(price: PriceSettings) -> "Price":
        """The person's own price, which is for a million tokens."""
        asked, said = Decimal(str(price.input)) / _MILLION, Decimal(str(price.output)) / _MILLION
        cached = asked if price.cached is None else Decimal(str(price.cached)) / _MILLION
        return Price(asked, said, cached, asked)


FREE = Price(Decimal(0), Decimal(0), Decimal(0), Decimal(0))


def priced(usage: Usage, price: Price | None, told: object = None) -> Usage:
    """The usage with its cost: as the provider told it, else computed, else unknown."""
    if isinstance(told, int | float) and math.isfinite(told):
        return replace(usage, cost=Decimal(str(told)))
    return usage if price is None else replace(usage, cost=price.of(usage))


@frozen
class Facts:
    """What is known about a model; None where nothing is."""

    window: int | None = None
    max_output: int | None = None
    price: Price | None = None


@cache
def facts(name: str) -> Facts:
    """The facts about a model by litellm's name, also without its provider's prefix."""
    entry = _entry(name) or _entry(name.partition("/")[2])
    return Facts() if entry is None else _facts(entry)


def _entry(name: str) -> Mapping[str, Any] | None:
    path = _table_path()
    if not name or path is None:
        return None
    key = b"\n    " + json.dumps(name).encode() + b": {"
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as table:
        at = table.find(key)
        if at < 0:
            return None
        start = at + len(key) - 1
        end = table.find(b"\n    }", start)
        return json.loads(table[start : end + len(b"\n    }")])


@cache
def _table_path() -> Path | None:
    spec = find_spec("litellm")
    folders = (spec and spec.submodule_search_locations) or ()
    return next((path for folder in folders if (path := Path(folder) / _TABLE).is_file()), None)


def _facts(entry: Mapping[str, Any]) -> Facts:
    window = entry.get("max_input_tokens") or entry.get("max_tokens")
    output = entry.get("max_output_tokens")
    return Facts(
        window if isinstance(window, int) else None,
        output if isinstance(output, int) else None,
        _price(entry),
    )


def _price(entry: Mapping[str, Any]) -> Price | None:
    asked, said = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if asked is None or said is None:
        return None
    cached = entry.get("cache_read_input_token_cost")
    write = entry.get("cache_creation_input_token_cost")
    return Price(_money(asked), _money(said), _money(asked, cached), _money(asked, write))


def _money(asked: object, special: object = None) -> Decimal:
    return Decimal(str(asked if special is None else special))
