/** JSON-RPC 2.0 as MCP narrows it, and the revision of MCP that a message speaks. */
import { Option, Schema } from "effect"
import { Base64 } from "effect/encoding"
import { jsonIn } from "../../schema/Json.ts"

/** Begins with a handshake. */
export const handshake = "2025-06-18"
/** Every request carries its version and capabilities. */
export const stateless = "2026-07-28"
/** Newest first, as documents and `server/discover` name them. */
export const versions = [stateless, handshake] as const

export type Era = (typeof versions)[number]

/** A whole number above 2^53 is refused: it would come back as another id. */
const Id = Schema.Union([
  Schema.String,
  Schema.Finite.check(Schema.makeFilter((id) => !Number.isInteger(id) || Number.isSafeInteger(id))),
])

const envelope = {
  jsonrpc: Schema.Literal("2.0"),
  method: Schema.String,
  params: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
}

const Request = Schema.Struct({ ...envelope, id: Id })
export type Request = typeof Request.Type

export const isRequest = Schema.is(Request)
export const isNotification = Schema.is(Schema.Struct({ ...envelope, id: Schema.optionalKey(Schema.Never) }))

/** Optional members of the protocol for which some clients send "". */
const blank = new Set(["params", "arguments", "cursor"])

/** The JSON of a body. A member that is null is absent, as some clients mean it; an id may not be null. */
export const parse = Option.liftThrowable((text: string) =>
  jsonIn(text, function (this: unknown, name, value) {
    const isAbsent = value === null ? name !== "id" : value === "" && blank.has(name)
    return isAbsent && !Array.isArray(this) ? undefined : value
  }),
)

export interface Reply {
  readonly jsonrpc: "2.0"
  /** Of a request that could not be read as far as its id: null in 2025-06-18, absent in 2026-07-28. */
  readonly id?: Request["id"] | null | undefined
  readonly result?: object
  readonly error?: { readonly code: number; readonly message: string; readonly data?: object | undefined }
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

export const failed = (id: Reply["id"], code: number, message: string, data?: object): Reply => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, data },
})

export const metaKeys = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  server: "io.modelcontextprotocol/serverInfo",
} as const

type Headers = Readonly<Record<string, string | undefined>>

const versionIn = (headers: Headers) => headers["mcp-protocol-version"]?.trim()

/** Revisions that clients in use send after a handshake that answered `2025-06-18`; all are served like it. */
const handshaken = new Set([undefined, handshake, "2024-11-05", "2025-03-26", "2025-11-25"])

/** Whether the version header, or its absence, may follow a handshake. */
export const isHandshaken = (headers: Headers) => handshaken.has(versionIn(headers))

/** The era that the headers alone name, for a body that could not be read. */
export const eraOfHeaders = (headers: Headers): Era => {
  const version = versionIn(headers) ?? ""
  return /^\d{4}-\d\d-\d\d$/u.test(version) && version >= stateless ? stateless : handshake
}

const isVersioned = Schema.is(Schema.Struct({ [metaKeys.version]: Schema.Json }))

/** The era of a message: nothing is inferred from earlier requests. */
export const eraOf = ({ method, params }: Pick<Request, "method" | "params">, headers: Headers): Era => {
  if (isVersioned(params?.["_meta"])) return stateless
  return method === "initialize" ? handshake : eraOfHeaders(headers)
}

const isMeta = Schema.is(
  Schema.Struct({
    [metaKeys.version]: Schema.String,
    [metaKeys.capabilities]: Schema.Record(Schema.String, Schema.Json),
  }),
)

/** The first fault of a request of 2026-07-28 before its method is looked at. */
export const envelopeFault = ({ id, method, params = {} }: Request, headers: Headers): Reply | undefined => {
  const meta = params["_meta"]
  if (!isMeta(meta)) {
    const needed = `params._meta needs ${metaKeys.version}, a string, and ${metaKeys.capabilities}, an object.`
    return failed(id, codes.params, needed)
  }
  const requested = meta[metaKeys.version]
  const name = method === "tools/call" ? params["name"] : undefined
  const repeated: ReadonlyArray<readonly [header: string, values: ReadonlyArray<string>]> = [
    ["MCP-Protocol-Version", [requested]],
    ["Mcp-Method", [method]],
    ...(typeof name === "string" ? [["Mcp-Name", [name, `=?base64?${Base64.encode(name)}?=`]] as const] : []),
  ]
  const wrong = repeated.find(([header, values]) => !values.includes(headers[header.toLowerCase()]?.trim() ?? ""))
  if (wrong !== undefined) {
    return failed(id, codes.header, `The header ${wrong[0]} has to repeat ${wrong[1][0]} of the body.`)
  }
  if (requested === stateless) return undefined
  const served = `This server speaks MCP ${stateless} in this form, and ${handshake} after a handshake by initialize.`
  return failed(id, codes.version, served, { supported: versions, requested })
}
