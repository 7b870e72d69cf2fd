/** Requests of one seed: some as the document wants them, most a little wrong, some mad, some no HTTP at all. */
import type { Random } from "../Random.ts"
import * as Corpus from "./Corpus.ts"
import { type Operation, operations, resolved, type Schema } from "../OpenApi.ts"

/** One answer that has to come; the contract is held against it where the request was one that HTTP allows. */
export interface Expected {
  readonly method: string
  readonly target: string
  /** Its head is longer than is read: the connection ends at once, and with it the answers that had not left. */
  readonly isTooLong: boolean
}

/** Bytes that are sent at once on a connection of their own, which the last of them closes. */
export interface Volley {
  readonly bytes: Buffer
  readonly expected: ReadonlyArray<Expected>
  /** No HTTP, or a lie about its length: after any answer the connection is abandoned. */
  readonly isBroken: boolean
}

/** Bytes of a head that the server reads. */
const headMaximum = 32_768

/** A client's knowledge from earlier answers. */
export interface Known {
  readonly ids: ReadonlyArray<string>
  /** Each with the token that opens it. */
  readonly rooms: ReadonlyArray<{ readonly id: string; readonly token: string }>
}

/** Addresses that ask: so many that limits and their rows are met, and so few that they are exhausted. */
const addresses = 4096

const address = (random: Random) => {
  const one = random.below(addresses)
  return random.chance(0.2) ? `2001:db8:${(one >> 4).toString(16)}::1` : `10.77.${one >> 8}.${one & 255}`
}

const number = (random: Random, { maximum = 2 ** 53, minimum = 0 }: Schema) =>
  random.pick([
    minimum,
    minimum - 1,
    maximum,
    maximum + 1,
    random.between(minimum, Math.min(maximum, minimum + 100)),
    0.5,
  ])

/** A value as the document wants it. */
const valid = (random: Random, given: Schema): unknown => {
  const schema = resolved(given)
  if (schema.type === "object" && schema.properties !== undefined) {
    const entries = Object.entries(schema.properties).filter(
      ([name]) => schema.required?.includes(name) === true || random.chance(0.5),
    )
    return Object.fromEntries(entries.map(([name, member]) => [name, valid(random, member)]))
  }
  // Else every second stone would be known already.
  if (schema.examples?.some((one) => typeof one === "string" && /^[0-9a-f]{64}$/u.test(one))) return random.hex(32)
  if (schema.enum !== undefined) return random.pick(schema.enum)
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives !== undefined && schema.examples === undefined) return valid(random, random.pick(alternatives))
  if (schema.type === "integer" && random.chance(0.5)) return schema.minimum ?? 0
  return schema.examples?.[0] ?? (schema.type === "integer" ? (schema.minimum ?? 0) : "a")
}

/** One thing about it is wrong. */
const nearly = (random: Random, schema: Schema): string => {
  const value = valid(random, schema)
  if (typeof value !== "object" || value === null) return random.pick(Corpus.values)
  const members = Object.entries(value)
  const texts = members.map(([name, one]) => [name, JSON.stringify(one)] as const)
  const at = random.below(Math.max(1, texts.length))
  const properties = resolved(schema).properties ?? {}
  const other = (name: string, text: string) => {
    const { maxLength, type } = resolved(properties[name] ?? {})
    if (type === "integer") return String(number(random, resolved(properties[name] ?? {})))
    return maxLength !== undefined && random.chance(0.3)
      ? JSON.stringify("x".repeat(maxLength + random.between(0, 1)))
      : random.chance(0.9)
        ? random.pick(Corpus.values)
        : text
  }
  const made = random.pick([
    () => texts.map(([name, text], index) => [name, index === at ? other(name, text) : text] as const),
    () => texts.map(([name, text], index) => [name, index === at ? other(name, text) : text] as const),
    () => texts.filter((_, index) => index !== at),
    () => [...texts, [random.pick(Corpus.names), random.pick(Corpus.values)] as const],
    () => [...texts, ...texts],
  ])()
  return `{${made.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`
}

const body = (random: Random, schema: Schema): Buffer => {
  const kind = random.next()
  if (kind < 0.4) return Buffer.from(JSON.stringify(valid(random, schema)))
  if (kind < 0.8) return Buffer.from(nearly(random, schema))
  if (kind < 0.9) return Buffer.from(random.pick(Corpus.values))
  const text = Buffer.from(JSON.stringify(valid(random, schema)))
  return random.pick([
    () => text.subarray(0, random.below(text.length + 1)),
    () => Buffer.concat([text, Buffer.from(random.pick(["}", "\u0000", " ", "{}"]))]),
    () => Buffer.from(text.map((byte) => (random.chance(0.05) ? random.below(256) : byte))),
    () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), text]),
    () => Buffer.from(text.toString(), "utf16le"),
    () => Buffer.from(`${'{"a":'.repeat(3000)}1${"}".repeat(3000)}`),
    () => Buffer.alloc(random.pick([65_535, 65_536, 65_537, 100_000]), 0x20),
    () => Buffer.alloc(0),
  ])()
}

