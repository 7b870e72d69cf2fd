/** Free requests to an altar, by the endpoints of its contract. */
import { Effect, Schema } from "effect"
import { type HttpApiClient, type HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { isRefusal, reasonOf, refuse } from "./PurchaseError.ts"

const loopback = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u

/** Words and payees travel only over https, or to this machine. */
export const guarded = (url: string, insecure: boolean) => {
  if (!URL.canParse(url) || !/^https?:$/u.test(new URL(url).protocol))
    return refuse("bad_url", `${url} is no URL of an altar; name one with https://. This request charged nothing.`)
  const { hostname, protocol } = new URL(url)
  return insecure || protocol === "https:" || loopback.test(hostname)
    ? Effect.void
    : refuse(
        "insecure_url",
        `${url} is not encrypted, so anybody on the way could read your words and change the payee: use https, or allow it by name (insecure). This request charged nothing.`,
      )
}

export const baseOf = (url: string): string => url.replace(/\/+$/u, "")

/** Endpoints erase the types of their schemas; this guard restores them. The contract's schemas need no services. */
const isOf = <Type>(schema: Schema.Top): schema is Schema.Codec<Type, Schema.Json> => Schema.isSchema(schema)

export const typed = <Type>(schema: Schema.Top): Schema.Codec<Type, Schema.Json> => {
  if (isOf<Type>(schema)) return schema
  throw new TypeError("An endpoint of the contract holds something that is no schema.")
}

/** The bodies of an endpoint's successful answers, in their order. */
export const bodiesOf = ({ success }: Pick<HttpApiEndpoint.Top, "success">): ReadonlyArray<Schema.Top> =>
  [...success].map((answer) => Schema.toCodecJson(HttpApiSchema.isWithHeaders(answer) ? answer.schema : answer))

type Body<Answer> = Answer extends { readonly body: infer Own } ? Own : Answer

/** The body of a successful answer. */
export type BodyOf<E extends HttpApiEndpoint.ConstraintRequest> = Body<HttpApiClient.SuccessType<E["~Success"]>>

type Free = HttpApiEndpoint.ConstraintRequest & Pick<HttpApiEndpoint.Top, "method" | "params" | "path" | "success">

const unreadable = (why: string) => refuse("unreachable", `The altar gave no answer that can be read: ${why}.`)

/**
 * Asks a free endpoint within a minute; fails with the altar's refusal, or because there was no answer. `id` stands in
 * the path. A redirect is an error, so words reach only their altar.
 */
export const ask = Effect.fn("Client.ask")(function* <E extends Free>(
  endpoint: E,
  { altar, fetch: send }: { readonly altar: string; readonly fetch: typeof fetch },
  id = "",
  body?: object,
) {
  const [, name = ""] = /:([A-Za-z]+)/u.exec(endpoint.path) ?? []
  if (endpoint.params !== undefined && !Schema.is(typed(endpoint.params))({ [name]: id }))
    return yield* refuse("bad_request", `This is no ${name}: ${id}. Nothing was sent.`)
  const url = altar + endpoint.path.replace(/:[A-Za-z]+/u, encodeURIComponent(id))
  const content =
    body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
  const { isOk, json } = yield* Effect.tryPromise({
    try: (signal) =>
      send(url, { method: endpoint.method, redirect: "error", signal, ...content }).then((response) =>
        response.json().then((json: unknown) => ({ json, isOk: response.ok })),
      ),
    catch: (error) => unreadable(reasonOf(error)),
  }).pipe(
    Effect.timeoutOrElse({
      duration: "1 minute",
      orElse: () => Effect.fail(unreadable("it takes more than a minute")),
    }),
  )
  if (!isOk) return yield* isRefusal(json) ? refuse(json.code, json.message) : unreadable("it refused without a reason")
  return yield* Effect.mapError(
    Schema.decodeUnknownEffect(typed<BodyOf<E>>(Schema.Union(bodiesOf(endpoint))))(json),
    ({ message }) => unreadable(message.split("\n")[0] ?? ""),
  )
})
