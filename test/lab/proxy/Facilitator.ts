/** A hosted facilitator: the reference implementation settling on a real chain, and every lie that we know one could tell. */
import { randomBytes } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import { x402Facilitator } from "@x402/core/facilitator"
import { toFacilitatorEvmSigner } from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/facilitator"
import { Effect } from "effect"
import { createWalletClient, type Hex, http, publicActions } from "viem"
import { mnemonicToAccount } from "viem/accounts"
import { receiptBy } from "../Chain.ts"
import { freePort } from "../Ports.ts"
import type { Random } from "../Random.ts"
import { faults, type Struck, type Trap } from "./Faults.ts"
import { json, open, type Reply } from "./HttpServer.ts"

// Account 6 of the public test mnemonic; anvil gives it gas. It signs by itself: what would revert is not broadcast.
const account = mnemonicToAccount("test test test test test test test test test test test junk", { addressIndex: 6 })

/** Lies of a settlement. `Before`: nothing was broadcast. `After`: the node has the transaction. */
export const lies = [
  "dropBefore",
  "nonsenseBefore",
  "imagineBefore",
  "refuseBefore",
  "unauthorizedBefore",
  "rateLimitBefore",
  "redirectBefore",
  "hugeBefore",
  "refuseThenSend",
  "delayAfter",
  "status500After",
  "dropAfter",
  "nonsenseAfter",
  "alreadyUsedAfter",
  "pendingAfter",
  "wrongHashAfter",
  "neighbourHashAfter",
  "capitalsAfter",
  "refuseAfter",
] as const

/** What it says of itself, at `/supported`. */
export const supportLies = [
  "supportedDrop",
  "supportedUnauthorized",
  "supportedRateLimit",
  "supportedNonsense",
  "supportedHuge",
  "supportedElsewhere",
  "supportedDelay",
] as const

export type SupportFault = (typeof supportLies)[number] | "supportedHold"
export type FacilitatorFault = (typeof lies)[number] | "holdBefore" | "holdAfter"
type Fault = SupportFault | FacilitatorFault

const isOfSupport = (fault: Fault): fault is SupportFault => fault.startsWith("supported")

/** When what comes after a settlement comes: once it is broadcast, or once it is mined. */
type Moment = "broadcast" | "mined"

interface Plan {
  readonly fault: Fault
  readonly moment: Moment
}

export interface Facilitator {
  readonly url: string
  /** From now on a settlement, or a question what it settles, meets this fault. */
  readonly arm: (fault: Fault, moment?: Moment, rate?: number) => Trap
  /** Settles honestly again. */
  readonly calm: Effect.Effect<void>
  /** Takes no connection any more; as often as it left it has to come back. */
  readonly leave: Effect.Effect<void>
  /** Takes connections again, at the same address. */
  readonly comeBack: Effect.Effect<void>
  /** How many settlements it was asked for. */
  readonly asked: () => number
  /** Nonces of all that it was asked to settle, in lower case. */
  readonly nonces: ReadonlySet<string>
}

/** Milliseconds by which an answer is late: longer than a server waits. */
const late = 12_000

interface Body {
  readonly paymentPayload: { readonly payload: { readonly authorization: { readonly nonce: string } } }
  readonly paymentRequirements: object
}

