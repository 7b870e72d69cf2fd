/** A paid request after its path and query were read, and what makes two of them the same. */
import { hash } from "node:crypto"
import { Effect, Schema } from "effect"
import { BadRequest, type RateLimited } from "../../schema/Errors.ts"
import { canonicalJson } from "../platform/CanonicalJson.ts"
import type { SoldAct } from "./PaidAct.ts"

/** Bounds the questions to the node that refused payments of one caller cause. */
export interface PaymentGuard {
  /** Runs the judgement of a payment; fails without it while too many payments of this caller were refused. */
  admit<A, E, R>(judgement: Effect.Effect<A, E, R>): Effect.Effect<A, E | RateLimited, R>
  readonly refused: Effect.Effect<void>
}

export interface PaidRequest {
  readonly method: string
  /** The canonical absolute URL, as it has to be signed. */
  readonly url: string
  readonly key: string | undefined
  readonly payment: string | undefined
  /** The `Payment` credential of `Authorization` as sent. */
  readonly card: string | undefined
  /** Path and query parameters that belong to the act's input. */
  readonly parameters: Schema.JsonObject
  readonly body: string
}

const badRequest = (path: string, message: string) => new BadRequest({ issues: [{ path, message }] })

export const paidTwice = () =>
  badRequest(
    "authorization",
    "The request pays twice, by PAYMENT-SIGNATURE and by card; send one of them. This request charged nothing",
  )

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Json))

const isObject = (json: Schema.Json): json is Schema.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

/** The body as a JSON object; what the URL says is not said again in it. */
export const bodyOf = Effect.fnUntraced(function* (act: SoldAct, request: PaidRequest) {
  const body =
    request.body === "" && act.bodyOptional
      ? {}
      : yield* decode(request.body).pipe(Effect.mapError(() => badRequest("", "The body is not valid JSON.")))
  if (!isObject(body)) return yield* badRequest("", "Expected a JSON object")
  const repeated = Object.keys(request.parameters).filter((name) => name in body)
  if (repeated.length > 0) {
    return yield* new BadRequest({
      issues: repeated.map((path) => ({ path, message: "Belongs in the URL, not in the body" })),
    })
  }
  return body
})

/** SHA-256 over method, URL and canonical body: a key belongs to one of these. */
export const fingerprintOf = (request: PaidRequest, body: Schema.Json) =>
  hash("sha256", `${request.method}\n${request.url}\n${canonicalJson(body)}`, "hex")
