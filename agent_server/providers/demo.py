"""The embedded demo as data: a small project with a bug, and the script that finds and fixes it.

It also holds what is answered when a session has no model at all: one honest sentence, no pretending.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from agent_server.providers.scripted import ScriptedCall, ScriptedModel, Step

DEMO_PROMPT = "The discount in the cart is wrong. Find out why and fix it, then run the test."

SAMPLE_FILES: Mapping[str, str] = {
    "README.md": """\
# A small shop

The sample project of `agent-server demo`. It has a bug; `python3 -m unittest -q` shows it.
""",
    "shop/__init__.py": '"""A small shop."""\n',
    "shop/prices.py": '''\
"""Prices, in whole cents so that sums are exact."""

PRICES = {"apple": 50, "bread": 320, "tea": 480}


def price_of(name: str) -> int:
    """The price of one piece."""
    return PRICES[name]
''',
    "shop/cart.py": '''\
"""A shopping cart."""

from shop.prices import price_of


class Cart:
    """What somebody is about to buy."""

    def __init__(self, discount_percent: int = 0) -> None:
        self.discount_percent = discount_percent
        self.items: list[tuple[str, int]] = []

    def add(self, name: str, count: int = 1) -> None:
        """Put some pieces of one article into the cart."""
        self.items.append((name, count))

    def total(self) -> int:
        """What everything costs in cents, the discount taken off."""
        total = sum(price_of(name) * count for name, count in self.items)
        return total - self.discount_percent
''',
    "tests/__init__.py": "",
    "tests/test_cart.py": '''\
"""The cart counts right."""

import unittest

from shop.cart import Cart


class CartTest(unittest.TestCase):
    def test_without_a_discount_the_prices_add_up(self) -> None:
        cart = Cart()
        cart.add("apple", 3)
        cart.add("bread")
        self.assertEqual(cart.total(), 470)

    def test_the_discount_is_a_percentage(self) -> None:
        cart = Cart(discount_percent=25)
        cart.add("tea", 2)
        self.assertEqual(cart.total(), 720)


if __name__ == "__main__":
    unittest.main()
''',
}

_PACE_MS = 8


def _call(name: str, **arguments: object) -> ScriptedCall:
    return ScriptedCall(name, json.dumps(arguments))


DEMO_SCRIPT: tuple[Step, ...] = (
    Step(
        thinking="The discount is wrong somewhere in the shop. The cart's total is the place to start.",
        text=(
            "This is a **scripted demo**, not a model: my words are fixed, everything else is real. "
            "I'll look for the place where the total is made.\n"
        ),
        calls=(_call("search", pattern="def total", path="."),),
        delay_ms=_PACE_MS,
    ),
    Step(
        text="It is in `shop/cart.py`, which takes its prices from `shop/prices.py`. I'll read both.\n",
        calls=(_call("read", path="shop/cart.py"), _call("read", path="shop/prices.py")),
        delay_ms=_PACE_MS,
    ),
    Step(
        thinking="`total - discount_percent` takes 25 cents off instead of 25 percent.",
        text=(
            "`total()` subtracts the percentage as if it were cents. I propose a helper beside the prices "
            "and to use it in the cart. You decide about both edits.\n"
        ),
        calls=(
            _call(
                "edit",
                path="shop/prices.py",
                edits=[
                    {
                        "old_text": "    return PRICES[name]\n",
                        "new_text": (
                            "    return PRICES[name]\n"
                            "\n\n"
                            "def discounted(cents: int, percent: int) -> int:\n"
                            '    """`cents` with `percent` of them taken off, half a cent rounded up."""\n'
                            "    return (cents * (100 - percent) + 50) // 100\n"
                        ),
                    }
                ],
            ),
            _call(
                "edit",
                path="shop/cart.py",
                edits=[
                    {
                        "old_text": "from shop.prices import price_of\n",
                        "new_text": "from shop.prices import discounted, price_of\n",
                    },
                    {
                        "old_text": "        return total - self.discount_percent\n",
                        "new_text": "        return discounted(total, self.discount_percent)\n",
                    },
                ],
            ),
        ),
        delay_ms=_PACE_MS,
    ),
    Step(
        text="Now the project's own test says whether it is right.\n",
        calls=(_call("shell", command="python3 -m unittest -q"),),
        delay_ms=_PACE_MS,
    ),
    Step(
        text=(
            "That was the whole demo.\n\n"
            "- `shop/prices.py`: a helper that takes a percentage off\n"
            "- `shop/cart.py`: `total()` uses it\n\n"
            "What you accepted is on disk, what you rejected is not, and the test's outcome stands above. "
            "To work with a real model, set `AGENT_SERVER_MODEL` and its key, "
            "such as `AGENT_SERVER_MODEL=openai/<name>` and `OPENAI_API_KEY`.\n"
        ),
        delay_ms=_PACE_MS,
    ),
)

DEMO_OVER = Step(
    text=(
        "The demo is over; I am a script and know nothing more. "
        "Set `AGENT_SERVER_MODEL` and its key to go on with a real model.\n"
    )
)

NO_MODEL = Step(
    text=(
        "No model is configured, so nothing was done. To choose one:\n\n"
        "- set `AGENT_SERVER_MODEL` (such as `openai/<name>`) and the provider's key (such as `OPENAI_API_KEY`), or\n"
        '- write `model = "openai/<name>"` into `config.toml`, or\n'
        "- for a model on this machine: `OPENAI_BASE_URL=http://127.0.0.1:11434/v1` and `openai/<name>`.\n\n"
        "`agent-server demo` shows a scripted session on a sample project, offline.\n"
    )
)


def write_sample(folder: Path) -> None:
    """Create the sample project in an empty folder."""
    for name, text in SAMPLE_FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")


def is_sample(folder: Path) -> bool:
    """Whether the folder is the sample project, edited by the demo or not."""
    try:
        readme = (folder / "README.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return readme == SAMPLE_FILES["README.md"] and all(
        (folder / name).is_file() for name in SAMPLE_FILES
    )


def demo_model(folder: Path | None) -> ScriptedModel:
    """The demo for its sample project; elsewhere the sentence that no model is configured."""
    if folder is not None and is_sample(folder):
        return ScriptedModel(DEMO_SCRIPT, name="demo", after=DEMO_OVER)
    return ScriptedModel((), name="demo", after=NO_MODEL)
