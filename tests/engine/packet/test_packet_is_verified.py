"""A packet of figures: what holds, what was altered, and what is no packet at all."""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchid.engine.document.load import load_document
from orchid.engine.document.parse import parse
from orchid.engine.packet import Beside, PacketError, figures_packet, verify
from orchid.engine.packet.envelope import MAX_BYTES, MAX_DEPTH, PARTS, canonical, sealed

EXAMPLES = Path(__file__).parents[3] / "examples"
Content = dict[str, Any]


def resealed(packet: bytes, change: Callable[[Content], object]) -> bytes:
    """The packet after a change, with every digest made right again."""
    content = json.loads(packet)
    change(content)
    parts = {name: content[name] for name in PARTS["figures"]}
    return sealed("figures", content["product"], parts)


def faults(packet: bytes) -> dict[str, str]:
    return {check.name: check.message for check in verify(packet).faults}


def figure(content: Content, name: str) -> Content:
    return next(one for one in content["derivations"] if one["name"] == name)


def test_equal_content_has_equal_bytes(
    packet: bytes, reference_packet: Callable[[], bytes]
) -> None:
    assert reference_packet() == packet
    assert canonical(json.loads(packet)) == packet


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("digests/documents", lambda c: c["documents"].clear()),
        ("digests/declared", lambda c: c["declared"]["points"].pop()),
        ("digests/asked", lambda c: c["asked"]["figures"].pop()),
        ("digests/derivations", lambda c: c["derivations"].pop()),
        ("digests/asked", lambda c: c["digests"].update(asked="sha256:0")),
        ("digest", lambda c: c.update(digest="sha256:0")),
        ("digest", lambda c: c.update(product="another")),
    ],
)
def test_the_altered_part_is_named(packet: bytes, part: str, change: Any) -> None:
    content = json.loads(packet)
    change(content)
    assert part in faults(canonical(content))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_altered_byte_goes_unseen(packet: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(packet) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != packet[at]))
    altered = packet[:at] + bytes([byte]) + packet[at + 1 :]
    with contextlib.suppress(PacketError):  # no packet any more, which is seen as well
        assert not verify(altered).holds


@pytest.mark.parametrize("added", [b"\n", b" "])
def test_another_spelling_of_the_same_is_seen(packet: bytes, added: bytes) -> None:
    assert list(faults(packet + added)) == ["spelling"]


def test_a_figure_that_was_made_up_is_named_though_every_digest_is_right(packet: bytes) -> None:
    forged = resealed(
        packet, lambda c: figure(c, "selected, exact reserve").update(value="0.00001", stated=None)
    )
    (name,) = faults(forged)
    assert name == "figure selected, exact reserve"


def test_an_input_that_was_made_up_is_named(packet: bytes) -> None:
    forged = resealed(
        packet, lambda c: figure(c, "classification TEU a request")["inputs"].update(factor="0.4")
    )
    assert "recomputed" in faults(forged)["figure classification TEU a request"]


def test_a_figure_nobody_asked_for_is_named(packet: bytes) -> None:
    forged = resealed(packet, lambda c: c["derivations"].append({"name": "uplift", "value": "3x"}))
    assert faults(forged)["figure uplift"] == "nobody asked for it"


def test_figures_in_another_order_are_seen(packet: bytes) -> None:
    assert "derivations" in faults(resealed(packet, lambda c: c["derivations"].reverse()))


def test_another_document_under_the_digest_is_seen(packet: bytes) -> None:
    def cheaper(content: Content) -> None:
        (document,) = content["documents"].values()
        document["fleet"]["device_usd_per_h"] = "4.7"

    found = faults(resealed(packet, cheaper))
    assert any(name.startswith("documents/sha256:") for name in found)
    assert "figure ledger an hour" in found


def test_a_stated_value_that_does_not_come_out_fails_the_packet() -> None:
    document = load_document((EXAMPLES / "orchid-serve/generation-1.yaml").read_bytes())
    asked = {
        "schema": "orchid.figures/v1",
        "product": "orchid-serve",
        "figures": [{"name": "ledger", "by": "hourly_ledger_usd", "stated": "173"}],
    }
    found = faults(figures_packet(document, Beside(asked=asked)))
    assert found == {"figure ledger": "stated as 173, it comes out as 174"}


def test_any_document_has_figures_without_being_asked() -> None:
    document = load_document((EXAMPLES / "orchid-demo/generation-1.yaml").read_bytes())
    found = verify(figures_packet(document))
    assert found.holds
    assert "figure ledger an hour" in {check.name for check in found.checks}


def test_what_is_of_another_product_is_refused(packet: bytes) -> None:
    document = load_document((EXAMPLES / "orchid-demo/generation-1.yaml").read_bytes())
    declared = parse((EXAMPLES / "orchid-serve/declared-points.yaml").read_bytes(), "yaml")
    with pytest.raises(PacketError, match="is of 'orchid-serve', not of 'orchid-demo'"):
        figures_packet(document, Beside(declared=declared))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "can't be read"),
        (b"[]", "its schema is not that"),
        (b'{"schema":"orchid.packet/v2"}', "its schema is not that"),
        (b'{"schema":"orchid.packet/v1"}', "not None"),
        (b'{"schema":"orchid.packet/v1","kind":"figures"}', "/product is missing"),
        (b'{"a":NaN}', "no JSON number"),
        (b"[" * 100_000, "can't be read"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "nested more than"),
        (b" " * (MAX_BYTES + 1), "no packet is that large"),
    ],
)
def test_what_is_no_packet_is_refused_in_words(data: bytes, said: str) -> None:
    with pytest.raises(PacketError, match=said):
        verify(data)


@pytest.mark.parametrize("value", ["1e999", "9" * 30, "9" * 5_000, '"\\ud800"'])
def test_values_without_a_canonical_spelling_are_refused(packet: bytes, value: str) -> None:
    altered = packet.replace(b'"value":"84030"', f'"value":{value}'.encode())
    assert altered != packet
    with pytest.raises(PacketError, match=r"spelled|not JSON"):
        verify(altered)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.update(derivations=[3, None, "x"]),
        lambda c: c.update(documents={"sha256:0": {"schema": "orchid.policy/v1"}}),
        lambda c: c["asked"].update(figures=[{"name": "x", "by": "no such"}]),
        lambda c: c["asked"].update(figures="all"),
        lambda c: c["asked"].update(schema="other"),
        lambda c: c["declared"].update(points=[{"name": "x", "p95_ms": "fast"}]),
        lambda c: c["declared"].update(points={"x": 1}),
        lambda c: c.update(declared=None),
        lambda c: c.update(diagnosis=None),
        lambda c: c["diagnosis"].update(segments=[]),
    ],
)
def test_a_part_of_another_shape_is_a_fault_and_no_crash(packet: bytes, change: Any) -> None:
    assert faults(resealed(packet, change))
