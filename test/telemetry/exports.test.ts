/** The exports of a real server: metrics on a port of their own, with few labels, and one trace of each payment without a secret. */
import { readFileSync } from "node:fs"
import type { IncomingMessage } from "node:http"
import { assert, describe } from "../lab/It.ts"
import { Effect, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { generate } from "../../src/log/Signer.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { newRoom, poll } from "../lab/server/Rooms.ts"
import { freePort } from "../lab/Ports.ts"
import { ask, becomes, post, Proxies } from "../lab/Fixture.ts"
import { until } from "../lab/Eventually.ts"
import { forward, json, serve } from "../lab/proxy/HttpServer.ts"
import { patientSeconds } from "../lab/Patience.ts"
import { assertNone, assertSome } from "../lab/Assertions.ts"
import { listening } from "../lab/server/ServerProcess.ts"
import { staged } from "../lab/server/Live.ts"

const file = (name: string) => readFileSync(new URL(`../../docs/operations/${name}`, import.meta.url), "utf8")

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

const [count, transitions] = ["http_server_request_duration_seconds_count", "altar_payment_transitions_total"]
/** After two purchases, one in flight, three polls and twenty misses of two kinds; a pause is no fault. */
const values: ReadonlyArray<readonly [name: string, labels: Sample["labels"], value: number]> = [
  [count, { http_route: "/api/rooms/:roomId", http_request_method: "GET", http_response_status_code: "200" }, 3],
  [count, { http_route: "other", http_response_status_code: "404" }, 20],
  [count, { http_route: "/api/witness/:witnessId", http_response_status_code: "404" }, 20],
  [transitions, { from: "none", to: "pending" }, 3],
  [transitions, { from: "pending", to: "settled" }, 2],
  ["altar_payment_settlement_duration_seconds_count", { outcome: "submitted" }, 2],
  ["altar_payment_duration_seconds_count", { state: "settled" }, 2],
  ["altar_chain_head", {}, 2],
  ["altar_database_up", {}, 1],
  ["altar_log_running", {}, 1],
  ["altar_rpc_up", {}, 1],
  ["altar_payments_taken", {}, 1],
]

/** Buys two stones, polls a room, misses forty times and meets a limit; a third purchase is left in flight. */
const visited = Effect.fnUntraced(function* (url: string) {
  const { rpc } = yield* Proxies
  const bought = [yield* Purchase.prepareAt(url), yield* Purchase.prepareAt(url)]
  for (const one of bought) assert.strictEqual((yield* Purchase.send(one)).status, 201)
  const guest = yield* newRoom(url)
  for (let n = 0; n < 3; n += 1) assert.strictEqual((yield* poll(guest)).status, 200)
  for (let n = 0; n < 20; n += 1) yield* ask(`${url}/api/nowhere/${n}`)
  for (let n = 0; n < 20; n += 1) yield* ask(`${url}/api/witness/00000000-0000-4000-8000-0000000000${10 + n}`)
  let limited = 0
  while (limited !== 429) limited = (yield* ask(`${url}/api/rooms`, { method: "POST" })).status
  const open = yield* Purchase.prepareAt(url)
  const trap = rpc.arm("eth_sendRawTransaction", "holdBefore")
  yield* Effect.forkScoped(Purchase.send(open))
  yield* trap.arrived
  return trap
})

// The gauges are asked for every ten seconds.
const isTold = (found: ReadonlyArray<Sample>) =>
  ["pending", "settled"].every((state, index) =>
    found.some(
      ({ labels, name, value }) =>
        name === "altar_payment_attempts" && labels["state"] === state && value === index + 1,
    ),
  ) &&
  found.some(({ name, value }) => name === "altar_chain_head" && value === 2) &&
  found.some(({ name, value }) => name === "altar_sales_paused" && value === 1) &&
  ["altar_relayer_balance_ether", "altar_log_checkpoint_age_seconds"].every((gauge) =>
    found.some(({ name }) => name === gauge),
  )

describe.concurrent("metrics", () => {
  staged("provide the true values of all dashboards and alerts, in few series", function* () {
    const { rpc } = yield* Proxies
    const sql = yield* SqlClient.SqlClient
    const metricsPort = yield* freePort
    const server = yield* listening({
      LOG_KEY: Redacted.value(Result.getOrThrow(generate("altar.example/log"))),
      LOG_ORIGIN: "altar.example/log",
      METRICS_PORT: String(metricsPort),
    })
    const { url } = server
    const scrape = Effect.map(ask(`http://127.0.0.1:${metricsPort}/metrics`), (answer) => {
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8")
      return samplesOf(answer.text)
    })
    const trap = yield* visited(url)
    yield* sql`UPDATE payment_pause SET reason = 'stock-taking', since = now()`

    const samples = yield* until("the gauges never tell what was bought", isTold, 60, 250)(scrape)
    const names = new Set(samples.map(({ name }) => name))
    assert.isAbove(shown.length, 20)
    assert.isAbove(alarmed.length, 12)
    assertNone([...new Set([...shown, ...alarmed])], (name) => !names.has(name))
    const valueOf = (name: string, labels: Readonly<Record<string, string>>) =>
      samples.find(
        (one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value),
      )?.value
    for (const [name, labels, value] of values) assert.strictEqual(valueOf(name, labels), value, name)
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
    yield* sql`UPDATE payment_pause SET reason = NULL, since = NULL`
    rpc.arm("*", "status500")
    const troubled = { altar_sales_paused: 0, altar_payments_taken: 0, altar_rpc_up: 0 }
    const isTroubled = (found: ReadonlyArray<Sample>) =>
      Object.entries(troubled).every(([name, value]) => found.some((one) => one.name === name && one.value === value))
    yield* until("the gauges never tell of the node", isTroubled, 60, 250)(scrape)
    yield* server.says("payments unavailable")
    assert.strictEqual((yield* ask(`${url}/readyz`)).status, 503)
    yield* rpc.calm
    yield* becomes(`${url}/readyz`, 200)
    yield* server.says("payments available")
    yield* server.signal("SIGTERM")
    assert.strictEqual(yield* server.ended, 0, server.output())
  })
})

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: { readonly stringValue?: string } }>
}

