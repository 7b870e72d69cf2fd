/** An act that this version does not list, bought by the contract that its altar publishes, for at most a cent. */
import { Option, Schema } from "effect"
import { isSealing } from "../../schema/altar/Recipe.ts"
import { Form, resolved } from "../../schema/Form.ts"
import { plainName } from "../../schema/payments/Sale.ts"
import { centAtomic, priceUsd } from "../../schema/payments/Usdc.ts"
import { type Act, anyAnswer, given, partsIn, urlOf } from "./Acts.ts"
import type { Shop } from "./Client.ts"
import { reasonOf, refuse } from "./PurchaseError.ts"

const Parameter = Schema.Struct({
  $ref: Schema.optionalKey(Schema.String),
  name: Schema.optionalKey(Schema.String),
  in: Schema.optionalKey(Schema.String),
})

const Operation = Schema.Struct({
  operationId: Schema.String,
  parameters: Schema.Array(Parameter),
  requestBody: Schema.optionalKey(
    Schema.Struct({ content: Schema.Struct({ "application/json": Schema.Struct({ schema: Form }) }) }),
  ),
  "x-payment-info": Schema.Struct({
    offers: Schema.Array(Schema.Struct({ method: Schema.String, amount: Schema.BigIntFromString })),
  }),
})

const Contract = Schema.Struct({
  paths: Schema.Record(Schema.String, Schema.Struct({ post: Schema.optionalKey(Schema.Json) })),
  components: Schema.Struct({
    schemas: Schema.Record(Schema.String, Form),
    parameters: Schema.Record(Schema.String, Parameter),
  }),
})

const decodeContract = Schema.decodeUnknownSync(Contract)
const decodeOperation = Schema.decodeUnknownOption(Operation)

/** The act of this name; throws when the altar sells none, or none for a cent. */
export const unlistedAct = async ({ altar, exchange }: Shop, name: string): Promise<Act> => {
  const no = (code: string, why: string) => refuse(code, `${why} This request charged nothing.`)
  const contract = await exchange(`${altar}/openapi.json`, { redirect: "error", signal: AbortSignal.timeout(60_000) })
    .then(async (response) => decodeContract(await response.json()))
    .catch((error: unknown) => {
      throw no(
        "unreachable",
        `${name} is not listed here, and the altar's contract cannot be read: ${reasonOf(error)}.`,
      )
    })
  const [path, operation] =
    Object.entries(contract.paths)
      .map(([template, { post }]) => [template, Option.getOrUndefined(decodeOperation(post))] as const)
      .find(([, { operationId } = {}]) => operationId === name) ?? []
  const price = operation?.["x-payment-info"].offers.find(({ method }) => method === "evm")
  if (path === undefined || operation === undefined || price === undefined)
    throw no("unknown_act", `Nothing called ${name} is sold.`)
  if (price.amount > centAtomic)
    throw no(
      "too_dear",
      `The altar asks ${priceUsd(price.amount)} for ${name}. This version does not list that act, and pays at most ${priceUsd(centAtomic)} for one it does not list.`,
    )
  const { parameters, schemas } = contract.components
  const query = operation.parameters
    .map((parameter) => parameters[parameter.$ref?.split("/").at(-1) ?? ""] ?? parameter)
    .flatMap(({ in: place, name: called }) => (place === "query" && called !== undefined ? [called] : []))
  const inPath = [...path.matchAll(/\{(\w+)\}/gu)].flatMap(([, called = ""]) => called)
  const { properties = {} } = resolved(schemas, operation.requestBody?.content["application/json"].schema ?? {})
  const template = path.replace(/\{(\w+)\}/gu, ":$1")
  return {
    price: { name, priceAtomic: price.amount },
    sealed: Object.keys(properties).find(isSealing),
    recorded: { path: template.replace(/:(\w+)/gu, (_, called: string) => `:${plainName(called)}`), page: "acts" },
    // The altar refuses members that it does not know, before any payment.
    partsOf: partsIn(inPath, query),
    request: (base, { params, payload, query: search }) => {
      const request = { params: given(params), query: given(search), payload: given(payload) }
      return { url: urlOf(base, template, request), request }
    },
    answer: anyAnswer,
  }
}
