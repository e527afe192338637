"""What the command line said that every way of running needs.

A plain class, not a dataclass: the first stage carries it before `initialize` is answered, and importing `dataclasses`
there costs more than everything else that stage does.
"""


class Options:
    """The common options, as typed; None means not given, so that a weaker source decides. Never changed once made."""

    __slots__ = ("config", "log_file", "log_level", "mode", "model", "trace")

    def __init__(
        self,
        *,
        model: str | None = None,
        mode: str | None = None,
        config: str | None = None,
        log_level: str | None = None,
        log_file: str | None = None,
        trace: str | None = None,
    ) -> None:
        """`mode` is one of the four modes' names; `config`, `log_file` and `trace` are paths as typed."""
        self.model = model
        self.mode = mode
        self.config = config
        self.log_level = log_level
        self.log_file = log_file
        self.trace = trace

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Options) and self.as_arguments() == other.as_arguments()

    def __hash__(self) -> int:
        return hash(self.as_arguments())

    def __repr__(self) -> str:
        return f"Options({' '.join(self.as_arguments())})"

    def as_arguments(self) -> tuple[str, ...]:
        """The same options as command-line arguments, for a child that is this program again."""
        pairs = (
            ("--model", self.model),
            ("--mode", self.mode),
            ("--config", self.config),
            ("--log-level", self.log_level),
            ("--log-file", self.log_file),
            ("--trace", self.trace),
        )
        return tuple(f"{name}={value}" for name, value in pairs if value is not None)
