/** The wire before a real PostgreSQL: statements that fail in the database's own words, replies that are never heard. */
import { connect, createServer, type Socket } from "node:net"
import type { Random } from "./Random.ts"

/** What a statement that fits meets. `cutAfter`: the database has done it, and the server never hears. */
export type PgFault =
  | { readonly sqlstate: string; readonly statements: RegExp; readonly rate: number }
  | { readonly cut: "before" | "after"; readonly statements: RegExp; readonly rate: number }
  | { readonly stallMs: number; readonly statements: RegExp; readonly rate: number }

export interface PgWire {
  readonly port: number
  /** From now on; answers what ends it. */
  readonly add: (fault: PgFault) => () => void
  /** Cuts every connection there is. */
  readonly cutAll: () => void
  /** Whether new connections are closed at once. */
  readonly refuse: (isRefused: boolean) => void
  readonly calm: () => void
  /** Statements that met a fault. */
  readonly met: () => number
  readonly close: () => void
}

/** A request up to its Sync: the backend answers it with everything up to a ReadyForQuery. */
interface Cycle {
  /** An error of ours takes the place of the answer, which is that of a ROLLBACK. */
  readonly failsAs?: string
  readonly isCut?: boolean
}

const sslRequest = 80_877_103

const textAt = (bytes: Buffer, from: number) => bytes.toString("utf8", from, bytes.indexOf(0, from))

/** Splits bytes into messages: of a front end the first has no type. */
const messagesOf = (isFrontEnd: boolean) => {
  let rest: Buffer = Buffer.alloc(0)
  let isStarted = !isFrontEnd
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

/** What no database refuses: a session that is told to give up does. */
const isRollback = /^\s*ROLLBACK\b/iu

const isCommit = /^\s*COMMIT\s*$/iu

const relay = (client: Socket, database: Socket, pick: (statement: string) => PgFault | undefined) => {
  const prepared = new Map<string, string>()
  const split = messagesOf(true)
  const splitAnswer = messagesOf(false)
  // The start up to the first ReadyForQuery is a cycle, too.
  const cycles: Array<Cycle> = [{}]
  let asked: Array<Buffer> = []
  let waiting = Promise.resolve()
  let isStalled = false
  const cut = () => {
    client.destroy()
    database.destroy()
  }

  /** The statement of a cycle; none where it prepares one by name or closes one, which the front end would count on. */
  const statementOf = (messages: ReadonlyArray<Buffer>) => {
    const types = messages.map((one) => String.fromCharCode(one[0] ?? 0))
    const bind = messages[types.indexOf("B")]
    if (bind === undefined || types.includes("C")) return undefined
    const parse = messages[types.indexOf("P")]
    if (parse !== undefined && textAt(parse, 5) !== "") return undefined
    const portal = textAt(bind, 5)
    return prepared.get(textAt(bind, 5 + Buffer.byteLength(portal) + 1))
  }

  const deliver = (messages: ReadonlyArray<Buffer>, cycle: Cycle) => {
    cycles.push(cycle)
    for (const one of messages) database.write(one)
  }

  const send = (messages: ReadonlyArray<Buffer>) => {
    const statement = statementOf(messages)
    const fault = statement === undefined || isRollback.test(statement) ? undefined : pick(statement)
    if (fault === undefined) return deliver(messages, {})
    if ("stallMs" in fault) {
      isStalled = true
      waiting = waiting.then(() => new Promise((done) => setTimeout(done, fault.stallMs)))
      waiting = waiting.then(() => deliver(messages, {}))
      return
    }
    if ("sqlstate" in fault) {
      return isCommit.test(statement ?? "")
        ? deliver([query("ROLLBACK")], { failsAs: fault.sqlstate })
        : deliver([raise(fault.sqlstate)], {})
    }
    return fault.cut === "before" ? cut() : deliver(messages, { isCut: true })
  }

  client.on("data", (chunk) => {
    for (const one of split(chunk)) {
      const type = String.fromCharCode(one[0] ?? 0)
      if (type === "P") {
        const name = textAt(one, 5)
        prepared.set(name, textAt(one, 5 + Buffer.byteLength(name) + 1))
      }
      if (!extended.has(type)) {
        database.write(one)
        continue
      }
      asked.push(one)
      if (type !== "S" && type !== "Q") continue
      const whole = asked
      asked = []
      // What comes behind a stalled statement waits with it.
      if (isStalled) waiting = waiting.then(() => send(whole))
      else send(whole)
    }
  })
  database.on("data", (chunk) => {
    for (const one of splitAnswer(chunk)) {
      const cycle = cycles[0]
      const isEnd = one[0] === 0x5a
      if (isEnd) cycles.shift()
      if (cycle?.isCut === true && isEnd) return cut()
      if (cycle?.isCut === true) continue
      if (cycle?.failsAs === undefined) client.write(one)
      else if (isEnd) client.write(errorAndIdle(cycle.failsAs))
    }
  })
  for (const socket of [client, database]) socket.on("error", cut).on("close", cut)
}

export const pgWire = (databasePort: () => number, random: Random): Promise<PgWire> => {
  let faults: ReadonlyArray<PgFault> = []
  let isRefusing = false
  let met = 0
  const sockets = new Set<Socket>()
  const pick = (statement: string) => {
    const found = faults.find((fault) => fault.statements.test(statement) && random.chance(fault.rate))
    if (found !== undefined) met += 1
    return found
  }
  const server = createServer((client) => {
    if (isRefusing) return client.destroy()
    const database = connect(databasePort(), "127.0.0.1")
    for (const socket of [client, database]) {
      socket.setNoDelay(true)
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
    }
    return relay(client, database, pick)
  })
  const cutAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve({
        port: typeof address === "object" && address !== null ? address.port : 0,
        add: (fault) => {
          faults = [...faults, fault]
          return () => (faults = faults.filter((one) => one !== fault))
        },
        cutAll,
        refuse: (isRefused) => (isRefusing = isRefused),
        calm: () => {
          faults = []
          isRefusing = false
        },
        met: () => met,
        close: () => {
          server.close()
          cutAll()
        },
      })
    })
  })
}
