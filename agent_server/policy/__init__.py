"""From typed action to decision: allow, ask or deny. Pure."""
