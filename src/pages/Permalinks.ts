/** Permalinks answer a browser with a page and a program with the record, under one permanent address. */
import { Clock, Effect, Option } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import type { ActAnswer } from "../../schema/altar/ActApi.ts"
import { ActNotFound } from "../../schema/payments/Act.ts"
import { NotAcceptable } from "../../schema/Errors.ts"
import { ListedStone, WitnessNotFound } from "../../schema/altar/Witness.ts"
import { Acts } from "../altar/Acts.ts"
import { Catalogs } from "../altar/collectibles/Catalogs.ts"
import { brokenLink, encoderOf } from "../altar/Answers.ts"
import { WitnessStones } from "../altar/witness/WitnessStones.ts"
import { PublishedLog } from "../log/PublishedLog.ts"
import { preferred } from "../http/Accept.ts"
import { fresh, refuse } from "../http/Responses.ts"
import { jsonOf, JsonText } from "../platform/JsonText.ts"
import { surroundings } from "./Frame.ts"
import { ReceiptKeys } from "../payments/Receipt.ts"
import * as ActPage from "./templates/Act.ts"
import { actReader } from "./templates/ActList.ts"
import type { Page } from "./templates/Layout.ts"
import { receiptOf } from "./templates/RecordTable.ts"
import * as StonePage from "./templates/Stone.ts"
import * as Pages from "./Pages.ts"

/** Without a preference, a page. */
const kinds = ["text/html", "application/json"] as const

const encodeStone = encoderOf(ListedStone)

type Missing = ActNotFound | WitnessNotFound

const isMissing = (error: Missing | Pages.Unreadable): error is Missing => "code" in error

/** A record in both forms; the page is rendered only on request. */
interface Content {
  readonly json: string
  readonly page: Effect.Effect<Page, Pages.Unreadable>
}

type Find = (id: string) => Effect.Effect<Content, Missing | Pages.Unreadable>

const nothing =
  "Nothing is recorded under this address. Its payment may still be pending, or the address may have been cut short."

const malformed = "This address names no record: it may have been cut short. Open the whole link again."

const varied = (response: HttpServerResponse.HttpServerResponse) => {
  const { vary } = response.headers
  return HttpServerResponse.setHeader(response, "vary", vary === undefined ? "accept" : `accept, ${vary}`)
}

export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const acts = yield* Acts
    const { actOf } = yield* actReader
    const stones = yield* WitnessStones
    const frame = yield* surroundings
    const { publicUrl } = frame
    const payment = { ...(yield* Catalogs).payment, ...frame }
    const isSigning = (yield* ReceiptKeys) !== undefined
    const log = Option.getOrUndefined((yield* PublishedLog).identity)

    const act: Find = (id) =>
      Effect.map(acts.get(id), (text): Content => ({
        json: jsonOf<typeof ActAnswer.Type>({ ok: true, act: new JsonText(text) }),
        page: Effect.zipWith(actOf(text), Clock.currentTimeMillis, (act, now) =>
          ActPage.act(act, now, isSigning, payment),
        ),
      }))

    const stone: Find = (id) =>
      Effect.flatMap(stones.get(id), ({ dated, receipt, stone: row }) =>
        Effect.map(encodeStone(row), (json): Content => ({
          json: JSON.stringify({ ok: true, stone: json, receipt, dated }),
          page: Effect.zipWith(receiptOf(receipt), stones.list(1, undefined), (view, { head }) =>
            StonePage.stone({ stone: row, dated, newest: head.sequence, receipt: view, publicUrl, log, isSigning }),
          ),
        })),
      )

    const permalink = (path: "/acts/:id" | "/witness/:id", find: Find, missing: () => Missing) =>
      router.add("GET", path, (request) =>
        Effect.flatMap(HttpRouter.params, ({ id = "" }) => {
          const kind = preferred(request.headers["accept"], kinds)
          if (kind === undefined) return Effect.succeed(refuse(new NotAcceptable({})))
          const content = Pages.isUuid(id) ? find(id) : Effect.fail(missing())
          if (kind === "application/json")
            return content.pipe(
              Effect.flatMap(({ json }) => fresh(request, json)),
              Effect.catchIf(isMissing, (error) => Effect.succeed(refuse(error))),
              Effect.catchTag("ChainBroken", (error) => Effect.succeed(refuse(brokenLink("stone", error)))),
            )
          const page = content.pipe(
            Effect.flatMap(({ page }) => page),
            Effect.flatMap((shown) => Pages.page(frame, request, shown)),
            Effect.catchIf(isMissing, () =>
              Effect.succeed(Pages.notFound(frame, Pages.isUuid(id) ? nothing : malformed)),
            ),
          )
          return Pages.guarded(frame, page)
        }).pipe(Effect.map(varied)),
      )

    for (const path of ["/acts/:id", "/witness/:id"] as const) yield* Pages.slashed(router, path)
    yield* permalink("/acts/:id", act, () => new ActNotFound({}))
    yield* permalink("/witness/:id", stone, () => new WitnessNotFound({}))
  }),
)
