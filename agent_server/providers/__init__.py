"""Adapters that answer as the loop's `Model`, one per way to reach a language model."""
