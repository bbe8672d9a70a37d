"""The stream is a hint: what comes by it is verified like what is pulled; nothing rests on it."""

import pytest

from orchid.edge.stream import LARGEST_LINE, Event, Parser
from orchid.engine.wire.bundle import sign
from tests.edge.control_plane import ControlPlane, bundle, new_key
from tests.edge.edge_site import Site


async def test_a_hint_is_active_though_the_pull_has_not_seen_it(
    site: Site, plane: ControlPlane
) -> None:
    plane.hints = ""
    plane.publish(bundle(1))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1) and plane.streams == 1)
        plane.hint(sign(bundle(2), plane.key, "k1"))
        await plane.until(lambda: plane.activated(2))
        assert (await running.status())["publication"] == 2


@pytest.mark.parametrize(
    ("offer", "code"),
    [
        (lambda plane: sign(bundle(43), new_key(), "k9"), "wrong_key"),
        (lambda plane: sign(bundle(40), plane.key, "k1"), "older"),
        (lambda plane: sign(bundle(43), plane.key, "k1")[:-8] + "AAAAAAAA", "altered"),
    ],
)
async def test_a_bad_hint_is_refused_as_a_bad_pull_is(
    site: Site, plane: ControlPlane, offer: object, code: str
) -> None:
    assert callable(offer)
    plane.hints = ""
    plane.publish(bundle(42))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(42) and plane.streams == 1)
        plane.hint(offer(plane))
        await plane.until(lambda: any(said.startswith(code) for said in plane.refusals()))
        assert (await running.status())["publication"] == 42


async def test_beside_a_stream_the_poll_is_not_held_and_without_one_it_is(
    site: Site, plane: ControlPlane
) -> None:
    plane.hints = ""
    plane.publish(bundle(1))
    async with site.edge():
        await plane.until(lambda: plane.activated(1) and plane.streams == 1)
        plane.hint(sign(bundle(2), plane.key, "k1"))  # read, so the stream is open at the edge too
        await plane.until(lambda: plane.activated(2))
        plane.publish(bundle(3))  # ends the poll that was held since before the stream
        await plane.until(lambda: plane.activated(3))
        plane.hint(sign(bundle(4), new_key(), "k9"))  # refused, so the pull is asked at once
        await plane.until(lambda: plane.waits[-1] is None)
        plane.hints = None
        await plane.until(lambda: plane.waits[-1] == "wait=30")


async def test_a_drill_by_the_stream_is_answered(site: Site, plane: ControlPlane) -> None:
    plane.hints = ""
    plane.publish(bundle(1))
    async with site.edge() as running:
        told: list[int] = []
        running.edge.sync.on_drill = told.append
        await plane.until(lambda: plane.activated(1) and plane.streams == 1)
        plane.hint("7", "drill")
        plane.hint("8", "drill")
        await plane.until(lambda: 8 in told or 7 in told)


def test_events_are_the_same_however_the_stream_is_cut() -> None:
    text = b"retry: 2500\r\nid: 4\nevent: bundle\ndata: a.b.c\n\n:\n\ndata: x\ndata: y\n\n"
    for size in (1, 2, 7, len(text)):
        parser = Parser()
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        events = [event for piece in pieces for event in parser.feed(piece)]
        assert events == [Event("bundle", "a.b.c"), Event("message", "x\ny")]
        assert parser.retry_s == 2.5


def test_a_line_larger_than_any_bundle_ends_the_stream() -> None:
    parser = Parser()
    with pytest.raises(ValueError, match="a line of the stream"):
        list(parser.feed(b"data: " + b"a" * (LARGEST_LINE + 1)))
