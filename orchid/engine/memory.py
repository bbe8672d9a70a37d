"""Device memory as scheduled state: cache a token, tokens a pool, and the ledger that closes."""

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

from orchid.engine.document.demand import Kv, Model
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.operation import Fleet
from orchid.engine.routing import class_route

GIB = 2**30
WEIGHTS_LINE = "weights"
KV_POOL_LINE = "kv_pool"


def kv_bytes_per_token(kv: Kv) -> Decimal:
    """Bytes of cache that one live token holds, all layers and tensor-parallel ranks together.

    Grouped-query attention stores a key and a value a head: 2 x layers x KV heads x head dimension.
    Multi-head latent attention (DeepSeek-V2, 2024) stores one compressed vector and one rotary key
    for all heads: layers x (latent + rotary).
    """
    return kv.layers * _values_a_layer(kv) * kv.value_bytes


def _values_a_layer(kv: Kv) -> int:
    if kv.kv_heads is not None and kv.head_dim is not None:
        return 2 * kv.kv_heads * kv.head_dim
    return (kv.latent_dim or 0) + (kv.rope_dim or 0)


def pool_tokens(pool_bytes: Decimal, bytes_per_token: Decimal) -> int:
    """Whole tokens that fit a pool."""
    return int((pool_bytes / bytes_per_token).to_integral_value(ROUND_FLOOR))


def usable_tokens(tokens: int, usable_factor: Decimal) -> int:
    """Whole tokens that may be admitted; block granularity and safety take the rest."""
    return int((tokens * usable_factor).to_integral_value(ROUND_FLOOR))


def live_tokens_per_device(fleet: Fleet, model: Model) -> int | None:
    """Ceiling of live tokens of a device; None where the document declares no pool or shape."""
    pool = fleet.residency_gib.get(KV_POOL_LINE)
    if pool is None or model.kv is None:
        return None
    tokens = pool_tokens(pool * GIB, kv_bytes_per_token(model.kv))
    return usable_tokens(tokens, fleet.kv_usable_factor or Decimal(1))


@dataclass(frozen=True, slots=True)
class Blocks:
    """Paged allocation of one sequence."""

    blocks: int
    slots: int
    unused: int


def blocks_for(tokens: int, block_tokens: int) -> Blocks:
    """Whole blocks of `block_tokens` for a sequence; the last one is partly unused."""
    blocks = -(-tokens // block_tokens)
    slots = blocks * block_tokens
    return Blocks(blocks, slots, slots - tokens)


def idle_share(reserved_tokens: int, used_tokens: int) -> Decimal:
    """Part of a reservation that is never written."""
    return 1 - Decimal(used_tokens) / reserved_tokens


@dataclass(frozen=True, slots=True)
class Residency:
    """The lines of one device's memory against its size, in GiB."""

    device_gib: Decimal
    lines: dict[str, Decimal]

    @property
    def used_gib(self) -> Decimal:
        return sum(self.lines.values(), Decimal())

    @property
    def remainder_gib(self) -> Decimal:
        """Zero when the ledger closes; what is unaccounted, or (negative) over-committed."""
        return self.device_gib - self.used_gib

    @property
    def closes(self) -> bool:
        return self.remainder_gib == 0

    def with_second(self, weights_gib: Decimal) -> Decimal:
        """What the device would need to hold another version beside everything in the ledger."""
        return self.used_gib + weights_gib


def residency(fleet: Fleet) -> Residency | None:
    """The declared ledger; None where the document declares no device memory."""
    if fleet.device_gib is None or not fleet.residency_gib:
        return None
    return Residency(fleet.device_gib, dict(fleet.residency_gib))


def can_coexist(ledger: Residency, weights_gib: Decimal) -> bool:
    """Whether a second version's weights fit beside the ledger. Otherwise it needs its own pool."""
    return ledger.with_second(weights_gib) <= ledger.device_gib


@dataclass(frozen=True, slots=True)
class ClassMemory:
    """What one request of a class's declared shape holds on its own route.

    `idle_share` is the part of the reservation that stands unused when the answer ends at the
    class's smallest useful output (its input alone where none is named): reserved for, not written.
    `sequences` is how many such requests a device's usable pool holds; None without pool or shape.
    """

    route: str
    reserved_tokens: int
    blocks: Blocks
    used_tokens: int
    idle_share: Decimal
    cache_bytes: Decimal | None
    sequences: int | None


def memory_by_class(document: PolicyDocument) -> dict[str, ClassMemory]:
    """Every class's reservation in tokens, blocks and bytes."""
    return {name: _of_class(document, name) for name in document.classes}


def _of_class(document: PolicyDocument, name: str) -> ClassMemory:
    traffic, route = document.classes[name], class_route(document, name)
    model = document.models[route]
    reserved = traffic.input_tokens + traffic.max_output_tokens
    used = traffic.input_tokens + (traffic.min_output_tokens or 0)
    paged = blocks_for(reserved, document.scheduling.kv_block_tokens)
    live = live_tokens_per_device(document.fleet, model)
    return ClassMemory(
        route=route,
        reserved_tokens=reserved,
        blocks=paged,
        used_tokens=used,
        idle_share=idle_share(paged.slots, used),
        cache_bytes=paged.slots * kv_bytes_per_token(model.kv) if model.kv else None,
        sequences=live // paged.slots if live is not None else None,
    )
