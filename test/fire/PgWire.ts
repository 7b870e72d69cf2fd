/** The wire before a real PostgreSQL: statements that fail in the database's own words, replies that are never heard. */
import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { passage } from "../support/Passage.ts"
import { boundIn, messagesOf, preparedIn, typeOf } from "../support/PgMessages.ts"
import { faults } from "./Faults.ts"
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

const relay = (client: Socket, database: Socket, cut: () => void, pick: (statement: string) => PgFault | undefined) => {
  const prepared = new Map<string, string>()
  const split = messagesOf("front end")
  const splitAnswer = messagesOf("back end")
  // The start up to the first ReadyForQuery is a cycle, too.
  const cycles: Array<Cycle> = [{}]
  let asked: Array<Buffer> = []
  /** What is stalled now, and everything behind it. */
  let waiting: Promise<void> | undefined

  /** The statement of a cycle; none where it prepares one by name or closes one, which the front end would count on. */
  const statementOf = (messages: ReadonlyArray<Buffer>) => {
    const types = messages.map(typeOf)
    const bind = messages[types.indexOf("B")]
    if (bind === undefined || types.includes("C")) return undefined
    const parse = messages[types.indexOf("P")]
    if (parse !== undefined && preparedIn(parse).name !== "") return undefined
    return prepared.get(boundIn(bind))
  }

  const deliver = (messages: ReadonlyArray<Buffer>, cycle: Cycle) => {
    cycles.push(cycle)
    for (const one of messages) database.write(one)
  }

  /** Only what is stalled ends later. */
  const send = (messages: ReadonlyArray<Buffer>): void | Promise<void> => {
    const statement = statementOf(messages)
    const fault = statement === undefined || isRollback.test(statement) ? undefined : pick(statement)
    if (fault === undefined) return deliver(messages, {})
    if ("stallMs" in fault) return sleep(fault.stallMs).then(() => deliver(messages, {}))
    if ("sqlstate" in fault) {
      return isCommit.test(statement ?? "")
        ? deliver([query("ROLLBACK")], { failsAs: fault.sqlstate })
        : deliver([raise(fault.sqlstate)], {})
    }
    return fault.cut === "before" ? cut() : deliver(messages, { isCut: true })
  }

  client.on("data", (chunk) => {
    for (const one of split(chunk)) {
      const type = typeOf(one)
      if (type === "P") {
        const { name, statement } = preparedIn(one)
        prepared.set(name, statement)
      }
      if (!extended.has(type)) {
        database.write(one)
        continue
      }
      asked.push(one)
      if (type !== "S" && type !== "Q") continue
      const whole = asked
      asked = []
      // What comes behind a stalled statement waits with it: answers are told apart by their order alone.
      waiting = waiting === undefined ? (send(whole) ?? undefined) : waiting.then(() => send(whole))
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
}

export const pgWire = async (databasePort: () => number, random: Random): Promise<PgWire> => {
  const { add, calm, met, strikes } = faults<PgFault>(random)
  let isRefusing = false
  const { close, cutAll, port } = await passage(
    () => (isRefusing ? undefined : connect(databasePort(), "127.0.0.1")),
    (client, database, cut) =>
      relay(client, database, cut, (statement) => strikes(({ statements }) => statements.test(statement))),
  )
  return {
    port,
    add: (fault) => add(fault, fault.rate),
    cutAll,
    refuse: (isRefused) => (isRefusing = isRefused),
    calm: () => {
      calm()
      isRefusing = false
    },
    met,
    close,
  }
}
