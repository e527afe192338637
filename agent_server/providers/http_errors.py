"""How asking over HTTP fails, told apart by what a person or a retry can do about it."""


class Unreachable(Exception):
    """No connection came to be."""


class Unusable(Exception):
    """The address is none, or a header cannot be sent; its words do not repeat it, for it may be a key."""


class BrokenOff(Exception):
    """The connection ended, or what came over it is no HTTP, before the answer was whole."""
