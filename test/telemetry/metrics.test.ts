/** The metrics of a real server: on a port of their own, with few labels, and every one that dashboard and alarms name. */
import { readFileSync } from "node:fs"
import { Effect, Redacted, Result } from "effect"
import { generate } from "../../src/log/Signer.ts"
import { listening } from "../lab/server/Environment.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { newRoom, poll } from "../lab/server/Rooms.ts"
import { freePort } from "../lab/Ports.ts"
import { ask } from "../lab/Fixture.ts"
import { until } from "../lab/Eventually.ts"
import { apart, assert, assertNone } from "../lab/Suites.ts"

const file = (name: string) => readFileSync(new URL(`../../docs/operations/${name}`, import.meta.url), "utf8")

/** Every metric that an expression names. */
const namesIn = (expression: string) =>
  [...expression.matchAll(/\b(?:altar|http_server|db_client|process|nodejs)_[a-z_]+\b/gu)].map(([name]) => name)

const dashboard: {
  readonly panels: ReadonlyArray<{ readonly targets?: ReadonlyArray<{ readonly expr: string }> }>
} = JSON.parse(file("dashboard.json"))
const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => namesIn(expr)))
const alarmed = [...file("alerts.yaml").matchAll(/^ +expr: (.+)$/gmu)].flatMap(([, expr = ""]) => namesIn(expr))

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const samplesOf = (text: string): ReadonlyArray<Sample> =>
  text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, name = "", labels = "", value = ""] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/u.exec(line) ?? []
      assert.notStrictEqual(name, "", line)
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/gu)].map(([, key = "", one = ""]) => [key, one])
      return { name, labels: Object.fromEntries(pairs), value: Number(value) }
    })

apart("metrics", stage, (it) => {
  it("provide the true values of all dashboards and alerts, in few series", function* ({ rpc, sql }) {
    const metricsPort = yield* freePort
    const server = yield* listening({
      LOG_KEY: Redacted.value(Result.getOrThrow(generate("altar.example/log"))),
      LOG_ORIGIN: "altar.example/log",
      LOG_PUBLISH_SECONDS: "1",
      METRICS_PORT: String(metricsPort),
    })
    const { url } = server
    const scrape = Effect.map(ask(`http://127.0.0.1:${metricsPort}/metrics`), (answer) => {
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8")
      return samplesOf(answer.text)
    })
    const bought = [yield* Purchase.prepare(url), yield* Purchase.prepare(url)]
    for (const one of bought) assert.strictEqual((yield* Purchase.send(url, one)).status, 201)
    const guest = yield* newRoom(url)
    for (let n = 0; n < 3; n += 1) assert.strictEqual((yield* poll(guest)).status, 200)
    for (let n = 0; n < 20; n += 1) yield* ask(`${url}/api/nowhere/${n}`)
    for (let n = 0; n < 20; n += 1) yield* ask(`${url}/api/witness/00000000-0000-4000-8000-0000000000${10 + n}`)
    let limited = 0
    while (limited !== 429) limited = (yield* ask(`${url}/api/rooms`, { method: "POST" })).status
    const open = yield* Purchase.prepare(url)
    const trap = rpc.arm("eth_sendRawTransaction", "holdBefore")
    yield* Effect.forkScoped(Purchase.send(url, open))
    yield* trap.arrived

    // The gauges are asked for every ten seconds.
    const isTold = (found: ReadonlyArray<Sample>) =>
      ["pending", "settled"].every((state, index) =>
        found.some(
          ({ labels, name, value }) =>
            name === "altar_payment_attempts" && labels["state"] === state && value === index + 1,
        ),
      ) &&
      found.some(({ name, value }) => name === "altar_chain_head" && value === 2) &&
      found.some(({ name }) => name === "altar_relayer_spent_ether_total")
    const samples = yield* until("the gauges never tell what was bought", isTold, 60, 250)(scrape)
    const names = new Set(samples.map(({ name }) => name))
    assert.isAbove(shown.length, 20)
    assert.isAbove(alarmed.length, 12)
    assertNone([...new Set([...shown, ...alarmed])], (name) => !names.has(name))
    const valueOf = (name: string, labels: Readonly<Record<string, string>>) =>
      samples.find(
        (one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value),
      )?.value
    const count = "http_server_request_duration_seconds_count"
    const poller = { http_route: "/api/rooms/:roomId", http_request_method: "GET", http_response_status_code: "200" }
    assert.strictEqual(valueOf(count, poller), 3)
    assert.strictEqual(valueOf(count, { http_route: "other", http_response_status_code: "404" }), 20)
    assert.strictEqual(valueOf(count, { http_route: "/api/witness/:witnessId", http_response_status_code: "404" }), 20)
    assert.strictEqual(valueOf("altar_payment_transitions_total", { from: "none", to: "pending" }), 3)
    assert.strictEqual(valueOf("altar_payment_transitions_total", { from: "pending", to: "settled" }), 2)
    assert.strictEqual(valueOf("altar_payment_settlement_duration_seconds_count", { outcome: "submitted" }), 2)
    assert.strictEqual(valueOf("altar_payment_duration_seconds_count", { state: "settled" }), 2)
    assert.strictEqual(valueOf("altar_chain_head", {}), 2)
    assert.strictEqual(valueOf("altar_database_up", {}), 1)
    for (const log of ["stones", "acts"]) assert.strictEqual(valueOf("altar_log_running", { log }), 1, log)
    assert.strictEqual(valueOf("altar_rpc_up", {}), 1)
    assert.strictEqual(valueOf("altar_sales_paused", {}), 0)
    assert.strictEqual(valueOf("altar_payments_taken", {}), 1)
    assert.isBelow(Math.abs(valueOf("altar_clock_ahead_seconds", {}) ?? Number.NaN), 30)
    assert.isAtLeast(valueOf("altar_rpc_duration_seconds_count", { rpc_method: "eth_sendRawTransaction" }) ?? 0, 2)
    assert.isAbove(valueOf("altar_relayer_balance_ether", {}) ?? 0, 0.1)
    assert.isAtLeast(valueOf("altar_limiter_refusals_total", {}) ?? 0, 1)
    assert.isAtLeast(valueOf("http_server_active_requests", {}) ?? 0, 1)
    const routes = new Set(samples.flatMap(({ labels }) => labels["http_route"] ?? []))
    assert.isBelow(routes.size, 12, [...routes].join(" "))

    assert.strictEqual((yield* ask(`${url}/metrics`)).status, 404, "who may buy may not ask")
    assert.strictEqual((yield* ask(`http://127.0.0.1:${metricsPort}/elsewhere`)).status, 404)
    yield* rpc.calm
    yield* trap.release
    yield* sql`UPDATE payment_pause SET reason = 'stock-taking', since = now()`
    rpc.arm("*", "status500")
    const troubled = { altar_sales_paused: 1, altar_payments_taken: 0, altar_rpc_up: 0 }
    const isTroubled = (found: ReadonlyArray<Sample>) =>
      Object.entries(troubled).every(([name, value]) => found.some((one) => one.name === name && one.value === value))
    yield* until("the gauges never tell of the pause and the node", isTroubled, 60, 250)(scrape)
    yield* server.says("payments unavailable")
    assert.strictEqual((yield* ask(`${url}/readyz`)).status, 503)
    yield* rpc.calm
    yield* server.says("payments available")
    yield* server.signal("SIGTERM")
    assert.strictEqual(yield* server.ended, 0, server.output())
  })
})
