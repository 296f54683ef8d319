"""Bodies: never more than the limit, said or not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fader.serve.middleware.bodies import Bodies
from serve.layers import ask, echo

LIMIT = 100
CHUNKED = [(b"transfer-encoding", b"chunked")]


@given(st.lists(st.binary(max_size=60), min_size=1, max_size=6))
def test_a_body_is_counted_as_it_comes(pieces: list[bytes]) -> None:
    """Up to the limit it arrives as it was sent, however it is cut; beyond it the answer is 413 and no other."""
    reply = ask(Bodies(echo, LIMIT), headers=CHUNKED, body=pieces, method="POST")
    whole = b"".join(pieces)
    if len(whole) <= LIMIT:
        assert (reply.status, reply.body) == (200, whole)
    else:
        assert (reply.status, reply.error["code"], reply.headers["connection"]) == (413, "too_large", "close")


@pytest.mark.parametrize(("length", "status"), [(b"100", 200), (b"101", 413), (b"9" * 30, 413), (b"-1", 200)])
def test_a_body_that_says_its_length_is_refused_unread(length: bytes, status: int) -> None:
    """Nothing of it is read."""
    reply = ask(Bodies(echo, LIMIT), headers=[(b"content-length", length)], body=[b"x"], method="POST")
    assert reply.status == status


def test_a_length_that_lies_is_counted() -> None:
    """A server that lets a short length through is not trusted."""
    reply = ask(Bodies(echo, LIMIT), headers=[(b"content-length", b"5")], body=[b"x" * 90, b"x" * 90], method="POST")
    assert reply.status == 413