/** A collector that takes OTLP over HTTP as JSON, and keeps what it was sent. */
const collector = Effect.gen(function* () {
  const bodies: Array<string> = []
  const headers: Array<IncomingMessage["headers"]> = []
  const url = yield* serve(async (_path, body, request) => {
    bodies.push(body)
    headers.push(request.headers)
    return json({})
  })
  const exported = (kind: string) => bodies.flatMap((body) => JSON.parse(body)[kind] ?? [])
  return {
    url,
    headers,
    text: () => bodies.join("\n"),
    spans: (): ReadonlyArray<Span> =>
      exported("resourceSpans").flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap(({ spans }: { spans: Span[] }) => spans),
      ),
    resource: (): ReadonlyArray<Span["attributes"][number]> => exported("resourceSpans")[0].resource.attributes,
    countsAttempts: () => JSON.stringify(exported("resourceMetrics")).includes('"altar.payment.attempts"'),
  }
})

/** A way to the node on which the headers of its visitors are read. */
const overheard = Effect.fnUntraced(function* (upstream: string) {
  const traceparents: Array<string> = []
  const url = yield* serve(async (path, body, request) => {
    const parent = request.headers["traceparent"]
    if (typeof parent === "string") traceparents.push(parent)
    return { ...(await forward(new URL(upstream).origin, path, body, request)), body: "" }
  })
  return { url, traceparents }
})

const started = (env: Readonly<Record<string, string>>) =>
  listening({ OTEL_EXPORTER_OTLP_PROTOCOL: "http/json", ...env })

