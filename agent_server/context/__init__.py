"""From log to provider request: what the model is shown. Pure functions."""
