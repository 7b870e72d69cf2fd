/** Pages over all acts: the list with its filters and its search, and a wallet's page. */
import { Clock, Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Acts } from "../altar/Acts.ts"
import { Frame } from "./Frame.ts"
import * as Pages from "./Pages.ts"
import { searching } from "./Search.ts"
import { actReader } from "./templates/ActList.ts"
import { addressOf, allActs, fits, isKind, kinds } from "./templates/AllActs.ts"

/** Acts on a page. */
const most = 50

const noWalletHere = "A wallet is written as 0x and 40 hexadecimal digits; this address has something else."

const choiceOf = ({ query, spirit }: Pages.Asked, wallet?: string) => {
  const kind = query.get("kind") ?? ""
  return { kind: isKind(kind) ? kind : undefined, spirit, wallet }
}

export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const acts = yield* Acts
    const { actsOf } = yield* actReader
    const frame = yield* Frame
    const find = yield* searching
    const page = Pages.pagesOn(router, frame)

    const list = Effect.fnUntraced(function* (asked: Pages.Asked, wallet?: string) {
      const choice = choiceOf(asked, wallet)
      const { before } = asked
      const { kind, spirit } = choice
      const filter = { acts: kind === undefined ? undefined : kinds[kind][1], spirit, wallet }
      const listed = yield* acts.list(most, before, filter)
      const shown = { ...choice, asked: "", before, next: listed.next, now: yield* Clock.currentTimeMillis }
      return allActs({ ...shown, acts: yield* actsOf(listed.acts) })
    })

    yield* page(
      "/v2/acts",
      Effect.fnUntraced(function* (asked) {
        const words = asked.query.get("q")?.slice(0, 300).trim() ?? ""
        if (words === "") return yield* list(asked)
        const choice = choiceOf(asked)
        const answer = yield* find(words)
        if (typeof answer === "string") {
          const wallet = /^\/v2\/wallets\/(.*)$/u.exec(answer)?.[1]
          const path = wallet === undefined ? answer : addressOf({ ...choice, wallet })
          return HttpServerResponse.redirect(path, { status: 303 })
        }
        const shown = { ...choice, asked: words, before: undefined, next: null, now: yield* Clock.currentTimeMillis }
        return allActs({ ...shown, acts: answer.filter(fits(choice)) })
      }),
    )
    yield* page("/v2/wallets/:name", (asked) =>
      /^0x[0-9a-fA-F]{40}$/u.test(asked.name)
        ? list(asked, asked.name.toLowerCase())
        : Effect.succeed(Pages.notFound(frame, asked.request, noWalletHere)),
    )
  }),
)
