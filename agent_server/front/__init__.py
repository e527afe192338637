"""The wires and the screen: the only code that knows JSON, pygls or a terminal."""
