/** Free requests to an altar, by the endpoints of its contract. */
import { Schema } from "effect"
import type { HttpApiClient, HttpApiEndpoint } from "effect/http-api"
import { answersOf } from "../../schema/payments/Sale.ts"
import type { Exchange } from "./core/Loop.ts"
import { isUnsettled, reasonOf, refuse } from "./PurchaseError.ts"

/** Endpoints erase the types of their schemas; this guard restores them. The contract's schemas need no services. */
const isOf = <Type, Encoded>(schema: Schema.Top): schema is Schema.Codec<Type, Encoded> => Schema.isSchema(schema)

export const typed = <Type, Encoded = Schema.Json>(schema: Schema.Top): Schema.Codec<Type, Encoded> => {
  if (isOf<Type, Encoded>(schema)) return schema
  throw new TypeError("An endpoint of the contract holds something that is no schema.")
}

/** The bodies of an endpoint's successful answers, in their order. */
export const bodiesOf = (endpoint: Pick<HttpApiEndpoint.Top, "success">): ReadonlyArray<Schema.Top> =>
  answersOf(endpoint).map((answer) => Schema.toCodecJson(answer))

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

/** The parts of a free request: the one member of its path, its query, and its body. */
interface Question {
  readonly id?: string
  readonly query?: Readonly<Record<string, number>>
  readonly body?: object
}

/**
 * Asks a free endpoint within a minute; throws the altar's refusal, or that there was no answer. A redirect is an error,
 * so words reach only their altar.
 */
export const ask = async <E extends Free>(
  { method, params, path, success }: E,
  { altar, exchange }: Shop,
  { body, id = "", query = {} }: Question,
): Promise<BodyOf<E>> => {
  const [, name = ""] = /:([A-Za-z]+)/u.exec(path) ?? []
  if (name !== "" && (params === undefined || !Schema.is(typed(params))({ [name]: id })))
    throw refuse("bad_request", `This is no ${name}: ${id}. Nothing was sent.`)
  const search = new URLSearchParams(Object.entries(query).map(([part, value]) => [part, String(value)]))
  const url = `${altar}${path.replace(/:[A-Za-z]+/u, encodeURIComponent(id))}${search.size === 0 ? "" : `?${search}`}`
  const { isOk, isText, text } = await exchange(url, {
    method,
    redirect: "error",
    signal: AbortSignal.timeout(60_000),
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  })
    .then(async (response) => ({
      isOk: response.ok,
      isText: response.headers.get("content-type")?.startsWith("text/plain") === true,
      text: await response.text(),
    }))
    .catch((error: unknown) => {
      throw unreadable(reasonOf(error))
    })
  try {
    const content: unknown = isOk && isText ? text : JSON.parse(text)
    if (isOk) return Schema.decodeUnknownSync(typed<BodyOf<E>>(Schema.Union(bodiesOf({ success }))))(content)
    throw isRefusal(content) ? refuse(content.code, content.message) : unreadable("it refused without a reason")
  } catch (error) {
    throw isUnsettled(error) ? error : unreadable(reasonOf(error))
  }
}
