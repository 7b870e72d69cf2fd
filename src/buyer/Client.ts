/** Free requests to an altar, by the endpoints of its contract. */
import { Schema } from "effect"
import { type HttpApiClient, type HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import type { Exchange } from "./core/Loop.ts"
import { reasonOf, refuse, type Refused } from "./PurchaseError.ts"

const loopback = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u

/** The refusal of a URL; undefined for a good one. Words and payees travel only over https, or to this machine. */
export const faultOf = (url: string, insecure: boolean): Refused | undefined => {
  if (!URL.canParse(url) || !/^https?:$/u.test(new URL(url).protocol))
    return refuse("bad_url", `${url} is no URL of an altar; name one with https://. This request charged nothing.`)
  const { hostname, protocol } = new URL(url)
  return insecure || protocol === "https:" || loopback.test(hostname)
    ? undefined
    : refuse(
        "insecure_url",
        `${url} is not encrypted, so anybody on the way could read your words and change the payee: use https, or allow it by name (insecure). This request charged nothing.`,
      )
}

export const baseOf = (url: string): string => url.replace(/\/+$/u, "")

/** Endpoints erase the types of their schemas; this guard restores them. The contract's schemas need no services. */
const isOf = <Type, Encoded>(schema: Schema.Top): schema is Schema.Codec<Type, Encoded> => Schema.isSchema(schema)

export const typed = <Type, Encoded = Schema.Json>(schema: Schema.Top): Schema.Codec<Type, Encoded> => {
  if (isOf<Type, Encoded>(schema)) return schema
  throw new TypeError("An endpoint of the contract holds something that is no schema.")
}

/** The bodies of an endpoint's successful answers, in their order. */
export const bodiesOf = ({ success }: Pick<HttpApiEndpoint.Top, "success">): ReadonlyArray<Schema.Top> =>
  [...success].map((answer) => Schema.toCodecJson(HttpApiSchema.isWithHeaders(answer) ? answer.schema : answer))

type Body<Answer> = Answer extends { readonly body: infer Own } ? Own : Answer

/** The body of a successful answer. */
export type BodyOf<E extends HttpApiEndpoint.ConstraintRequest> = Body<HttpApiClient.SuccessType<E["~Success"]>>

type Free = HttpApiEndpoint.ConstraintRequest & Pick<HttpApiEndpoint.Top, "method" | "params" | "path" | "success">

/** Where free requests go, and how. */
export interface Shop {
  readonly altar: string
  readonly exchange: Exchange
}

const isRefusal = Schema.is(Schema.Struct({ code: Schema.String, message: Schema.String }))

const unreadable = (why: string) => refuse("unreachable", `The altar gave no answer that can be read: ${why}.`)

/**
 * Asks a free endpoint, whose path has one id, within a minute; throws the altar's refusal, or that there was no answer.
 * A redirect is an error, so words reach only their altar.
 */
export const ask = async <E extends Free>(
  { method, params, path, success }: E,
  { altar, exchange }: Shop,
  id: string,
  body?: object,
): Promise<BodyOf<E>> => {
  const [, name = ""] = /:([A-Za-z]+)/u.exec(path) ?? []
  if (params === undefined || !Schema.is(typed(params))({ [name]: id }))
    throw refuse("bad_request", `This is no ${name}: ${id}. Nothing was sent.`)
  const { isOk, json } = await exchange(altar + path.replace(/:[A-Za-z]+/u, encodeURIComponent(id)), {
    method,
    redirect: "error",
    signal: AbortSignal.timeout(60_000),
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  })
    .then(async (response) => ({ isOk: response.ok, json: (await response.json()) as unknown }))
    .catch((error: unknown) => {
      throw unreadable(reasonOf(error))
    })
  if (!isOk) throw isRefusal(json) ? refuse(json.code, json.message) : unreadable("it refused without a reason")
  try {
    return Schema.decodeUnknownSync(typed<BodyOf<E>>(Schema.Union(bodiesOf({ success }))))(json)
  } catch (error) {
    throw unreadable(reasonOf(error))
  }
}
