/** PostgreSQL dies under load and its standby takes over: nothing is lost, or what is lost is found again from the chain. */
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { readChain } from "../fire/audit/Transfers.ts"
import { buy } from "../fire/Buyer.ts"
import { random as randomOf } from "../fire/Random.ts"
import { type Ground, ground } from "./Ground.ts"
import { endings, load } from "./Load.ts"
import type { Run } from "./Options.ts"
import { pair } from "./Pair.ts"

/** For so long an asynchronous standby hears nothing before it has to take over, milliseconds. */
const behind = 2_000

/** Nonces of transfers to us that no settled attempt knows. */
const lostIn = async ({ chain, cluster }: Ground) => {
  const { transfers } = await readChain(chain.rpcUrl, chain.asset, chain.payTo, "latest")
  const rows = await cluster.run("SELECT lower(nonce) AS nonce FROM payment_attempts WHERE state = 'settled'")
  const known = new Set(rows.map((row) => String(row["nonce"])))
  return {
    transfers: transfers.length,
    lost: new Set(transfers.map(({ nonce }) => nonce).filter((one) => !known.has(one))),
  }
}

export const failover = async (
  { buyers, folder, log, seconds, seed }: Run,
  isSync: boolean,
): Promise<ReadonlyArray<string>> => {
  const random = randomOf(`failover/${seed}`)
  const databases = await pair(folder, isSync)
  const on = await ground({ cluster: databases, folder: join(folder, "servers"), servers: 2, random, log })
  const violations: Array<string> = []
  try {
    for (const one of on.servers) one.start()
    for (const one of on.servers) {
      if (!(await one.ready(120_000))) throw new Error(`${one.name} did not start: see ${folder}`)
    }
    await setTimeout(1_500)
    const running = await load(on, buyers, random.fork("buyers"))
    await setTimeout((seconds * 1_000) / 2)
    if (!isSync) {
      databases.fallBehind()
      await setTimeout(behind)
    }
    const before = running.purchases.filter(({ outcome }) => outcome?._tag === "Settled")
    const tookMs = await databases.failOver()
    on.database.leadTo([databases.port()])
    on.database.cutAll()
    log(
      `the standby took over within ${tookMs.toFixed(0)} ms, after ${before.length} acts had been answered as settled`,
    )
    await setTimeout((seconds * 1_000) / 2)
    await running.stop()
    violations.push(...(await on.rests()))
    const { lost, transfers } = await lostIn(on)
    log(`${running.purchases.length} purchases: ${endings(running.purchases)}`)
    log(`${transfers} transfers on the chain, ${lost.size} of them in no row`)
    if (isSync && lost.size > 0) violations.push(`${lost.size} transfers are lost`)

    // Whoever has paid shows the same payment again, with the same key.
    const again = running.purchases.filter(({ signed }) => signed !== undefined && lost.has(signed.nonce.toLowerCase()))
    const answered = again.filter(({ outcome }) => outcome?._tag === "Settled").length
    for (const one of again) one.outcome = undefined
    const end = performance.now() + 60_000
    await Promise.all(again.map((one) => buy(running.shop, one, () => performance.now() > end)))
    violations.push(...(await on.rests()))
    const after = await lostIn(on)
    if (!isSync) {
      if (again.length === 0)
        violations.push("nothing was lost: the standby was not behind, and this run shows nothing")
      log(`${again.length} were lost, ${answered} of them after their answer; shown again: ${endings(again)}`)
      log(`${after.lost.size} transfers stay in no row; ${after.transfers - transfers} more were charged meanwhile`)
    }
    if (after.transfers !== transfers) violations.push("showing a payment again has charged somebody")
    const open = running.purchases.filter(({ outcome }) => outcome === undefined).length
    if (open > 0) violations.push(`${open} outcomes stay unknown`)
    // Answers that were lost with their rows are no longer true: stones have other numbers.
    const { violations: found } = await on.audited(isSync ? on.answers.file : null)
    violations.push(...found.map(({ check, what }) => `${check}: ${what}`))
    return violations
  } finally {
    await on.close()
    await databases.close()
  }
}
