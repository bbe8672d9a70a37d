"""A document that uses every key of the schema: the examples that editors and the reference show.

It is valid as a whole, so no example can be one that the loader refuses.
"""

from functools import cache
from typing import Any

from orchid.engine.document.yaml_text import read_yaml

TEXT = """\
schema: orchid.policy/v1
product: orchid-serve
contract:
  clock: completion
  deadline_ms: 1500
  denominator: eligible_offered
  post_model_reserve_ms: 60
  population: {name: authenticated product traffic, region: eu, regime: steady weekday}
  eligible:
    tenant_class: [standard, premium]
  accepts: [bounded, early_terminated]
gates:
  completion_p95_ms: {max: 1500, window: 15m, confidence: 0.95, minimum_sample: 1000}
  cost_per_success_usd: {max: "0.00016", window: 1h, minimum_successes: 1000}
  utility: {min: 0.895, window: 1h}
  attainment: {min: 0.96, window: 15m, minimum_sample: 1000}
  violations: {max: 0, window: 1h}
  first_token_p95_ms: {max: 400, window: 15m, confidence: 0.95, minimum_sample: 1000}
  time_per_output_token_p95_ms: {max: 40, window: 15m, confidence: 0.95, minimum_sample: 1000}
  inter_token_gap_p95_ms: {max: 200, window: 15m, confidence: 0.95, minimum_sample: 1000}
  alpha_pass: 0.05
  alpha_fail: 0.01
  step_s: 60
  segments:
  - name: assistant
    where: {task: short_assistant}
    minimum_sample: 350
  design_effect_prior: 1.5
  fragile_margin: 0.06
  prior: {a: 48, b: 2}
  false_alarm_every: 7d
  against_incumbent: {attainment: 0.01, latency: 0.02}
  evidence: {max_age: 10d, kinds_required: [frozen_suite, policy]}
  guardrails:
  - measure: queue_dwell_max_ms
    max: 900
    window: 15m
    where: {task: short_assistant}
    minimum_sample: 350
  - {measure: completion_share, min: 0.97, window: 15m}
demand:
  version: teu-3
  input_weight: 0.25
  model_factor: {compact: 0.45, full: 1}
  fitted: {runtime: engine-1.9, hardware: 80 GiB device, measured: 2026 week 10, attempts: 120000}
  cells:
  - {route: full, input_bucket: 4097+, output_bucket: 65+, pad: "1.15"}
  - {route: compact, input_bucket: 4097+, disabled: true}
models:
  full:
    weights: sha256:7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b
    tokenizer: tok-128k-v3
    adapter: long-form-2
    precision: fp16
    runtime: engine-1.9
    kernels: paged-attention-3
    policy: content-policy-12
    validator: schema-validator-7
    feature_contract: features-4
    kv: {layers: 32, kv_heads: 8, head_dim: 128, value_bytes: 2}
    weights_gib: "26.08"
    context_tokens: 16384
    timing: {fixed_ms: 20, prefill_tokens_per_s: 40000, decode_ms_per_token: 2, transfer_ms: 10}
    max_sequences: 384
    streaming: after_validation
    early_stop:
      version: stop-2
      evidence: suite false-stops 3
      where: {task: short_assistant}
    cacheable:
      depends_on: [tenant, content_version]
    pinned: true
    cancel: {stops_generation: true, stops_billing: false}
    over_budget_input: trim_oldest
    modality: [text, image]
    privacy_cells: [eu-shared]
  compact:
    weights: sha256:2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f2f
    tokenizer: tok-32k-v5
    precision: int8
    runtime: engine-1.9
    kv: {layers: 24, latent_dim: 512, rope_dim: 64, value_bytes: 1}
classes:
  short_assistant:
    model: full
    input_tokens: 900
    max_output_tokens: 120
    min_output_tokens: 64
    arrivals_per_s: 90
    interactive: true
    deadline_ms: 1200
    dimensions: {task: short_assistant, tenant_class: standard}
    purpose: serving
    capped_output_tokens: 80
    modality: text
  nightly_summary:
    model: full
    input_tokens: 4000
    max_output_tokens: 400
    arrivals_per_s: 0.5
    interactive: false
    dimensions: {task: nightly_summary}
    deferral: {deadline: 6h, max_queue_age: 4h, after: 30s}
    reserve: {output_tokens: 300, percentile: 0.99, evidence: suite output-lengths 5}
segments:
  dimensions: [task, tenant_class, input_bucket, output_bucket, risk]
  buckets:
    input_bucket: [512, 4096]
    output_bucket: [64]
  floors:
  - where: {}
    min_utility: 0.895
  - where:
      risk: [regulated, high]
    min_utility: 0.93
fallback:
- from: full
  to: compact
  prefer: true
  where: {task: short_assistant, tenant_class: standard}
- deny: true
  where:
    risk: [regulated, high]
admission:
  max_queued_teu: 45000
  concurrency: {mode: queue_wait_aimd, per_replica: 24, floor: 16, ceiling: 32, signal: queue_wait,
    target_wait: 100ms, decrease: 0.9, increase: 1}
  live_tokens:
    per_device: 236748
    per_tenant: 60000
    per_request: 16000
    per_route: {full: 900000}
  shares:
    control: {guaranteed: 0.02, ceiling: 0.05}
    region/eu:
      guaranteed: 0.98
      children:
        tenant_class/standard: {guaranteed: 0.7, ceiling: 1}
  queue:
    age_bound: 1500ms
    weights: {slack: 1, attained: 1, remaining: 0.5, age: 1, live: 0.5}
  signals: {fresh: 1s, hold: 5s, penalty: 50ms, floor_per_replica: 1}
  retry:
    budget: 0.1
    after_ms: [200, 2000]
    window: 10s
    attempts_per_request: 3
    count: [attempts, teu, live_tokens]
  breaker: {failures: 5, window_s: 10, open_s: 5, probes: 1}
  affinity: {hot_at: 0.8}
  conservative_route: full
scheduling:
  prefill_chunk_tokens: 512
  max_decode_turns: 8
  kv_block_tokens: 16
  routes:
    compact:
      mode: dynamic
      max_batch: 32
      max_delay: 5ms
      prefill_chunk_tokens: 256
      max_decode_turns: 4
      preemption: recompute
overload:
- stop_shadow
- rung: compact_fallback
  enter: {queue_wait: 375ms, queued: 0.5, live_tokens: 0.93}
  leave: {queue_wait: 75ms, queued: 0.1, live_tokens: 0.75}
  dwell: 2s
  steady_for: 2s
- reject_infeasible
routing:
  rules:
  - where: {task: short_assistant}
    route: full
  always_large:
  - {risk: regulated}
  cascade:
    small: compact
    large: full
    threshold: 0.8
    validated_by: suite cascade-confidence 4
    escalate_on: [low_confidence, timeout, schema_failure]
    small_timeout: 400ms
    target_false_accept: 0.02
    prompt_version: prompt-12
    small_manifest: sha256:0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f
    large_manifest: sha256:1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e
    small_cost_ratio: "0.1"
fleet:
  devices: 28
  group_size: 4
  raw_teu_per_s: 5000
  safe_factor: "0.70"
  device_usd_per_h: "4.80"
  overhead_usd_per_h: "39.60"
  device_gib: "80"
  residency_gib: {weights: "26.08", kv_pool: "34", runtime: "19.92"}
  kv_usable_factor: "0.85"
  pool: main
  replicas: {compact: 4, full: 24}
  headroom: {prediction_error: "0.10", variance: "0.05", failure_reserve: "0.15"}
  placement:
    compact: [1, 2]
    full: [2, 3, 4, 5, 6, 7]
  max_resident_models: 2
  max_adapters: 4
prices:
  full:
    input_usd_per_million: "0.50"
    cached_input_usd_per_million: "0.05"
    cache_write_usd_per_million: "0.625"
    output_usd_per_million: "2.00"
    batch_factor: "0.5"
    long_prompt:
      above_tokens: 200000
      input_usd_per_million: "1.00"
      output_usd_per_million: "3.00"
allocation:
  direct: accelerator_ms
  residency: weights
  reserve: teu
  common: successes
  investment: common
budgets:
- tenant: "*"
  window: 10s
  max_teu: 120000
  max_live_token_ms: 600000000
  max_output_tokens: 50000
  max_external_calls: 200
- {tenant: acme, window: 1d, max_usd: "400.00"}
rollout:
  stages:
  - {observe: 24h, survival: 0.99, teu_error: 0.2}
  - {shadow: 24h, agreement: 0.9, decisions: 2000}
  - {hard_limits: 12h, max_refused: 0.02}
  - {canary: 0.01, hold: 30m, minimum_per_stratum: 50, peak: 0.9, cache_cycles: 3, approval: sre}
  - {canary: 1, hold: 24h}
  strata: [route, task, input_bucket, tenant_class, risk]
  on_breach: rollback
  unit: session
  publish: manual
  acknowledged_share: 1
  on_expiry: keep
  cache_cycle: 10m
  apart: [assistant]
  before_whole: [peak, cold_start, drill]
  warm_up: true
  freezes:
  - {name: end of the year, from: 2026-12-18T18:00, until: 2027-01-04T08:00, zone: Europe/Berlin}
  - {name: weekend, from: fri 16:00, until: mon 08:00, zone: Europe/Berlin}
  schedule_grace: 1h
approvals:
  quality: [product_owner, product_owner]
  cost: [product_owner]
  capacity: [sre]
  evidence_required: [warm_trial, cold_trial, segmented_quality, uncertainty]
  accepted_room: 0.5
  expire_after: 7d
  second_look: 24h
  second_look_overdue: block
revisit:
- {trigger: fallback_rise, measure: fallback share of eligible requests, max: 0.25, window: 1h}
- {trigger: prefix_reads, measure: input tokens read from prefix cache, min: 0.6, window: 1d}
examples:
- given:
    class: short_assistant
    deadline_in_ms: 230
    input_tokens: 900
    max_output_tokens: 120
    segment: {risk: low}
    tenant: acme
    warm: false
  expect: {action: reject, route: full, reason: no_warm_replica}
"""

#: Takes the place of the cascade: a document has one of the two.
CLASSIFIER = """\
version: intent-3
threshold: 0.7
evidence: suite intent-routing 2
large: full
small: compact
"""


@cache
def every_key() -> dict[str, Any]:
    """The document's values; a classifier is not among them, for it excludes the cascade."""
    document: dict[str, Any] = read_yaml(TEXT)
    return document


def with_classifier() -> dict[str, Any]:
    """The document with a classifier in place of the cascade."""
    routing = {key: part for key, part in every_key()["routing"].items() if key != "cascade"}
    return every_key() | {"routing": routing | {"classifier": read_yaml(CLASSIFIER)}}


def values_by_key() -> dict[str, Any]:
    """A value at every key there is: both of the above in one, so no document itself."""
    return every_key() | {"routing": with_classifier()["routing"] | every_key()["routing"]}