const query = (random: Random, { parameters }: Operation) => {
  const pairs = parameters
    .filter((one) => one.in === "query" && random.chance(0.5))
    .map(({ name, schema }) => {
      const drawn = random.next()
      const value =
        drawn < 0.5
          ? encodeURIComponent(String(valid(random, schema)))
          : drawn < 0.8
            ? String(number(random, resolved(schema)))
            : random.pick(Corpus.parts)
      return `${name}=${value}`
    })
  if (random.chance(0.04)) pairs.push(...pairs, `${random.pick(["__proto__", "unknown", "%ff", "limit[]"])}=1`)
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`
}

const request = (random: Random, known: Known, isLast: boolean): readonly [Expected, Buffer] => {
  const operation = random.pick(operations)
  const room = operation.path.includes("{roomId}") && known.rooms.length > 0 ? random.pick(known.rooms) : undefined
  const path = operation.path.replace(/\{(\w+)\}/gu, (_, name: string) => {
    if (random.chance(0.15)) return random.pick(Corpus.parts)
    if (name === "roomId" && room !== undefined) return room.id
    if (/^(?:witness|act|candle)Id$/u.test(name) && known.ids.length > 0) return random.pick(known.ids)
    const parameter = operation.parameters.find((one) => one.name === name)
    return parameter === undefined ? "x" : encodeURIComponent(String(valid(random, parameter.schema)))
  })
  const target = `${path}${query(random, operation)}`
  const method = random.chance(0.06) ? random.pick(Corpus.methods) : operation.method
  const lines: Array<readonly [string, string]> = [
    ["host", "altar.example"],
    ["x-forwarded-for", address(random)],
  ]
  if (random.chance(0.9))
    for (const { in: place, name, schema } of operation.parameters)
      if (place === "header" && name === "Idempotency-Key") lines.push([name, `hostile-${random.hex(8)}`])
      else if (place === "header" && random.chance(0.2)) lines.push([name, String(valid(random, schema))])
  if (room !== undefined && random.chance(0.85)) lines.push(["authorization", `Bearer ${room.token}`])
  while (random.chance(0.2)) lines.push(random.pick(Corpus.headers))
  if (isLast) lines.push(["connection", "close"])
  const content = operation.body !== undefined || random.chance(0.03) ? body(random, operation.body ?? {}) : undefined
  const type = random.chance(0.06) ? random.pick(Corpus.contentTypes) : "application/json"
  if (content !== undefined && random.chance(0.98)) lines.push(["content-type", type])
  if (content !== undefined && random.chance(0.02)) lines.push(["content-encoding", random.pick(["gzip", "br", "x"])])
  const isChunked = content !== undefined && random.chance(0.05)
  if (content !== undefined)
    lines.push(isChunked ? ["transfer-encoding", "chunked"] : ["content-length", String(content.length)])
  const head = `${method} ${target} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`
  const sent =
    content === undefined
      ? []
      : isChunked
        ? content.length === 0
          ? [Buffer.from("0\r\n\r\n")]
          : [Buffer.from(`${content.length.toString(16)}\r\n`), content, Buffer.from("\r\n0\r\n\r\n")]
        : [content]
  return [
    { method, target, isTooLong: head.length > headMaximum },
    Buffer.concat([Buffer.from(head, "latin1"), ...sent]),
  ]
}

const beside = (random: Random, isLast: boolean): readonly [Expected, Buffer] => {
  const [target, content] = random.chance(0.3)
    ? (["/mcp", Buffer.from(random.pick(Corpus.calls))] as const)
    : ([random.pick(Corpus.pages), undefined] as const)
  const method = content === undefined ? "GET" : "POST"
  const head = [
    `${method} ${target} HTTP/1.1`,
    "host: altar.example",
    `x-forwarded-for: ${address(random)}`,
    "accept: application/json, text/event-stream, text/html",
    ...(isLast ? ["connection: close"] : []),
    ...(content === undefined ? [] : ["content-type: application/json", `content-length: ${content.length}`]),
  ]
  const bytes = Buffer.from(`${head.join("\r\n")}\r\n\r\n`)
  return [{ method, target, isTooLong: false }, content === undefined ? bytes : Buffer.concat([bytes, content])]
}

/** The next request. */
export const volley = (random: Random, known: Known): Volley => {
  if (random.chance(0.02)) {
    return { bytes: Buffer.from(random.pick(Corpus.broken), "latin1"), expected: [], isBroken: true }
  }
  const count = random.chance(0.05) ? random.between(2, 8) : 1
  const requests = Array.from({ length: count }, (_, index) =>
    random.chance(0.06) ? beside(random, index === count - 1) : request(random, known, index === count - 1),
  )
  return {
    bytes: Buffer.concat(requests.map(([, bytes]) => bytes)),
    expected: requests.map(([expected]) => expected),
    isBroken: false,
  }
}
