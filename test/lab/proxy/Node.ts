/** The network before a real node: every JSON-RPC request passes here and can be held, lost, late, or answered falsely. */
import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import { type Hex, keccak256 } from "viem"
import type { Random } from "../Random.ts"
import { faults, type Struck, type Trap } from "./Faults.ts"
import { json, type Reply, serve } from "./HttpServer.ts"
import { answerAs, type Answer, type Call, type View } from "./NodeViews.ts"

/**
 * `nothing` answers `result: null`, `refusal` an error that is no revert; `swallow` says yes to a transaction and forgets it;
 * `deny` takes it and says no; of `views` each call is answered by one of these nodes.
 */
export type NodeFault =
  | "holdBefore"
  | "holdAfter"
  | "swallow"
  | keyof typeof falsehoods
  | { readonly delayMs: number }
  | { readonly views: () => View }

const plain = { type: "text/plain" } as const
const falsehoods = {
  dropBefore: "drop",
  dropAfter: "drop",
  status500: { status: 500, body: "upstream failed", ...plain },
  rateLimit: { status: 429, body: "too many requests", ...plain },
  nonsense: { status: 200, body: "<html>maintenance</html>", type: "text/html" },
  nothing: { member: { result: null } },
  refusal: { member: { error: { code: -32_005, message: "request limit exceeded" } } },
  deny: { member: { error: { code: -32_000, message: "the peers did not confirm it" } } },
} as const satisfies Record<string, Reply | { readonly member: object }>

export type NodeProxy = Effect.Success<ReturnType<typeof make>>

const answer = (call: Call, member: object) => ({ jsonrpc: "2.0", id: call.id, ...member })

const callsIn = (body: string): ReadonlyArray<Call> => [JSON.parse(body)].flat()

export const make = Effect.fnUntraced(function* (upstream: string, random?: Random) {
  const { arm, calm, strikes } = faults<NodeFault, ReadonlyArray<Call>>(random, "first")
  const raw = new Map<Hex, Hex>()
  let choose: ((call: Call) => View) | undefined

  const ask = async (method: string, params: ReadonlyArray<unknown>): Promise<Answer> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
    const response = await fetch(upstream, { method: "POST", headers: { "content-type": "application/json" }, body })
    return (await response.json()) as Answer
  }

  const forward = async (body: string): Promise<Reply> => {
    const response = await fetch(upstream, { method: "POST", headers: { "content-type": "application/json" }, body })
    return { status: response.status, body: await response.text() }
  }

  /** Answers each call by the node that is chosen for it. */
  const answered = async (body: string, choose: (call: Call) => View): Promise<Reply> => {
    const answers = await Promise.all(
      callsIn(body).map(async (call) => {
        const given = await answerAs(choose(call), call, ask)
        return answer(call, "error" in given ? { error: given.error } : { result: given.result })
      }),
    )
    return json(body.startsWith("[") ? answers : answers[0])
  }

  const suffer = async ({ caught, fault }: Struck<NodeFault>, body: string): Promise<Reply> => {
    const calls = callsIn(body)
    const reply = (answers: ReadonlyArray<unknown>) => json(body.startsWith("[") ? answers : answers[0])
    const all = (member: object) => reply(calls.map((call) => answer(call, member)))
    if (fault === "holdBefore") return (await caught()) === "discard" ? "drop" : forward(body)
    if (fault === "holdAfter") {
      const real = await forward(body)
      return (await caught()) === "discard" ? "drop" : real
    }
    if (fault === "dropAfter" || fault === "deny") await forward(body)
    void caught()
    if (typeof fault === "object") {
      if ("views" in fault) return answered(body, fault.views)
      await setTimeout(fault.delayMs)
      return forward(body)
    }
    if (fault === "swallow") {
      // The others of its batch are carried out.
      const kept = calls.filter(({ method }) => method !== "eth_sendRawTransaction")
      const real = kept.length === 0 ? undefined : await forward(JSON.stringify(kept))
      const lost = calls.filter(({ method }) => method === "eth_sendRawTransaction")
      return reply([
        ...JSON.parse(typeof real === "object" ? real.body : "[]"),
        ...lost.map((call) => answer(call, { result: keccak256(String(call.params?.[0]) as Hex) })),
      ])
    }
    const falsehood = falsehoods[fault]
    return typeof falsehood === "object" && "member" in falsehood ? all(falsehood.member) : falsehood
  }

  const url = yield* serve(async (_, body) => {
    const calls = callsIn(body)
    for (const { method, params } of calls) {
      const sent = params?.[0]
      if (method === "eth_sendRawTransaction") raw.set(keccak256(sent as Hex), sent as Hex)
    }
    const struck = strikes(calls)
    if (struck !== undefined) return suffer(struck, body)
    return choose === undefined ? forward(body) : answered(body, choose)
  })

  return {
    url,
    raw: raw as ReadonlyMap<Hex, Hex>,
    /** From now on requests of this method (`*` for all) that fit meet the fault; a batch shares its fate. */
    arm: (method: string, fault: NodeFault, fits: (params: string) => boolean = () => true, rate = 1): Trap =>
      arm(`${typeof fault === "string" ? fault : "a view"} ${method}`, fault, {
        rate,
        fits: (calls) =>
          calls.some((call) => (method === "*" || call.method === method) && fits(JSON.stringify(call.params ?? []))),
      }),
    /**
     * From now on a call without another fault is answered by the node that is picked for it: one that is behind, or several
     * that contradict each other. `before` is how often its method was asked before. A batch is split among them.
     */
    behave: (pick: (method: string, before: number, params: string) => View) => {
      const counts = new Map<string, number>()
      choose = ({ method, params = [] }) => {
        const before = counts.get(method) ?? 0
        counts.set(method, before + 1)
        return pick(method, before, JSON.stringify(params))
      }
    },
    /** No more faults, and one node again; a caught message stays held until its trap releases it. */
    calm: Effect.sync(() => {
      calm()
      choose = undefined
    }),
  }
})
