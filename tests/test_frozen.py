"""`@frozen` and `@mutable` are the standard library's slotted dataclasses; only their methods come later."""

import copy
import inspect
import pickle
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from agent_server.frozen import frozen, mutable

NAMES = ("a", "b", "c", "d")
VALUES = st.one_of(st.integers(0, 2), st.text("xy", max_size=2), st.just((1, "x")))
OPTIONS = st.fixed_dictionaries(
    {"kw_only": st.booleans(), "repr": st.booleans(), "compare": st.booleans()},
    optional={"hash": st.sampled_from([None, True, False])},
)


@st.composite
def _definitions(draw: st.DrawFn) -> Mapping[str, Any]:
    """Fields by name: what stands behind `name: object =` in a class, one object for both decorators."""
    defined: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True)):
        kind = draw(st.sampled_from(["bare", "default", "factory", "value"]))
        options: dict[str, Any] = dict(draw(OPTIONS))
        if kind == "value":
            value = draw(VALUES)
            defined[name] = lambda value=value: value
            continue
        if kind == "factory":
            options["default_factory"] = list
        if kind == "default":
            options["default"] = draw(VALUES)
        if kind != "bare":
            options["init"] = draw(st.booleans())
        defined[name] = lambda options=options: field(**options)
    return defined


def _made(decorate: Callable[[type], type], defined: Mapping[str, Any]) -> Any:
    body = {name: value() for name, value in defined.items()}
    body |= {
        "__annotations__": dict.fromkeys(defined, object),
        "__doc__": "A class.",
        "__module__": __name__,
    }
    return decorate(type("Made", (), body))


def _outcome(act: Callable[[], object]) -> object:
    """What it gives, or how it fails."""
    try:
        return act()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error), str(error)


@pytest.mark.parametrize(
    ("ours", "standard"),
    [(frozen, dataclass(frozen=True, slots=True)), (mutable, dataclass(slots=True))],
)
@given(
    defined=_definitions(),
    positional=st.lists(VALUES, max_size=4),
    named=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4),
    other=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4),
)
def test_any_class_behaves_as_the_standard_librarys(
    ours: Callable[[type], type],
    standard: Callable[[type], type],
    defined: Mapping[str, Any],
    positional: list[object],
    named: dict[str, object],
    other: dict[str, object],
) -> None:
    try:
        expected = _made(standard, defined)
    except TypeError:
        reject()  # a field without a default behind one that has one: type checkers say so

    def seen(cls: Any) -> list[object]:
        one, two = _outcome(lambda: cls(*positional, **named)), _outcome(lambda: cls(**other))
        parameters = inspect.signature(cls).parameters.values()
        return [
            cls.__match_args__,
            cls.__slots__,
            [(f.name, f.kw_only, f.init, f.repr, f.compare, f.hash) for f in fields(cls)],
            [(p.name, p.kind, p.default is p.empty) for p in parameters],
            one == two,
            *(_of_value(value, other) if isinstance(value, cls) else value for value in (one, two)),
        ]

    assert seen(_made(ours, defined)) == seen(expected)


def _of_value(value: Any, changes: Mapping[str, object]) -> list[object]:
    names = [one.name for one in fields(value)]
    return [
        repr(value),
        value == copy.copy(value),
        value != 1,
        _outcome(lambda: hash(value)),
        [_outcome(lambda name=name: getattr(value, name)) for name in names],
        _outcome(lambda: repr(replace(value, **changes))),
        [_outcome(lambda name=name: setattr(value, name, 1)) for name in names],
        [_outcome(lambda name=name: delattr(value, name)) for name in names],
    ]


@frozen
class Point:
    """A point."""

    x: int
    y: int = 0
    tags: tuple[str, ...] = field(default=(), kw_only=True)


@frozen
class Named(Point):
    """A point with a name."""

    name: str = "origin"


@frozen
class Tree:
    """May hold itself."""

    leaves: list[object] = field(default_factory=list[object])


def test_values_are_copied_and_pickled() -> None:
    named = Named(1, name="p", tags=("t",))

    assert pickle.loads(pickle.dumps(named)) == named
    assert copy.deepcopy(named) == named
    assert copy.copy(Tree([1])).leaves == [1]


def test_values_are_matched() -> None:
    match Named(1, 2, "p"):
        case Named(x, y, name):
            assert (x, y, name) == (1, 2, "p")


def test_a_subclass_has_the_fields_of_both_and_equals_nothing_else() -> None:
    assert repr(Named(1)) == "Named(x=1, y=0, tags=(), name='origin')"
    assert Named(1) != Point(1)
    assert not hasattr(Named(1), "__dict__")


def test_a_default_that_is_made_is_made_for_each() -> None:
    assert Tree().leaves is not Tree().leaves


def test_a_value_that_holds_itself_is_shown() -> None:
    tree = Tree()
    tree.leaves.append(tree)

    assert repr(tree) == "Tree(leaves=[...])"


def test_nothing_is_set_or_deleted() -> None:
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        setattr(Point(1), "x", 2)  # noqa: B010  (the type checker knows)
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        delattr(Point(1), "x")


def test_what_can_be_changed_cannot_inherit_from_it() -> None:
    with pytest.raises(TypeError, match="non-frozen"):
        dataclass(type("Changeable", (Point,), {"__annotations__": {"z": int}, "z": 0}))


def test_methods_that_the_class_has_are_kept() -> None:
    @frozen
    class Parity:
        """Equal when both are odd or even."""

        number: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Parity) and (self.number - other.number) % 2 == 0

        def __repr__(self) -> str:
            return "odd" if self.number % 2 else "even"

    assert Parity(1) == Parity(3)
    assert repr(Parity(1)) == "odd"
    assert hash(Parity(1)) == hash(Parity(1))


def test_pydantic_reads_it_as_a_dataclass() -> None:
    adapter = TypeAdapter(Point)

    assert adapter.validate_python({"x": "1", "tags": ["a"]}) == Point(1, tags=("a",))
    with pytest.raises(ValidationError, match="y"):
        adapter.validate_python({"x": 1, "y": "no number"})


def test_a_method_is_compiled_when_it_is_first_looked_up() -> None:
    @frozen
    class Late:
        """Nobody has made one yet."""

        x: int

    before = {name: inspect.isfunction(vars(Late)[name]) for name in ("__init__", "__eq__")}
    Late(1)
    after = {name: inspect.isfunction(vars(Late)[name]) for name in ("__init__", "__eq__")}

    assert before == {"__init__": False, "__eq__": False}
    assert after == {"__init__": True, "__eq__": False}
    assert Late.__init__.__qualname__.endswith("Late.__init__")
