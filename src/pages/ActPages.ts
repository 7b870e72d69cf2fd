/** Pages over all acts: the list with its filters and its search, and a wallet's page. */
import { Clock, Effect, Layer } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Acts } from "../altar/Acts.ts"
import { Frame } from "./Frame.ts"
import * as Pages from "./Pages.ts"
import { Search } from "./Search.ts"
import { actReader } from "./templates/ActList.ts"
import { addressOf, allActs, fits, isKind, kinds } from "./templates/AllActs.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Acts on a page. */
const most = 50

const isWallet = (text: string) => /^0x[0-9a-fA-F]{40}$/u.test(text)

const noWalletHere = "A wallet is written as 0x and 40 hexadecimal digits; this address has something else."

const choiceOf = (query: URLSearchParams) => {
  const [kind, spirit] = [query.get("kind") ?? "", query.get("spirit") ?? ""]
  return { kind: isKind(kind) ? kind : undefined, spirit: Pages.isSpirit(spirit) ? spirit : undefined }
}

const routes = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const acts = yield* Acts
    const { actsOf } = yield* actReader
    const frame = yield* Frame
    const search = yield* Search

    const list = Effect.fnUntraced(function* (request: Request, wallet: string | undefined) {
      const query = Pages.urlOf(request).searchParams
      const choice = { ...choiceOf(query), wallet }
      const from = query.get("before") ?? ""
      const before = Pages.isUuid(from) ? from : undefined
      const { kind, spirit } = choice
      const filter = { acts: kind === undefined ? undefined : kinds[kind][1], spirit, wallet }
      const listed = yield* acts.list(most, before, filter)
      const shown = { ...choice, asked: "", before, next: listed.next, now: yield* Clock.currentTimeMillis }
      return yield* Pages.page(frame, request, allActs({ ...shown, acts: yield* actsOf(listed.acts) }))
    })

    const find = Effect.fnUntraced(function* (request: Request, asked: string) {
      const choice = { ...choiceOf(Pages.urlOf(request).searchParams), wallet: undefined }
      const answer = yield* search.find(asked)
      if (answer._tag === "Page") {
        const wallet = /^\/v2\/wallets\/(.*)$/u.exec(answer.path)?.[1]
        const path = wallet === undefined ? answer.path : addressOf({ ...choice, wallet })
        return HttpServerResponse.redirect(path, { status: 303 })
      }
      const shown = { ...choice, asked, before: undefined, next: null, now: yield* Clock.currentTimeMillis }
      return yield* Pages.page(frame, request, allActs({ ...shown, acts: answer.acts.filter(fits(choice)) }))
    })

    yield* router.add("GET", "/v2/acts", (request) => {
      const asked = Pages.urlOf(request).searchParams.get("q")?.slice(0, 300).trim() ?? ""
      return Pages.guarded(frame, asked === "" ? list(request, undefined) : find(request, asked))
    })
    yield* router.add("GET", "/v2/wallets/:wallet", (request) =>
      Effect.flatMap(HttpRouter.params, ({ wallet = "" }) =>
        isWallet(wallet)
          ? Pages.guarded(frame, list(request, wallet.toLowerCase()))
          : Effect.succeed(Pages.notFound(frame, request, noWalletHere)),
      ),
    )
  }),
)

export const layer = routes.pipe(Layer.provide(Search.layer))
