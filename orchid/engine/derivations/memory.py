"""What device memory holds: the residency ledger, cache a token, tokens a pool."""

from decimal import Decimal

from orchid.engine.derivations.worked import (
    Derivation,
    FigureError,
    Given,
    Material,
    Value,
    Worked,
)
from orchid.engine.document.demand import Kv
from orchid.engine.memory import (
    GIB,
    KV_POOL_LINE,
    Residency,
    blocks_for,
    can_coexist,
    idle_share,
    kv_bytes_per_token,
    live_tokens_per_device,
    pool_tokens,
    residency,
    usable_tokens,
)


def _ledger_of(material: Material) -> Residency:
    ledger = residency(material.document.fleet)
    if ledger is None:
        raise FigureError("the document declares no device memory")
    return ledger


def _used(material: Material, given: Given) -> Worked:
    ledger = _ledger_of(material)
    return Worked(ledger.used_gib, dict(ledger.lines))


def _closes(material: Material, given: Given) -> Worked:
    ledger = _ledger_of(material)
    inputs = {"used_gib": ledger.used_gib, "device_gib": ledger.device_gib}
    return Worked(ledger.closes, inputs)


def _second(material: Material, given: Given) -> tuple[Residency, Decimal, dict[str, Value]]:
    ledger, weights = _ledger_of(material), given.number("weights_gib")
    inputs: dict[str, Value] = {"used_gib": ledger.used_gib, "weights_gib": weights}
    return ledger, weights, {**inputs, "device_gib": ledger.device_gib}


def _with_second(material: Material, given: Given) -> Worked:
    ledger, weights, inputs = _second(material, given)
    return Worked(ledger.with_second(weights), inputs)


def _coexists(material: Material, given: Given) -> Worked:
    ledger, weights, inputs = _second(material, given)
    return Worked(can_coexist(ledger, weights), inputs)


def _kv(material: Material, given: Given) -> tuple[Kv, dict[str, Value]]:
    """The shape of a model of the document, or one that is given."""
    if given.has("model"):
        name = given.text("model")
        model = material.document.models.get(name)
        if model is None or model.kv is None:
            raise FigureError(f"the document has no cache shape of a model {name}")
        return model.kv, {"model": name, **_shape(model.kv)}
    kv = Kv(
        layers=given.whole("layers"),
        kv_heads=given.whole("kv_heads"),
        head_dim=given.whole("head_dim"),
        value_bytes=given.number("value_bytes"),
    )
    return kv, _shape(kv)


def _shape(kv: Kv) -> dict[str, Value]:
    shape = kv.model_dump(exclude_none=True)
    return {name: value for name, value in shape.items() if isinstance(value, int | Decimal)}


def _kv_bytes(material: Material, given: Given) -> Worked:
    kv, inputs = _kv(material, given)
    return Worked(kv_bytes_per_token(kv), inputs)


def _kv_gib(material: Material, given: Given) -> Worked:
    kv, inputs = _kv(material, given)
    tokens = given.whole("sequences") * given.whole("tokens")
    return Worked(tokens * kv_bytes_per_token(kv) / GIB, {**inputs, "tokens": tokens})


def _pool_tokens(material: Material, given: Given) -> Worked:
    """Of a pool in bytes at so many a token, or of the document's own pool and model."""
    if given.has("model"):
        kv, inputs = _kv(material, given)
        pool = material.document.fleet.residency_gib.get(KV_POOL_LINE)
        if pool is None:
            raise FigureError("the document declares no pool for live tokens")
        each = kv_bytes_per_token(kv)
        return Worked(pool_tokens(pool * GIB, each), {**inputs, "pool_gib": pool})
    pool, each = given.number("pool_bytes"), given.number("bytes_per_token")
    return Worked(pool_tokens(pool, each), {"pool_bytes": pool, "bytes_per_token": each})


def _sequences(material: Material, given: Given) -> Worked:
    pool, each = given.number("pool_bytes"), given.number("bytes_per_token")
    length = given.whole("sequence_tokens")
    inputs: dict[str, Value] = {"pool_bytes": pool, "bytes_per_token": each}
    return Worked(pool_tokens(pool, each) // length, {**inputs, "sequence_tokens": length})


def _live_tokens(material: Material, given: Given) -> Worked:
    fleet, name = material.document.fleet, given.text("model")
    model = material.document.models.get(name)
    if model is None:
        raise FigureError(f"the document has no model {name}")
    inputs: dict[str, Value] = {
        "model": name,
        "usable_factor": fleet.kv_usable_factor or Decimal(1),
    }
    return Worked(live_tokens_per_device(fleet, model), inputs)


def _blocks(part: str) -> Derivation:
    def compute(material: Material, given: Given) -> Worked:
        tokens, size = given.whole("tokens"), given.whole("block_tokens")
        value = getattr(blocks_for(tokens, size), part)
        return Worked(value, {"tokens": tokens, "block_tokens": size})

    how = {
        "blocks": "tokens / block, rounded up",
        "slots": "blocks x block",
        "unused": "slots - tokens",
    }[part]
    unit = "blocks" if part == "blocks" else "slots"
    return Derivation(f"paged_{part}", unit, blocks_for, how, compute)


def _idle(material: Material, given: Given) -> Worked:
    reserved, used = given.whole("reserved_tokens"), given.whole("used_tokens")
    return Worked(idle_share(reserved, used), {"reserved_tokens": reserved, "used_tokens": used})


PER_TOKEN = "2 x layers x KV heads x head dimension x bytes a value"  # noqa: S105 -- a formula

DERIVATIONS = (
    Derivation("residency_used_gib", "GiB", residency, "sum of the ledger's lines", _used),
    Derivation("residency_closes", "", residency, "lines sum to exactly the device", _closes),
    Derivation(
        "with_second_gib", "GiB", can_coexist, "ledger + another version's weights", _with_second
    ),
    Derivation(
        "second_version_fits", "", can_coexist, "ledger + weights within the device", _coexists
    ),
    Derivation("kv_bytes_per_token", "B", kv_bytes_per_token, PER_TOKEN, _kv_bytes),
    Derivation("kv_gib", "GiB", kv_bytes_per_token, "sequences x tokens x bytes a token", _kv_gib),
    Derivation("pool_tokens", "tokens", pool_tokens, "pool / bytes a token, floored", _pool_tokens),
    Derivation(
        "pool_sequences", "sequences", pool_tokens, "pool tokens / length, floored", _sequences
    ),
    Derivation(
        "live_tokens_per_device",
        "tokens",
        usable_tokens,
        "pool tokens x usable factor, floored",
        _live_tokens,
    ),
    _blocks("blocks"),
    _blocks("slots"),
    _blocks("unused"),
    Derivation("idle_share", "share", idle_share, "1 - used / reserved", _idle),
)
