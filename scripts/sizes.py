"""Print the longest product files and functions: where a second concept may hide.

It shows and never fails: a written limit does not hold by itself.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHOWN = 10


@dataclass(frozen=True, slots=True, order=True)
class Sized:
    """Something of the product and its length in lines."""

    lines: int
    name: str


def files() -> Iterator[Path]:
    """Every Python file of the product."""
    return (ROOT / "agent_server").rglob("*.py")


def functions(path: Path) -> Iterator[Sized]:
    """Every function of a file, decorators and docstring not counted."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            place = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
            yield Sized(body_lines(node), place)


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from `def` to the end, less the docstring's."""
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node) is None:
        return lines
    return lines - ((first.end_lineno or first.lineno) - first.lineno + 1)


def show(title: str, sized: Iterable[Sized]) -> None:
    """Print the longest, longest first."""
    print(title)
    for one in sorted(sized, reverse=True)[:SHOWN]:
        print(f"{one.lines:6}  {one.name}")


def main() -> None:
    """Print both tables."""
    show(
        "Longest files (350: look for the second concept; 500 is late)",
        (
            Sized(len(path.read_text(encoding="utf-8").splitlines()), str(path.relative_to(ROOT)))
            for path in files()
        ),
    )
    show(
        "Longest functions (12 mostly, 40 at most)",
        (function for path in files() for function in functions(path)),
    )


if __name__ == "__main__":
    main()
