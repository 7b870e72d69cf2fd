/** `buy_kit`: everything a paying client needs for one purchase; it signs, pays and reserves nothing. */
import { Clock, Effect, Schema } from "effect"
import { isAddress, zeroAddress } from "viem"
import { isSealing, recipe } from "../../schema/altar/Recipe.ts"
import { type Kit, Kit as KitSchema, type KitQuery, kitQuery } from "../../schema/agents/Kit.ts"
import { BadRequest } from "../../schema/Errors.ts"
import { PaymentsUnavailable } from "../../schema/payments/Errors.ts"
import type { Challenge } from "../../schema/payments/Payment.ts"
import { domainTypes } from "../../schema/payments/TransferTypes.ts"
import { boundTo, paymentOf, typedDataOf } from "../buyer/core/Authorization.ts"
import { filled, refuseConflicts } from "../payments/Act.ts"
import { Availability } from "../payments/Availability.ts"
import { challengeOf, PaymentTerms, offerOf } from "../payments/PaymentTerms.ts"
import { Rails } from "../payments/Rails.ts"
import { Lookup } from "../payments/store/Lookup.ts"
import { DatabaseClock } from "../platform/DatabaseClock.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { timestampOf } from "../platform/Time.ts"
import { agentTool, badArguments } from "./AgentTool.ts"
import { type Offer, Offers } from "./Offers.ts"
import * as Words from "./Words.ts"

type Values = Readonly<Record<string, string>>

/** Names of the contract that all tools call otherwise. */
const renamed: Values = { familiarId: "spirit", intentionCommitment: "commitment" }

const argumentOf = (name: string) => renamed[name] ?? name

const partsOf = ({ body, parameters, query }: Offer) => [...parameters, ...query, ...body]

const pick = (members: Offer["body"], values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => members.some((member) => member.name === name)))

const folded = (name: string) => name.replace(/[^a-z]/giu, "").toLowerCase()

/** The arguments that do not fit the act. `meantBy` finds the one that a name misspells. */
const issuesOf = (
  offer: Offer,
  { action: _, payer, ...given }: KitQuery,
  ignored: ReadonlyArray<string>,
  meantBy: (name: string) => string | undefined,
) => {
  const names = partsOf(offer).map(({ name }) => argumentOf(name))
  return [
    // Without it another thing would be bought.
    ...ignored.flatMap((path) => {
      const meant = meantBy(path)
      return meant === undefined ? [] : [{ path, message: `Call it ${meant} here` }]
    }),
    ...Object.keys(given)
      .filter((name) => !names.includes(name))
      .map((path) => ({ path, message: `No part of this act; it takes ${names.join(", ")}` })),
    ...offer.parameters
      .map(({ name }) => argumentOf(name))
      .filter((name) => given[name] === undefined)
      .map((path) => ({ path, message: "Required: it is part of the URL to be signed" })),
    ...(payer === undefined || isAddress(payer)
      ? []
      : [{ path: "payer", message: "The checksum of the address is wrong: look for a typing error" }]),
  ]
}

/** The transfer to sign, and the payment that carries it. Its nonce names the request. */
const toSign = Effect.fnUntraced(function* (
  challenge: Challenge,
  body: Kit["request"]["body"],
  payer = "<payer: the address of your wallet>",
) {
  const [accepted] = challenge.accepts
  const bound = yield* Effect.promise(() => boundTo(challenge, JSON.stringify(body ?? {})))
  const data = typedDataOf(challenge, bound, zeroAddress, yield* Clock.currentTimeMillis)
  const { payload, ...payment } = paymentOf(challenge, bound, data, "<signature>")
  const message = { ...payload.authorization, from: payer }
  return {
    sign: {
      how: `Sign with EIP-712 (eth_signTypedData_v4) as \`from\`, within ${accepted.maxTimeoutSeconds} seconds. Signing alone charges nothing. The nonce is derived from this request, so send the body unchanged. Keep payment and key, and resend them after a lost answer: a second kit is a second payment.`,
      typedData: { ...data, types: { EIP712Domain: domainTypes, ...data.types }, message },
    },
    payment: { ...payment, accepted, payload: { ...payload, authorization: message } },
  }
})

