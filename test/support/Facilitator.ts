/** A hosted facilitator as the wire shows it: the reference implementation settling on a real chain, told how to fail. */
import { randomBytes } from "node:crypto"
import { x402Facilitator } from "@x402/core/facilitator"
import { toFacilitatorEvmSigner } from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/facilitator"
import { Effect } from "effect"
import { createWalletClient, type Hex, http, publicActions } from "viem"
import { mnemonicToAccount } from "viem/accounts"
import type { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { json, open, type Reply } from "./LocalHttpServer.ts"
import * as Interception from "./Interception.ts"
import { freePort, receiptBy } from "./World.ts"

/** What happens to a settlement. `Before`: nothing was broadcast. `After`: the node has the transaction. */
export type FacilitatorFault =
  | "holdBefore"
  | "nonsenseBefore"
  | "imagineBefore"
  | "refuseBefore"
  | "unauthorizedBefore"
  | "limitedBefore"
  | "holdAfter"
  | "status500After"
  | "dropAfter"
  | "nonsenseAfter"
  | "alreadyUsedAfter"
  | "pendingAfter"
  | "wrongHashAfter"
  | "capitalsAfter"
  | "refuseAfter"

/** What it answers at `/supported`. */
export type Support = "well" | "silent" | "unauthorized" | "elsewhere"

export interface Facilitator {
  readonly url: string
  /** From now on it says this at `/supported`. */
  readonly say: (support: Support) => void
  /** Takes no connection any more. */
  readonly leave: Effect.Effect<void>
  /** Takes connections again, at the same address. */
  readonly comeBack: Effect.Effect<void>
  /** From now on every settlement meets this fault; what comes after comes once it is broadcast, or once it is mined. */
  readonly arm: (fault: FacilitatorFault, after?: "broadcast" | "mined") => Interception.Interception
  /** Settles honestly again. */
  readonly calm: Effect.Effect<void>
  /** How many settlements it was asked for. */
  readonly asked: () => number
}

// Account 6 of the public test mnemonic printed in anvil's manual; anvil gives it gas.
const account = mnemonicToAccount("test test test test test test test test test test test junk", { addressIndex: 6 })

const randomHash = (): Hex => `0x${randomBytes(32).toString("hex")}`

type Body = { readonly paymentPayload: never; readonly paymentRequirements: never }

export const make = Effect.fnUntraced(function* (chain: LocalChain["Service"]) {
  const { network, rpcUrl } = chain
  const client = createWalletClient({ account, transport: http(rpcUrl), pollingInterval: 20 }).extend(publicActions)
  let broadcast = Promise.withResolvers<Hex | undefined>()
  let turn: Promise<unknown> = Promise.resolve()
  let armed:
    | { readonly fault: FacilitatorFault; readonly isMined: boolean; readonly trap: Interception.InterceptionControl }
    | undefined
  let settlements = 0
  let support: Support = "well"

  const signer = toFacilitatorEvmSigner({
    address: account.address,
    getCode: client.getCode,
    readContract: (call) => client.readContract(call),
    verifyTypedData: (message) => client.verifyTypedData(message as never),
    sendTransaction: (call) => client.sendTransaction({ ...call, chain: null }),
    waitForTransactionReceipt: receiptBy(client),
    writeContract: async (call) => {
      const hash = await client.writeContract({ ...call, chain: null } as never)
      broadcast.resolve(hash)
      return hash
    },
  })
  const facilitator = new x402Facilitator().register(network, new ExactEvmScheme(signer))

  /** One at a time: viem counts nonces, and two at once would share one. */
  const settle = ({ paymentPayload, paymentRequirements }: Body) => {
    const sent = turn.then(() => {
      broadcast = Promise.withResolvers<Hex | undefined>()
      const result = facilitator.settle(paymentPayload, paymentRequirements)
      result.then(
        () => broadcast.resolve(undefined),
        () => broadcast.resolve(undefined),
      )
      return { result, hash: broadcast.promise }
    })
    turn = sent.then(({ result }) => result).catch(() => {})
    return sent
  }

  const no = (errorReason: string, transaction: string, payer = "") =>
    json({ success: false, errorReason, transaction, network, payer })

  const before = async (
    fault: FacilitatorFault,
    trap: Interception.InterceptionControl,
  ): Promise<Reply | undefined> => {
    if (fault === "holdBefore") return (await trap.caught()) === "discard" ? "drop" : undefined
    void trap.caught()
    if (fault === "nonsenseBefore") return { status: 200, body: "<html>so sorry</html>", type: "text/html" }
    if (fault === "imagineBefore") return json({ success: true, transaction: randomHash(), network, payer: "" })
    if (fault === "refuseBefore") return no("insufficient_funds", "")
    if (fault === "unauthorizedBefore") return json({ error: "unauthorized" }, 401)
    if (fault === "limitedBefore") return json({ error: "too many requests" }, 429)
    return undefined
  }

  const supported = async (): Promise<Reply> => {
    const { kinds, ...rest } = facilitator.getSupported()
    switch (support) {
      case "well":
        return json({ kinds, ...rest })
      case "silent":
        return new Promise(() => {})
      case "unauthorized":
        return json({ error: "unauthorized" }, 401)
      case "elsewhere":
        return json({ kinds: kinds.map((kind) => ({ ...kind, network: "eip155:1" })), ...rest })
    }
  }

  const after = async (fault: FacilitatorFault, hash: Hex | undefined): Promise<Reply | undefined> => {
    switch (fault) {
      case "status500After":
        return json({ error: "internal" }, 500)
      case "dropAfter":
        return "drop"
      case "nonsenseAfter":
        return { status: 200, body: "{}", type: "application/json" }
      case "alreadyUsedAfter":
        return no("invalid_exact_evm_nonce_already_used", "")
      case "pendingAfter":
        return no("settlement_pending", hash ?? "")
      case "wrongHashAfter":
        return json({ success: true, transaction: randomHash(), network, payer: "" })
      case "capitalsAfter":
        return json({ success: true, transaction: `0x${(hash ?? "").slice(2).toUpperCase()}`, network, payer: "" })
      case "refuseAfter":
        return no("insufficient_funds", "")
      default:
        return undefined
    }
  }

  const settled = async (body: Body): Promise<Reply> => {
    const plan = armed
    settlements += 1
    if (plan === undefined) return json(await (await settle(body)).result)
    if (plan.fault.endsWith("Before")) {
      return (await before(plan.fault, plan.trap)) ?? json(await (await settle(body)).result)
    }
    const { hash, result } = await settle(body)
    const known = await hash
    if (plan.isMined) await result
    const verdict = plan.trap.caught()
    if (plan.fault === "holdAfter") return (await verdict) === "discard" ? "drop" : json(await result)
    return (await after(plan.fault, known)) ?? json(await result)
  }

  const handle = async (path: string, body: string) => {
    if (path === "/supported") return supported()
    const asked: Body = JSON.parse(body)
    if (path === "/verify") return json(await facilitator.verify(asked.paymentPayload, asked.paymentRequirements))
    return path === "/settle" ? settled(asked) : json({ error: "not found" }, 404)
  }
  // It comes back to where it was: no connection is given a port of these meanwhile.
  const port = yield* freePort
  let server = yield* Effect.promise(() => open(handle, port))
  yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
  const { url } = server

  const service: Facilitator = {
    url,
    say: (next) => {
      support = next
    },
    leave: Effect.sync(() => server.close()),
    comeBack: Effect.promise(async () => {
      server = await open(handle, port)
    }),
    arm: (fault, moment = "broadcast") => {
      const trap = Interception.make(`facilitator ${fault}`)
      armed = { fault, isMined: moment === "mined", trap }
      return trap
    },
    calm: Effect.sync(() => {
      armed = undefined
    }),
    asked: () => settlements,
  }
  return service
})
