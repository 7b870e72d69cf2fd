/** An altar that takes cards, and an agent whose wallet grants tokens for a card. */
import { Mppx, stripe } from "mppx/client"
import { Context, Duration, Effect, Layer, Redacted, References } from "effect"
import type { CardConfig } from "../../../src/payments/Payments.ts"
import type { ServerConfig } from "../../../src/server/config/Config.ts"
import * as CardProcessor from "../proxy/CardProcessor.ts"
import { slowness } from "../Patience.ts"
import { credentialFor } from "./Payment.ts"
import { ask, world, newKey, post } from "../Fixture.ts"
import { attemptOf } from "./Purchase.ts"

export { credentialFor } from "./Payment.ts"

export class Processor extends Context.Service<Processor, CardProcessor.CardProcessor>()("test/Processor") {}

export const processor = Layer.effect(Processor, CardProcessor.make())

export const challengeSecret = "a secret of thirty-two characters"

export const cardsOf = ({ url }: CardProcessor.CardProcessor): CardConfig => ({
  profile: CardProcessor.profile,
  secretKey: Redacted.make(CardProcessor.secretKey),
  challengeSecret: Redacted.make(challengeSecret),
  apiUrl: url,
})

/** A server that takes cards, silent about its troubles; it waits longer on a slow machine, and sweeps only at its start. */
export const carded = (patience: Duration.Input = "1 second", server: Partial<ServerConfig> = {}) =>
  Layer.unwrap(
    Effect.map(Processor, (processor) =>
      world(
        {
          cards: cardsOf(processor),
          patience: Duration.times(Duration.fromInputUnsafe(patience), slowness()),
          sweepEvery: Duration.hours(1),
        },
        server,
      ),
    ),
  ).pipe(Layer.provide(Layer.succeed(References.MinimumLogLevel, "None")), Layer.provideMerge(processor))

/** The reference client of the Machine Payments Protocol, as its manual says. */
export const agent = (bank: CardProcessor.CardProcessor, paymentMethod = "pm_card_visa") => {
  const counted = { tokens: 0 }
  const { fetch } = Mppx.create({
    polyfill: false,
    methods: [
      stripe({
        paymentMethod,
        createToken: ({ amount, expiresAt, paymentMethod: method = "" }) => {
          counted.tokens += 1
          return bank.grant(method, amount, expiresAt)
        },
      }),
    ],
  })
  return { fetch, counted }
}

export const dedication = { dedication: "For Grandma, who kept bees" }

/** The purchase of a candle by this token, ready to be sent. */
export const prepareWithToken = Effect.fnUntraced(function* (
  server: string,
  spt: string,
  path = "/api/candles/week/moss-hare",
  body: object = dedication,
) {
  const key = newKey()
  const offer = yield* ask(`${server}${path}`, post(body, { "idempotency-key": key }))
  const headers = { "idempotency-key": key, authorization: credentialFor(offer, spt) }
  return { server, path, key, body, headers }
})

/** The same with a token that is granted for it. */
export const prepareByCard = Effect.fnUntraced(function* (
  server: string,
  paymentMethod = "pm_card_visa",
  path?: string,
  body?: object,
) {
  const bank = yield* Processor
  const spt = yield* Effect.promise(() => bank.grant(paymentMethod, path?.includes("month") === true ? "900" : "300"))
  return yield* prepareWithToken(server, spt, path, body)
})

/** The database's rows of a purchase, and the processor's charges. */
export const cardBooks = Effect.fnUntraced(function* (purchase: { readonly key: string }) {
  const bank = yield* Processor
  const row = yield* attemptOf(purchase)
  return row && { ...row, taken: bank.taken().filter(({ attempt }) => attempt === row.id).length }
})
