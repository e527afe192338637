"""Start-up and latency, measured beside the floor in the same run. Run by hand (`make bench`), never by a test."""
