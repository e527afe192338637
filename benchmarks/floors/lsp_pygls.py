"""A bare pygls server: the floor for LSP."""

from pygls.lsp.server import LanguageServer

LanguageServer("floor", "0").start_io()
