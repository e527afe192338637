"""The Language Server Protocol: pygls' types, document sync and capabilities over our own transport."""
