/** Paid stones settled on a chain of this machine: by our own relayer, and by the stock facilitator alone. */
import { Effect, Redacted } from "effect"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import * as Ledger from "../lab/Ledger.ts"
import type { Contest } from "./Contests.ts"
import { ask, askJson, fire } from "./Load.ts"
import { type Figure, type Held, type Side, slice, takeTurns } from "./Measure.ts"
import { newPayer, nextOf, offerOf, paymentIn, signMany } from "./Payments.ts"
import * as Store from "./peer/Store.ts"
import type { Servers } from "./Servers.ts"
import { started } from "../lab/Databases.ts"

/** Key of account 6 of the public test mnemonic; anvil gives it gas, and our own relayer is another. */
const facilitatorKey = "0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e"

/** Wallets that pay in turn, with ten thousand play dollars each. */
const wallets = 20

/** How many stones a day the pool of a bench database has room for beyond the usual. */
const room = 1_000_000

export const run = async (
  chosen: ReadonlyArray<Contest>,
  held: Held,
  { databases, serve }: Servers,
): Promise<ReadonlyArray<Figure>> => {
  const count = held.isQuick ? 100 : 500
  held.say("Preparing a chain")
  const layer = LocalChain.layer({ network: Ledger.network, heartbeatMs: 1000, keptBlocks: 600 })
  const { close, service: chain } = await started(LocalChain, layer)
  const payers = Array.from({ length: wallets }, newPayer)
  for (const { address } of payers) await Effect.runPromise(chain.fund(address, 10_000_000_000n))
  const facilitator = await serve("peer/PeerFacilitator.ts", { KEY: facilitatorKey, RPC_URL: chain.rpcUrl })
  const ours = await serve("ours", {
    PUBLIC_URL: Ledger.publicUrl,
    PAY_TO: chain.payTo,
    X402_NETWORK: Ledger.network,
    DATABASE_URL: databases.ours,
    RPC_URL: chain.rpcUrl,
    RELAYER_KEY: Redacted.value(chain.relayerKey),
  })
  // The pool of a day has room for 5,000 stones; here it begins far below.
  const pools = Store.connect(databases.ours)
  for (const days of [0, 1]) {
    const day = new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
    await pools`INSERT INTO payment_pools (name, drawn, highest) VALUES (${`witness:${day}`}, 0, ${-room})`
  }
  await pools.end()

  /** Fresh payments, signed before they are measured. */
  const one = async (side: Side) => {
    const signed = await signMany(await offerOf(ours.url), count, payers)
    if (side === "ours") return slice(ours.pid, () => fire(ours.url, { count }, 201, nextOf(signed)))
    const body = JSON.stringify(signed.map(paymentIn))
    return slice(facilitator.pid, async () => {
      const reply = await ask(facilitator.url, { method: "POST", path: "/work", body })
      if (reply.status !== 200) throw new Error(reply.body.toString())
      return count
    })
  }
  const figures: Array<Figure> = []
  for (const { name, what } of chosen) {
    held.say(`  ${name}`)
    figures.push({ name, what, rounds: await takeTurns(held.rounds, one) })
  }
  const stones: number = (await askJson(ours.url, "/api/witness?limit=1")).head.sequence
  await close()
  if (stones === count * (held.rounds + 1) * chosen.length) return figures
  throw new Error(`${stones} stones were sold`)
}
