/** `buy_kit`: everything a paying client needs for one purchase; it signs, pays and reserves nothing. */
import { hash, randomBytes } from "node:crypto"
import { Clock, Effect, Schema } from "effect"
import { isAddress } from "viem"
import { isSealing, recipe } from "../../schema/altar/Recipe.ts"
import { candleActs, unsealCandle } from "../../schema/altar/Candle.ts"
import { revealWitnessStone, setWitnessStone } from "../../schema/altar/Witness.ts"
import { BadRequest, Issue } from "../../schema/Errors.ts"
import type { Field } from "../../schema/Form.ts"
import { bindingExtension, bindingSaltMinimum, bodyText } from "../../schema/payments/BindingRecipe.ts"
import { PaymentsUnavailable } from "../../schema/payments/Errors.ts"
import type { Challenge } from "../../schema/payments/Payment.ts"
import { domainTypes, transferTypes } from "../../schema/payments/TransferTypes.ts"
import { type Kit, type KitQuery, kitQuery, Kit as KitSchema } from "../../schema/agents/Kit.ts"
import { DatabaseClock } from "../platform/DatabaseClock.ts"
import { listed } from "../platform/Issues.ts"
import { timestampOf } from "../platform/Time.ts"
import { filled } from "../payments/Act.ts"
import { Availability } from "../payments/Availability.ts"
import { boundNonce } from "../payments/verify/Offer.ts"
import { Lookup } from "../payments/store/Lookup.ts"
import { challengeOf, PaymentTerms, saleOf } from "../payments/PaymentTerms.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { agentTool, ToolRefusal } from "./AgentTool.ts"
import { type Offer, Offers } from "./Offers.ts"
import * as Words from "./Words.ts"

type Values = Readonly<Record<string, string>>

const refuse = (code: string, message: string, issues: ToolRefusal["issues"] = []) =>
  new ToolRefusal({ code, message, issues })

/** Names of the contract that all tools call otherwise. */
const renamed: Values = { familiarId: "spirit", intentionCommitment: "commitment" }

const asked = (name: string) => renamed[name] ?? name

const partsOf = ({ body, parameter, query }: Offer) => [
  ...(parameter === undefined ? [] : [parameter]),
  ...query,
  ...body,
]

