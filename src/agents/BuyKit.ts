/** `buy_kit`: everything a paying client needs for one purchase; it signs, pays and reserves nothing. */
import { Clock, Effect, Schema } from "effect"
import { isAddress } from "viem"
import { recipe } from "../../schema/altar/Recipe.ts"
import { isSealing } from "../../schema/altar/Recipe.ts"
import { candleActs, unsealCandle } from "../../schema/altar/Candle.ts"
import { revealWitnessStone, setWitnessStone } from "../../schema/altar/Witness.ts"
import { BadRequest, Issue } from "../../schema/Errors.ts"
import type { Field } from "../../schema/Form.ts"
import { PaymentsUnavailable } from "../../schema/payments/Errors.ts"
import { type Kit, type KitQuery, kitQuery, Kit as KitSchema } from "../../schema/agents/Kit.ts"
import { DatabaseClock } from "../platform/DatabaseClock.ts"
import { listed } from "../platform/Issues.ts"
import { timestampOf } from "../platform/Time.ts"
import { filled } from "../payments/Act.ts"
import { Availability } from "../payments/Availability.ts"
import { Lookup } from "../payments/store/Lookup.ts"
import { challengeOf, PaymentTerms, saleOf } from "../payments/PaymentTerms.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { agentTool, ToolRefusal } from "./AgentTool.ts"
import { toSign } from "./KitSigning.ts"
import { type Offer, Offers } from "./Offers.ts"
import * as Words from "./Words.ts"

type Values = Readonly<Record<string, string>>

const refuse = (code: string, message: string, issues: ToolRefusal["issues"] = []) =>
  new ToolRefusal({ code, message, issues })

/** The offer of the action; the arguments' schema allows no other action. */
const choose = (offers: ReadonlyArray<Offer>, { action }: KitQuery) =>
  Effect.fromNullishOr(offers.find(({ act }) => act.name === action)).pipe(Effect.orDie)

/** Names of the contract that all tools call otherwise. */
const renamed: Values = { familiarId: "spirit", intentionCommitment: "commitment" }

const asked = (name: string) => renamed[name] ?? name

/** The arguments under the contract's names for this act. */
const spelled = ({ body, parameter }: Offer, query: KitQuery): Values => {
  const own = [...(parameter === undefined ? [] : [parameter]), ...body].map(({ name }) => name)
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      typeof value !== "string" || name === "action" || name === "payer"
        ? []
        : [[own.find((one) => asked(one) === name) ?? name, value] as const],
    ),
  )
}

const seals = (given: Values, missing: ReadonlyArray<Field>) =>
  [...Object.keys(given), ...missing.map(({ name }) => name)].some(isSealing)

/** The requests that open sealed words later, by the act that seals them. */
const openings = (publicUrl: string): Readonly<Record<string, Kit["afterwards"]>> => {
  const free = { method: "POST" } as const
  const at = (path: string) => `${publicUrl}${path.replace(/:[A-Za-z]+/u, "{id}")}`
  const unseal = {
    what: "Unseals the words, free and once. Words and salt become public.",
    ...free,
    url: at(unsealCandle.path),
    body: { salt: "<salt>", words: "<words>" },
  }
  return {
    [setWitnessStone.sale.name]: {
      what: "Reveals the words, free and once. Words and salt become public.",
      ...free,
      url: at(revealWitnessStone.path),
      body: { salt: "<salt>", text: "<words>" },
    },
    ...Object.fromEntries(Object.values(candleActs).map(({ sale }) => [sale.name, unseal])),
  }
}

/** Issues of arguments that the act does not take, and of its path. */
const misfits = ({ body, parameter, query }: Offer, values: Values): ToolRefusal["issues"] => {
  const places = new Set([...(parameter === undefined ? [] : [parameter]), ...query, ...body].map(({ name }) => name))
  return [
    ...Object.keys(values)
      .filter((name) => !places.has(name))
      .map((name) => ({
        path: asked(name),
        message: `No part of this act; it takes ${[...places].map(asked).join(", ")}`,
      })),
    ...(parameter !== undefined && values[parameter.name] === undefined
      ? [{ path: asked(parameter.name), message: "Required: it is part of the URL to be signed" }]
      : []),
  ]
}

const pick = (members: ReadonlyArray<Field>, values: Values) =>
  Object.fromEntries(
    members.flatMap(({ name }) => {
      const value = values[name]
      return value === undefined ? [] : [[name, value] as const]
    }),
  )

const isRefusal = Schema.is(
  Schema.Struct({ code: Schema.String, message: Schema.String, issues: Schema.optionalKey(Schema.Array(Issue)) }),
)

/** Members that only this case requires, such as a candle's dedication; none when anything else is refused. */
const askedFor = ({ body }: Offer, given: Values, { issues }: BadRequest): ReadonlyArray<Field> => {
  const absent = body.filter(({ name }) => given[name] === undefined && issues.some(({ path }) => path === name))
  return issues.every(({ path }) => absent.some(({ name }) => name === path)) ? absent : []
}

