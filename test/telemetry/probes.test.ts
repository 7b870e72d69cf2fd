/** `/livez`, `/readyz` and `/api/health` say what is known; while the database is away, everybody is told when to ask again. */
import { assert, describe } from "../lab/It.ts"
import { Clock, Effect, Fiber, type Scope } from "effect"
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { type Stage } from "../lab/server/ProxiedServer.ts"
import * as CardProcessor from "../lab/proxy/CardProcessor.ts"
import { newFolder } from "../lab/Folders.ts"
import { slowness } from "../lab/Patience.ts"
import { golden, cosigner } from "../lab/log/Vectors.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { newRoom, poll } from "../lab/server/Rooms.ts"
import { openConnection } from "../lab/Connection.ts"
import type { PostgresProxy } from "../lab/proxy/Postgres.ts"
import { until } from "../lab/Eventually.ts"
import { ask, becomes, post, Proxies } from "../lab/Fixture.ts"
import { listening, proxied, serving } from "../lab/server/ServerProcess.ts"
import { staged } from "../lab/server/Live.ts"

/** So many connections are refused from now on. */
const refusals = (database: PostgresProxy, count: number) =>
  Effect.suspend(() => {
    const before = database.refused()
    return Effect.sync(() => database.refused() - before).pipe(
      until("the database was not asked for again", (more) => more >= count),
    )
  })

