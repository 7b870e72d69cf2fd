/** The pages of the site, and one page of each kind of act that others have left. */
import { buy } from "../buyer/Purchase.ts"
import { Effect } from "effect"
import { ask, TestServer } from "../Fixture.ts"
import { fillGuide, createActs } from "./Guide.ts"

/** Pages of the guide, each held to the budget of a page. */
const guided = `/v2/ /v2/spirits/moss-hare /v2/spirits/quartz-elephant /v2/spirits/rain-crow /v2/candles
  /v2/candles?spirit=dew-spider /v2/stone /v2/witness /v2/acts /v2/acts?kind=candle&spirit=dew-spider
  /v2/acts?q=0x${"1".repeat(40)} /v2/acts?q=nothing /v2/wallets/0x${"1".repeat(40)} /v2/catalog /v2/mine /acts/lost /v2/spirits/unicorn`.split(
  /\s+/u,
)

export const beside = "/verify /v2/nowhere /terms /privacy /for-agents /docs /docs/errors /signals/".split(" ")

interface Listed {
  readonly acts: ReadonlyArray<{
    readonly act: string
    readonly permalink: string
    readonly receipt: { readonly payer: string; readonly transaction: string }
  }>
}

export const guidePaths = Effect.gen(function* () {
  const { url } = yield* TestServer
  const listed = Effect.map(ask(`${url}/api/acts?limit=50`), ({ text }): Listed => JSON.parse(text))
  if ((yield* listed).acts.length === 0) {
    yield* createActs
    yield* buy("/api/candles/day/moss-hare", { dedication: "For Grandma, who kept bees" })
    yield* fillGuide
  }
  const { acts } = yield* listed
  const kinds = new Map(acts.map(({ act, permalink }) => [act, new URL(permalink).pathname]))
  const paid = acts.slice(0, 1).flatMap(({ receipt: { payer } }) => [`/v2/acts?q=${payer}`, `/v2/wallets/${payer}`])
  return [...guided, ...kinds.values(), ...paid]
})
