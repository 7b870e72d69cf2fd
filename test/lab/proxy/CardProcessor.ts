/** The card processor's API as its documents describe it: granted tokens, payment intents, idempotency. */
import type { IncomingMessage } from "node:http"
import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import type { Random } from "../Random.ts"
import { after, apiVersion, before, type CardFault, error, id, reply, type Result } from "./CardFaults.ts"
import { faults, has, type Trap } from "./Faults.ts"
import { type Reply, serve } from "./HttpServer.ts"

/** Milliseconds by which an answer is late: longer than a server waits. */
const late = 12_000

export const secretKey = "sk_test_stand_in"
export const profile = "profile_test_spirit_altar"

interface Token {
  readonly id: string
  readonly paymentMethod: string
  readonly currency: string
  readonly maxAmount: number
  readonly expiresAt: number
  used: number
}

interface Intent {
  readonly id: string
  readonly object: "payment_intent"
  readonly amount: number
  amount_received: number
  readonly currency: string
  readonly created: number
  readonly livemode: false
  readonly metadata: Record<string, string>
  status: string
  last_payment_error: object | null
}

interface Saved {
  readonly parameters: string
  /** Absent while the endpoint is at work. */
  result?: Result
}

export type CardProcessor = Effect.Success<ReturnType<typeof make>>

const authorization = `Basic ${Buffer.from(`${secretKey}:`).toString("base64")}`

