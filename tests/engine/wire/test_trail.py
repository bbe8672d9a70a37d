"""An export of the audit trail tells by itself whether anything was altered or taken out."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from joserfc.jwk import OKPKey

from orchid.engine.wire.signed import Jwk, SignatureRefused, public_jwk, sign_bytes
from orchid.engine.wire.trail import GENESIS, HEAD_TYPE, Head, Link, link, read_head, sign_head
from orchid.engine.wire.trail_export import Closing, Exported, Opening, check_export, encode_line

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
PEM = OKPKey.generate_key("Ed25519").as_pem(private=True)
KEYS: dict[str, Jwk] = {"a1": public_jwk(PEM)}


def chain(count: int) -> list[Link]:
    """So many acts of ana, sealed."""
    links, previous = [], GENESIS
    for seq in range(1, count + 1):
        event = {"id": seq, "actor": "ana", "reason": f"the {seq}th", "data": {"n": seq}}
        links.append(Link(seq, previous, link(previous, event), event))
        previous = links[-1].hash
    return links


def head(links: list[Link], pem: bytes = PEM) -> str:
    return sign_head(links[-1].seq, links[-1].hash, NOW, pem, "a1")


def export(links: list[Link], *, whole: bool = True, token: str | None = None) -> list[bytes]:
    closing = Closing(len(links), token or head(links))
    return [encode_line(part) for part in (Opening(NOW, {}, whole), *links, closing)]


def checked(lines: list[bytes], **more: Any) -> Exported:
    return check_export(lines, KEYS, **more)


def altered(line: bytes, **changes: Any) -> bytes:
    found = json.loads(line)
    found["event"].update(changes)
    return json.dumps(found).encode()


def test_a_whole_export_is_a_chain_up_to_its_signed_head() -> None:
    links = chain(5)
    found = checked(export(links))
    assert (found.fault, found.events, found.whole) == ("", 5, True)
    assert found.signed == Head(5, links[-1].hash, NOW)


def test_an_altered_event_is_named() -> None:
    lines = export(chain(5))
    lines[3] = altered(lines[3], reason="something else")
    assert checked(lines).fault == "event 3 differs from what link 3 sealed"


def test_a_missing_link_is_named() -> None:
    lines = export(chain(5))
    assert checked(lines[:2] + lines[3:]).fault == "link 2 is missing"


def test_a_trail_that_was_written_anew_is_not_what_was_signed() -> None:
    anew = chain(5)
    anew[0].event["reason"] = "other"
    rewritten, previous = [], GENESIS
    for one in anew:
        rewritten.append(Link(one.seq, previous, link(previous, one.event), one.event))
        previous = rewritten[-1].hash
    assert "the head names link 5" in checked(export(rewritten, token=head(chain(5)))).fault


def test_a_tail_that_was_cut_off_is_told_by_a_head_that_was_kept() -> None:
    links = chain(5)
    kept = read_head(head(links), KEYS)
    assert checked(export(links[:3])).fault == ""
    cut = checked(export(links[:3]), seen=[kept])
    assert cut.fault == "a head of link 5 was seen, and the chain ends at link 3"


def test_a_kept_head_of_another_chain_is_told() -> None:
    kept = Head(2, "f" * 64, NOW)
    assert "link 2 is not the one" in checked(export(chain(5)), seen=[kept]).fault


def test_a_file_that_was_cut_short_is_no_whole_export() -> None:
    assert "ends early" in checked(export(chain(5))[:-1]).fault
    assert checked([]).fault == "this is no export of an audit trail"
    assert "can't be read" in checked([b'{"line": "event", "seq": "x"}']).fault


def test_in_a_filtered_export_each_event_stands_for_itself() -> None:
    some = [one for one in chain(6) if one.seq % 2]
    lines = export(some, whole=False, token=head(chain(6)))
    found = checked(lines)
    assert (found.fault, found.events, found.whole) == ("", 3, False)
    lines[1] = altered(lines[1], actor="ben")
    assert "event 1 differs" in checked(lines).fault


def test_a_head_of_a_stranger_is_not_trusted() -> None:
    stranger = OKPKey.generate_key("Ed25519").as_pem(private=True)
    links = chain(2)
    found = checked(export(links, token=head(links, stranger)))
    assert "not signed by a trusted key" in found.fault


def test_a_signed_bundle_is_no_head() -> None:
    token = sign_bytes(b'{"seq":1,"hash":"x","at":"2026-11-30T12:00:00Z"}', PEM, "a1", "other+jws")
    with pytest.raises(SignatureRefused, match=HEAD_TYPE.replace("+", r"\+")):
        read_head(token, KEYS)


def test_without_a_key_the_chain_is_walked_and_nothing_is_vouched_for() -> None:
    found = check_export(export(chain(3)), {})
    assert (found.fault, found.signed) == ("", None)
