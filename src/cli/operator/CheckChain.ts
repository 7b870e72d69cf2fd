/** Checks of the chain's node: chain id, final block, clock, logs, token, and gas for the relayer. */
import { Clock, Effect, Redacted, Schema } from "effect"
import { formatEther, numberToHex, toEventSelector } from "viem"
import { Quantity } from "../../payments/chain/Eip3009.ts"
import * as JsonRpc from "../../payments/chain/JsonRpc.ts"
import { tokenStateOf } from "../../payments/chain/NodeWatch.ts"
import { type Ask, both, getBalance, getCode, question } from "../../payments/chain/Rpc.ts"
import type { PaymentsConfig } from "../../payments/Payments.ts"
import { addressOf } from "../../payments/settle/Relayer.ts"
import { settlementGas } from "../../payments/settle/RelayerNode.ts"
import { checkTimeout, type CheckResult, failed, ok, runCheck, skewLine, warning } from "./CheckResult.ts"

const getChainId = question("eth_chainId", Quantity)
const getLogs = question("eth_getLogs", Schema.Array(Schema.Unknown))
const getBlock = question(
  "eth_getBlockByNumber",
  Schema.Struct({ number: Quantity, timestamp: Quantity, baseFeePerGas: Schema.optionalKey(Quantity) }),
)
const newest = getBlock("latest", false)

const tokenLine = Effect.fnUntraced(function* (ask: Ask, { asset, payTo }: PaymentsConfig["terms"]) {
  const code = yield* ask(getCode(asset, "latest"))
  if (code === "0x") return failed("token", `no contract at ${asset}`)
  switch (yield* tokenStateOf(ask, { asset, payTo })) {
    case "open":
      return ok("token", `USDC at ${asset}`)
    case "paused":
      return failed(
        "token",
        `the issuer of ${asset} has paused all transfers: sales resume when the issuer resumes them`,
      )
    case "blocked":
      return failed("token", `the issuer of ${asset} has blocked PAY_TO ${payTo}: configure another wallet`)
  }
})

const clockLine = Effect.fnUntraced(function* (ask: Ask) {
  const { timestamp } = yield* ask(newest)
  const behind = (yield* Clock.currentTimeMillis) / 1000 - Number(timestamp)
  return behind > 120
    ? warning("chain clock", `the newest block is ${Math.round(behind)} s old`)
    : skewLine("chain clock", Math.min(behind, 0), "the newest block")
})

/** Blocks that the node must be able to search for a payment, if necessary in pieces. */
const logRange = 1_000n

const logLine = Effect.fnUntraced(function* (ask: Ask, { asset }: PaymentsConfig["terms"]) {
  const { number: latest } = yield* ask(newest)
  const from = latest > logRange ? latest - logRange : 0n
  // An authorizer without payments: the result is empty, but the node must search the whole range.
  const topics = [toEventSelector("AuthorizationUsed(address,bytes32)"), numberToHex(1, { size: 32 })]
  yield* ask(getLogs({ address: asset, topics, fromBlock: numberToHex(from), toBlock: numberToHex(latest) }))
  return ok("log range", `logs of ${latest - from} blocks in one answer`)
})

const relayerLine = Effect.fnUntraced(function* (ask: Ask, address: ReturnType<typeof addressOf>) {
  const [balance, { baseFeePerGas = 0n }] = yield* ask(both(getBalance(address, "latest"), newest))
  const least = settlementGas * 3n * baseFeePerGas
  const has = `${address} has ${formatEther(balance)} ETH`
  return balance > 0n && balance >= least
    ? ok("relayer", `${has} for gas`)
    : failed("relayer", `${has} and needs ${formatEther(least)} for one settlement: send it some`)
})

/** One line for each check, or only the first on the wrong chain. */
export const checkChain = ({ finalTag, rpcUrl, settlement, terms }: PaymentsConfig) =>
  Effect.gen(function* () {
    const { ask } = yield* JsonRpc.make({ url: rpcUrl, timeout: checkTimeout })
    const run = <E>(check: string, line: Effect.Effect<CheckResult, E>) =>
      runCheck(check, [Redacted.value(rpcUrl)], line)
    const chain = yield* run(
      "chain",
      Effect.map(ask(getChainId()), (id) =>
        terms.network === `eip155:${id}`
          ? ok("chain", `chain ${id}, as X402_NETWORK says`)
          : failed("chain", `RPC_URL is chain ${id}, but X402_NETWORK is ${terms.network}`),
      ),
    )
    if (chain.state !== "ok") return [chain]
    const final = Effect.map(ask(getBlock(finalTag, false)), ({ number }) =>
      ok("finality", `block ${number} is ${finalTag}`),
    )
    const others = [
      run("finality", final),
      run("chain clock", clockLine(ask)),
      run("log range", logLine(ask, terms)),
      run("token", tokenLine(ask, terms)),
      ...(settlement._tag === "Facilitator"
        ? []
        : [run("relayer", relayerLine(ask, addressOf(settlement.privateKey)))]),
    ]
    return [chain, ...(yield* Effect.all(others, { concurrency: "unbounded" }))]
  }).pipe(Effect.scoped)
