/** A hosted facilitator: the reference implementation on the campaign's chain, and every lie that we know one could tell. */
import { setTimeout } from "node:timers/promises"
import { x402Facilitator } from "@x402/core/facilitator"
import { toFacilitatorEvmSigner } from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/facilitator"
import { createWalletClient, type Hex, http, publicActions } from "viem"
import { freePort } from "../bench/Processes.ts"
import { json, open, type Reply } from "../support/LocalHttpServer.ts"
import { facilitatorAccount, network } from "./Chain.ts"
import { faults } from "./Faults.ts"
import type { Random } from "./Random.ts"

/** `Before`: nothing was broadcast. `After`: the node has the transaction. */
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
  "stallAfter",
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
type Lie = (typeof lies)[number]

/** What it says of itself, at `/supported`. */
export const supportLies = [
  "supportedDrop",
  "supportedUnauthorized",
  "supportedRateLimit",
  "supportedNonsense",
  "supportedHuge",
  "supportedElsewhere",
  "supportedStall",
] as const
type SupportLie = (typeof supportLies)[number]
const isOfSupport = (lie: Lie | SupportLie): lie is SupportLie => lie.startsWith("supported")

export interface FacilitatorWire {
  readonly url: string
  /** From now on a settlement, or a question what it settles, meets this lie with this probability; answers what ends it. */
  readonly add: (lie: Lie | SupportLie, rate: number) => () => void
  /** Takes no connection until it comes back, at the same address. */
  readonly leave: () => void
  readonly comeBack: () => Promise<void>
  readonly calm: () => void
  readonly met: () => number
  /** Nonces of all that it was asked to settle, in lower case. */
  readonly asked: ReadonlySet<string>
  readonly close: () => void
}

type Body = { readonly paymentPayload: never; readonly paymentRequirements: never }

const nonceIn = (body: unknown) =>
  (body as { paymentPayload: { payload: { authorization: { nonce: string } } } }).paymentPayload.payload.authorization
    .nonce

export const facilitatorWire = async (rpcUrl: string, random: Random): Promise<FacilitatorWire> => {
  const client = createWalletClient({
    account: facilitatorAccount,
    transport: http(rpcUrl, { retryCount: 0 }),
    pollingInterval: 300,
  }).extend(publicActions)
  const { add, calm, met, strikes } = faults<Lie | SupportLie>(random)
  const asked = new Set<string>()
  let newest: Hex | undefined
  /** The node numbers its own transactions as they arrive: one at a time. */
  let turn: Promise<unknown> = Promise.resolve()

  const facilitatorOf = (sent: (hash: Hex) => void) =>
    new x402Facilitator().register(
      network,
      new ExactEvmScheme(
        toFacilitatorEvmSigner({
          address: facilitatorAccount,
          getCode: client.getCode,
          readContract: (call) => client.readContract(call),
          verifyTypedData: (message) => client.verifyTypedData(message as never),
          sendTransaction: (call) => client.sendTransaction({ ...call, chain: null }),
          waitForTransactionReceipt: ({ hash }) => client.waitForTransactionReceipt({ hash, timeout: 30_000 }),
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
    const result = facilitatorOf(known.resolve).settle(paymentPayload, paymentRequirements)
    result.then(
      () => known.resolve(undefined),
      () => known.resolve(undefined),
    )
    return { result, hash: known.promise }
  }

  const no = (errorReason: string, transaction = "") =>
    json({ success: false, errorReason, transaction, network, payer: "" })
  const yes = (transaction: string) => json({ success: true, transaction, network, payer: "" })
  const imagined = () => `0x${random.hex(32)}`

  const lieTo = async (lie: Lie, body: Body): Promise<Reply> => {
    switch (lie) {
      case "dropBefore":
        return "drop"
      case "nonsenseBefore":
        return { status: 200, body: "<html>so sorry</html>" }
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
        return json({ success: true, transaction: imagined(), filler: "x".repeat(2_000_000) })
      case "refuseThenSend":
        void setTimeout(3_000).then(() => settle(body).result.catch(() => {}))
        return no("insufficient_funds")
      default:
    }
    const { hash, result } = settle(body)
    const before = newest
    const known = (await hash) ?? ""
    if (known !== "") newest = known
    result.catch(() => {})
    switch (lie) {
      case "stallAfter":
        await setTimeout(12_000)
        return json(await result)
      case "status500After":
        return json({ error: "internal" }, 500)
      case "nonsenseAfter":
        return json({})
      case "alreadyUsedAfter":
        return no("invalid_exact_evm_nonce_already_used")
      case "pendingAfter":
        return no("settlement_pending", known)
      case "wrongHashAfter":
        return yes(imagined())
      case "neighbourHashAfter":
        return yes(before ?? imagined())
      case "capitalsAfter":
        return yes(`0x${known.slice(2).toUpperCase()}`)
      case "refuseAfter":
        return no("insufficient_funds")
      default:
        return "drop"
    }
  }

  const supported = async (lie: SupportLie | undefined): Promise<Reply> => {
    const { kinds, ...rest } = facilitatorOf(() => {}).getSupported()
    switch (lie) {
      case undefined:
        return json({ kinds, ...rest })
      case "supportedDrop":
        return "drop"
      case "supportedUnauthorized":
        return json({ error: "unauthorized" }, 401)
      case "supportedRateLimit":
        return json({ error: "too many requests" }, 429)
      case "supportedNonsense":
        return { status: 200, body: "<html>so sorry</html>" }
      case "supportedHuge":
        return json({ kinds, ...rest, filler: "x".repeat(2_000_000) })
      case "supportedElsewhere":
        return json({ kinds: kinds.map((kind) => ({ ...kind, network: "eip155:1" })), ...rest })
      case "supportedStall":
        await setTimeout(12_000)
        return json({ kinds, ...rest })
    }
  }

  const handle = async (path: string, text: string): Promise<Reply> => {
    if (path === "/supported") {
      const lie = strikes(isOfSupport)
      return supported(lie !== undefined && isOfSupport(lie) ? lie : undefined)
    }
    const body = JSON.parse(text) as Body
    if (path === "/verify") {
      return json(await facilitatorOf(() => {}).verify(body.paymentPayload, body.paymentRequirements))
    }
    if (path !== "/settle") return json({ error: "not found" }, 404)
    asked.add(nonceIn(body).toLowerCase())
    const lie = strikes((one) => !isOfSupport(one))
    if (lie === undefined || isOfSupport(lie)) {
      const { hash, result } = settle(body)
      newest = (await hash) ?? newest
      return json(await result)
    }
    return lieTo(lie, body)
  }

  // It comes back to its port, which nobody may take while it is away.
  const port = await freePort()
  let server = await open(handle, port)
  const { url } = server
  /** Strikes that keep it away. */
  let away = 0
  return {
    url,
    add,
    leave: () => {
      away += 1
      server.close()
    },
    comeBack: async () => {
      away -= 1
      if (away === 0) server = await open(handle, port)
    },
    calm,
    met,
    asked,
    close: () => server.close(),
  }
}
