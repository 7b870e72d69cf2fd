/** An altar and a node that say what a test likes, and the command that verifies them. */
import { Effect, Option, Result } from "effect"
import { base, usdc } from "../../schema/payments/Usdc.ts"
import { verifying } from "../../src/cli/verify/Verify.ts"
import { entriesOver, segmentOf, sha256 } from "./log/StaticLog.ts"
import { printing } from "./CommandRun.ts"
import { json, serve } from "./proxy/HttpServer.ts"
import { address, logsOf } from "./TransferLogs.ts"

interface Flags {
  readonly rpc?: string
  readonly payTo?: ReadonlyArray<string>
  readonly vkey?: string
  readonly seen?: string
  readonly wallet?: string
  readonly json?: boolean
}

export const verify = Effect.fnUntraced(function* (url: string, flags: Flags = {}) {
  const { json: asJson = false, payTo = [], rpc, seen, vkey, wallet } = flags
  const command = verifying({
    url,
    rpc: Option.fromNullishOr(rpc),
    payTo,
    log: vkey !== undefined,
    vkey: Option.fromNullishOr(vkey),
    policy: Option.none(),
    seen: Option.fromNullishOr(seen),
    receipt: Option.none(),
    file: Option.none(),
    folder: Option.none(),
    stone: Option.none(),
    wallet: Option.fromNullishOr(wallet),
    key: Option.none(),
  })
  const { ended, lines } = yield* printing(command, asJson)
  const fault = Result.isFailure(ended) ? `${ended.failure._tag}: ${ended.failure.message}` : "none"
  return { fault, output: lines.join("\n"), lines }
})

export interface Receipt {
  readonly asset: string
  readonly payTo: string
  readonly amountAtomic?: string
  readonly finality?: string
  readonly currentTransaction?: string
  readonly binding: object | null
}

const payer = address("1")
/** The content of an altar: a stone for each receipt, and acts. */
interface AltarContent {
  readonly receipts?: ReadonlyArray<Receipt>
  readonly commitment?: string
  readonly acts?: ReadonlyArray<object>
  readonly next?: string
  readonly sandbox?: string
}

export const altar = ({ acts = [], commitment, next, receipts = [paid("a")], sandbox }: AltarContent) => {
  const entries = entriesOver(receipts.map((_, at) => commitment ?? sha256(`stone ${at + 1}`)))
  return serve(async (path) => {
    if (path.startsWith("/api/acts")) return json({ acts, next: next ?? null })
    if (path.startsWith("/api/witness/chain")) return json(segmentOf(entries, 1, 100))
    if (path === "/sandbox") return sandbox === undefined ? json({}, 404) : json({ rpcUrl: sandbox })
    const receipt = receipts[Number(path.split("-").at(-1)) - 1]
    return json({ receipt: { amountAtomic: "10000", ...receipt } })
  })
}

export const word = (amount: bigint) => `0x${amount.toString(16).padStart(64, "0")}`

interface Node {
  readonly chainId?: string
  readonly data?: string
  readonly gone?: ReadonlyArray<string>
}

/** A node on whose chain every transaction, except those `gone`, moved `data` of every token to every payee. */
export const node = Effect.fnUntraced(function* ({ chainId = "0x2105", data = word(10_000n), gone = [] }: Node = {}) {
  const requests = { times: 0 }
  const logs = [usdc[base].asset, address("9")].flatMap((asset) =>
    ["a", "b"].map((to) => ({
      ...logsOf({ asset, from: payer, to: address(to) }).moved,
      address: asset.toLowerCase(),
      data,
    })),
  )
  const block = { blockNumber: "0x64", blockHash: word(100n) }
  const receipt = (transactionHash: string) => ({
    transactionHash,
    ...block,
    status: "0x1",
    logs: logs.map((log, index) => ({ ...log, ...block, transactionHash, logIndex: `0x${index.toString(16)}` })),
  })
  const url = yield* serve(async (_, body) => {
    const calls = [JSON.parse(body)].flat()
    requests.times += calls.length
    const answers = calls.map(({ id, method, params: [transaction] }) => ({
      id,
      result: method === "eth_chainId" ? chainId : gone.includes(transaction) ? null : receipt(transaction),
    }))
    return json(body.startsWith("[") ? answers : { ...answers[0] })
  })
  return { requests, url }
})

export const paid = (to: string, asset: string = usdc[base].asset): Receipt => ({
  asset,
  payTo: address(to),
  binding: null,
})
