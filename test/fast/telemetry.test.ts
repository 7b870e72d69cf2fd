/** The trace id alone decides what is sampled, and a wrong variable costs the exports alone. */
import { assert, describe, it } from "../lab/It.ts"
import { ConfigProvider, Effect } from "effect"
import { faults } from "../../src/telemetry/Otlp.ts"
import { isIn } from "../../src/telemetry/Tracing.ts"

const first = "0".repeat(32)
const last = "f".repeat(32)
const middle = `${"a".repeat(18)}80000000000000`

describe("a sampled trace", () => {
  it.each([
    [1, [first, middle, last]],
    [0.5, [middle, last]],
    [0.01, [last]],
    [0, []],
  ] as const)("with a share of %d is sampled by its id alone", (share, kept) => {
    assert.deepStrictEqual(
      [first, middle, last].filter((id) => isIn(share, id)),
      [...kept],
    )
  })
})

describe("a wrong variable of OpenTelemetry", () => {
  it.effect.each<readonly [name: string, value: string]>([
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "nonsense"],
    ["OTEL_METRIC_EXPORT_INTERVAL", "often"],
    ["OTEL_TRACES_SAMPLER", "sometimes"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "api-key=%hush"],
  ])("is named without its value: %s", function* ([name, value]) {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", [name]: value }
    const provider = ConfigProvider.fromEnv({ env })
    assert.deepStrictEqual(yield* Effect.provideService(faults, ConfigProvider.ConfigProvider, provider), [
      `${name} cannot be used, so no traces or metrics are sent to a collector.`,
    ])
  })
})