const headed = (answer: string) => {
  const [head = "", body = ""] = answer.split("\r\n\r\n")
  return { status: Number(head.split(" ")[1]), head: head.toLowerCase(), body: body === "" ? {} : JSON.parse(body) }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: altar\r\n\r\n`

describe.concurrent("a server that starts", () => {
  staged("is alive and not ready, and refuses in the form of each service", function* () {
    const { database } = yield* Proxies
    database.refuse(true)
    const server = yield* serving({ ...(yield* proxied), TEST_SWEEP_SECONDS: "3600" })
    yield* server.says("database unreachable")
    const asked = (path: string) =>
      Effect.scoped(
        Effect.map(
          Effect.flatMap(openConnection(server.port), (one) => one.ask(get(path))),
          headed,
        ),
      )
    const alive = yield* asked("/livez")
    assert.deepStrictEqual([alive.status, alive.body], [200, { alive: true }])
    const unready = yield* asked("/readyz")
    const [state, unknown] = ["starting", "unknown"]
    assert.deepStrictEqual(
      [unready.status, unready.body],
      [503, { ready: false, state, database: unknown, clock: unknown, payments: unknown, settlement: unknown }],
    )
    const altar = yield* asked("/api/spirits?x=1")
    assert.deepStrictEqual([altar.status, altar.body.ok, altar.body.code], [503, false, "unavailable"])
    assert.match(altar.body.message, /This request did nothing\.$/u)
    assert.include(altar.head, "\r\naccess-control-allow-origin: *")
    assert.match(altar.head, /\r\naccess-control-expose-headers: payment-required,.*,retry-after,.*,x-request-id\r\n/u)
    const room = yield* asked("/api/rooms/x")
    assert.deepStrictEqual([room.status, room.body.error.code], [503, "UNAVAILABLE"])
    assert.notInclude(room.head, "access-control")
    for (const { head } of [unready, altar, room]) {
      assert.include(head, "\r\nretry-after: 1")
      assert.include(head, "\r\ncache-control: no-store")
      assert.include(head, "\r\nconnection: close")
      assert.match(head, /\r\nx-request-id: [0-9a-f-]{36}/u)
    }
    database.refuse(false)
    yield* server.says("server listening")
    const ready = yield* ask(`${server.url}/readyz`).pipe(
      until("it never knows its parts", ({ json }) => !Object.values(json).includes("unknown")),
    )
    assert.deepStrictEqual(
      [ready.status, ready.json],
      [200, { ready: true, state: "serving", database: "ok", clock: "ok", payments: "ready", settlement: "ok" }],
    )
    assert.strictEqual(ready.headers.get("cache-control"), "no-store")
  })
})

describe.concurrent("while the database is unreachable,", () => {
  staged("reads and acts answer 503 with Retry-After, and health says what is unknown", function* () {
    const { database } = yield* Proxies
    const server = yield* listening({ TRUSTED_PROXIES: "127.0.0.1", TEST_SWEEP_SECONDS: "1" })
    const { url } = server
    const guest = yield* newRoom(url)
    const purchase = yield* Purchase.prepareAt(url)
    database.refuse(true)
    database.cutAll()
    const reads = ["/api/spirits", "/api/witness", "/api/witness/chain", "/api/candles", "/api/acts"]
    for (const path of reads) {
      const answer = yield* ask(`${url}${path}`)
      assert.deepStrictEqual([answer.status, answer.json["code"]], [503, "unavailable"], `${path} ${answer.text}`)
      assert.strictEqual(answer.headers.get("retry-after"), "2", path)
      assert.strictEqual(answer.headers.get("access-control-allow-origin"), "*", path)
      assert.strictEqual(answer.headers.get("cache-control"), "no-store", path)
    }
    const page = yield* ask(`${url}/v2/witness`)
    assert.deepStrictEqual([page.status, page.headers.get("retry-after")], [503, "2"])
    const room = yield* poll(guest)
    assert.deepStrictEqual([room.status, JSON.parse(room.text).error.code], [503, "UNAVAILABLE"], room.text)
    assert.strictEqual(room.headers.get("retry-after"), "2")
    const bought = yield* Purchase.send(purchase)
    assert.deepStrictEqual([bought.status, bought.json["code"]], [503, "unavailable"], bought.text)
    assert.match(String(bought.json["message"]), /do not sign another/u)
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_spirits", arguments: {} } }
    yield* ask(`${url}/mcp`, post(call, { accept: "application/json, text/event-stream" }))

    const health = yield* ask(`${url}/api/health`)
    assert.deepStrictEqual([health.status, health.headers.get("retry-after")], [503, "5"], health.text)
    assert.deepInclude(health.json, { ok: false, database: "failing", chain: { state: "unknown", head: null } })
    assert.deepInclude(health.json["payments"], { enabled: true, state: "unknown", pending: null, settlement: "ok" })
    const ready = yield* ask(`${url}/readyz`)
    assert.deepStrictEqual([ready.status, ready.headers.get("retry-after")], [503, "5"])
    assert.deepInclude(ready.json, { ready: false, state: "serving", database: "failing" })
    assert.strictEqual((yield* ask(`${url}/livez`)).status, 200)

    // Several sweeps of everything that sweeps, each second.
    yield* refusals(database, 12)
    database.refuse(false)
    yield* becomes(`${url}/readyz`, 200)
    yield* server.says("database reachable")
    const told = server.output().slice(server.output().indexOf("server listening"))
    const about = told.split("\n").filter((one) => /database (?:un)?reachable/u.test(one))
    assert.lengthOf(about, 2, about.join("\n"))
    // Each request has its own line of the access log as ever.
    const worse = told
      .split("\n")
      .filter((one) => /"level":"(?:error|warn)"/u.test(one) && !one.includes('"message":"request"'))
    // Each trouble is said once. Whether payments are asked about in that time depends on the clock.
    const troubles = worse
      .map((line) => String(JSON.parse(line).message))
      .filter((what) => what !== "payments unavailable")
    assert.deepStrictEqual(troubles, ["database unreachable"], worse.join("\n"))
    assert.isAtMost(worse.length, 2, worse.join("\n"))
    assert.notInclude(told, "PgConnection.ts", "no stack is printed")
    assert.strictEqual((yield* Purchase.send(purchase)).status, 201, "the same payment, as it was told")
    assert.deepInclude((yield* becomes(`${url}/api/health`, 200)).json["chain"], { state: "ok" })
  })
})

describe.concurrent("a database without an answer", () => {
  staged("is reported to its waiting callers, and dropped with its connection", function* () {
    const { database } = yield* Proxies
    const server = yield* listening()
    const trap = database.arm(/WITH listed AS MATERIALIZED/u, "holdBefore")
    const held = yield* Effect.forkChild(ask(`${server.url}/api/acts`))
    yield* trap.arrived
    yield* database.calm
    const answer = yield* Fiber.join(held)
    assert.deepStrictEqual([answer.status, answer.json["code"]], [503, "unavailable"], answer.text)
    assert.strictEqual(answer.headers.get("retry-after"), "2")
    yield* trap.discard
    yield* becomes(`${server.url}/api/acts`, 200)
  })
})

/** Accepts connections and answers none. */
const mute = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
    const server = createServer(() => {}).listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, close: () => void server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close),
)

interface Hanging {
  readonly environment?: Effect.Effect<Readonly<Record<string, string>>, never, Stage | Scope.Scope>
  readonly hang?: (
    server: Readonly<Record<string, string>> & { readonly url: string },
  ) => Effect.Effect<unknown, never, Stage>
}

/** Everything that a server asks. */
const hangings: Readonly<Record<string, Hanging>> = {
  node: { hang: () => Effect.map(Proxies, ({ rpc }) => rpc.arm("*", "holdBefore")) },
  database: { hang: () => Effect.map(Proxies, ({ database }) => database.arm(/./u, "holdBefore")) },
  facilitator: {
    environment: Effect.map(Proxies, ({ facilitator }) => ({ FACILITATOR_URL: facilitator.url, RELAYER_KEY: "" })),
    hang: () => Effect.map(Proxies, ({ facilitator }) => facilitator.arm("supportedHold")),
  },
  "card processor": {
    environment: Effect.map(mute, ({ url }) => ({
      CARD_API_URL: url,
      CARD_PROFILE_ID: CardProcessor.profile,
      CARD_SECRET_KEY: CardProcessor.secretKey,
    })),
  },
  "file system of the checkpoint, or a cosigner of the log": {
    environment: Effect.map(mute, ({ url }) => {
      const folder = newFolder()
      const [checkpoint, policy] = [join(folder, "checkpoint"), join(folder, "policy")]
      writeFileSync(policy, `log ${golden.vkey}\nwitness a ${cosigner.vkey} ${url}\nquorum a\n`)
      const log = { LOG_KEY: golden.signerKey, LOG_ORIGIN: golden.name }
      return { ...log, LOG_CHECKPOINT_FILE: checkpoint, LOG_COSIGNERS: policy }
    }),
    // Opening a pipe waits for a writer, and the first stone needs the file.
    hang: ({ LOG_CHECKPOINT_FILE = "", url }) =>
      Effect.gen(function* () {
        execFileSync("mkfifo", [LOG_CHECKPOINT_FILE])
        yield* Purchase.buyAt(url)
      }),
  },
}

describe.concurrent("a probe", () => {
  for (const [what, { environment = Effect.succeed({}), hang }] of Object.entries(hangings)) {
    staged(`answers within two seconds while this hangs: ${what}`, function* () {
      const given = yield* environment
      const { url } = yield* listening(given)
      const probes = ["/api/health", "/readyz", "/readyz?for=reads", "/livez"].map((path) => `${url}${path}`)
      yield* Effect.forEach(probes, (probe) => ask(probe), { concurrency: "unbounded" })
      if (hang !== undefined) yield* hang({ ...given, url })
      const timed = Effect.fnUntraced(function* (probe: string, millis: number) {
        yield* Effect.sleep(millis)
        const before = yield* Clock.currentTimeMillis
        yield* ask(probe)
        return [probe, millis, (yield* Clock.currentTimeMillis) - before] as const
      })
      // Some meet the checks of others, and some a part that has given up.
      const rounds = [0, 700, 1_400, 4_000, 5_200, 12_000].flatMap((millis) =>
        probes.map((probe) => timed(probe, millis)),
      )
      const answers = yield* Effect.all(rounds, { concurrency: "unbounded" })
      assert.deepStrictEqual(
        answers.filter(([, , millis]) => millis >= 2_000 * slowness()),
        [],
      )
    })
  }
})
