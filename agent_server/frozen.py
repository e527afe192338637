"""`@frozen` and `@mutable`: slotted dataclasses whose methods are compiled at their first use.

`@dataclass(frozen=True, slots=True)` compiles six functions for each class, and a short run calls few of them: making
our 280 classes was a quarter of the way to the first answer (`docs/decisions/0006-start.md`). What these make *is* a
dataclass to everybody who asks: `fields`, `replace`, `match`, pickle, pydantic, type checkers. It leaves out what
nobody here needs: `InitVar`, `__post_init__`, ordering, and further attributes in a subclass that is not frozen itself;
and that a field without a default follows one with a default is told by type checkers only.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields, is_dataclass
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")
Method = Callable[..., Any]
Writer = Callable[[type], Method]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T], /) -> type[T]:
    """The class that `@dataclass(frozen=True, slots=True)` would make of it."""
    made = _made(cls, frozen=is_dataclass(cls))
    vars(made)["__dataclass_params__"].frozen = True  # only what is frozen too may inherit from it
    for name, method in SHARED.items():
        setattr(made, name, method)
    return _later(made, WRITTEN)


@dataclass_transform(field_specifiers=(field,))
def mutable(cls: type[T], /) -> type[T]:
    """The class that `@dataclass(slots=True)` would make of it."""
    made = _later(
        _made(cls, frozen=False),
        {name: WRITTEN[name] for name in ("__init__", "__repr__", "__eq__")},
    )
    if "__hash__" not in vars(made):
        made.__hash__ = None  # pyright: ignore[reportAttributeAccessIssue]  (so Python says that it has none)
    return made


def _made(cls: type[T], *, frozen: bool) -> type[T]:
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # the standard library would look for a signature to put there
    return dataclass(init=False, repr=False, eq=False, slots=True, frozen=frozen)(cls)


def _later(made: type[T], methods: Mapping[str, Writer]) -> type[T]:
    for name, write in methods.items():
        if vars(made).get(name) is None:  # Python's None: the hash of a class with its own `__eq__`
            setattr(made, name, _Unwritten(made, name, write))
    return made


class _Unwritten:
    """In place of a method until somebody looks it up. Two threads at once would both write the same."""

    __slots__ = ("_name", "_owner", "_write")

    def __init__(self, owner: type, name: str, write: Writer) -> None:
        self._owner, self._name, self._write = owner, name, write

    def __get__(self, instance: object, owner: type | None = None) -> Method:
        method = self._write(self._owner)
        method.__qualname__ = f"{self._owner.__qualname__}.{self._name}"
        setattr(self._owner, self._name, method)
        return method.__get__(instance, owner)


def _init(cls: Any) -> Method:
    used: dict[str, object] = {"_set": object.__setattr__, "_missing": MISSING}
    parameters, lines = ["self"], ["pass"]
    for one in sorted(fields(cls), key=lambda one: one.kw_only is True):
        default, value = _default(one, used)
        if one.init and one.kw_only and "*" not in parameters:
            parameters.append("*")
        if one.init:
            parameters.append(one.name + default)
        if value:
            lines.append(f"_set(self, {one.name!r}, {value})")
    method = _compiled(f"__init__({', '.join(parameters)})", "; ".join(lines), used)
    method.__annotations__ = {one.name: one.type for one in fields(cls) if one.init}
    return method


def _default(one: Field[Any], used: dict[str, object]) -> tuple[str, str]:
    """What stands behind the parameter, and the expression of the value; what they refer to is put into `used`."""
    kept = f"_default_{one.name}"
    if one.default is not MISSING:
        used[kept] = one.default
        return f"={kept}", one.name if one.init else kept
    if one.default_factory is not MISSING:
        used[kept] = one.default_factory
        made = f"{kept}()"
        return (
            "=_missing",
            f"{made} if {one.name} is _missing else {one.name}" if one.init else made,
        )
    return "", one.name if one.init else ""


def _repr(cls: Any) -> Method:
    shown = ", ".join(f"{one.name}={{self.{one.name}!r}}" for one in fields(cls) if one.repr)
    text = f'return f"{{self.__class__.__qualname__}}({shown})"'
    return recursive_repr()(_compiled("__repr__(self)", text))


def _eq(cls: Any) -> Method:
    names = [one.name for one in fields(cls) if one.compare]
    test = "if other.__class__ is not self.__class__: return NotImplemented"
    equal = f"return {_values('self', names)} == {_values('other', names)}"
    return _compiled("__eq__(self, other)", f"\n {test}\n {equal}")


def _hash(cls: Any) -> Method:
    names = [one.name for one in fields(cls) if (one.compare if one.hash is None else one.hash)]
    return _compiled("__hash__(self)", f"return hash({_values('self', names)})")


def _values(owner: str, names: list[str]) -> str:
    return f"({''.join(f'{owner}.{name}, ' for name in names)})"


def _compiled(head: str, body: str, used: dict[str, object] | None = None) -> Method:
    made: dict[str, Method] = {}
    exec(f"def {head}: {body}", used or {}, made)
    return made.popitem()[1]


def _refuse_setting(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deleting(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[object]:
    return [getattr(self, one.name) for one in fields(self)]


def _restore(self: Any, state: list[object]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)


WRITTEN = {"__init__": _init, "__repr__": _repr, "__eq__": _eq, "__hash__": _hash}
"""Per class: by which function."""
SHARED = {
    "__setattr__": _refuse_setting, "__delattr__": _refuse_deleting, "__getstate__": _state, "__setstate__": _restore,
}  # fmt: skip
