/** The wire before a real PostgreSQL: statements that are held, cut, late, or fail in the database's own words. */
import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import type { Random } from "../Random.ts"
import { faults, type Struck, type Trap } from "./Faults.ts"
import { openRelay } from "./Tcp.ts"

/** `After`: the database has done it, and the server has not heard. `sqlstate`: the database refuses it in these words. */
export type PostgresFault =
  | "holdBefore"
  | "holdAfter"
  | "cutBefore"
  | "cutAfter"
  | { readonly sqlstate: string }
  | { readonly delayMs: number }

export type PostgresProxy = Effect.Success<ReturnType<typeof make>>

interface Sent {
  readonly statement: string
  /** Whether something else may be sent in its place: a front end counts on what it prepares by name or closes. */
  readonly isReplaceable: boolean
}

/** A request up to its Sync: the backend answers it with everything up to a ReadyForQuery. */
interface Cycle {
  /** An error of ours takes the place of the answer, which is that of a ROLLBACK. */
  readonly failsAs?: string
  /** The answer is kept, or thrown away with the connection. */
  readonly struck?: Struck<PostgresFault>
}

const sslRequest = 80_877_103

const textAt = (bytes: Buffer, from: number) => bytes.toString("utf8", from, bytes.indexOf(0, from))

/** Asks whether the back end speaks TLS, before everything else. */
const isSslRequest = (message: Buffer) => message.length === 8 && message.readUInt32BE(4) === sslRequest

/** Its letter; none where it is the first one of a front end. */
const typeOf = (message: Buffer) => String.fromCharCode(message[0] ?? 0)

/** Splits bytes into messages, each with a letter and a length: of a front end the first has no letter. */
const messagesOf = (side: "front end" | "back end") => {
  let rest: Buffer = Buffer.alloc(0)
  let isStarted = side === "back end"
  return (chunk: Buffer): ReadonlyArray<Buffer> => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const messages: Array<Buffer> = []
    for (;;) {
      const head = isStarted ? 1 : 0
      const size = rest.length < head + 4 ? Infinity : head + rest.readUInt32BE(head)
      if (rest.length < size) return messages
      const message = rest.subarray(0, size)
      rest = rest.subarray(size)
      if (!isStarted) isStarted = message.readUInt32BE(4) !== sslRequest
      messages.push(message)
    }
  }
}

/** The statement of a Parse; it names its statement first. */
const preparedIn = (parse: Buffer) => {
  const name = textAt(parse, 5)
  return { name, statement: textAt(parse, 5 + Buffer.byteLength(name) + 1) }
}

/** The name of the statement that a Bind is for, behind that of its portal. */
const boundIn = (bind: Buffer) => textAt(bind, 5 + Buffer.byteLength(textAt(bind, 5)) + 1)

const queryIn = (query: Buffer) => textAt(query, 5)

