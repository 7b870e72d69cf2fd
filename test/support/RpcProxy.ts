/** The network before a real node: every JSON-RPC request passes here and can be held, lost, or answered falsely. */
import { Effect } from "effect"
import { type Hex, keccak256 } from "viem"
import { json, type Reply, serve } from "./LocalHttpServer.ts"
import { answerAs, type Answer, type Call, type View } from "./RpcViews.ts"
import * as Interception from "./Interception.ts"

/**
 * `After` means that the node has done it and its answer is what suffers. `nothing` answers `result: null`,
 * `refusal` an error that is no revert; `swallow` says yes to a transaction and forgets it; `deny` takes it and says no.
 */
export type RpcFault =
  | "holdBefore"
  | "holdAfter"
  | "dropBefore"
  | "dropAfter"
  | "status500"
  | "nonsense"
  | "nothing"
  | "refusal"
  | "swallow"
  | "deny"

export interface RpcProxy {
  readonly url: string
  /** From now on requests of this method (`*` for all) that fit meet the fault; a batch shares its fate. */
  readonly arm: (method: string, fault: RpcFault, fits?: (params: string) => boolean) => Interception.Interception
  /**
   * From now on every call is answered by the node that is picked for it, by the method, how often that was asked before
   * and the parameters as JSON: one node that is behind, or several that contradict each other. A batch is split among
   * them.
   */
  readonly behave: (pick: Pick) => void
  /** The calls that were passed on since the nodes were picked, with their parameters, in their order. */
  readonly heard: () => ReadonlyArray<Call>
  /** No more faults, and one node again; what was caught stays caught until its trap is told. */
  readonly calm: Effect.Effect<void>
}

/** Which node answers a call. */
type Pick = (method: string, before: number, params: string) => View

interface Plan {
  readonly method: string
  readonly fault: RpcFault
  readonly fits: (params: string) => boolean
  readonly trap: Interception.InterceptionControl
}

const answer = (call: Call, member: object) => ({ jsonrpc: "2.0", id: call.id, ...member })

export const make = Effect.fnUntraced(function* (upstream: string) {
  let plans: ReadonlyArray<Plan> = []
  let pick: Pick | undefined
  let heard: Array<Call> = []

  const ask = async (method: string, params: ReadonlyArray<unknown>): Promise<Answer> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
    const response = await fetch(upstream, { method: "POST", headers: { "content-type": "application/json" }, body })
    return (await response.json()) as Answer
  }

  const answered = async (call: Call, choose: Pick) => {
    const before = heard.filter(({ method }) => method === call.method).length
    heard.push(call)
    const given = await answerAs(choose(call.method, before, JSON.stringify(call.params ?? [])), call, ask)
    return answer(call, "error" in given ? { error: given.error } : { result: given.result })
  }

  const forward = async (body: string): Promise<Reply> => {
    const choose = pick
    if (choose !== undefined) {
      const parsed: Call | ReadonlyArray<Call> = JSON.parse(body)
      const answers = await Promise.all([parsed].flat().map((call: Call) => answered(call, choose)))
      return json(Array.isArray(parsed) ? answers : answers[0])
    }
    const response = await fetch(upstream, { method: "POST", headers: { "content-type": "application/json" }, body })
    return { status: response.status, body: await response.text() }
  }

  /** The planned calls are said to be done; the others of their batch are. */
  const swallow = async (calls: ReadonlyArray<Call>, plan: Plan, isBatch: boolean): Promise<Reply> => {
    const lost = calls.filter((call) => call.method === plan.method)
    const kept = calls.filter((call) => call.method !== plan.method)
    const real = kept.length === 0 ? "[]" : await forward(JSON.stringify(kept))
    const answers = [
      ...JSON.parse(typeof real === "object" ? real.body : "[]"),
      ...lost.map((call) => answer(call, { result: keccak256(String(call.params?.[0]) as Hex) })),
    ]
    return json(isBatch ? answers : answers[0])
  }

  const suffer = async (plan: Plan, body: string): Promise<Reply> => {
    const parsed: Call | ReadonlyArray<Call> = JSON.parse(body)
    const calls = Array.isArray(parsed) ? (parsed as ReadonlyArray<Call>) : [parsed as Call]
    const all = (member: object) => {
      const answers = calls.map((call) => answer(call, member))
      return json(Array.isArray(parsed) ? answers : answers[0])
    }
    switch (plan.fault) {
      case "holdBefore":
        return (await plan.trap.caught()) === "discard" ? "drop" : forward(body)
      case "holdAfter": {
        const reply = await forward(body)
        return (await plan.trap.caught()) === "discard" ? "drop" : reply
      }
      case "deny":
        await forward(body)
        void plan.trap.caught()
        return all({ error: { code: -32000, message: "the peers did not confirm it" } })
      case "dropAfter":
        await forward(body)
        void plan.trap.caught()
        return "drop"
      default:
        void plan.trap.caught()
    }
    switch (plan.fault) {
      case "dropBefore":
        return "drop"
      case "status500":
        return { status: 500, body: "upstream failed", type: "text/plain" }
      case "nonsense":
        return { status: 200, body: "<html>maintenance</html>", type: "text/html" }
      case "nothing":
        return all({ result: null })
      case "refusal":
        return all({ error: { code: -32005, message: "request limit exceeded" } })
      case "swallow":
        return swallow(calls, plan, Array.isArray(parsed))
    }
  }

  const url = yield* serve((_, body) => {
    const calls: ReadonlyArray<Call> = [JSON.parse(body)].flat()
    const plan = plans.find(({ fits, method }) =>
      calls.some((call) => (method === "*" || call.method === method) && fits(JSON.stringify(call.params ?? []))),
    )
    return plan === undefined ? forward(body) : suffer(plan, body)
  })

  const proxy: RpcProxy = {
    url,
    arm: (method, fault, fits = () => true) => {
      const trap = Interception.make(`${fault} ${method}`)
      plans = [...plans, { method, fault, fits, trap }]
      return trap
    },
    behave: (choose) => {
      heard = []
      pick = choose
    },
    heard: () => heard,
    calm: Effect.sync(() => {
      plans = []
      pick = undefined
    }),
  }
  return proxy
})
