/** The field guide as visitors meet it: a sandbox with play money, a browser, and acts that others have left. */
import { buy } from "../buyer/Purchase.ts"
import { Effect, Layer } from "effect"
import type { Page, Request } from "playwright-core"
import { beforeEach } from "vitest"
import * as Server from "../../../src/server/Server.ts"
import type { ServerConfig } from "../../../src/server/config/Config.ts"
import { seal } from "../../../src/altar/Hashes.ts"
import * as Sandbox from "../../../src/sandbox/Sandbox.ts"
import { Browser, journeys } from "./Browser.ts"
import { today } from "../Clock.ts"
import { until } from "../Eventually.ts"
import { ask, newCommitment, type PaymentsChange, post, TestServer, world, type World } from "../Fixture.ts"

/** A server with the sandbox's own routes, as `npm start` has them. */
export const sandbox = (change?: Partial<ServerConfig>, payments?: PaymentsChange) =>
  world(payments, change, Server.layer(Sandbox.routes))

/** Tests that need a browser before a sandbox, which differs from others. */
export const guideOf =
  (change?: Partial<ServerConfig>, payments?: PaymentsChange) =>
  (name: string, tests: Parameters<ReturnType<typeof journeys<World>>>[0]) =>
    journeys(
      name,
      Layer.merge(sandbox(change, payments), Browser.layer),
    )((it) => {
      // A page's statements about today still hold when a test reads them.
      beforeEach(() => Effect.runPromise(Effect.asVoid(today)))
      tests(it)
    })

export const guide = guideOf()

/** A stone that the log covers; its record. */
export const loggedStone = Effect.fnUntraced(function* (body: object = { commitment: newCommitment() }) {
  const { url } = yield* TestServer
  const { record: stone } = yield* buy("/api/witness", body)
  yield* ask(`${url}/api/witness/${stone.id}/proof`).pipe(until("it is never covered", ({ status }) => status === 200))
  return stone
})

/** Acts of every kind, with names that contain markup. */
export const createActs = Effect.gen(function* () {
  const agentName = `<b onclick="x">&"'`
  yield* buy("/api/prayers/moss-hare", { agentName, intentionCommitment: newCommitment() })
  const { record: kept } = yield* buy("/api/acquire/kelp-seal", { agentName, reason: "</p><script>x</script>" })
  const { record: collected } = yield* buy("/api/elements/beeswax/collect?spirit=moss-hare", { agentName })
  const { record: stone } = yield* buy("/api/witness", { commitment: newCommitment(), kind: "promise", agentName })
  return { kept, collected, stone }
})

/** Texts that are hard to lay out: names without a space, words from right to left, a full shelf, hidden words. */
export const fillGuide = Effect.gen(function* () {
  const { url } = yield* TestServer
  const long = "W".repeat(64)
  const salt = "0123456789abcdef"
  yield* buy("/api/prayers/quartz-elephant", { agentName: long, intentionCommitment: newCommitment() })
  yield* buy("/api/acquire/quartz-elephant", { agentName: long, reason: "R".repeat(280) })
  for (const [index, rung] of ["month", "week", ...Array.from({ length: 10 }, () => "day")].entries()) {
    const dedication = [`${"W".repeat(40)}`, "إلى أمي التي تنتظر", "🕯️ für Opa"][index] ?? `Candle ${index + 1}`
    yield* buy(`/api/candles/${rung}/quartz-elephant`, { dedication, agentName: index === 3 ? long : "ليلى" })
  }
  for (const item of ["sea-glass", "pixel-moon-gecko", "boxer-crab-undefeated"]) {
    yield* buy(`/api/elements/${item}/collect?spirit=quartz-elephant`, { agentName: long })
  }
  for (const text of ["see https://example.com", "سوف تعود", "W".repeat(280)]) {
    const { record: stone } = yield* buy("/api/witness", { commitment: seal(salt, text), spirit: "quartz-elephant" })
    yield* ask(`${url}/api/witness/${stone.id}/reveal`, post({ salt, text, agentName: long }))
  }
})

export const signed = (requests: ReadonlyArray<Request>) =>
  requests.flatMap((request) => {
    const { "idempotency-key": key, "payment-signature": payment } = request.headers()
    return payment === undefined ? [] : [{ key, payment }]
  })

/** The receipt a page shows when its purchase is settled. */
export const settled = (page: Page) => page.locator(".receipt", { hasText: "Settled." })

/** Fills the browser's storage for the site, but for so many characters. */
export const fill = (page: Page, left: number) =>
  page.evaluate((characters) => {
    const put = (slot: string, length: number) => {
      try {
        localStorage.setItem(slot, "x".repeat(length))
        return true
      } catch {
        return false
      }
    }
    put("spare", characters)
    let filler = 0
    for (let length = 2 ** 22; length >= 1; length /= 2) while (put(`filler:${filler}`, length)) filler += 1
    localStorage.removeItem("spare")
  }, left)