const message = (type: string, ...parts: ReadonlyArray<string>) => {
  const body = Buffer.from(parts.join(""))
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const query = (statement: string) => message("Q", statement, "\0")

const raise = (sqlstate: string) =>
  query(`DO $$ BEGIN RAISE EXCEPTION 'under fire' USING ERRCODE = '${sqlstate}'; END $$`)

const errorAndIdle = (sqlstate: string) =>
  Buffer.concat([
    message("E", "SERROR\0", "VERROR\0", `C${sqlstate}\0`, "Mcould not commit, under fire\0", "\0"),
    message("Z", "I"),
  ])

/** Messages that belong to a cycle: Parse, Bind, Describe, Execute, Close, Sync, Query, Flush. */
const extended = new Set("PBDECSQH")

/** Statements that no fault strikes, since no database rejects a ROLLBACK. */
const isRollback = /^\s*ROLLBACK\b/iu

const isCommit = /^\s*COMMIT\s*$/iu

/** One connection; `strikes` says what a statement meets. */
const relay = (
  client: Socket,
  database: Socket,
  cut: () => void,
  strikes: (sent: Sent) => Struck<PostgresFault> | undefined,
  heard: (statement: string) => void,
) => {
  const prepared = new Map<string, string>()
  const split = messagesOf("front end")
  const splitAnswer = messagesOf("back end")
  // The start up to the first ReadyForQuery is a cycle, too.
  const cycles: Array<Cycle> = [{}]
  let pending: Array<Buffer> = []
  let kept: Array<Buffer> = []
  let asksForSsl = false
  /** The held or late messages, and everything behind them. */
  let waiting: Promise<void> | undefined

  const sentIn = (messages: ReadonlyArray<Buffer>): Sent | undefined => {
    const types = messages.map(typeOf)
    const bind = messages[types.indexOf("B")]
    const statement = bind === undefined ? undefined : prepared.get(boundIn(bind))
    if (statement === undefined || isRollback.test(statement)) return undefined
    const parse = messages[types.indexOf("P")]
    const isKept = types.includes("C") || (parse !== undefined && preparedIn(parse).name !== "")
    return { statement, isReplaceable: !isKept }
  }

  const deliver = (messages: ReadonlyArray<Buffer>, cycle: Cycle = {}) => {
    cycles.push(cycle)
    for (const message of messages) database.write(message)
  }

  /** Returns a promise for held or late messages alone. */
  const send = (messages: ReadonlyArray<Buffer>): void | Promise<void> => {
    const sent = sentIn(messages)
    const struck = sent === undefined ? undefined : strikes(sent)
    if (sent === undefined || struck === undefined) return deliver(messages)
    const { caught, fault } = struck
    if (fault === "holdAfter" || fault === "cutAfter") return deliver(messages, { struck })
    if (fault === "holdBefore") return caught().then((verdict) => (verdict === "discard" ? cut() : deliver(messages)))
    void caught()
    if (fault === "cutBefore") return cut()
    if ("delayMs" in fault) return sleep(fault.delayMs).then(() => deliver(messages))
    return isCommit.test(sent.statement)
      ? deliver([query("ROLLBACK")], { failsAs: fault.sqlstate })
      : deliver([raise(fault.sqlstate)])
  }

  client.on("data", (chunk) => {
    for (const message of split(chunk)) {
      const type = typeOf(message)
      if (type === "P") {
        const { name, statement } = preparedIn(message)
        prepared.set(name, statement)
        heard(statement)
      }
      if (type === "Q") heard(queryIn(message))
      if (!extended.has(type)) {
        asksForSsl = isSslRequest(message)
        database.write(message)
        continue
      }
      pending.push(message)
      if (type !== "S" && type !== "Q" && type !== "H") continue
      const whole = pending
      pending = []
      if (type === "H") {
        // The front end waits for an answer to this much, and the cycle goes on.
        const write = () => whole.forEach((part) => database.write(part))
        waiting = waiting === undefined ? (write() ?? undefined) : waiting.then(write)
        continue
      }
      // Messages behind a waiting one wait with it: answers are told apart by their order alone.
      waiting = waiting === undefined ? (send(whole) ?? undefined) : waiting.then(() => send(whole))
    }
  })

  /** The held answer and all behind it: answers are told apart by their order alone. */
  let answering: Promise<void> | undefined
  const answer = (write: () => void) => {
    if (answering === undefined) write()
    else answering = answering.then(write)
  }

  /** Keeps the whole answer of a struck statement, or throws it away with the connection. */
  const end = ({ caught, fault }: Struck<PostgresFault>, messages: ReadonlyArray<Buffer>) => {
    const verdict = caught()
    if (fault === "cutAfter") return cut()
    const before = answering
    const deliverHeld = async () => {
      await before
      if ((await verdict) === "discard") return cut()
      for (const message of messages) client.write(message)
    }
    answering = deliverHeld()
  }

  database.on("data", (chunk) => {
    // The answer about TLS is one byte, before all messages.
    if (asksForSsl) client.write(chunk.subarray(0, 1))
    const rest = asksForSsl ? chunk.subarray(1) : chunk
    asksForSsl = false
    for (const message of splitAnswer(rest)) {
      const { failsAs, struck } = cycles[0] ?? {}
      const isEnd = typeOf(message) === "Z"
      if (isEnd) cycles.shift()
      if (struck !== undefined) {
        kept.push(message)
        if (!isEnd) continue
        end(struck, kept)
        kept = []
      } else if (failsAs === undefined) answer(() => client.write(message))
      else if (isEnd) answer(() => client.write(errorAndIdle(failsAs)))
    }
  })
}

export const make = Effect.fnUntraced(function* (upstream: string, random?: Random) {
  const target = new URL(upstream)
  const { arm, calm, strikes } = faults<PostgresFault, Sent>(random, "first")
  const statements = new Set<string>()
  let isRefusing = false
  let refused = 0
  let upstreamPort = Number(target.port)
  const { cutAll, port } = yield* Effect.acquireRelease(
    Effect.promise(() =>
      openRelay(
        () => (isRefusing ? void (refused += 1) : connect(upstreamPort, target.hostname)),
        (client, database, cut) => relay(client, database, cut, strikes, (statement) => statements.add(statement)),
      ),
    ),
    ({ close }) => Effect.sync(close),
  )
  const url = new URL(upstream)
  url.hostname = "127.0.0.1"
  url.port = String(port)
  return {
    url: url.href,
    port,
    statements: statements as ReadonlySet<string>,
    /** From now on statements that match meet this fault. */
    arm: (statement: RegExp, fault: PostgresFault, rate = 1): Trap =>
      arm(`${JSON.stringify(fault)} ${statement.source}`, fault, {
        rate,
        fits: (sent) =>
          statement.test(sent.statement) && (sent.isReplaceable || typeof fault === "string" || "delayMs" in fault),
      }),
    /** New connections go to this port: another server has taken over. */
    leadTo: (next: number) => void (upstreamPort = next),
    cutAll,
    /** Whether new connections are closed at once. */
    refuse: (isRefused: boolean) => void (isRefusing = isRefused),
    refused: () => refused,
    calm: Effect.sync(() => {
      calm()
      isRefusing = false
    }),
  }
})