export const buyKit = Effect.gen(function* () {
  const offers = yield* Offers
  const setting = yield* PaymentTerms
  const lookup = yield* Lookup
  const clock = yield* DatabaseClock
  const availability = yield* Availability
  const rails = yield* Rails
  const publicUrl = yield* PublicUrl

  const spellings = new Map(
    ["action", "payer", ...offers.flatMap(partsOf).map(({ name }) => name), ...Object.values(renamed)].map((name) => [
      folded(name),
      argumentOf(name),
    ]),
  )

  /** Fails with the refusals that a request would meet before any payment, including slots that other attempts hold. */
  const rehearse = Effect.fnUntraced(function* ({ act }: Offer, input: Values) {
    yield* act.checkPath(input)
    const millis = yield* clock.estimate
    const request = yield* act.requestOf(input, { millis, day: timestampOf(millis).slice(0, 10) })
    yield* request.check
    const { conflicts } = yield* lookup.state("", request.claims)
    yield* refuseConflicts(act, conflicts)
  })

  /** The body's members that are required in this case and absent. */
  const missingIn = (offer: Offer, values: Values) =>
    rehearse(offer, values).pipe(
      Effect.as<ReadonlyArray<string>>([]),
      Effect.catchIf(Schema.is(BadRequest), ({ issues }) => {
        const isAbsent = (path: string) => values[path] === undefined && offer.body.some(({ name }) => name === path)
        return issues.every(({ path }) => isAbsent(path))
          ? Effect.succeed(issues.map(({ path }) => path))
          : Effect.fail(
              badArguments(
                offer.act.name,
                issues.map(({ message, path }) => ({ message, path: argumentOf(path) })),
              ),
            )
      }),
    )

  const run = Effect.fn("buyKit")(function* (query: KitQuery, ignored: ReadonlyArray<string>) {
    if (setting._tag === "NotConfigured") return yield* new PaymentsUnavailable({ missing: [] })
    // A kit is signed for the chain.
    yield* availability.toOffer([rails.of("x402")])
    // The arguments' schema allows no other action.
    const offer = yield* Effect.fromNullishOr(offers.find(({ act }) => act.name === query.action))
    const { act, amountAtomic, body: members, path, priceUsd } = offer
    const issues = issuesOf(offer, query, ignored, (name) => spellings.get(folded(name)))
    if (issues.length > 0) return yield* badArguments(act.name, issues)
    const values: Values = Object.fromEntries(
      partsOf(offer).flatMap(({ name }) => {
        const value = query[argumentOf(name)]
        return value === undefined ? [] : [[name, value]]
      }),
    )
    const missing = yield* missingIn(offer, values)

    const url = `${publicUrl}${filled(path, values, pick(offer.query, values))}`
    const given = pick(members, values)
    const template = { ...given, ...Object.fromEntries(missing.map((name) => [name, `<${argumentOf(name)}>`])) }
    const body = act.bodyOptional && Object.keys(template).length === 0 ? null : template
    const challenge = challengeOf(setting.terms, offerOf({ act, url, parameters: values }), "payment_required")
    return {
      ok: true as const,
      action: act.name,
      complete: missing.length === 0,
      missing: missing.map(argumentOf),
      request: {
        method: "POST" as const,
        url,
        headers: {
          ...(body === null ? {} : { "Content-Type": "application/json" }),
          "Idempotency-Key": "<a key of yours: 12 to 128 of A-Z a-z 0-9 _ ->",
          "PAYMENT-SIGNATURE": "<base64 of your signed x402 v2 payment>",
        },
        body,
      },
      price: { usd: priceUsd, amountAtomic },
      ...(missing.length === 0 ? yield* toSign(challenge, body, query.payer) : {}),
      outcomes: Words.outcomes,
      ...(members.some(({ name }) => isSealing(name)) ? { recipe } : {}),
      retry: Words.repeat,
      reconcile: Words.reconcileUrl(publicUrl),
    }
  })

  return agentTool({
    name: "buy_kit",
    title: "Everything needed to buy one act",
    description:
      "Prepares one purchase: the exact request, price, what each answer means, and how to retry; with all arguments also the typed data to sign for your wallet and the payment to send, or why the act would be refused now. Use it before every purchase. Free: it signs, pays and reserves nothing.",
    input: kitQuery(
      offers.map(({ act }) => act.name),
      offers.flatMap(partsOf).filter(({ name }) => argumentOf(name) === name),
    ),
    output: KitSchema,
    run,
  })
})
