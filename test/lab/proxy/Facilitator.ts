/** A hosted facilitator: the reference implementation settling on a real chain, and every lie that we know one could tell. */
import { randomBytes } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import type { Hex } from "viem"
import { mnemonicToAccount } from "viem/accounts"
import { freePort } from "../Ports.ts"
import type { Random } from "../Random.ts"
import { faults, has, type Trap } from "./Faults.ts"
import { json, open, type Reply } from "./HttpServer.ts"
import { clientOf, stockFacilitator } from "./StockFacilitator.ts"

// Account 6 of the public test mnemonic. It signs by itself: a reverting transfer is not broadcast.
const account = mnemonicToAccount("test test test test test test test test test test test junk", { addressIndex: 6 })

/** Milliseconds by which an answer is late: longer than a server waits. */
const late = 12_000

const nonsense: Reply = { status: 200, body: "<html>so sorry</html>", type: "text/html" }
const filler = "x".repeat(2_000_000)

/**
 * The false answers to a settlement. `Before`: nothing was broadcast. `After`: the node has the transaction `hash`.
 * `imagined` is a transaction that is nowhere.
 */
const falsehoods = (network: string, imagined: () => string) => {
  const no = (errorReason: string, transaction = "") =>
    json({ success: false, errorReason, transaction, network, payer: "" })
  const yes = (transaction: string) => json({ success: true, transaction, network, payer: "" })
  return {
    before: {
      dropBefore: (): Reply => "drop",
      nonsenseBefore: () => nonsense,
      imagineBefore: () => yes(imagined()),
      refuseBefore: () => no("insufficient_funds"),
      unauthorizedBefore: () => json({ error: "unauthorized" }, 401),
      rateLimitBefore: () => json({ error: "too many requests" }, 429),
      redirectBefore: (): Reply => ({ status: 307, body: "", headers: { location: "http://127.0.0.1:9/settle" } }),
      hugeBefore: () => json({ success: true, transaction: imagined(), filler }),
      refuseThenSend: (send: () => Promise<unknown>) => {
        void setTimeout(3_000).then(() => send().catch(() => {}))
        return no("insufficient_funds")
      },
    },
    after: {
      status500After: () => json({ error: "internal" }, 500),
      dropAfter: (): Reply => "drop",
      nonsenseAfter: () => json({}),
      alreadyUsedAfter: () => no("invalid_exact_evm_nonce_already_used"),
      wrongHashAfter: () => yes(imagined()),
      neighbourHashAfter: (_: string, neighbour: string | undefined) => yes(neighbour ?? imagined()),
      capitalsAfter: (hash: string) => yes(`0x${hash.slice(2).toUpperCase()}`),
      refuseAfter: () => no("insufficient_funds"),
    },
  }
}

/** The false answers at `/supported`, from the true one. */
const supportFalsehoods = {
  supportedDrop: (): Reply => "drop",
  supportedUnauthorized: () => json({ error: "unauthorized" }, 401),
  supportedRateLimit: () => json({ error: "too many requests" }, 429),
  supportedNonsense: () => nonsense,
  supportedHuge: (truth: object) => json({ ...truth, filler }),
  supportedElsewhere: ({ kinds, ...rest }: { readonly kinds: ReadonlyArray<object> }) =>
    json({ kinds: kinds.map((kind) => ({ ...kind, network: "eip155:1" })), ...rest }),
  supportedDelay: (truth: object) => setTimeout(late).then(() => json(truth)),
}

const all = falsehoods("", () => "")
const keysOf = <Key extends string>(record: Readonly<Record<Key, unknown>>) =>
  Object.keys(record).map((key) => key as Key)

type Lie = keyof (typeof all)["before"] | keyof (typeof all)["after"] | "delayAfter"

export const lies: ReadonlyArray<Lie> = [...keysOf(all.before), ...keysOf(all.after), "delayAfter"]
export const supportLies = keysOf(supportFalsehoods)

type SupportFault = keyof typeof supportFalsehoods | "supportedHold"
export type FacilitatorFault = Lie | "holdBefore" | "holdAfter"
type Fault = SupportFault | FacilitatorFault

interface Plan {
  readonly fault: Fault
  /** When what comes after a settlement comes: once it is broadcast, or once it is mined. */
  readonly moment: "broadcast" | "mined"
}

