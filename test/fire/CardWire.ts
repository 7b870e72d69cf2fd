/** The way to the card processor: its stand-in charges honestly, and what is between refuses, comes late, or says it otherwise. */
import { setTimeout } from "node:timers/promises"
import { Effect, Exit, Scope } from "effect"
import * as CardProcessor from "../support/CardProcessor.ts"
import { open, type Reply } from "../support/LocalHttpServer.ts"
import { faults } from "./Faults.ts"
import type { Random } from "./Random.ts"

/** `Before`: the processor has not heard of it. `After`: it has done it. */
export const cardLies = [
  "dropBefore",
  "status503Before",
  "rateLimitBefore",
  "unauthorizedBefore",
  "redirectBefore",
  "nonsenseBefore",
  "stallAfter",
  "status500After",
  "dropAfter",
  "nonsenseAfter",
  "hugeAfter",
  "neighbourAfter",
  "nothingFound",
] as const
export type CardLie = (typeof cardLies)[number]

export interface CardWire {
  readonly url: string
  /** Where the auditor asks, past the wire. */
  readonly account: { readonly url: string; readonly secretKey: string }
  /** What servers are told of it. */
  readonly environment: Readonly<Record<string, string>>
  /** From now on a request meets this lie with this probability; answers what ends it. */
  readonly add: (lie: CardLie, rate: number) => () => void
  /** From now on the processor makes a mistake of its own after each charge and keeps to it; answers what ends it. */
  readonly err: () => () => void
  readonly calm: () => void
  readonly met: () => number
  /** Idempotency keys of all charges that were asked for. */
  readonly asked: ReadonlySet<string>
  /** A card's holder grants a token for so many cents. */
  readonly grant: (paymentMethod: string, cents: string) => Promise<string>
  /** Banks and holders that were waited for have answered. */
  readonly finish: () => void
  readonly close: () => Promise<void>
}

const error = (status: number, type: string): Reply => ({
  status,
  body: JSON.stringify({ error: { type, message: "See the code." } }),
})

export const cardWire = async (random: Random): Promise<CardWire> => {
  const scope = Scope.makeUnsafe()
  const processor = await Effect.runPromise(CardProcessor.make.pipe(Scope.provide(scope)))
  const { add, calm, met, strikes } = faults<CardLie>(random)
  const asked = new Set<string>()
  let newest: Reply | undefined

  const { close, url } = await open(async (path, body, { headers, method = "GET" }) => {
    const pass = async (): Promise<Reply> => {
      const answer = await fetch(`${processor.url}${path}`, {
        method,
        headers: Object.fromEntries(
          ["authorization", "content-type", "idempotency-key", "stripe-version"].flatMap((name) => {
            const value = headers[name]
            return typeof value === "string" ? [[name, value]] : []
          }),
        ),
        ...(method === "GET" ? {} : { body }),
      })
      return { status: answer.status, body: await answer.text() }
    }
    const charge = headers["idempotency-key"]
    if (typeof charge === "string") asked.add(charge)
    const lie = strikes((one) => one !== "nothingFound" || path.includes("/search"))
    switch (lie) {
      case "dropBefore":
        return "drop"
      case "status503Before":
        return { status: 503, body: "upstream unavailable", type: "text/plain" }
      case "rateLimitBefore":
        return error(429, "invalid_request_error")
      case "unauthorizedBefore":
        return error(401, "invalid_request_error")
      case "redirectBefore":
        return { status: 307, body: "", headers: { location: "http://127.0.0.1:9/v1" } }
      case "nonsenseBefore":
        return { status: 200, body: "<html>so sorry</html>", type: "text/html" }
      case "nothingFound":
        // A search is behind what has just been charged.
        return { status: 200, body: JSON.stringify({ object: "search_result", data: [], has_more: false }) }
      default:
    }
    const before = newest
    const reply = await pass()
    if (reply !== "drop" && reply.status === 200) newest = reply
    switch (lie) {
      case "stallAfter":
        await setTimeout(12_000)
        return reply
      case "status500After":
        return error(500, "api_error")
      case "dropAfter":
        return "drop"
      case "nonsenseAfter":
        return { status: 200, body: JSON.stringify({ object: "payment_intent" }) }
      case "hugeAfter":
        return { status: 200, body: JSON.stringify({ filler: "x".repeat(2_000_000) }) }
      case "neighbourAfter":
        return before ?? "drop"
      default:
        return reply
    }
  })

  const { profile, secretKey } = CardProcessor
  return {
    url,
    account: { url: processor.url, secretKey },
    environment: {
      CARD_PROFILE_ID: profile,
      CARD_SECRET_KEY: secretKey,
      CARD_CHALLENGE_SECRET: "a secret of thirty-two characters",
      CARD_API_URL: url,
    },
    add,
    err: () => {
      processor.arm("error500After")
      return () => Effect.runSync(processor.calm)
    },
    calm: () => {
      calm()
      Effect.runSync(processor.calm)
    },
    met,
    asked,
    grant: processor.grant,
    finish: () => Effect.runSync(processor.finish),
    close: async () => {
      close()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    },
  }
}
