"""One module per method family: parse, call the session, build the reply. The table is `front/methods.py`."""
