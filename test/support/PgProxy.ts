/** The wire before a real PostgreSQL: a chosen statement never arrives, or its reply is never heard. */
import { connect, type Socket } from "node:net"
import { Effect } from "effect"
import * as Interception from "./Interception.ts"
import { passage } from "./Passage.ts"
import { boundIn, messagesOf, preparedIn, typeOf } from "./PgMessages.ts"

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

/** One connection; `planFor` says what a statement meets. */
const relay = (client: Socket, database: Socket, cut: () => void, planFor: (statement: string) => Plan | undefined) => {
  const prepared = new Map<string, string>()
  const messages = messagesOf("front end")
  let reply: ((chunk: Buffer) => void) | undefined
  let kept: Array<Buffer> | undefined

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
      const type = typeOf(message)
      if (type === "P") {
        const { name, statement } = preparedIn(message)
        prepared.set(name, statement)
      }
      if (type === "B" && kept === undefined && reply === undefined) {
        const plan = planFor(prepared.get(boundIn(message)) ?? "")
        if (plan !== undefined) meet(plan)
      }
      if (kept === undefined) database.write(message)
      else kept.push(message)
    }
  })
  database.on("data", (chunk) => (reply === undefined ? client.write(chunk) : reply(chunk)))
}

export const make = Effect.fnUntraced(function* (upstream: string) {
  const target = new URL(upstream)
  let plans: ReadonlyArray<Plan> = []
  const { port } = yield* Effect.acquireRelease(
    Effect.promise(() =>
      passage(
        () => connect(Number(target.port), target.hostname),
        (client, database, cut) =>
          relay(client, database, cut, (statement) => plans.find((plan) => plan.statement.test(statement))),
      ),
    ),
    ({ close }) => Effect.sync(close),
  )
  const url = new URL(upstream)
  url.hostname = "127.0.0.1"
  url.port = String(port)
  const proxy: PgProxy = {
    url: url.href,
    arm: (statement, fault) => {
      const trap = Interception.make(`${fault} ${statement.source}`)
      plans = [...plans, { statement, fault, trap }]
      return trap
    },
    calm: Effect.sync(() => {
      plans = []
    }),
  }
  return proxy
})
