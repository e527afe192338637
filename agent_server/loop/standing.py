"""What of a log still stands: conversations are taken back by an entry that says so, never by deleting one.

`RewoundEntry(upto=n)` means: what stands is what stood when the log had n entries. So going back to the place of such
an entry undoes it, and a log without one stands as it is.
"""

from collections.abc import Collection, Sequence

from agent_server.loop.model import AsideEntry, Entry, Part, RewoundEntry, Text


def standing(entries: Sequence[Entry]) -> Sequence[Entry]:
    """The entries that stand, oldest first; `entries` itself when nothing was ever taken back."""
    if last_rewound(entries) is None:
        return entries
    return [entries[place] for place in places(entries, len(entries))]


def places(entries: Sequence[Entry], upto: int) -> Sequence[int]:
    """The indices of the entries that stood when the log had `upto` of them, in order."""
    runs: list[range] = []
    while (rewound := last_rewound(entries, upto)) is not None:
        runs.append(range(rewound + 1, upto))
        entry = entries[rewound]
        # Never past itself: a damaged log may say anything, and this has to end.
        upto = min(entry.upto, rewound) if isinstance(entry, RewoundEntry) else rewound
    runs.append(range(upto))
    return runs[0] if len(runs) == 1 else [place for run in reversed(runs) for place in run]


def last_rewound(entries: Sequence[Entry], upto: int | None = None, since: int = 0) -> int | None:
    """The index of the last time that the conversation was taken back, from `since` on; None when it was not."""
    for place in range((len(entries) if upto is None else upto) - 1, since - 1, -1):
        if isinstance(entries[place], RewoundEntry):
            return place
    return None


class Standing:
    """What stands of one growing log; looks at each entry once."""

    def __init__(self) -> None:
        """Nothing is looked at yet."""
        self.rewound: int | None = None
        """Where the conversation was taken back for the last time."""
        self._stands: list[Entry] | None = None
        """None: all of it."""
        self._upto = 0

    def of(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """The entries that stand; `entries` may only have grown since the last time."""
        rewound = last_rewound(entries, since=self._upto)
        if rewound is not None:
            self.rewound, self._stands = rewound, list(standing(entries))
        elif self._stands is not None:
            self._stands += entries[self._upto :]
        self._upto = len(entries)
        return entries if self._stands is None else self._stands


def asides(entries: Sequence[Entry]) -> frozenset[str]:
    """What was ever said aside."""
    return frozenset(entry.text for entry in entries if isinstance(entry, AsideEntry))


def own_words(parts: Sequence[Part], aside: Collection[str]) -> list[Part]:
    """Parts of a message without what was put in front of the person's own words."""
    return [part for part in parts if not (isinstance(part, Text) and part.text in aside)]