export type Facilitator = Effect.Success<ReturnType<typeof make>>

interface Body {
  readonly paymentPayload: object
  readonly paymentRequirements: object
}

export const make = Effect.fnUntraced(function* (
  { network, rpcUrl }: { readonly network: `${string}:${string}`; readonly rpcUrl: string },
  random?: Random,
) {
  const client = clientOf(account, rpcUrl)
  const { arm, calm, strikes } = faults<Plan, "support" | "settlement">(random, "last")
  let settlements = 0
  let newest: Hex | undefined
  /** viem asks the node for the next number: one at a time, or two would share one. */
  let turn: Promise<unknown> = Promise.resolve()

  const facilitatorOf = (sent: (hash: Hex) => void) =>
    stockFacilitator(network, client, (call) => {
      const mine = turn.then(() => client.writeContract({ ...call, chain: null } as never))
      turn = mine.catch(() => {})
      return mine.then((hash: Hex) => {
        sent(hash)
        return hash
      })
    })

  const settle = ({ paymentPayload, paymentRequirements }: Body) => {
    const broadcast = Promise.withResolvers<Hex | undefined>()
    const result = facilitatorOf(broadcast.resolve).settle(paymentPayload as never, paymentRequirements as never)
    void result.catch(() => {}).then(() => broadcast.resolve(undefined))
    return { result, hash: broadcast.promise }
  }

  const imagined = () => `0x${random?.hex(32) ?? randomBytes(32).toString("hex")}`
  const { after, before } = falsehoods(network, imagined)

  const settled = async (body: Body): Promise<Reply> => {
    settlements += 1
    const struck = strikes("settlement")
    const { fault, moment } = struck?.fault ?? {}
    if (fault === "holdBefore" && (await struck?.caught()) === "discard") return "drop"
    if (fault !== undefined && has(before, fault)) {
      void struck?.caught()
      return before[fault](() => settle(body).result)
    }
    const neighbour = newest
    const { hash, result } = settle(body)
    const transaction = await hash
    newest = transaction ?? newest
    if (struck === undefined || fault === undefined || fault === "holdBefore") return json(await result)
    if (moment === "mined") await result
    const verdict = struck.caught()
    if (fault === "holdAfter" && (await verdict) === "discard") return "drop"
    if (fault === "delayAfter") await setTimeout(late)
    return has(after, fault) ? after[fault](transaction ?? "", neighbour) : json(await result)
  }

  const supported = async (): Promise<Reply> => {
    const truth = facilitatorOf(() => {}).getSupported()
    const struck = strikes("support")
    const { fault } = struck?.fault ?? {}
    void struck?.caught()
    if (fault === "supportedHold") return new Promise(() => {})
    return fault !== undefined && has(supportFalsehoods, fault) ? supportFalsehoods[fault](truth) : json(truth)
  }

  const handle = async (path: string, text: string): Promise<Reply> => {
    if (path === "/supported") return supported()
    const body: Body = JSON.parse(text)
    if (path === "/settle") return settled(body)
    if (path !== "/verify") return json({ error: "not found" }, 404)
    return json(await facilitatorOf(() => {}).verify(body.paymentPayload as never, body.paymentRequirements as never))
  }

  // It returns to its port, which stays reserved.
  const port = yield* freePort
  let server = yield* Effect.promise(() => open(handle, port))
  yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
  const { url } = server
  /** How often it left, and has not come back. */
  let away = 0

  return {
    url,
    /** From now on a settlement, or a question what it settles, meets this fault. */
    arm: (fault: Fault, moment: Plan["moment"] = "broadcast", rate = 1): Trap => {
      const fits = (question: "support" | "settlement") => fault.startsWith("supported") === (question === "support")
      return arm(`facilitator ${fault}`, { fault, moment }, { rate, fits })
    },
    calm: Effect.sync(calm),
    /** Closes. It opens again once it has come back as often as it left. */
    leave: Effect.sync(() => {
      away += 1
      server.close()
    }),
    /** Takes connections again, at the same address. */
    comeBack: Effect.promise(async () => {
      away -= 1
      if (away === 0) server = await open(handle, port)
    }),
    requests: () => settlements,
  }
})
