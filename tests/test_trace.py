"""`--trace` shows every frame and no credential."""

import json
from pathlib import Path

from agent_server.trace import open_trace


def test_frames_of_both_directions_are_kept_in_order_and_only_for_the_owner(tmp_path: Path):
    path = tmp_path / "trace.ndjson"
    trace = open_trace(str(path), {})
    trace("in", b'{"id":1}')
    trace("out", b'{"id":1,"result":null}')
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(one["direction"], one["frame"]) for one in lines] == [
        ("in", '{"id":1}'),
        ("out", '{"id":1,"result":null}'),
    ]
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_value_of_a_credential_is_masked_and_short_flags_are_not(tmp_path: Path):
    path = tmp_path / "trace.ndjson"
    trace = open_trace(str(path), {"OPENAI_API_KEY": 'sk-"quoted"-canary', "MY_TOKEN": "on"})
    trace("out", json.dumps({"text": 'on: sk-"quoted"-canary'}).encode())
    assert "canary" not in path.read_text()
    assert "on:" in path.read_text()
