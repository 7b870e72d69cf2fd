/** The revision of MCP that a message speaks, and the envelope that 2026-07-28 demands of a request. */
import { Option, Schema } from "effect"
import { Base64 } from "effect/encoding"
import { codes, type Id, type Request, type RpcError } from "./JsonRpc.ts"

/** Begins with a handshake. */
export const handshake = "2025-06-18"
/** Every request carries its version and capabilities. */
export const stateless = "2026-07-28"
/** Newest first, as documents and `server/discover` name them. */
export const versions = [stateless, handshake] as const

export type Era = (typeof versions)[number]

/** Revisions that clients in use send after a handshake that answered `2025-06-18`. All are served like it. */
const handshaken: ReadonlySet<string> = new Set([handshake, "2024-11-05", "2025-03-26", "2025-11-25"])

/** Whether a version header may follow a handshake; no header may, too. */
export const isHandshaken = (version: string | undefined) => version === undefined || handshaken.has(version.trim())

export const metaKeys = {
  version: "io.modelcontextprotocol/protocolVersion",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  server: "io.modelcontextprotocol/serverInfo",
} as const

type Headers = Readonly<Record<string, string | undefined>>

interface Message {
  readonly id?: Id
  readonly method?: string
  readonly params?: Schema.JsonObject
}

const isObject = Schema.is(Schema.Record(Schema.String, Schema.Json))

const isNewer = (version: string | undefined) =>
  version !== undefined && /^\d{4}-\d\d-\d\d$/u.test(version) && version >= stateless

/** The era that the headers alone name, for a body that could not be read. */
export const eraOfHeaders = (headers: Headers): Era =>
  isNewer(headers["mcp-protocol-version"]?.trim()) ? stateless : handshake

/** The era of a message: nothing is inferred from earlier requests. */
export const eraOf = ({ method, params }: Message, headers: Headers): Era => {
  const meta = params?.["_meta"]
  if (isObject(meta) && metaKeys.version in meta) return stateless
  return method === "initialize" ? handshake : eraOfHeaders(headers)
}

const Meta = Schema.Struct({
  [metaKeys.version]: Schema.String,
  [metaKeys.capabilities]: Schema.Record(Schema.String, Schema.Json),
})
const isMeta = Schema.is(Meta)

/** Methods whose subject `Mcp-Name` repeats, with the member of `params` that names it. */
const named = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
])

const decodeBase64 = Schema.decodeOption(Schema.StringFromBase64)

const encoded = /^=\?base64\?(.*)\?=$/u

/** The value of `Mcp-Name`; none where its Base64 is malformed. */
const nameOf = (header: string): Option.Option<string> => {
  const [, base64] = encoded.exec(header) ?? []
  if (base64 === undefined) return Option.some(header)
  return Option.filter(decodeBase64(base64), (name) => Base64.encode(name) === base64)
}

const refused = (code: number, message: string, data?: object): RpcError => ({
  code,
  message,
  ...(data === undefined ? {} : { data }),
})

const mismatch = (header: string, should: string) =>
  refused(codes.header, `${header} has to repeat ${should} of the body. Send the same value in both.`)

const missing = (header: string) =>
  refused(codes.header, `${header} is missing. Send it with every request of MCP ${stateless}.`)

/** The first fault of a request of 2026-07-28 before its method is looked at, in the order of the official SDK. */
export const envelopeFault = ({ method, params = {} }: Request, headers: Headers): RpcError | undefined => {
  const meta = params["_meta"]
  if (!isMeta(meta)) {
    return refused(
      codes.params,
      `params._meta needs ${metaKeys.version}, a string, and ${metaKeys.capabilities}, an object.`,
    )
  }
  const requested = meta[metaKeys.version]
  const [version, called, subject] = ["mcp-protocol-version", "mcp-method", "mcp-name"].map((name) =>
    headers[name]?.trim(),
  )
  if (version !== undefined && version !== requested) return mismatch("MCP-Protocol-Version", metaKeys.version)
  if (called !== undefined && called !== method) return mismatch("Mcp-Method", "the method")
  if (requested !== stateless) {
    return refused(
      codes.version,
      `This server speaks MCP ${stateless} in this form, and ${handshake} after a handshake by initialize.`,
      { supported: versions, requested },
    )
  }
  if (version === undefined) return missing("MCP-Protocol-Version")
  if (called === undefined) return missing("Mcp-Method")
  const member = named.get(method)
  if (member === undefined || typeof params[member] !== "string") return undefined
  if (subject === undefined) return missing("Mcp-Name")
  return Option.contains(nameOf(subject), params[member]) ? undefined : mismatch("Mcp-Name", `params.${member}`)
}