export const make = Effect.fnUntraced(function* (
  { network, rpcUrl }: { readonly network: `${string}:${string}`; readonly rpcUrl: string },
  random?: Random,
) {
  const client = createWalletClient({
    account,
    transport: http(rpcUrl, { retryCount: 0 }),
    pollingInterval: 20,
  }).extend(publicActions)
  const { arm, calm, strikes } = faults<Plan, "support" | "settlement">(random, "last")
  const nonces = new Set<string>()
  let settlements = 0
  let newest: Hex | undefined
  /** viem asks the node for the next number: one at a time, or two would share one. */
  let turn: Promise<unknown> = Promise.resolve()

  const facilitatorOf = (sent: (hash: Hex) => void) =>
    new x402Facilitator().register(
      network,
      new ExactEvmScheme(
        toFacilitatorEvmSigner({
          address: account.address,
          getCode: client.getCode,
          readContract: (call) => client.readContract(call),
          verifyTypedData: (message) => client.verifyTypedData(message as never),
          sendTransaction: (call) => client.sendTransaction({ ...call, chain: null }),
          waitForTransactionReceipt: receiptBy(client),
          writeContract: (call) => {
            const mine = turn.then(() => client.writeContract({ ...call, chain: null } as never))
            turn = mine.catch(() => {})
            return mine.then((hash: Hex) => {
              sent(hash)
              return hash
            })
          },
        }),
      ),
    )

  const settle = ({ paymentPayload, paymentRequirements }: Body) => {
    const known = Promise.withResolvers<Hex | undefined>()
    const result = facilitatorOf(known.resolve).settle(paymentPayload as never, paymentRequirements as never)
    result.then(
      () => known.resolve(undefined),
      () => known.resolve(undefined),
    )
    return { result, hash: known.promise }
  }

  const imagined = () => `0x${random?.hex(32) ?? randomBytes(32).toString("hex")}`
  const no = (errorReason: string, transaction = "") =>
    json({ success: false, errorReason, transaction, network, payer: "" })
  const yes = (transaction: string) => json({ success: true, transaction, network, payer: "" })
  const nonsense: Reply = { status: 200, body: "<html>so sorry</html>", type: "text/html" }
  const filler = "x".repeat(2_000_000)

  /** What is answered while nothing was broadcast; nothing where it goes on. */
  const before = async ({ caught, fault: { fault } }: Struck<Plan>, body: Body): Promise<Reply | undefined> => {
    if (fault === "holdBefore") return (await caught()) === "discard" ? "drop" : undefined
    void caught()
    switch (fault) {
      case "dropBefore":
        return "drop"
      case "nonsenseBefore":
        return nonsense
      case "imagineBefore":
        return yes(imagined())
      case "refuseBefore":
        return no("insufficient_funds")
      case "unauthorizedBefore":
        return json({ error: "unauthorized" }, 401)
      case "rateLimitBefore":
        return json({ error: "too many requests" }, 429)
      case "redirectBefore":
        return { status: 307, body: "", headers: { location: "http://127.0.0.1:9/settle" } }
      case "hugeBefore":
        return json({ success: true, transaction: imagined(), filler })
      case "refuseThenSend":
        void setTimeout(3_000).then(() => settle(body).result.catch(() => {}))
        return no("insufficient_funds")
      default:
        return undefined
    }
  }

  /** What is answered once the node has the transaction `hash`; nothing where it is the truth. */
  const after = (fault: Fault, hash: Hex | undefined, neighbour: Hex | undefined): Reply | undefined => {
    switch (fault) {
      case "status500After":
        return json({ error: "internal" }, 500)
      case "dropAfter":
        return "drop"
      case "nonsenseAfter":
        return json({})
      case "alreadyUsedAfter":
        return no("invalid_exact_evm_nonce_already_used")
      case "pendingAfter":
        return no("settlement_pending", hash)
      case "wrongHashAfter":
        return yes(imagined())
      case "neighbourHashAfter":
        return yes(neighbour ?? imagined())
      case "capitalsAfter":
        return yes(`0x${(hash ?? "").slice(2).toUpperCase()}`)
      case "refuseAfter":
        return no("insufficient_funds")
      default:
        return undefined
    }
  }

  const settled = async (body: Body): Promise<Reply> => {
    settlements += 1
    nonces.add(body.paymentPayload.payload.authorization.nonce.toLowerCase())
    const struck = strikes("settlement")
    const refused = struck === undefined ? undefined : await before(struck, body)
    if (refused !== undefined) return refused
    const neighbour = newest
    const { hash, result } = settle(body)
    result.catch(() => {})
    const known = await hash
    newest = known ?? newest
    if (struck === undefined || struck.fault.fault.endsWith("Before")) return json(await result)
    const { fault, moment } = struck.fault
    if (moment === "mined") await result
    const verdict = struck.caught()
    if (fault === "holdAfter" && (await verdict) === "discard") return "drop"
    if (fault === "delayAfter") await setTimeout(late)
    return after(fault, known, neighbour) ?? json(await result)
  }

  const supported = async (): Promise<Reply> => {
    const { kinds, ...rest } = facilitatorOf(() => {}).getSupported()
    const struck = strikes("support")
    void struck?.caught()
    switch (struck?.fault.fault) {
      case "supportedDrop":
        return "drop"
      case "supportedUnauthorized":
        return json({ error: "unauthorized" }, 401)
      case "supportedRateLimit":
        return json({ error: "too many requests" }, 429)
      case "supportedNonsense":
        return nonsense
      case "supportedHuge":
        return json({ kinds, ...rest, filler })
      case "supportedElsewhere":
        return json({ kinds: kinds.map((kind) => ({ ...kind, network: "eip155:1" })), ...rest })
      case "supportedHold":
        return new Promise(() => {})
      case "supportedDelay":
        await setTimeout(late)
        return json({ kinds, ...rest })
      default:
        return json({ kinds, ...rest })
    }
  }

  const handle = async (path: string, text: string): Promise<Reply> => {
    if (path === "/supported") return supported()
    const body: Body = JSON.parse(text)
    if (path === "/settle") return settled(body)
    if (path !== "/verify") return json({ error: "not found" }, 404)
    return json(await facilitatorOf(() => {}).verify(body.paymentPayload as never, body.paymentRequirements as never))
  }

  // It comes back to its port, which nobody may take while it is away.
  const port = yield* freePort
  let server = yield* Effect.promise(() => open(handle, port))
  yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
  const { url } = server
  /** How often it left, and has not come back. */
  let away = 0

  const service: Facilitator = {
    url,
    nonces,
    arm: (fault, moment = "broadcast", rate = 1) =>
      arm(
        `facilitator ${fault}`,
        { fault, moment },
        {
          rate,
          fits: (asked) => isOfSupport(fault) === (asked === "support"),
        },
      ),
    calm: Effect.sync(calm),
    leave: Effect.sync(() => {
      away += 1
      server.close()
    }),
    comeBack: Effect.promise(async () => {
      away -= 1
      if (away === 0) server = await open(handle, port)
    }),
    asked: () => settlements,
  }
  return service
})
