/** A hosted facilitator: the reference implementation on the campaign's chain, and every lie that we know one could tell. */
import { createServer } from "node:http"
import { setTimeout } from "node:timers/promises"
import { x402Facilitator } from "@x402/core/facilitator"
import { toFacilitatorEvmSigner } from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/facilitator"
import { createWalletClient, type Hex, http, publicActions } from "viem"
import { facilitatorAccount, network } from "./Chain.ts"
import type { Random } from "./Random.ts"

/** `Before`: nothing was broadcast. `After`: the node has the transaction. */
export const lies = [
  "dropBefore",
  "nonsenseBefore",
  "imagineBefore",
  "refuseBefore",
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
export type Lie = (typeof lies)[number]

export interface FacilitatorWire {
  readonly url: string
  /** From now on a settlement meets this lie with this probability; answers what ends it. */
  readonly add: (lie: Lie, rate: number) => () => void
  readonly calm: () => void
  readonly met: () => number
  readonly close: () => void
}

type Reply = { readonly status: number; readonly body: string; readonly location?: string } | "drop"
type Body = { readonly paymentPayload: never; readonly paymentRequirements: never }

const json = (value: unknown, status = 200): Reply => ({ status, body: JSON.stringify(value) })

export const facilitatorWire = (rpcUrl: string, random: Random): Promise<FacilitatorWire> => {
  const client = createWalletClient({
    account: facilitatorAccount,
    transport: http(rpcUrl, { retryCount: 0 }),
    pollingInterval: 300,
  }).extend(publicActions)
  let told: ReadonlyArray<{ readonly lie: Lie; readonly rate: number }> = []
  let met = 0
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
      case "redirectBefore":
        return { status: 307, body: "", location: "http://127.0.0.1:9/settle" }
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

  const handle = async (path: string, text: string): Promise<Reply> => {
    if (path === "/supported") return json(facilitatorOf(() => {}).getSupported())
    const body = JSON.parse(text) as Body
    if (path === "/verify") {
      return json(await facilitatorOf(() => {}).verify(body.paymentPayload, body.paymentRequirements))
    }
    if (path !== "/settle") return json({ error: "not found" }, 404)
    const found = told.find(({ rate }) => random.chance(rate))
    if (found === undefined) {
      const { hash, result } = settle(body)
      newest = (await hash) ?? newest
      return json(await result)
    }
    met += 1
    return lieTo(found.lie, body)
  }

  const server = createServer((incoming, response) => {
    const chunks: Array<Buffer> = []
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
    incoming.on("end", () => {
      handle(incoming.url ?? "/", Buffer.concat(chunks).toString())
        .catch((cause: unknown): Reply => json({ error: String(cause) }, 500))
        .then((reply) =>
          reply === "drop"
            ? response.destroy()
            : response
                .writeHead(reply.status, {
                  "content-type": "application/json",
                  ...(reply.location === undefined ? {} : { location: reply.location }),
                })
                .end(reply.body),
        )
        .catch(() => {})
    })
  })
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve({
        url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
        add: (lie, rate) => {
          const one = { lie, rate }
          told = [...told, one]
          return () => (told = told.filter((other) => other !== one))
        },
        calm: () => (told = []),
        met: () => met,
        close: () => {
          server.close()
          server.closeAllConnections()
        },
      })
    })
  })
}
