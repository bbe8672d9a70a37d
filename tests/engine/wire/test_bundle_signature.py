"""A bundle is believed only when a trusted key signed exactly these bytes, in turn and in time."""

import warnings
from base64 import urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc.jwk import OKPKey

from orchid.engine.wire.bundle import (
    Bundle,
    BundleRefused,
    Exposure,
    Generation,
    Generations,
    Jwk,
    etag_of,
    exposed,
    live_digest,
    public_jwk,
    sign,
    verify,
)
from orchid.engine.wire.signed import sign_bytes

NOW = datetime(2026, 5, 1, 10, tzinfo=UTC)


def private_key() -> bytes:
    return OKPKey.generate_key("Ed25519").as_pem(private=True)


KEY, OTHER_KEY = private_key(), private_key()
KEYS: dict[str, Jwk | str] = {"k1": public_jwk(KEY)}


def bundle(publication: int = 43, **changes: Any) -> Bundle:
    given: dict[str, Any] = {
        "product": "orchid-demo",
        "publication": publication,
        "kind": "publish",
        "issued_at": NOW,
        "not_before": NOW,
        "expires_at": NOW + timedelta(days=30),
        "generations": Generations(Generation("sha256:aa", {"schema": "orchid.policy/v1"})),
        "pools": {"sha256:aa": "six"},
    }
    return Bundle(**(given | changes))


def offer(
    token: str,
    keys: dict[str, Jwk | str] = KEYS,
    floor: int = 42,
    at: datetime = NOW,
    active: Bundle | None = None,
) -> Bundle:
    return verify(
        token, keys, product="orchid-demo", floor_publication=floor, now=at, active=active
    )


def refused(token: str, **changes: Any) -> str:
    with pytest.raises(BundleRefused) as caught:
        offer(token, **changes)
    return caught.value.code


def test_a_signed_bundle_comes_back_whole() -> None:
    assert offer(sign(bundle(), KEY, "k1")) == bundle()


def test_signing_and_verifying_warn_of_nothing() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        offer(sign(bundle(), KEY, "k1"))
    assert not seen


def test_the_edges_of_one_weight_share_a_key_and_a_key_of_one_means_what_it_meant() -> None:
    for slices in ({"e1 e2": 1.0, "e3": 2.0}, {"e1": 1.0, "e2": 1.0, "e3": 2.0}):
        assert offer(sign(bundle(slices=slices), KEY, "k1")).slices == slices


@pytest.mark.parametrize(
    "keys", [["e1 e1"], ["e1 e2", "e2"], ["e1  e2"], [" e1"], ["e1 "], [""], ["e1\te2"], ["e1\n"]]
)
def test_an_edge_that_is_named_twice_or_not_by_a_name_is_malformed(keys: list[str]) -> None:
    token = sign_bytes(with_slices(dict.fromkeys(keys, 1.0)), KEY, "k1", "orchid-bundle+jws")
    assert refused(token) == "malformed"


def with_slices(slices: dict[str, float]) -> bytes:
    """The payload of a bundle, with slices that nobody checked."""
    return msgspec.json.encode(msgspec.to_builtins(bundle()) | {"slices": slices})


def test_an_older_number_is_refused_and_a_later_one_may_have_old_content() -> None:
    assert refused(sign(bundle(40), KEY, "k1")) == "older"
    assert offer(sign(bundle(44), KEY, "k1")).generations == bundle(40).generations


def test_an_unknown_key_is_refused_even_when_it_signed_well() -> None:
    assert refused(sign(bundle(), OTHER_KEY, "k2")) == "wrong_key"


def test_another_key_under_a_trusted_name_is_refused() -> None:
    assert refused(sign(bundle(), OTHER_KEY, "k1")) == "altered"


def test_no_signature_is_refused() -> None:
    header, payload, _ = sign(bundle(), KEY, "k1").split(".")
    assert refused(f"{header}.{payload}.") == "unsigned"
    none = urlsafe_b64encode(b'{"alg":"none","kid":"k1"}').rstrip(b"=").decode()
    assert refused(f"{none}.{payload}.AAAA") == "unsigned"
    assert refused("{}") == "unsigned"


