/** Paid stones settled on a chain of this machine: by our own relayer, and by the stock facilitator alone. */
import { Effect, Redacted } from "effect"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { fire } from "./Load.ts"
import { type Figure, type Held, type Side, sliceOf, takeTurns } from "./Measure.ts"
import { network, newPayer, nextOf, offerOf, paymentIn, signMany } from "./Payments.ts"
import * as Store from "./peer/Store.ts"
import { type Servers, withoutCeiling } from "./Servers.ts"
import { started } from "../lab/Databases.ts"

/** Key of account 6 of the public test mnemonic; anvil gives it gas, and our own relayer is another. */
const facilitatorKey = "0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e"

/** Wallets that pay in turn, with ten thousand play dollars each. */
const wallets = 20

/** Fresh payments of each slice. */
const count = 500

export const run = async (
  [name = ""]: ReadonlyArray<string>,
  held: Held,
  { databases, serve }: Servers,
): Promise<ReadonlyArray<Figure>> => {
  held.say("Preparing a chain")
  const layer = LocalChain.layer({ network, heartbeatMs: 1000, keptBlocks: 600 })
  const { close, service: chain } = await started(LocalChain, layer)
  const payers = Array.from({ length: wallets }, newPayer)
  for (const { address } of payers) await Effect.runPromise(chain.fund(address, 10_000_000_000n))
  const facilitator = await serve("peer/PeerFacilitator.ts", { KEY: facilitatorKey, RPC_URL: chain.rpcUrl })
  const ours = await serve("ours", {
    PUBLIC_URL: "https://altar.example",
    PAY_TO: chain.payTo,
    X402_NETWORK: network,
    DATABASE_URL: databases.ours,
    RPC_URL: chain.rpcUrl,
    RELAYER_KEY: Redacted.value(chain.relayerKey),
  })
  const sql = Store.connect(databases.ours)
  await withoutCeiling(sql)
  await sql.end()

  /** Payments are signed before they are measured. */
  const one = async (side: Side) => {
    const signed = await signMany(await offerOf(ours), count, payers)
    if (side === "ours") return sliceOf(() => fire(ours, { count }, 201, nextOf(signed)), ours)
    const body = JSON.stringify(signed.map(paymentIn))
    return sliceOf(async () => {
      const answer = await fetch(facilitator, { method: "POST", body })
      if (!answer.ok) throw new Error(await answer.text())
      return count
    }, facilitator)
  }
  const rounds = await takeTurns(held.rounds, one)
  const { head } = await (await fetch(`${ours}/api/witness?limit=1`)).json()
  await close()
  if (head.sequence !== count * (held.rounds + 1)) throw new Error(`${head.sequence} stones were sold`)
  return [{ name, rounds }]
}
