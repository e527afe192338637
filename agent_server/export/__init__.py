"""A session's log as a document: Markdown, JSON, a web page. Pure: no file, no clock, no database."""
