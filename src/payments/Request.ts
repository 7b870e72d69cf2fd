/** Reads a paid request: for which act, under which key, with which input and payment. */
import { hash } from "node:crypto"
import { Effect, Option, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { BadRequest } from "../../schema/Errors.ts"
import { isJsonObject, jsonIn } from "../../schema/Json.ts"
import { bodyText } from "../../schema/payments/BindingRecipe.ts"
import { IdempotencyKeyInvalid, IdempotencyKeyRequired } from "../../schema/payments/Errors.ts"
import { body as bodyOf } from "../http/Responses.ts"
import { DatabaseClock } from "../platform/DatabaseClock.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { timestampOf } from "../platform/Time.ts"
import { addressOf, type PaidAct, type SoldAct } from "./Act.ts"
import type { Credential, Order } from "./Rail.ts"
import { Rails } from "./Rails.ts"
import type { NewAttempt } from "./store/Claim.ts"

/** A request before anything of it is read but its URL. */
export interface PaidRequest extends Order {
  readonly credentials: ReadonlyArray<Credential>
}

/** An attempt as a request wants it, before its payment is verified. */
export type Intent = Omit<NewAttempt, "payment" | "balance" | "leaseMillis">

/** A request with everything that it says. */
export interface ReadRequest<Refusal> {
  readonly order: Order
  readonly credential: Credential | undefined
  readonly intent: Intent
  /** All refusals of the act itself. Only an unknown key runs them. */
  readonly check: Effect.Effect<void, Refusal>
}

/** The key of an unpaid request without one. No attempt has it. */
const noKey = ""

/** Whether a request asks for nothing but the price of its URL. */
export const isProbe = ({ body, credentials, key }: PaidRequest) =>
  body === "" && key === undefined && credentials.length === 0

const badRequest = (path: string, message: string) => new BadRequest({ issues: [{ path, message }] })

const paidTwice = badRequest(
  "authorization",
  "The request has two payments, by PAYMENT-SIGNATURE and by card. Send one of them. This request charged nothing",
)

/** Every id of this form is a valid Idempotency-Key. */
const isIdentifier = Schema.is(Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{16,128}$/u)))

const invalidKey = (message: string) => Effect.fail(new IdempotencyKeyInvalid({ message }))

/** The one key of a purchase: the header, or the id in the payment. Two different keys are rejected. */
const keyOf = (
  key: string | undefined,
  credential: Credential | undefined,
): Effect.Effect<string, IdempotencyKeyRequired | IdempotencyKeyInvalid> => {
  if (credential === undefined) return Effect.succeed(key ?? noKey)
  if (Option.isNone(credential.identifier))
    return key === undefined ? Effect.fail(new IdempotencyKeyRequired({})) : Effect.succeed(key)
  const id: unknown = credential.identifier.value
  if (!isIdentifier(id))
    return invalidKey(
      "The payment-identifier id must be 16 to 128 characters of A-Z a-z 0-9 _ -; correct it or leave it out. This request charged nothing.",
    )
  if (key !== undefined && key !== id)
    return invalidKey(
      "Idempotency-Key and the payment-identifier id of the payment differ; one purchase has one name, so send them equal or leave one out. This request charged nothing.",
    )
  return Effect.succeed(id)
}

const parse = Option.liftThrowable((text: string) => jsonIn(text))

/** Reads the body as a JSON object. Members that belong in the URL are rejected. */
const readBody = ({ act, body: text, parameters }: Order): Effect.Effect<Schema.JsonObject, BadRequest> => {
  const parsed = text === "" && act.bodyOptional ? Option.some<Schema.Json>({}) : parse(text)
  if (Option.isNone(parsed)) return Effect.fail(badRequest("", "The body must be valid JSON"))
  const body = parsed.value
  if (!isJsonObject(body)) return Effect.fail(badRequest("", "Must be a JSON object"))
  const repeated = Object.keys(parameters).filter((name) => name in body)
  const issues = repeated.map((path) => ({ path, message: "Must be in the URL, not in the body" }))
  return issues.length > 0 ? Effect.fail(new BadRequest({ issues })) : Effect.succeed(body)
}

/** Reads the requests for one act at one URL. */
export const reader = Effect.gen(function* () {
  const publicUrl = yield* PublicUrl
  const rails = yield* Rails
  const clock = yield* DatabaseClock

  /** The request as it came. Its URL is canonical, whatever spelling was sent. */
  const receive = (act: SoldAct, call: PaidUrl) => {
    const { parameters, path } = addressOf(act.endpoint.path, call)
    const url = `${publicUrl}${path}`
    return (source: HttpServerRequest.HttpServerRequest) =>
      Effect.map(bodyOf.text(source), (body): PaidRequest => ({
        act,
        method: source.method,
        url,
        parameters,
        key: source.headers["idempotency-key"],
        credentials: rails.credentialsIn(source.headers),
        body,
      }))
  }

  const readRequest = Effect.fnUntraced(function* <Refusal>(act: PaidAct<Refusal>, sent: PaidRequest) {
    const { credentials, ...order } = sent
    const [credential, second] = credentials
    if (second !== undefined) return yield* paidTwice
    const key = yield* keyOf(order.key, credential)
    const members = yield* readBody(sent)
    const millis = yield* clock.estimate
    const day = timestampOf(millis).slice(0, 10)
    const { check, claims, input } = yield* act.requestOf({ ...members, ...order.parameters }, { millis, day })
    const body = bodyText(members)
    const intent: Intent = {
      idempotencyKey: key,
      fingerprint: hash("sha256", `${order.method}\n${order.url}\n${body}`, "hex"),
      act: act.name,
      url: order.url,
      input,
      amountAtomic: act.priceAtomic,
      claims,
      acceptedAtMillis: millis,
    }
    const request: ReadRequest<Refusal> = {
      order: { ...order, key, bodySha256: hash("sha256", body, "hex") },
      credential,
      intent,
      check,
    }
    return request
  })

  return { receive, readRequest }
})

/** The decoded parameters of a URL. */
export interface PaidUrl {
  readonly params?: unknown
  readonly query?: unknown
}
