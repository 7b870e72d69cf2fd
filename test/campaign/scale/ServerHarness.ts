/** Buyers who buy from several servers without a pause, and the time and status of each of their requests. */
import { setTimeout } from "node:timers/promises"
import { buy, newPurchase, type Purchase, type BuyerOptions } from "../../lab/buyer/Buyer.ts"
import { catalogAt } from "../../lab/buyer/Goods.ts"
import { harness, type HarnessOptions } from "../Harness.ts"

/** Milliseconds of `performance.now()`; `status` is 0 without an answer. */
interface Request {
  readonly from: number
  readonly until: number
  readonly status: number
  readonly what: string
}

/** A client that hangs up on its own request after less than this heard no error of ours, ms. */
const hangsUp = 1_000

export const serverHarness = async (
  options: Pick<HarnessOptions, "cluster" | "count" | "folder" | "log" | "random">,
) => {
  const on = await harness({ ...options, database: "altar", settledBy: "relayer", probe: "/readyz" })
  const { answers, chain, url } = on
  const purchases: Array<Purchase> = []
  const requests: Array<Request> = []
  const shop: BuyerOptions = {
    url,
    answers: {
      ...answers,
      ask: async (asked, patienceMs) => {
        const from = performance.now()
        const heard = await answers.ask(asked, patienceMs)
        if (heard !== undefined || patienceMs >= hangsUp) {
          const what = `${asked.method} ${new URL(asked.url).pathname}`
          requests.push({ from, until: performance.now(), status: heard?.status ?? 0, what })
        }
        return heard
      },
    },
    chainNow: chain.now,
    signed: () => Promise.resolve(),
  }
  return {
    ...on,
    shop,
    purchases,
    requests,
    /** Starts the first servers and the buyers; answers what stops the buyers. */
    load: async (running: number, buyers: number) => {
      await on.start(running)
      // haproxy asks a server twice before it sends it a request.
      await setTimeout(1_500)
      const catalog = await catalogAt(url)
      const over = new AbortController()
      const chance = options.random.fork("buyers")
      let end = Infinity
      const workers = Array.from({ length: buyers }, async (_, worker) => {
        for (let turn = 0; !over.signal.aborted; turn += 1) {
          const told = { number: purchases.length, key: "scale", lives: [280, 280] } as const
          const purchase = newPurchase(chance.fork(`${worker}/${turn}`), catalog, on.wallets, told)
          purchases.push(purchase)
          await buy(shop, purchase, () => performance.now() > end)
        }
      })
      return async () => {
        over.abort()
        end = performance.now() + 120_000
        await Promise.all(workers)
      }
    },
    /** The auditor's findings, and the unknown outcomes; without the answers where they are known to be lost. */
    judged: async (withAnswers: boolean) => {
      const { checks, violations } = await on.audited(withAnswers ? {} : { answersFile: null })
      const open = purchases.filter(({ outcome }) => outcome === undefined).length
      const unknown = open === 0 ? [] : [{ check: "every outcome is known", what: `${open} outcomes stay unknown` }]
      return {
        examined: checks.reduce((sum, { examined }) => sum + examined, 0),
        violations: [...violations, ...unknown],
      }
    },
  }
}

export type ServerHarness = Awaited<ReturnType<typeof serverHarness>>

/** The number of purchases by their ends. */
export const endings = (purchases: ReadonlyArray<Purchase>) => {
  const whatOf = ({ outcome }: Purchase) =>
    outcome === undefined ? "open" : "reason" in outcome ? `${outcome._tag}: ${outcome.reason}` : outcome._tag
  return [...Map.groupBy(purchases, whatOf)].map(([what, all]) => `${all.length} ${what}`).join(", ")
}
