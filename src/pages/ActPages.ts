/** Pages over all acts: the list with its filters, a wallet's page, and the search. */
import { Clock, Effect, Layer } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Acts } from "../altar/Acts.ts"
import { WitnessStones } from "../altar/witness/WitnessStones.ts"
import { Frame } from "./Frame.ts"
import * as Pages from "./Pages.ts"
import { Search } from "./Search.ts"
import { actReader } from "./templates/ActList.ts"
import { allActs, isKind, kinds } from "./templates/AllActs.ts"
import { searchPage } from "./templates/SearchPage.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Acts on a page. */
const most = 50

const isWallet = (text: string) => /^0x[0-9a-fA-F]{40}$/u.test(text)

const noWalletHere = "A wallet is written as 0x and 40 hexadecimal digits; this address has something else."

const routes = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const acts = yield* Acts
    const { actsOf } = yield* actReader
    const frame = yield* Frame
    const search = yield* Search
    const stones = yield* WitnessStones

    /** `own` is the wallet of the page; otherwise the query may name one. */
    const list = Effect.fnUntraced(function* (request: Request, own: string | undefined) {
      const query = Pages.urlOf(request).searchParams
      const typed = (own ?? query.get("wallet") ?? "").slice(0, 100).trim()
      const wallet = isWallet(typed) ? typed.toLowerCase() : undefined
      const noWallet = typed === "" || wallet !== undefined ? undefined : typed
      if (own !== undefined && wallet === undefined) return Pages.notFound(frame, request, noWalletHere)
      const [kindName, spiritName, from] = [
        query.get("kind") ?? "",
        query.get("spirit") ?? "",
        query.get("before") ?? "",
      ]
      const kind = isKind(kindName) ? kindName : undefined
      const spirit = Pages.isSpirit(spiritName) ? spiritName : undefined
      const before = Pages.isUuid(from) ? from : undefined
      const filter = { acts: kind === undefined ? undefined : kinds[kind][1], spirit, wallet }
      const now = yield* Clock.currentTimeMillis
      const nothing = { found: { acts: [], next: null }, days: [] }
      const { days, found } =
        noWallet === undefined
          ? yield* Effect.all(
              { found: acts.list(most, before, filter), days: acts.days(filter) },
              { concurrency: "unbounded" },
            )
          : nothing
      const shown = { kind, spirit, wallet, noWallet, before, next: found.next, isWallet: own !== undefined, now }
      return yield* Pages.page(frame, request, allActs({ acts: yield* actsOf(found.acts), days, ...shown }))
    })

    const find = Effect.fnUntraced(function* (request: Request) {
      const asked = Pages.urlOf(request).searchParams.get("q")?.slice(0, 300).trim() ?? ""
      if (asked === "") return yield* Pages.page(frame, request, searchPage(undefined))
      const { head } = yield* stones.list(1, undefined)
      const answer = yield* search.find(asked, head)
      return answer._tag === "Page"
        ? HttpServerResponse.redirect(answer.path, { status: 303 })
        : yield* Pages.page(frame, request, searchPage(answer.found))
    })

    yield* router.add("GET", "/v2/acts", (request) => Pages.guarded(frame, list(request, undefined)))
    yield* router.add("GET", "/v2/wallets/:wallet", (request) =>
      Effect.flatMap(HttpRouter.params, ({ wallet }) => Pages.guarded(frame, list(request, wallet ?? ""))),
    )
    yield* router.add("GET", "/v2/search", (request) => Pages.guarded(frame, find(request)))
  }),
)

export const layer = routes.pipe(Layer.provide(Search.layer))
