/** Paid stones settled on a chain of this machine: by our own relayer, by the stock facilitator alone, and by its whole loop. */
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import type { Contest } from "./Contests.ts"
import * as Databases from "../lab/Databases.ts"
import * as Ledger from "../lab/Ledger.ts"
import { ofRates } from "./Figures.ts"
import { ask, askJson, fire } from "./Load.ts"
import { newPayer, offerOf, paymentIn, signMany } from "./Payments.ts"
import * as Store from "./peer/Store.ts"
import { cpuSeconds } from "../lab/Processes.ts"
import { serving } from "../lab/server/Programs.ts"
import type { Held, Outcome } from "./Running.ts"
import { type Side, slice, takeTurns } from "./Rounds.ts"

/** Key of account 6 of the public test mnemonic; anvil gives it gas, and our own relayer is another. */
const facilitatorKey = "0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e"

/** Wallets that pay in turn, with ten thousand play dollars each. */
const wallets = 20

/** How many stones a day the pool of a bench database has room for beyond the usual. */
const room = 1_000_000

export const run = async (chosen: ReadonlyArray<Contest>, held: Held): Promise<Outcome> => {
  const outcome: Outcome = { figures: [] }
  const count = held.isQuick ? 100 : 500
  const scope = Scope.makeUnsafe()
  const databases = await Databases.open()
  const peerSql = Store.connect(databases.peer)
  const { close, serve } = serving()
  try {
    held.say("Preparing a chain")
    const chain = await Effect.runPromise(
      Layer.build(LocalChain.layer({ network: Ledger.network, heartbeatMs: 1000, keptBlocks: 600 })).pipe(
        Effect.flatMap((context) => Effect.provideContext(LocalChain, context)),
        Scope.provide(scope),
      ),
    )
    const payers = Array.from({ length: wallets }, newPayer)
    for (const { address } of payers) await Effect.runPromise(chain.fund(address, 10_000_000_000n))
    await Store.createTables(peerSql)

    const common = { PUBLIC_URL: Ledger.publicUrl, PAY_TO: chain.payTo }
    const facilitator = await serve("bench/peer/PeerFacilitator.ts", { KEY: facilitatorKey, RPC_URL: chain.rpcUrl })
    const ours = await serve("../src/start.js", {
      ...common,
      X402_NETWORK: Ledger.network,
      DATABASE_URL: databases.ours,
      RPC_URL: chain.rpcUrl,
      RELAYER_KEY: Redacted.value(chain.relayerKey),
    })
    const loop = await serve("bench/peer/Server.ts", {
      ...common,
      FACILITATOR_URL: facilitator.url,
      DATABASE_URL: databases.peer,
    })

    /** Fresh payments for a server, signed before they are measured. */
    const signed = async (url: string) => [...(await signMany(await offerOf(url), count, payers))]
    const fromHttp = async ({ pid, url }: typeof ours) => {
      const shots = await signed(url)
      const next = () => {
        const shot = shots.pop()
        if (shot === undefined) throw new Error("no signed payment is left")
        return shot
      }
      return slice(
        () => cpuSeconds(pid),
        () => fire(url, { count }, 201, next),
      )
    }
    const alone = async () => {
      const body = JSON.stringify((await signed(loop.url)).map(paymentIn))
      return slice(
        () => cpuSeconds(facilitator.pid),
        async () => {
          const reply = await ask(facilitator.url, { method: "POST", path: "/work", body })
          if (reply.status !== 200) throw new Error(reply.body.toString())
          return count
        },
      )
    }
    let settled = 0

    // The pool of a day has room for 5,000 stones; here it begins far below.
    const pools = Store.connect(databases.ours)
    for (const days of [0, 1]) {
      const day = new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
      await pools`INSERT INTO payment_pools (name, drawn, highest) VALUES (${`witness:${day}`}, 0, ${-room})`
    }
    await pools.end()

    for (const contest of chosen) {
      held.say(`  ${contest.name}`)
      settled += count * (held.rounds + 1)
      const peer = contest.name === "relayer" ? alone : () => fromHttp(loop)
      const one = (side: Side) => (side === "ours" ? fromHttp(ours) : peer())
      outcome.figures.push(ofRates(contest, await takeTurns(held.rounds, one)))
    }
    const stones: number = (await askJson(ours.url, "/api/witness?limit=1")).head.sequence
    if (stones !== settled) throw new Error(`${stones} stones instead of ${settled}`)
    return { ...outcome, about: databases.about }
  } finally {
    await close()
    await peerSql.end()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await databases.close()
  }
}
