/** A paid request with its path and query read, and the fingerprint that identifies repeats. */
import { hash } from "node:crypto"
import { Effect, Schema } from "effect"
import { BadRequest, type RateLimited } from "../../schema/Errors.ts"
import type { SoldAct } from "./Act.ts"

/** Limits the node requests that refused payments of one address cause. */
export interface PaymentGuard {
  /**
   * Runs the judgement of a payment. After too many refused payments of the address it runs for `isKnown` wallets
   * alone, and fails for all others.
   */
  admit<A, E, R>(
    judgement: Effect.Effect<A, E, R>,
    isKnown: Effect.Effect<boolean, E>,
  ): Effect.Effect<A, E | RateLimited, R>
  readonly refused: Effect.Effect<void>
}

export interface PaidRequest {
  readonly method: string
  /** The canonical absolute URL that the payment signs. */
  readonly url: string
  readonly key: string | undefined
  readonly payment: string | undefined
  /** The `Payment` credential of `Authorization` as sent. */
  readonly card: string | undefined
  /** Path and query parameters of the act's input. */
  readonly parameters: Schema.JsonObject
  readonly body: string
}

const badRequest = (path: string, message: string) => new BadRequest({ issues: [{ path, message }] })

export const paidTwice = () =>
  badRequest(
    "authorization",
    "The request has two payments, by PAYMENT-SIGNATURE and by card. Send one of them. This request charged nothing",
  )

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Json))

const isObject = (json: Schema.Json): json is Schema.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

/** Reads the body as a JSON object. Members that belong in the URL are rejected. */
export const bodyOf = Effect.fnUntraced(function* (act: SoldAct, request: PaidRequest) {
  const body =
    request.body === "" && act.bodyOptional
      ? {}
      : yield* decode(request.body).pipe(Effect.mapError(() => badRequest("", "The body must be valid JSON")))
  if (!isObject(body)) return yield* badRequest("", "Must be a JSON object")
  const repeated = Object.keys(request.parameters).filter((name) => name in body)
  if (repeated.length > 0) {
    return yield* new BadRequest({
      issues: repeated.map((path) => ({ path, message: "Must be in the URL, not in the body" })),
    })
  }
  return body
})

/** SHA-256 of method, URL and canonical body. A key belongs to one fingerprint. */
export const fingerprintOf = (request: PaidRequest, body: string) =>
  hash("sha256", `${request.method}\n${request.url}\n${body}`, "hex")

type Texts = Readonly<Record<string, string>>

/** Path and query parameters are texts: a decoded value is the text of the URL. */
const textsOf = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.String))

/** The path below the public URL, with query parameters in the order of the contract, and all parameters. */
export const addressOf = (path: string, call: { readonly params?: unknown; readonly query?: unknown }) => {
  const [named, searched] = [textsOf(call.params ?? {}), textsOf(call.query ?? {})]
  return { path: filled(path, named, searched), parameters: { ...named, ...searched } }
}

/** Fills a path template of the contract. Every path shown to clients is made here. */
export const filled = (path: string, parameters: Texts = {}, query: Texts = {}): string => {
  const search = new URLSearchParams(query).toString()
  const named = path.replace(/:([A-Za-z]+)/gu, (_, name: string) => encodeURIComponent(parameters[name] ?? ""))
  return search === "" ? named : `${named}?${search}`
}
