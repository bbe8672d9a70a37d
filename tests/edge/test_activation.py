"""An edge follows the newest good bundle, keeps the last good one, is never open without one."""

import time
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from orchid.edge.disk import Kept, write_kept
from orchid.engine.wire.bundle import public_jwk, sign
from tests.edge.control_plane import ControlPlane, bundle, new_key
from tests.edge.edge_site import Site


async def test_a_publication_is_active_and_reported_well_within_two_seconds(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(1))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        published = time.monotonic()
        plane.publish(bundle(2, contract__deadline_ms=900))
        await plane.until(lambda: plane.activated(2))
        assert time.monotonic() - published < 1.0
        assert (await running.status())["publication"] == 2


async def test_the_tag_sent_is_that_of_the_active_bundle(site: Site, plane: ControlPlane) -> None:
    plane.publish(bundle(1))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        plane.publish(bundle(2), key=new_key())
        await plane.until(lambda: bool(plane.refusals()))
        active = running.edge.sync.active
        assert active is not None
        assert plane.tags[-1] == active.etag


async def test_without_any_bundle_every_request_is_refused(site: Site, plane: ControlPlane) -> None:
    async with site.edge() as running:
        answer = await running.admit("r1")
        assert (answer.status_code, answer.json()["reason"]) == (503, "no_bundle")
        assert answer.json()["retryable"] is True
        assert (await running.client.get("/readyz")).status_code == 503
        assert (await running.client.get("/healthz")).status_code == 200


async def refused(site: Site, plane: ControlPlane, offer: str, code: str) -> None:
    """An edge on 42 is offered something, keeps 42 and reports the code."""
    plane.publish(bundle(42))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(42))
        plane.serve(offer)
        await plane.until(lambda: any(said.startswith(code) for said in plane.refusals()))
        status = await running.status()
        assert status["publication"] == 42
        assert status["refused"]["reason"].startswith(code)
        assert (await running.admit("r1")).json()["publication"] == 42


async def test_an_older_number_is_refused_though_well_signed(
    site: Site, plane: ControlPlane
) -> None:
    await refused(site, plane, sign(bundle(40), plane.key, "k1"), "older")


async def test_a_wrong_key_is_refused(site: Site, plane: ControlPlane) -> None:
    await refused(site, plane, sign(bundle(43), new_key(), "k9"), "wrong_key")


async def test_an_altered_byte_is_refused(site: Site, plane: ControlPlane) -> None:
    token = sign(bundle(43), plane.key, "k1")
    place = token.index(".") + 40
    altered = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
    await refused(site, plane, altered, "altered")


async def test_a_missing_signature_is_refused(site: Site, plane: ControlPlane) -> None:
    header, payload, _ = sign(bundle(43), plane.key, "k1").split(".")
    await refused(site, plane, f"{header}.{payload}.", "unsigned")


async def test_a_document_this_edge_cannot_read_is_refused_with_its_place(
    site: Site, plane: ControlPlane
) -> None:
    good = bundle(43)
    generation = good.generations.incumbent
    document = {**generation.document, "fallback": [{"from": "full", "to": "nowhere", "where": {}}]}
    broken = replace(
        good,
        generations=replace(good.generations, incumbent=replace(generation, document=document)),
    )
    await refused(site, plane, sign(broken, plane.key, "k1"), "schema_error: schema error at /fall")


async def test_a_document_under_another_digest_is_refused(site: Site, plane: ControlPlane) -> None:
    good = bundle(43)
    generation = replace(good.generations.incumbent, digest="sha256:other")
    swapped = replace(good, generations=replace(good.generations, incumbent=generation))
    await refused(site, plane, sign(swapped, plane.key, "k1"), "digest_mismatch")


async def test_after_a_refusal_the_content_of_an_older_one_is_welcome_under_a_new_number(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(42))
    async with site.edge():
        await plane.until(lambda: plane.activated(42))
        plane.publish(bundle(40))
        await plane.until(lambda: bool(plane.refusals()))
        plane.publish(replace(bundle(40), publication=44))
        await plane.until(lambda: plane.activated(44))


