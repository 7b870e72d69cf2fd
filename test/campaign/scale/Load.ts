/** Buyers who go on buying until they are told to stop, and every request of theirs with the time it took. */
import type { Answers } from "../../lab/buyer/Answers.ts"
import { buy, type Purchase, type Shop } from "../../lab/buyer/Buyer.ts"
import { catalogAt, order } from "../../lab/buyer/Goods.ts"
import type { Random } from "../../lab/Random.ts"
import type { Ground } from "./Ground.ts"

/** Milliseconds of `performance.now()`; `status` is 0 where no answer came. */
export interface Request {
  readonly from: number
  readonly until: number
  readonly status: number
  readonly what: string
}

export interface Load {
  readonly purchases: ReadonlyArray<Purchase>
  readonly requests: ReadonlyArray<Request>
  readonly shop: Shop
  /** No purchase is begun any more; answers when each that was has its outcome, or two minutes are over. */
  readonly stop: () => Promise<void>
}

/** A client that hangs up on its own request after less than this heard no error of ours, ms. */
const hangsUp = 1_000

export const load = async (on: Ground, buyers: number, random: Random): Promise<Load> => {
  const purchases: Array<Purchase> = []
  const requests: Array<Request> = []
  const answers: Answers = {
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
  }
  const shop: Shop = { url: on.url, answers, chainNow: on.chain.now, signed: () => Promise.resolve() }
  const catalog = await catalogAt(on.url)
  const over = new AbortController()
  let end = Infinity
  const workers = Array.from({ length: buyers }, async (_, worker) => {
    for (let turn = 0; !over.signal.aborted; turn += 1) {
      const chance = random.fork(`${worker}/${turn}`)
      const purchase: Purchase = {
        number: purchases.length,
        order: order(chance, catalog),
        key: `scale-${chance.hex(12)}`,
        wallet: chance.pick(on.wallets),
        random: chance,
        address: `10.${chance.below(250)}.${chance.below(250)}.${1 + chance.below(250)}`,
        lives: 280,
        signed: undefined,
        granted: undefined,
        outcome: undefined,
        startedAt: Date.now(),
        endedAt: undefined,
      }
      purchases.push(purchase)
      await buy(shop, purchase, () => performance.now() > end)
    }
  })
  return {
    purchases,
    requests,
    shop,
    stop: async () => {
      over.abort()
      end = performance.now() + 120_000
      await Promise.all(workers)
    },
  }
}

/** How many purchases ended how. */
export const endings = (purchases: ReadonlyArray<Purchase>) => {
  const sums = new Map<string, number>()
  for (const { outcome } of purchases) {
    const what =
      outcome === undefined ? "open" : "reason" in outcome ? `${outcome._tag}: ${outcome.reason}` : outcome._tag
    sums.set(what, (sums.get(what) ?? 0) + 1)
  }
  return [...sums].map(([what, count]) => `${count} ${what}`).join(", ")
}
