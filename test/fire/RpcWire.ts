/** The network before a real node: requests that are lost, refused, late or nonsense, and nodes that know less than others. */
import { setTimeout } from "node:timers/promises"
import { type Hex, keccak256 } from "viem"
import { json, open, type Reply } from "../support/LocalHttpServer.ts"
import { type Answer, answerAs, type Ask, type Call, type View } from "../support/RpcViews.ts"
import { faults } from "./Faults.ts"
import type { Random } from "./Random.ts"

/** `lostAfter`: the node has done it. `swallow` says yes to a transaction and forgets it; `deny` takes it and says no. */
export type RpcFault =
  | { readonly kind: "lostBefore" | "lostAfter" | "status500" | "rateLimit" | "refusal" | "nonsense" | "nothing" }
  | { readonly kind: "swallow" | "deny" }
  | { readonly kind: "stall"; readonly ms: number }
  /** Every call is answered by one of these nodes. */
  | { readonly kind: "views"; readonly views: ReadonlyArray<View> }

export interface RpcWire {
  readonly url: string
  /** From now on a request meets it with this probability; answers what ends it. */
  readonly add: (fault: RpcFault, rate: number) => () => void
  readonly calm: () => void
  readonly met: () => number
  /** Every transaction that was handed in here, by its hash. */
  readonly raw: ReadonlyMap<Hex, Hex>
  readonly close: () => void
}

const answer = (call: Call, member: object) => ({ jsonrpc: "2.0", id: call.id, ...member })

export const rpcWire = async (upstream: string, random: Random): Promise<RpcWire> => {
  const { add, calm, met, strikes } = faults<RpcFault>(random)
  const raw = new Map<Hex, Hex>()

  const pass = async (body: string): Promise<Reply> => {
    const response = await fetch(upstream, { method: "POST", headers: { "content-type": "application/json" }, body })
    return { status: response.status, body: await response.text() }
  }
  const ask: Ask = async (method, params) => {
    const reply = await pass(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }))
    return JSON.parse(reply === "drop" ? "{}" : reply.body) as Answer
  }

  const suffer = async (fault: RpcFault, body: string, parsed: Call | ReadonlyArray<Call>): Promise<Reply> => {
    const calls = [parsed].flat()
    const reply = (answers: ReadonlyArray<unknown>) => json(Array.isArray(parsed) ? answers : answers[0])
    const all = (member: object) => reply(calls.map((call) => answer(call, member)))
    switch (fault.kind) {
      case "lostBefore":
        return "drop"
      case "lostAfter":
        await pass(body)
        return "drop"
      case "status500":
        return { status: 500, body: "upstream failed" }
      case "rateLimit":
        return { status: 429, body: "too many requests" }
      case "refusal":
        return all({ error: { code: -32005, message: "request limit exceeded" } })
      case "nonsense":
        return { status: 200, body: "<html>maintenance</html>" }
      case "nothing":
        return all({ result: null })
      case "stall":
        await setTimeout(fault.ms)
        return pass(body)
      case "deny": {
        const given = await pass(body)
        if (!calls.some(({ method }) => method === "eth_sendRawTransaction")) return given
        return all({ error: { code: -32_000, message: "the peers did not confirm it" } })
      }
      case "swallow": {
        if (!calls.every(({ method }) => method === "eth_sendRawTransaction")) return pass(body)
        return reply(calls.map((call) => answer(call, { result: keccak256(String(call.params?.[0]) as Hex) })))
      }
      case "views": {
        const answers = await Promise.all(
          calls.map(async (call) => {
            const given = await answerAs(random.pick(fault.views), call, ask)
            return answer(call, "error" in given ? { error: given.error } : { result: given.result })
          }),
        )
        return reply(answers)
      }
    }
  }

  const handle = async (body: string): Promise<Reply> => {
    const parsed = JSON.parse(body) as Call | ReadonlyArray<Call>
    for (const { method, params } of [parsed].flat()) {
      const sent = params?.[0]
      if (method === "eth_sendRawTransaction") raw.set(keccak256(sent as Hex), sent as Hex)
    }
    const fault = strikes()
    return fault === undefined ? pass(body) : suffer(fault, body, parsed)
  }

  const { close, url } = await open((_, body) =>
    handle(body).catch((): Reply => ({ status: 502, body: "the node does not answer" })),
  )
  return { url, add, calm, met, raw, close }
}
