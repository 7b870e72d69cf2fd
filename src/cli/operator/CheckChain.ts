/** Checks of the chain's node: chain id, final block, clock, logs, token, and gas for the relayer. */
import { Clock, Effect, Redacted } from "effect"
import { createPublicClient, formatEther, http, keccak256, numberToHex, toBytes } from "viem"
import type { PaymentsConfig } from "../../payments/Payments.ts"
import { settlementGas } from "../../payments/settle/RelayerNode.ts"
import * as JsonRpc from "../../payments/chain/JsonRpc.ts"
import { getCode } from "../../payments/chain/Rpc.ts"
import { addressOf } from "../../payments/settle/Relayer.ts"
import { tokenStateOf } from "../../payments/chain/NodeWatch.ts"

import { failed, type CheckResult, runCheck, ok, checkTimeout, skewLine, Unanswered } from "./CheckResult.ts"

const tokenLine = (url: Redacted.Redacted<string>, { asset, payTo }: PaymentsConfig["terms"]) =>
  Effect.gen(function* () {
    const { ask } = yield* JsonRpc.make({ url, timeout: checkTimeout })
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
  }).pipe(Effect.scoped)

/** Blocks that the node must be able to search for a payment, if necessary in pieces. */
const logRange = 1_000n

/** One line for each check, or only the first on the wrong chain. */
export const checkChain = ({ finalTag, rpcUrl, settlement, terms }: PaymentsConfig) => {
  const secrets = [Redacted.value(rpcUrl)]
  const client = createPublicClient({
    transport: http(Redacted.value(rpcUrl), { retryCount: 0, timeout: 8_000, fetchOptions: { redirect: "error" } }),
  })
  const ask = <A>(check: string, run: () => Promise<A>, say: (answer: A) => CheckResult | Effect.Effect<CheckResult>) =>
    runCheck(
      check,
      secrets,
      Effect.flatMap(Effect.tryPromise({ try: run, catch: (cause) => new Unanswered({ cause }) }), (answer) => {
        const said = say(answer)
        return Effect.isEffect(said) ? said : Effect.succeed(said)
      }),
    )
  const expected = terms.network.replace("eip155:", "")
  return Effect.gen(function* () {
    const chain = yield* ask(
      "chain",
      () => client.getChainId(),
      (id) =>
        String(id) === expected
          ? ok("chain", `chain ${id}, as X402_NETWORK says`)
          : failed("chain", `RPC_URL is chain ${id}, but X402_NETWORK is ${terms.network}`),
    )
    if (chain.state !== "ok") return [chain]
    const others = [
      ask(
        "finality",
        () => client.getBlock({ blockTag: finalTag }),
        ({ number }) => ok("finality", `block ${number} is ${finalTag}`),
      ),
      ask(
        "chain clock",
        () => client.getBlock({ blockTag: "latest" }),
        ({ timestamp }) =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            const behind = now / 1000 - Number(timestamp)
            return behind > 120
              ? ({
                  check: "chain clock",
                  state: "warning",
                  message: `the newest block is ${Math.round(behind)} s old`,
                } as const)
              : skewLine("chain clock", Math.min(behind, 0), "the newest block")
          }),
      ),
      ask(
        "log range",
        async () => {
          const latest = await client.getBlockNumber()
          const from = latest > logRange ? latest - logRange : 0n
          const logs = await client.request({
            method: "eth_getLogs",
            params: [
              {
                address: terms.asset,
                // An authorizer without payments: the result is empty, but the node must search the whole range.
                topics: [keccak256(toBytes("AuthorizationUsed(address,bytes32)")), numberToHex(1, { size: 32 })],
                fromBlock: numberToHex(from),
                toBlock: numberToHex(latest),
              },
            ],
          })
          return { logs, blocks: latest - from }
        },
        ({ blocks }) => ok("log range", `logs of ${blocks} blocks in one answer`),
      ),
      runCheck("token", secrets, tokenLine(rpcUrl, terms)),
    ]
    const relayer =
      settlement._tag === "Facilitator"
        ? []
        : [
            ask(
              "relayer",
              async () => {
                const address = addressOf(settlement.privateKey)
                const [balance, block] = await Promise.all([
                  client.getBalance({ address }),
                  client.getBlock({ blockTag: "latest" }),
                ])
                return { address, balance, least: settlementGas * 3n * (block.baseFeePerGas ?? 0n) }
              },
              ({ address, balance, least }) =>
                balance > 0n && balance >= least
                  ? ok("relayer", `${address} has ${formatEther(balance)} ETH for gas`)
                  : failed(
                      "relayer",
                      `${address} has ${formatEther(balance)} ETH and needs ${formatEther(least)} for one settlement: send it some`,
                    ),
            ),
          ]
    return [chain, ...(yield* Effect.all([...others, ...relayer], { concurrency: 5 }))]
  })
}