def test_an_extra_part_is_refused() -> None:
    assert refused(sign(bundle(), KEY, "k1") + ".e30") == "unsigned"


TOKEN = sign(bundle(), KEY, "k1")


@given(st.integers(0, len(TOKEN) - 1), st.sampled_from("AZaz09-_.!"))
def test_any_altered_byte_is_refused(place: int, letter: str) -> None:
    altered = TOKEN[:place] + letter + TOKEN[place + 1 :]
    if altered != TOKEN:
        assert refused(altered) in {"altered", "unsigned", "wrong_key"}


def test_every_other_spelling_of_the_last_character_is_refused() -> None:
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_":
        if TOKEN[-1] != letter:
            assert refused(TOKEN[:-1] + letter) == "altered"


def test_a_bundle_of_another_product_is_refused() -> None:
    assert refused(sign(bundle(product="orchid-serve"), KEY, "k1")) == "other_product"


def test_a_bundle_is_accepted_only_between_its_times() -> None:
    token = sign(bundle(), KEY, "k1")
    assert refused(token, at=NOW - timedelta(minutes=1)) == "not_yet"
    assert refused(token, at=NOW + timedelta(days=30)) == "expired"
    assert offer(token, at=NOW - timedelta(seconds=2)).publication == 43


def test_the_active_number_again_must_have_equal_content_and_be_signed_later() -> None:
    active, later = bundle(), NOW + timedelta(hours=1)
    signed_again = bundle(issued_at=later, expires_at=later + timedelta(days=30))
    assert offer(sign(signed_again, KEY, "k1"), at=later, active=active) == signed_again
    changed = bundle(pools={"sha256:aa": "four"}, issued_at=later)
    assert refused(sign(changed, KEY, "k1"), at=later, active=active) == "conflict"
    assert refused(sign(active, KEY, "k1"), at=later, active=signed_again) == "older"


def test_a_bundle_brings_the_key_that_signs_the_next_one() -> None:
    first = offer(sign(bundle(next_keys={"k2": public_jwk(OTHER_KEY)}), KEY, "k1"))
    keys: dict[str, Jwk | str] = {**KEYS, **first.next_keys}
    assert offer(sign(bundle(44), OTHER_KEY, "k2"), keys=keys).publication == 44


def test_the_tag_follows_from_the_bytes_served() -> None:
    assert etag_of(TOKEN) == etag_of(sign(bundle(), KEY, "k1"))
    assert etag_of(TOKEN) != etag_of(sign(bundle(44), KEY, "k1"))


def test_the_live_digest_is_the_candidate_at_full_exposure_alone() -> None:
    both = Generations(Generation("sha256:aa", {}), Generation("sha256:bb", {}))
    for fraction, digest in ((0.99, "sha256:aa"), (1.0, "sha256:bb")):
        exposure = Exposure(stage=0, fraction=fraction, salt="s")
        assert live_digest(bundle(generations=both, exposure=exposure)) == digest


def test_a_candidate_without_an_exposure_is_no_bundle() -> None:
    both = Generations(Generation("sha256:aa", {}), Generation("sha256:bb", {}))
    with pytest.raises(ValueError, match="come together"):
        bundle(generations=both)


@given(st.text(max_size=20), st.floats(0, 1), st.floats(0, 1))
def test_growing_a_stage_moves_nobody_out(unit: str, one: float, other: float) -> None:
    small, large = sorted((one, other))
    assert exposed("salt", "task=x", unit, large) or not exposed("salt", "task=x", unit, small)
    assert exposed("salt", "task=x", unit, 1.0)
    assert not exposed("salt", "task=x", unit, 0.0)


def test_exposure_meets_its_fraction_in_each_stratum() -> None:
    for stratum in ("task=x", "task=y"):
        share = sum(exposed("salt", stratum, f"u{n}", 0.05) for n in range(20_000)) / 20_000
        assert share == pytest.approx(0.05, abs=0.006)  # 4 standard deviations


def test_a_payload_that_is_no_bundle_is_refused_after_its_signature() -> None:
    broken = msgspec.structs.replace(bundle(), kind="surprise")
    assert refused(sign(broken, KEY, "k1")) == "malformed"
