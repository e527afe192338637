"""What a person can choose for a session between its turns, over what the settings say."""

from agent_server.loop.errors import ClientMistake
from agent_server.loop.model import MODES, Mode, Review
from agent_server.session.ports import Equipment
from agent_server.session.titles import Title


class Profile:
    """Mode, model, review and title of one session."""

    def __init__(
        self,
        equipment: Equipment,
        *,
        mode: Mode,
        model: str | None = None,
        title: str | None = None,
        review: Review | None = None,
    ) -> None:
        """As they were kept; None: nothing was chosen."""
        self._equipment = equipment
        self.mode: Mode = mode
        """The permission mode."""
        self.chosen_model = model
        """The model the person chose in this session; it is replaced only where the settings say so (R53)."""
        self.chosen_review: Review | None = review
        """When to ask about edits, as the person chose it in this session."""
        self.title = Title(title)

    @property
    def model(self) -> str:
        """The name of the model that answers the next request."""
        return self.chosen_model or self._equipment.model_name

    @property
    def review(self) -> Review:
        """When the person is asked about edits."""
        return self._equipment.review if self.chosen_review is None else self.chosen_review

    @property
    def updates_per_second(self) -> int:
        """Of a text that grows, for a client that does not say how many it wants; 0: as the front thinks best."""
        return self._equipment.updates_per_second

    @property
    def models(self) -> tuple[str, ...]:
        """Models to choose from, the current one among them."""
        known = self._equipment.models()
        return known if self.model in known else (self.model, *known)

    def choose_mode(self, mode: Mode) -> None:
        """Take another permission mode.

        Raises:
            ClientMistake: there is no such mode.
        """
        if mode not in MODES:
            raise ClientMistake(f"there is no mode {mode!r}; the modes are {', '.join(MODES)}")
        self.mode = mode

    def choose_model(self, model: str) -> None:
        """Take another model.

        Raises:
            ClientMistake: there is no such model.
        """
        self._equipment.model(model)
        self.chosen_model = model