/** A refusal of the act keeps its code; any other error is a fault of the server. */
const refusalOf = (error: unknown) =>
  isRefusal(error)
    ? Effect.fail(
        refuse(
          error.code,
          error.message,
          error.issues?.map(({ message, path }) => ({ path: asked(path), message })),
        ),
      )
    : Effect.die(error)

export const buyKit = Effect.gen(function* () {
  const offers = yield* Offers
  const setting = yield* PaymentTerms
  const lookup = yield* Lookup
  const clock = yield* DatabaseClock
  const availability = yield* Availability
  const publicUrl = yield* PublicUrl

  /** Fails with the refusals that a request would meet before any payment, including slots that other attempts hold. */
  const rehearse = Effect.fnUntraced(function* ({ act }: Offer, input: Values) {
    yield* act.checkPath(input)
    const millis = yield* clock.estimate
    const request = yield* act.read(input, { millis, day: timestampOf(millis).slice(0, 10) })
    yield* request.check
    const { conflicts } = yield* lookup.state("", request.claims)
    if (conflicts[0] !== undefined) return yield* Effect.fail(act.conflict(conflicts[0]))
  })

  const run = Effect.fn("buyKit")(function* (query: KitQuery) {
    if (setting._tag === "NotConfigured") {
      return yield* refuse("payments_unavailable", new PaymentsUnavailable({ missing: [] }).message)
    }
    yield* Effect.catch(availability.toOffer, refusalOf)
    if (query.payer !== undefined && !isAddress(query.payer)) {
      const wrong = { path: "payer", message: "The checksum of the address is wrong: look for a typing error" }
      return yield* refuse("bad_arguments", `${wrong.message}. Nothing was charged.`, [wrong])
    }
    const offer = yield* choose(offers, query)
    const values = spelled(offer, query)
    const issues = misfits(offer, values)
    if (issues.length > 0) {
      return yield* refuse(
        "bad_arguments",
        `The arguments do not fit ${query.action}: ${listed(issues)}. Correct them and call the tool again. Nothing was charged.`,
        issues,
      )
    }
    const { act, path } = offer
    const given = pick(offer.body, values)
    const lacking = offer.body.filter(({ name, required }) => required && given[name] === undefined)
    const missing = yield* (
      lacking.length === 0 ? Effect.as(rehearse(offer, values), lacking) : Effect.as(act.checkPath(values), lacking)
    ).pipe(
      Effect.catch((refusal) => {
        const asks = refusal instanceof BadRequest ? askedFor(offer, given, refusal) : []
        return asks.length > 0 ? Effect.succeed(asks) : refusalOf(refusal)
      }),
    )

    const url = `${publicUrl}${filled(path, values, pick(offer.query, values))}`
    const template = { ...given, ...Object.fromEntries(missing.map(({ name }) => [name, `<${asked(name)}>`])) }
    const body = act.bodyOptional && Object.keys(template).length === 0 ? null : template
    const challenge = challengeOf(setting.terms, saleOf(act, url, values), "payment_required")
    const opening = openings(publicUrl)[act.name]
    const kit: Kit = {
      ok: true,
      action: act.name,
      complete: missing.length === 0,
      missing: missing.map(({ name }) => asked(name)),
      request: {
        method: "POST",
        url,
        headers: {
          ...(body === null ? {} : { "Content-Type": "application/json" }),
          "Idempotency-Key": Words.idempotencyKey,
          "PAYMENT-SIGNATURE": Words.paymentSignature,
        },
        body,
        members: offer.body
          .filter(({ name }) => given[name] === undefined)
          .map(({ meaning, name, required }) => ({ name: asked(name), required, meaning })),
      },
      price: { usd: offer.priceUsd, amountAtomic: offer.amountAtomic },
      ...toSign(challenge, missing.length === 0 ? body : undefined, query.payer, yield* Clock.currentTimeMillis),
      outcomes: Words.outcomes,
      ...(opening === undefined || !seals(given, missing) ? {} : { afterwards: opening }),
      ...(offer.body.some(({ name }) => isSealing(name)) ? { recipe } : {}),
      retry: Words.repeat,
      reconcile: Words.reconcileUrl(publicUrl),
    }
    return kit
  })

  return agentTool({
    name: "buy_kit",
    title: "Everything needed to buy one act",
    description:
      "Prepares one purchase: the exact request, price, typed data to sign for your wallet, the payment to send, what each answer means, and how to retry. Use it before every purchase; with all arguments it also says whether the act would be refused now. Free: it signs, pays and reserves nothing.",
    input: kitQuery(
      offers.map(({ act }) => act.name),
      offers.flatMap(({ body, parameter, query }) =>
        [...(parameter === undefined ? [] : [parameter]), ...query, ...body].filter(({ name }) => asked(name) === name),
      ),
    ),
    output: KitSchema,
    run,
  })
})
