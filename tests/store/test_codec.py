"""The stored form of entries."""

import json
from typing import get_args

import pytest
from hypothesis import given, settings

from agent_server.loop.errors import StoreFailure
from agent_server.loop.model import (
    CallKey,
    DoneReason,
    Entry,
    PartialEntry,
    StartedEntry,
    TurnEndEntry,
    TurnId,
)
from agent_server.store.codec import KINDS, VERSION, decode, encode
from tests.store.entries import entries


@given(entries)
@settings(max_examples=300, deadline=None)
def test_every_entry_comes_back_as_it_was(entry: Entry):
    assert decode(*encode(entry)) == entry


def test_every_kind_of_entry_has_a_stored_kind():
    assert len(KINDS) == len(set(KINDS)) == len(get_args(Entry))


def test_the_stored_form_is_plain_json_that_names_its_version():
    kind, body = encode(StartedEntry(TurnId("t1"), CallKey(3, 1)))

    assert kind == "started"
    assert json.loads(body) == {"v": 1, "turn": "t1", "key": {"reply": 3, "index": 1}}


def test_two_adjacent_surrogates_do_not_become_one_character():
    entry = PartialEntry(TurnId("t"), "\ud83d" + "\ude00")

    assert decode(*encode(entry)) == entry


def test_an_entry_of_a_newer_program_is_refused_by_name():
    with pytest.raises(StoreFailure, match="'model_switch'"):
        decode("model_switch", b'{"v":1}')


def test_a_newer_form_of_a_known_entry_is_refused_by_its_number():
    with pytest.raises(StoreFailure, match=f"format {VERSION + 1}"):
        decode("partial", json.dumps({"v": VERSION + 1, "turn": "t", "words": "x"}).encode())


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b"", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "no object"),
        (b'{"turn":"t","text":"x"}', "'v'"),
        (b'{"v":true,"turn":"t","text":"x"}', "'v'"),
        (b'{"v":1,"turn":"t"}', "'text'"),
        (b'{"v":1,"turn":7,"text":"x"}', "'turn'"),
    ],
)
def test_a_damaged_body_is_refused_with_the_field_that_is_wrong(body: bytes, named: str):
    with pytest.raises(StoreFailure, match=named):
        decode("partial", body)


def test_an_unknown_value_of_a_closed_set_is_named():
    kind, body = encode(_ended())
    changed = body.replace(b'"cancel"', b'"abducted"')

    with pytest.raises(StoreFailure, match="'detail' has the unknown value 'abducted'"):
        decode(kind, changed)


def _ended() -> Entry:
    return TurnEndEntry(TurnId("t"), DoneReason.USER_ABORT, "cancel")
