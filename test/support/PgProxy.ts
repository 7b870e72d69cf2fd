/** The wire before a real PostgreSQL: a chosen statement never arrives, or its reply is never heard. */
import { createServer, connect, type Socket } from "node:net"
import { Effect } from "effect"
import * as Interception from "./Interception.ts"

/** `holdBefore`: the database does not see the statement; `swallowReply`: it has done it, the server never hears. */
export type PgFault = "holdBefore" | "swallowReply" | "cutBefore" | "cutAfter"

export interface PgProxy {
  readonly url: string
  /** From now on statements that match meet this fault. */
  readonly arm: (statement: RegExp, fault: PgFault) => Interception.Interception
  readonly calm: Effect.Effect<void>
}

interface Plan {
  readonly statement: RegExp
  readonly fault: PgFault
  readonly trap: Interception.InterceptionControl
}

const sslRequest = 80_877_103

const textAt = (bytes: Buffer, from: number) => bytes.toString("utf8", from, bytes.indexOf(0, from))

/** Splits the front end's bytes into messages: the first has no type, the others a letter and a length. */
const messagesOf = () => {
  let rest = Buffer.alloc(0)
  let isStarted = false
  return (chunk: Buffer): ReadonlyArray<Buffer> => {
    rest = Buffer.concat([rest, chunk])
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

/** One connection; `planFor` says what a statement meets. */
const relay = (client: Socket, database: Socket, planFor: (statement: string) => Plan | undefined) => {
  const prepared = new Map<string, string>()
  const messages = messagesOf()
  let reply: ((chunk: Buffer) => void) | undefined
  let kept: Array<Buffer> | undefined
  const cut = () => {
    client.destroy()
    database.destroy()
  }

  const meet = ({ fault, trap }: Plan) => {
    if (fault === "cutBefore") {
      void trap.caught()
      return cut()
    }
    if (fault === "holdBefore") {
      kept = []
      const deliver = () => {
        for (const message of kept ?? []) database.write(message)
        kept = undefined
      }
      void trap.caught().then((verdict) => (verdict === "discard" ? cut() : deliver()))
      return
    }
    // ReadyForQuery ends a reply: only then has the database really done it.
    reply = (chunk) => {
      if (chunk.at(-6) !== 0x5a) return
      void trap.caught().then((verdict) => (verdict === "discard" ? cut() : undefined))
      if (fault === "cutAfter") cut()
    }
  }

  client.on("data", (chunk) => {
    for (const message of messages(chunk)) {
      const type = String.fromCharCode(message[0] ?? 0)
      if (type === "P") {
        const name = textAt(message, 5)
        prepared.set(name, textAt(message, 5 + Buffer.byteLength(name) + 1))
      }
      if (type === "B" && kept === undefined && reply === undefined) {
        const portal = textAt(message, 5)
        const plan = planFor(prepared.get(textAt(message, 5 + Buffer.byteLength(portal) + 1)) ?? "")
        if (plan !== undefined) meet(plan)
      }
      if (kept === undefined) database.write(message)
      else kept.push(message)
    }
  })
  database.on("data", (chunk) => (reply === undefined ? client.write(chunk) : reply(chunk)))
  for (const socket of [client, database]) socket.on("error", cut).on("close", cut)
}

export const make = (upstream: string) =>
  Effect.acquireRelease(
    Effect.callback<PgProxy & { readonly close: () => void }>((resume) => {
      const target = new URL(upstream)
      let plans: ReadonlyArray<Plan> = []
      const sockets = new Set<Socket>()
      const server = createServer((client) => {
        const database = connect(Number(target.port), target.hostname)
        sockets.add(client).add(database)
        relay(client, database, (statement) => plans.find((plan) => plan.statement.test(statement)))
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const url = new URL(upstream)
        url.hostname = "127.0.0.1"
        url.port = String(typeof address === "object" && address !== null ? address.port : 0)
        resume(
          Effect.succeed({
            url: url.href,
            arm: (statement, fault) => {
              const trap = Interception.make(`${fault} ${statement.source}`)
              plans = [...plans, { statement, fault, trap }]
              return trap
            },
            calm: Effect.sync(() => {
              plans = []
            }),
            close: () => {
              server.close()
              for (const socket of sockets) socket.destroy()
            },
          }),
        )
      })
    }),
    ({ close }) => Effect.sync(close),
  ).pipe(Effect.map((proxy): PgProxy => proxy))