export const make = Effect.fnUntraced(function* (random?: Random) {
  const { arm, calm, strikes } = faults<CardFault, { readonly path: string; readonly isNewCharge: boolean }>(
    random,
    "last",
  )
  const tokens = new Map<string, Token>()
  const intents = new Map<string, Intent>()
  const keys = new Map<string, Saved>()
  const seen = new Set<string>()
  let charges = 0
  let newest: Reply | undefined

  const charge = (form: URLSearchParams, mistake: boolean): Result => {
    const amount = Number(form.get("amount"))
    const token = tokens.get(form.get("shared_payment_granted_token") ?? "")
    const attempt = form.get("metadata[attempt]") ?? ""
    const invalid = (code: string, param: string) => error(400, "invalid_request_error", { code, param })
    if (!Number.isSafeInteger(amount) || amount < 50) return invalid("amount_too_small", "amount")
    if (token === undefined) return invalid("resource_missing", "shared_payment_granted_token")
    if (form.get("confirm") !== "true" || form.get("automatic_payment_methods[allow_redirects]") !== "never") {
      return invalid("parameter_missing", "confirm")
    }
    if (token.currency !== form.get("currency") || token.used + amount > token.maxAmount) {
      return invalid("shared_payment_token_limit_exceeded", "shared_payment_granted_token")
    }
    if (token.expiresAt * 1000 <= Date.now()) {
      return invalid("shared_payment_token_expired", "shared_payment_granted_token")
    }
    const intent: Intent = {
      id: id("pi"),
      object: "payment_intent",
      amount,
      amount_received: 0,
      currency: token.currency,
      created: Math.floor(Date.now() / 1000),
      livemode: false,
      metadata: { attempt },
      status: "succeeded",
      last_payment_error: null,
    }
    intents.set(intent.id, intent)
    if (token.paymentMethod === "pm_card_visa_chargeDeclined") {
      const decline = { code: "card_declined", decline_code: "generic_decline", type: "card_error" }
      Object.assign(intent, { status: "requires_payment_method", last_payment_error: decline })
      return error(402, "card_error", { ...decline, payment_intent: intent })
    }
    if (token.paymentMethod === "pm_card_authenticationRequired") intent.status = "requires_action"
    else if (token.paymentMethod === "pm_bank_slow") intent.status = "processing"
    else intent.amount_received = amount
    token.used += amount
    return mistake ? error(500, "api_error") : { status: 200, body: intent }
  }

  /** One result for a key, saved once the endpoint began; another form under the key is an error. */
  const underKey = async (key: string, form: URLSearchParams, fault?: CardFault, during?: () => Promise<unknown>) => {
    const parameters = form.toString()
    const earlier = keys.get(key)
    if (earlier !== undefined) {
      if (earlier.parameters !== parameters) return reply(error(400, "idempotency_error"))
      if (earlier.result === undefined) {
        return reply(error(409, "invalid_request_error", { code: "idempotency_key_in_use" }))
      }
      return reply(earlier.result, { "idempotent-replayed": "true" })
    }
    const saved: Saved = { parameters }
    keys.set(key, saved)
    await during?.()
    const result = fault === "mistakeBefore" ? error(500, "api_error") : charge(form, fault === "mistakeAfter")
    saved.result = result
    // A request that fails validation leaves nothing.
    if (result.status === 400) keys.delete(key)
    return reply(result)
  }

  const grantOf = (form: URLSearchParams): Result => {
    const token: Token = {
      id: id("spt"),
      paymentMethod: form.get("payment_method") ?? "",
      currency: form.get("usage_limits[currency]") ?? "",
      maxAmount: Number(form.get("usage_limits[max_amount]")),
      expiresAt: Number(form.get("usage_limits[expires_at]")),
      used: 0,
    }
    if (form.get("seller_details[network_id]") !== profile) {
      return error(400, "invalid_request_error", { code: "resource_missing", param: "seller_details[network_id]" })
    }
    tokens.set(token.id, token)
    return { status: 200, body: { id: token.id, object: "shared_payment.granted_token", livemode: false } }
  }

  /** The true answer; `during` runs while a charge is in flight. */
  const answered = async (
    path: string,
    body: string,
    { headers, method }: IncomingMessage,
    fault?: CardFault,
    during?: () => Promise<unknown>,
  ): Promise<Reply> => {
    const { pathname, searchParams } = new URL(path, "http://processor.example")
    const form = new URLSearchParams(body)
    const route = `${method} ${pathname}`
    if (route === "POST /v1/test_helpers/shared_payment/granted_tokens") return reply(grantOf(form))
    if (route === "POST /v1/payment_intents") {
      const key = headers["idempotency-key"]
      return typeof key === "string" ? underKey(key, form, fault, during) : reply(charge(form, false))
    }
    if (route === "GET /v1/payment_intents/search") {
      const attempt = /^metadata\['attempt'\]:'([0-9a-f-]{36})'$/u.exec(searchParams.get("query") ?? "")?.[1]
      const data = [...intents.values()].filter(({ metadata }) => metadata["attempt"] === attempt)
      return reply({ status: 200, body: { object: "search_result", data, has_more: false } })
    }
    if (route === "GET /v1/payment_intents") {
      const all = [...intents.values()]
      const from = all.findIndex((intent) => intent.id === searchParams.get("starting_after")) + 1
      const to = from + Number(searchParams.get("limit") ?? 10)
      const list = { object: "list", data: all.slice(from, to), has_more: to < all.length }
      return reply({ status: 200, body: list })
    }
    const match = /^\/v1\/payment_intents\/(pi_[0-9a-f]+)(\/cancel)?$/u.exec(pathname)
    const intent = intents.get(match?.[1] ?? "")
    if (intent === undefined) return reply(error(404, "invalid_request_error", { code: "resource_missing" }))
    if (match?.[2] !== undefined) {
      if (intent.status === "succeeded")
        return reply(error(400, "invalid_request_error", { code: "payment_intent_unexpected_state" }))
      intent.status = "canceled"
    }
    return reply({ status: 200, body: intent })
  }

  const url = yield* serve(async (path, body, request) => {
    if (request.headers.authorization !== authorization) return reply(error(401, "invalid_request_error"))
    if (request.headers["stripe-version"] !== apiVersion) {
      return reply(error(400, "invalid_request_error", { param: "shared_payment_granted_token" }))
    }
    // No fault strikes the grant of a token.
    if (path.includes("/test_helpers/")) return answered(path, body, request)
    const key = request.headers["idempotency-key"]
    const isCharge = typeof key === "string" && path === "/v1/payment_intents"
    if (isCharge) {
      charges += 1
      seen.add(key)
    }
    const struck = strikes({ path, isNewCharge: isCharge && !keys.has(key) })
    const fault = struck?.fault
    const isHeld = fault === "holdBefore" || fault === "invalidBefore"
    if (isHeld && (await struck?.caught()) === "discard") return "drop"
    if (fault !== undefined && has(before, fault)) {
      void struck?.caught()
      return before[fault]()
    }
    const neighbour = newest
    const truth = await answered(path, body, request, fault, fault === "holdDuring" ? struck?.caught : undefined)
    if (truth !== "drop" && truth.status === 200) newest = truth
    const verdict = struck?.caught()
    if (fault === "holdAfter" && (await verdict) === "discard") return "drop"
    if (fault === "delayAfter") await setTimeout(late)
    return fault !== undefined && has(after, fault) ? after[fault](truth, neighbour) : truth
  })

  return {
    url,
    /** From now on charges under a key that is new, or all that is asked, meet this fault. */
    arm: (fault: CardFault, scope: "new charges" | "everything" = "new charges", rate = 1): Trap =>
      arm(`card ${fault}`, fault, {
        rate,
        fits: ({ isNewCharge, path }) =>
          (isNewCharge || scope === "everything") && (fault !== "nothingFound" || path.includes("/search")),
      }),
    calm: Effect.sync(calm),
    /** A holder grants a token for a charge, as an agent's wallet does. */
    grant: async (paymentMethod: string, amount: string, expiresAt = Math.floor(Date.now() / 1000) + 3600) => {
      const response = await fetch(`${url}/v1/test_helpers/shared_payment/granted_tokens`, {
        method: "POST",
        headers: { authorization, "stripe-version": apiVersion },
        body: new URLSearchParams({
          payment_method: paymentMethod,
          "usage_limits[currency]": "usd",
          "usage_limits[max_amount]": amount,
          "usage_limits[expires_at]": String(expiresAt),
          "seller_details[network_id]": profile,
        }),
      })
      const granted: { readonly id: string } = JSON.parse(await response.text())
      return granted.id
    },
    /** All money taken, in cents, one entry for each charge. */
    taken: () =>
      [...intents.values()]
        .filter(({ status }) => status === "succeeded")
        .map(({ amount, metadata }) => ({ amount, attempt: metadata["attempt"] })),
    /** How often a charge was asked for, and under how many idempotency keys. */
    requests: () => ({ charges, keys: seen.size }),
    /** All charges that wait for a bank or a card's holder end. */
    finish: Effect.sync(() => {
      for (const intent of intents.values()) {
        if (["processing", "requires_action"].includes(intent.status))
          Object.assign(intent, { status: "succeeded", amount_received: intent.amount })
      }
    }),
  }
})
