/** JSON-RPC 2.0 as MCP narrows it: one message, an id that is never null, an answer for every request. */
import { Schema } from "effect"

/** A whole number above 2^53 is refused: it would come back as another id. */
const Id = Schema.Union([
  Schema.String,
  Schema.Finite.check(Schema.makeFilter((id) => !Number.isInteger(id) || Number.isSafeInteger(id))),
])
export type Id = typeof Id.Type

const Params = Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
const version = Schema.Literal("2.0")

export const Request = Schema.Struct({ jsonrpc: version, id: Id, method: Schema.String, params: Params })
export type Request = typeof Request.Type

/** Messages without an answer: notifications, and answers to requests that this server never makes. */
export const OneWayMessage = Schema.Union([
  Schema.Struct({ jsonrpc: version, id: Schema.optionalKey(Schema.Never), method: Schema.String, params: Params }),
  Schema.Struct({ jsonrpc: version, id: Id, result: Schema.Json }),
  Schema.Struct({ jsonrpc: version, id: Id, error: Schema.Json }),
])

const isObject = (json: Schema.Json | undefined): json is Schema.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

const isMember = ([, value]: readonly [string, Schema.Json]) => value !== null

const present = (json: Schema.JsonObject): Schema.JsonObject =>
  Object.fromEntries(Object.entries(json).filter(isMember))

/** A message without the members that some clients write as null: params, its members, and arguments of a tool. */
export const withoutNulls = (message: Schema.Json): Schema.Json => {
  if (!isObject(message)) return message
  const { error, params, ...rest } = message
  const kept = isObject(params) ? present(params) : params
  const sent = isObject(kept) && isObject(kept["arguments"]) ? { ...kept, arguments: present(kept["arguments"]) } : kept
  return { ...rest, ...present({ error: error ?? null, params: sent ?? null }) }
}

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: object
}

export interface Reply {
  readonly jsonrpc: "2.0"
  /** Of a request that could not be read as far as its id: null in 2025-06-18, absent in 2026-07-28. */
  readonly id?: Id | null
  readonly result?: object
  readonly error?: RpcError
}

export const codes = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  /** MCP 2026-07-28: a header is missing or differs from the body. */
  header: -32020,
  /** MCP 2026-07-28: this server does not serve the version. */
  version: -32022,
} as const

export const succeeded = (id: Id, result: object): Reply => ({ jsonrpc: "2.0", id, result })

export const failed = (id: Id | null | undefined, code: number, message: string, data?: object): Reply => ({
  jsonrpc: "2.0",
  ...(id === undefined ? {} : { id }),
  error: { code, message, ...(data === undefined ? {} : { data }) },
})