async def test_the_number_floor_survives_a_restart_and_a_key_rotation(
    site: Site, plane: ControlPlane
) -> None:
    next_key = new_key()
    plane.publish(replace(bundle(42), next_keys={"k2": public_jwk(next_key)}))
    async with site.edge():
        await plane.until(lambda: plane.activated(42))
    plane.publish(bundle(41), key=next_key, kid="k2")
    async with site.edge() as running:
        assert (await running.status())["publication"] == 42
        await plane.until(lambda: any(said.startswith("older") for said in plane.refusals()))
        plane.publish(bundle(43), key=next_key, kid="k2")
        await plane.until(lambda: plane.activated(43))


async def test_an_edge_decides_by_what_it_accepted_even_after_the_time_to_accept_it(
    site: Site, plane: ControlPlane
) -> None:
    accepted = datetime.now(UTC) - timedelta(days=9)
    old = replace(
        bundle(7),
        issued_at=accepted,
        not_before=accepted,
        expires_at=accepted + timedelta(days=1),
    )
    keys, token = {"k1": public_jwk(plane.key)}, sign(old, plane.key, "k1")
    kept = Kept(keys=keys, floor=7, token=token, accepted_at=accepted)
    write_kept(site.settings.state_dir, kept)
    plane.url = "http://127.0.0.1:9"
    async with site.edge() as running:
        assert (await running.admit("r1")).json()["publication"] == 7


async def test_a_tampered_file_on_disk_leaves_nothing_to_decide_by(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(7))
    async with site.edge():
        await plane.until(lambda: plane.activated(7))
    kept = site.folder / "state" / "bundle.json"
    text = kept.read_text()
    place = text.index('"token":"') + 60
    kept.write_text(text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :])
    plane.url = "http://127.0.0.1:9"
    async with site.edge() as running:
        assert (await running.admit("r1")).json()["reason"] == "no_bundle"


async def test_a_first_publication_is_found_soon_by_an_edge_that_had_nothing(
    site: Site, plane: ControlPlane
) -> None:
    async with site.edge():
        await plane.until(lambda: bool(plane.batches))  # it has been up for a while
        published = time.monotonic()
        plane.publish(bundle(1))
        await plane.until(lambda: plane.activated(1))
        assert time.monotonic() - published < 2.0


async def test_a_better_bundle_is_found_soon_after_a_refused_one(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(1))
    async with site.edge():
        await plane.until(lambda: plane.activated(1))
        plane.publish(bundle(2), key=new_key())
        await plane.until(lambda: len(plane.tags) > 6)  # offered again and again
        assert len(plane.refusals()) == 1  # and reported once
        published = time.monotonic()
        plane.publish(bundle(3))
        await plane.until(lambda: plane.activated(3))
        assert time.monotonic() - published < 2.0


async def test_a_key_that_was_rotated_out_signs_nothing_more(
    site: Site, plane: ControlPlane
) -> None:
    next_key = new_key()
    plane.publish(replace(bundle(1), next_keys={"k2": public_jwk(next_key)}))
    async with site.edge():
        await plane.until(lambda: plane.activated(1))
        plane.publish(bundle(2), key=next_key, kid="k2")
        await plane.until(lambda: plane.activated(2))
        plane.publish(bundle(3))
        await plane.until(lambda: any(said.startswith("wrong_key") for said in plane.refusals()))


async def test_a_disk_that_takes_nothing_is_a_refusal_that_is_told(
    site: Site, plane: ControlPlane
) -> None:
    plane.publish(bundle(1))
    async with site.edge() as running:
        await plane.until(lambda: plane.activated(1))
        blocked = running.edge.settings.state_dir / "bundle.new"
        blocked.mkdir()
        plane.publish(bundle(2))
        await plane.until(lambda: any(said.startswith("not_kept") for said in plane.refusals()))
        assert str(blocked.parent) in plane.refusals()[-1]
        assert (await running.admit("r1")).json()["publication"] == 1
        blocked.rmdir()
        await plane.until(lambda: plane.activated(2))
