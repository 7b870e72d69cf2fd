/** One trace of a payment, from its request to its chain link and back through the sweeper, and no secret in it. */
import type { IncomingMessage } from "node:http"
import { Effect } from "effect"
import { listening } from "../lab/server/Environment.ts"
import { forward, json, serve } from "../lab/proxy/HttpServer.ts"
import { until } from "../lab/Eventually.ts"
import { patientSeconds } from "../lab/Patience.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { ask, post } from "../lab/Fixture.ts"
import { apart, assert, assertSome } from "../lab/Suites.ts"

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

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`

apart("a trace", stage, (it) => {
  it("covers the request, the chain link and the sweeper of another server", function* ({ rpc }) {
    const otlp = yield* collector
    const node = yield* overheard(rpc.url)
    const telemetry = {
      OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url,
      OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20key",
      OTEL_SERVICE_NAME: "altar-under-test",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test,team=a%2Cb",
      OTEL_METRIC_EXPORT_INTERVAL: "1000",
      RPC_URL: node.url,
      SETTLE_TIMEOUT_SECONDS: patientSeconds(2),
    }
    const first = yield* started({ ...telemetry, SWEEP_SECONDS: "3600" })
    const paid = yield* Purchase.prepare(first.url)
    const traced = { ...paid, headers: { ...paid.headers, traceparent } }
    assert.strictEqual((yield* Purchase.send(first.url, traced)).status, 201)
    // Another one loses the node in the middle, and its server is killed.
    const lost = yield* Purchase.prepare(first.url)
    rpc.arm("eth_sendRawTransaction", "dropAfter")
    rpc.arm("eth_getTransactionReceipt", "status500")
    const other = "0af7651916cd43dd8448eb211c80319c"
    const answer = yield* ask(
      `${first.url}/api/witness`,
      post(lost.body, { ...lost.headers, traceparent: `00-${other}-00f067aa0ba902b7-01` }),
    )
    assert.strictEqual(answer.status, 202, answer.text)
    yield* first.signal("SIGTERM")
    yield* first.ended
    yield* rpc.calm
    const second = yield* started({ ...telemetry, SWEEP_SECONDS: "1" })
    yield* Purchase.ended(lost)
    yield* Effect.sync(otlp.countsAttempts).pipe(until("attempts are not counted", (isCounted) => isCounted))
    yield* second.signal("SIGTERM")
    assert.strictEqual(yield* second.ended, 0)

    const spansOf = (id: string) => otlp.spans().filter((span) => span.traceId === id)
    const names = (id: string) => new Set(spansOf(id).map(({ name }) => name))
    const whole = spansOf(traceId)
    const request = whole.find(({ name }) => name === "POST /api/witness")
    assert.strictEqual(request?.parentSpanId, "00f067aa0ba902b7", "it goes on with the trace of the client")
    for (const name of [
      "PaymentPipeline.run",
      "Claim.claim",
      "Broadcaster.send",
      "Reconciler.conclude",
      "eth_getTransactionReceipt",
      "Settle.settleTogether",
    ]) {
      assert.isTrue(names(traceId).has(name), `${name} of ${[...names(traceId)].join(", ")}`)
    }
    const known = new Set(whole.map(({ spanId }) => spanId))
    assert.isTrue(
      whole.every(({ parentSpanId = "", spanId }) => spanId === request?.spanId || known.has(parentSpanId)),
      "it is one tree",
    )
    for (const name of ["POST /api/witness", "Reconciler.conclude", "Settle.settleTogether"]) {
      assert.isTrue(names(other).has(name), `${name} of the swept one: ${[...names(other)].join(", ")}`)
    }
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

    const text = otlp.text().toLowerCase()
    for (const { headers, key, payer, signature } of [paid, lost]) {
      for (const secret of [headers["payment-signature"] ?? "", key, payer.address, signature.slice(2)]) {
        assert.isFalse(text.includes(secret.toLowerCase()), secret)
      }
    }
    assert.notInclude(text, "client.address")
  })
})