/** The arguments under the contract's names for this act, and the issues of those that it does not take. */
const spelled = (offer: Offer, { action: _, payer: __, ...given }: KitQuery) => {
  const parts = partsOf(offer)
  const values = Object.fromEntries(
    parts.flatMap(({ name }) => {
      const value = given[asked(name)]
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
  const { parameter } = offer
  const issues = [
    ...Object.keys(given)
      .filter((name) => !parts.some((part) => asked(part.name) === name))
      .map((path) => ({
        path,
        message: `No part of this act; it takes ${parts.map(({ name }) => asked(name)).join(", ")}`,
      })),
    ...(parameter !== undefined && values[parameter.name] === undefined
      ? [{ path: asked(parameter.name), message: "Required: it is part of the URL to be signed" }]
      : []),
  ]
  return { issues, values }
}

/** The request that opens sealed words later; undefined for an act that seals none. */
const openingOf = (publicUrl: string, act: string): Kit["afterwards"] => {
  const isStone = act === setWitnessStone.sale.name
  if (!isStone && !Object.values(candleActs).some(({ sale }) => sale.name === act)) return undefined
  const { path } = isStone ? revealWitnessStone : unsealCandle
  return {
    what: `${isStone ? "Reveals" : "Unseals"} the words, free and once. Words and salt become public.`,
    method: "POST",
    url: `${publicUrl}${path.replace(/:[A-Za-z]+/u, "{id}")}`,
    body: { salt: "<salt>", [isStone ? "text" : "words"]: "<words>" },
  }
}

const pick = (members: ReadonlyArray<Field>, values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => members.some((member) => member.name === name)))

const isRefusal = Schema.is(
  Schema.Struct({ code: Schema.String, message: Schema.String, issues: Schema.optionalKey(Schema.Array(Issue)) }),
)

/** Members that are absent and required, maybe in this case only, such as a candle's dedication; none for other faults. */
const missingBy = (refusal: unknown, { body }: Offer, given: Values): ReadonlyArray<Field> => {
  if (!(refusal instanceof BadRequest)) return []
  const { issues } = refusal
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

const badArguments = (fault: string, issues: ToolRefusal["issues"]) =>
  refuse("bad_arguments", `${fault}. Correct the arguments and call the tool again. Nothing was charged.`, issues)

/** Stands for the address of a buyer that named none. */
const anyPayer = "<payer: the address of your wallet>"

/** The nonce that names a complete request, and its salt. */
const boundTo = (url: string, body: Kit["request"]["body"]) => {
  const salt = randomBytes(bindingSaltMinimum)
  const bodySha256 = hash("sha256", bodyText(body ?? {}), "hex")
  return { nonce: boundNonce({ method: "POST", url, bodySha256 }, salt), salt: salt.toString("base64url") }
}

/**
 * Prepares an EIP-3009 transfer that expires `maxTimeoutSeconds` after `nowMs`. Its nonce names the request, or is random
 * while `body` is incomplete, undefined.
 */
const toSign = (
  challenge: Challenge,
  body: Kit["request"]["body"] | undefined,
  payer: string | undefined,
  nowMs: number,
): Pick<Kit, "sign" | "payment"> => {
  const { accepts, extensions, resource } = challenge
  const { bazaar } = extensions
  const [offer] = accepts
  const bound = body === undefined ? undefined : boundTo(resource.url, body)
  const authorization = {
    from: payer ?? anyPayer,
    to: offer.payTo,
    value: offer.amount,
    validAfter: "0",
    validBefore: String(Math.floor(nowMs / 1000) + offer.maxTimeoutSeconds),
    nonce: bound?.nonce ?? `0x${randomBytes(32).toString("hex")}`,
  }
  return {
    sign: {
      how: `Sign with EIP-712 (eth_signTypedData_v4) as \`from\`, within ${offer.maxTimeoutSeconds} seconds. Signing alone charges nothing. ${bound === undefined ? "" : "The nonce is derived from this request, so send the body unchanged. "}Keep payment and key, and resend them after a lost answer: a second kit is a second payment.`,
      typedData: {
        domain: {
          name: offer.extra.name,
          version: offer.extra.version,
          chainId: Number(offer.network.split(":")[1]),
          verifyingContract: offer.asset,
        },
        types: { EIP712Domain: domainTypes, ...transferTypes },
        primaryType: "TransferWithAuthorization",
        message: authorization,
      },
    },
    payment: {
      x402Version: 2,
      resource,
      accepted: offer,
      payload: { signature: "<signature>", authorization },
      extensions: {
        ...(bazaar === undefined ? {} : { bazaar }),
        ...(bound === undefined ? {} : { [bindingExtension]: { info: { version: 1, salt: bound.salt } } }),
      },
    },
  }
}

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
      return yield* badArguments(wrong.message, [wrong])
    }
    // The arguments' schema allows no other action.
    const offer = yield* Effect.orDie(Effect.fromNullishOr(offers.find(({ act }) => act.name === query.action)))
    const { act, body: members, path } = offer
    const { issues, values } = spelled(offer, query)
    if (issues.length > 0)
      return yield* badArguments(`The arguments do not fit ${query.action}: ${listed(issues)}`, issues)
    const given = pick(members, values)
    const missing = yield* rehearse(offer, values).pipe(
      Effect.as<ReadonlyArray<Field>>([]),
      Effect.catch((refusal) => {
        const absent = missingBy(refusal, offer, given)
        return absent.length > 0 ? Effect.succeed(absent) : refusalOf(refusal)
      }),
    )

    const url = `${publicUrl}${filled(path, values, pick(offer.query, values))}`
    const template = { ...given, ...Object.fromEntries(missing.map(({ name }) => [name, `<${asked(name)}>`])) }
    const body = act.bodyOptional && Object.keys(template).length === 0 ? null : template
    const challenge = challengeOf(setting.terms, saleOf(act, url, values), "payment_required")
    const sealing = members.find(({ name }) => isSealing(name))
    const isSealed = sealing !== undefined && (given[sealing.name] !== undefined || missing.includes(sealing))
    const opening = isSealed ? openingOf(publicUrl, act.name) : undefined
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
        members: members
          .filter(({ name }) => given[name] === undefined)
          .map(({ meaning, name, required }) => ({ name: asked(name), required, meaning })),
      },
      price: { usd: offer.priceUsd, amountAtomic: offer.amountAtomic },
      ...toSign(challenge, missing.length === 0 ? body : undefined, query.payer, yield* Clock.currentTimeMillis),
      outcomes: Words.outcomes,
      ...(opening === undefined ? {} : { afterwards: opening }),
      ...(sealing === undefined ? {} : { recipe }),
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
      offers.flatMap(partsOf).filter(({ name }) => asked(name) === name),
    ),
    output: KitSchema,
    run,
  })
})
