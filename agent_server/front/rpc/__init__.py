"""JSON-RPC over bytes, once for both wires: framing, the ordered queue, requests, cancellation. Knows no protocol."""
