/** PostgreSQL dies under load and its standby takes over: nothing is lost, or what is lost is found again from the chain. */
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { readChain } from "../../audit/Transfers.ts"
import { buy } from "../../lab/buyer/Buyer.ts"
import { random } from "../../lab/Random.ts"
import type { Outcome, Run } from "../Run.ts"
import { endings, type ServerHarness, serverHarness } from "./ServerHarness.ts"
import { pair } from "./Pair.ts"

/** For so long an asynchronous standby hears nothing before it has to take over, milliseconds. */
const behind = 6_000

/** Promises of the auditor that a log which has stopped does not keep. */
const ofTheLog = /^every stone (?:is in the log|has a proof)/u

/** Nonces of all that the database calls settled. */
const settledIn = async ({ cluster }: ServerHarness) => {
  const rows = await cluster.run("SELECT lower(nonce) AS nonce FROM payment_attempts WHERE state = 'settled'")
  return new Set(rows.map((row) => String(row["nonce"])))
}

/** How many transfers the chain has, and how many of them are in no row. */
const transfersIn = async (on: ServerHarness) => {
  const { transfers } = await readChain(on.chain.rpcUrl, on.chain.asset, on.chain.payTo)
  const known = await settledIn(on)
  return { all: transfers.length, inNoRow: transfers.filter(({ nonce }) => !known.has(nonce)).length }
}

export const failover = async ({ home, log, minutes, seed, size }: Run, isSync: boolean): Promise<Outcome> => {
  const folder = await home()
  const databases = await pair(folder, isSync)
  const place = join(folder, "servers")
  const on = await serverHarness({
    cluster: databases,
    folder: place,
    count: 2,
    random: random(`failover/${seed}`),
    log,
  })
  const violations: Array<string> = []
  try {
    const stop = await on.load(2, size)
    await setTimeout(minutes * 30_000)
    if (!isSync) {
      databases.fallBehind()
      await setTimeout(behind)
    }
    const before = on.purchases.filter(({ outcome }) => outcome?._tag === "Settled")
    const tookMs = await databases.failOver()
    const known = await settledIn(on)
    const forgotten = before.filter(({ signed }) => signed !== undefined && !known.has(signed.authorization.nonce))
    on.pg.leadTo(databases.port())
    on.pg.cutAll()
    log(`the standby took over within ${tookMs.toFixed(0)} ms`)
    await setTimeout(minutes * 30_000)
    await stop()
    violations.push(...(await on.rests()))
    const transfers = await transfersIn(on)
    log(endings(on.purchases))
    if (isSync && forgotten.length + transfers.inNoRow > 0) violations.push("a synchronous standby has lost something")
    if (!isSync && forgotten.length === 0) violations.push("nothing was forgotten, so this run shows nothing")

    // Each buyer resends the same payment with the same key.
    for (const one of forgotten) one.outcome = undefined
    const end = performance.now() + 60_000
    await Promise.all(forgotten.map((one) => buy(on.shop, one, () => performance.now() > end)))
    if (forgotten.length > 0) log(`they were shown again: ${endings(forgotten)}`)
    violations.push(...(await on.rests()))
    const after = await transfersIn(on)
    if (after.all !== transfers.all) violations.push("showing a payment again has charged somebody")
    // A slot that another buyer got cannot be sold again: that payment is the operator's to refund.
    const refused = forgotten.filter(({ outcome }) => outcome?._tag !== "Settled").length
    if (after.inNoRow > refused) violations.push(`${after.inNoRow} transfers are in no row, ${refused} were refused`)
    // Answers that were forgotten are no longer true: stones have other numbers.
    const { examined, violations: found } = await on.judged(isSync)
    const [head] = await databases.run("SELECT stopped_reason FROM log_head WHERE id = 1")
    const stopped = head?.["stopped_reason"] ?? null
    if (stopped !== null) log(`the transparency log is stopped: ${String(stopped)}`)
    if (!isSync && stopped === null && forgotten.some(({ order }) => order.kind === "stone")) {
      violations.push("stones that were signed are forgotten, and the log goes on")
    }
    const isExpected = (check: string) =>
      !isSync && ((stopped !== null && ofTheLog.test(check)) || check === "a transfer buys one act")
    violations.push(...found.filter(({ check }) => !isExpected(check)).map(({ check, what }) => `${check}: ${what}`))
    const counts = {
      purchases: on.purchases.length,
      "answered before the kill": before.length,
      "forgotten by the standby": forgotten.length,
      transfers: transfers.all,
      "transfers in no row": after.inNoRow,
      "things examined": examined,
    }
    return { counts, violations }
  } finally {
    await on.close()
    await databases.close()
  }
}
