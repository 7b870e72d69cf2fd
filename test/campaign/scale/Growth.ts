/** Three servers under load, one killed and one added: nothing is lost, and nothing fails but what the killed one had in hand. */
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { buy, newPurchase, type BuyerOptions, type Purchase } from "../../lab/buyer/Buyer.ts"
import { catalogAt } from "../../lab/buyer/Goods.ts"
import { cluster } from "../../lab/Cluster.ts"
import { random as randomOf } from "../../lab/Random.ts"
import { harness } from "../Harness.ts"
import type { Outcome, Run } from "../Run.ts"

/** The kill is noticed by haproxy's client within this long, milliseconds: earlier requests may have met it. */
const noticed = 100

/** A client that hangs up on its own request after less than this heard no error of ours, ms. */
const hangsUp = 1_000

/** Milliseconds of `performance.now()`; `status` is 0 without an answer. */
interface Request {
  readonly from: number
  readonly until: number
  readonly status: number
  readonly what: string
}

export const growth = async ({ home, log, minutes, seed, size }: Run): Promise<Outcome> => {
  const folder = await home()
  const random = randomOf(`growth/${seed}`)
  const database = await cluster(folder)
  const place = { cluster: database, database: "altar", folder: join(folder, "servers") }
  const on = await harness({ ...place, count: 4, settledBy: "relayer", probe: "/readyz", random, log })
  const purchases: Array<Purchase> = []
  const requests: Array<Request> = []
  const shop: BuyerOptions = {
    url: on.url,
    answers: {
      ...on.answers,
      ask: async (asked, patienceMs) => {
        const from = performance.now()
        const heard = await on.answers.ask(asked, patienceMs)
        if (heard !== undefined || patienceMs >= hangsUp) {
          const what = `${asked.method} ${new URL(asked.url).pathname}`
          requests.push({ from, until: performance.now(), status: heard?.status ?? 0, what })
        }
        return heard
      },
    },
    chainNow: on.chain.now,
    signed: () => Promise.resolve(),
  }
  const violations: Array<string> = []
  try {
    const [first, , , fourth] = on.servers
    if (first === undefined || fourth === undefined) throw new Error("four servers are prepared")
    await on.start(3)
    // haproxy asks a server twice before it sends it a request.
    await setTimeout(1_500)
    const catalog = await catalogAt(on.url)
    const lots = random.fork("buyers")
    const over = new AbortController()
    let end = Infinity
    const buyers = Array.from({ length: size }, async (_, buyer) => {
      for (let turn = 0; !over.signal.aborted; turn += 1) {
        const told = { number: purchases.length, key: "scale", lives: [280, 280] } as const
        const purchase = newPurchase(lots.fork(`${buyer}/${turn}`), catalog, on.wallets, told)
        purchases.push(purchase)
        await buy(shop, purchase, () => performance.now() > end)
      }
    })
    const third = minutes * 20_000
    await setTimeout(third)
    const killed = performance.now()
    await first.kill()
    // Until it has ended, its kernel still takes connections.
    const gone = performance.now()
    log(`${first.name} was killed, and gone ${Math.round(gone - killed)} ms later`)
    await setTimeout(third)
    fourth.start()
    if (!(await fourth.ready(120_000))) violations.push(`${fourth.name} did not start`)
    log(`${fourth.name} was added`)
    await setTimeout(third)
    over.abort()
    end = performance.now() + 120_000
    await Promise.all(buyers)
    const failed = requests.filter(({ status }) => status === 0 || status >= 500)
    const inFlight = failed.filter(({ from, until }) => from <= Math.max(gone, killed + noticed) && until >= killed)
    for (const { from, status, what } of failed.filter((one) => !inFlight.includes(one)))
      violations.push(`${what} was answered ${status} and began ${Math.round(from - killed)} ms after the kill`)
    violations.push(...(await on.rests()))
    const audited = await on.audited()
    violations.push(...audited.violations.map(({ check, what }) => `${check}: ${what}`))
    for (const { key, order, outcome } of purchases)
      if (outcome === undefined) violations.push(`the outcome of ${order.kind} ${key} stays unknown`)
    const counts = {
      purchases: purchases.length,
      settled: purchases.filter(({ outcome }) => outcome?._tag === "Settled").length,
      requests: requests.length,
      "in flight at the killed server": inFlight.length,
      "things examined": audited.checks.reduce((sum, { examined }) => sum + examined, 0),
    }
    return { counts, violations }
  } finally {
    await on.close()
    await database.close()
  }
}