const telemetryTo = (collector: string, rpcUrl: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector,
  OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20key",
  OTEL_SERVICE_NAME: "altar-under-test",
  OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test,team=a%2Cb",
  OTEL_METRIC_EXPORT_INTERVAL: "1000",
  RPC_URL: rpcUrl,
  TEST_SETTLE_SECONDS: patientSeconds(2),
})

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`

const assertNoSecret = (text: string, purchases: ReadonlyArray<Purchase.Purchase>) => {
  for (const { headers, key, payer, signature } of purchases) {
    for (const secret of [headers["payment-signature"] ?? "", key, payer.address, signature.slice(2)])
      assert.isFalse(text.includes(secret.toLowerCase()), secret)
  }
  assert.notInclude(text, "client.address")
}

const steps = `Purchase.buy Claim.claim Sender.send Reconciler.conclude eth_getTransactionReceipt
  Settle.settleTogether`.split(/\s+/u)

describe.concurrent("a trace", () => {
  staged("covers the request, the chain link and the sweeper of another server", function* () {
    const { rpc } = yield* Proxies
    const otlp = yield* collector
    const node = yield* overheard(rpc.url)
    const telemetry = telemetryTo(otlp.url, node.url)
    const first = yield* started({ ...telemetry, TEST_SWEEP_SECONDS: "3600" })
    const paid = yield* Purchase.prepareAt(first.url)
    const traced = { ...paid, headers: { ...paid.headers, traceparent } }
    assert.strictEqual((yield* Purchase.send(traced)).status, 201)
    // Another one loses the node in the middle, and its server is killed.
    const lost = yield* Purchase.prepareAt(first.url)
    rpc.arm("eth_sendRawTransaction", "dropAfter")
    rpc.arm("eth_getTransactionReceipt", "status500")
    rpc.arm("eth_getLogs", "status500")
    const other = "0af7651916cd43dd8448eb211c80319c"
    const answer = yield* ask(
      `${first.url}/api/witness`,
      post(lost.body, { ...lost.headers, traceparent: `00-${other}-00f067aa0ba902b7-01` }),
    )
    assert.strictEqual(answer.status, 202, answer.text)
    yield* first.signal("SIGTERM")
    yield* first.ended
    yield* rpc.calm
    const second = yield* started({ ...telemetry, TEST_SWEEP_SECONDS: "1" })
    yield* Purchase.ended(lost)
    yield* Effect.sync(otlp.countsAttempts).pipe(until("attempts are not counted", (isCounted) => isCounted))
    yield* second.signal("SIGTERM")
    assert.strictEqual(yield* second.ended, 0)

    const spansOf = (id: string) => otlp.spans().filter((span) => span.traceId === id)
    const names = (id: string) => new Set(spansOf(id).map(({ name }) => name))
    const whole = spansOf(traceId)
    const request = whole.find(({ name }) => name === "POST /api/witness")
    assert.strictEqual(request?.parentSpanId, "00f067aa0ba902b7", "it goes on with the trace of the client")
    assert.includeMembers([...names(traceId)], steps)
    const known = new Set(whole.map(({ spanId }) => spanId))
    assert.isTrue(
      whole.every(({ parentSpanId = "", spanId }) => spanId === request?.spanId || known.has(parentSpanId)),
      "it is one tree",
    )
    assert.includeMembers([...names(other)], ["POST /api/witness", "Reconciler.conclude", "Settle.settleTogether"])
    assertSome(node.traceparents, (parent) => parent.startsWith(`00-${traceId}-`), "the node is told")
    assert.strictEqual(otlp.headers[0]?.["api-key"], "a key")
    const resource = Object.fromEntries(otlp.resource().map(({ key, value }) => [key, value.stringValue]))
    assert.deepInclude(resource, {
      "service.name": "altar-under-test",
      "deployment.environment": "test",
      team: "a,b",
    })
    const route = request?.attributes.find(({ key }) => key === "http.route")?.value.stringValue
    assert.strictEqual(route, "/api/witness")

    assertNoSecret(otlp.text().toLowerCase(), [paid, lost])
  })
})
