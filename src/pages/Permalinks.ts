/** Permalinks answer a browser with a page and a program with the record, under one permanent address. */
import { Clock, Effect, Option } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { ActAnswer } from "../../schema/altar/ActApi.ts"
import { ActNotFound } from "../../schema/payments/Act.ts"
import { NotAcceptable } from "../../schema/Errors.ts"
import { ListedStone, WitnessNotFound } from "../../schema/altar/Witness.ts"
import { Acts } from "../altar/Acts.ts"
import { brokenLink, encoderOf } from "../altar/Answers.ts"
import { WitnessStones } from "../altar/witness/WitnessStones.ts"
import { PublishedLog } from "../log/PublishedLog.ts"
import { preferred } from "../http/Accept.ts"
import { fresh, refuse } from "../http/Responses.ts"
import { jsonOf, JsonText } from "../platform/JsonText.ts"
import { Frame } from "./Frame.ts"
import { ReceiptKeys } from "../payments/Receipt.ts"
import * as ActPage from "./templates/Act.ts"
import { actReader } from "./templates/ActList.ts"
import type { Page } from "./templates/Layout.ts"
import { receiptOf } from "./templates/RecordTable.ts"
import * as StonePage from "./templates/Stone.ts"
import * as Pages from "./Pages.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Without a preference, a page. */
const kinds = ["text/html", "application/json"] as const

type Kind = (typeof kinds)[number]

const encodeStone = encoderOf(ListedStone)

type Missing = ActNotFound | WitnessNotFound

const isMissing = (error: Missing | Pages.Unreadable): error is Missing => "code" in error

type Find = (id: string) => Effect.Effect<Found, Missing | Pages.Unreadable>

interface Nothing {
  readonly refusal: () => Missing
  readonly words: string
}

/** A record in both forms; the page is rendered only on request. */
interface Found {
  readonly json: string
  readonly page: Effect.Effect<Page, Pages.Unreadable>
}

export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const acts = yield* Acts
    const { actOf } = yield* actReader
    const stones = yield* WitnessStones
    const frame = yield* Frame
    const { publicUrl } = frame
    const isSigning = (yield* ReceiptKeys) !== undefined
    const log = Option.getOrUndefined((yield* PublishedLog).identity)

    const act: Find = (id) =>
      Effect.map(acts.get(id), (text): Found => ({
        json: jsonOf<typeof ActAnswer.Type>({ ok: true, act: new JsonText(text) }),
        page: Effect.gen(function* () {
          const one = yield* actOf(text)
          const id = ActPage.candleIdOf(one)
          const candle =
            id === ""
              ? undefined
              : yield* acts.get(id).pipe(
                  Effect.flatMap(actOf),
                  Effect.catchIf(
                    (error) => error instanceof ActNotFound,
                    () => Effect.undefined,
                  ),
                )
          return ActPage.act(one, yield* Clock.currentTimeMillis, isSigning, candle)
        }),
      }))

    const stone: Find = (id) =>
      Effect.flatMap(stones.get(id), ({ receipt, stone: one }) =>
        Effect.map(encodeStone(one), (json): Found => ({
          json: JSON.stringify({ ok: true, stone: json, receipt }),
          page: Effect.zipWith(receiptOf(receipt), stones.list(1, undefined), (read, { head }) =>
            StonePage.stone({ stone: one, newest: head.sequence, receipt: read, publicUrl, log, isSigning }),
          ),
        })),
      )

    const respond = (request: Request, kind: Kind, found: Found) =>
      kind === "application/json"
        ? fresh(request, found.json)
        : Effect.flatMap(found.page, (page) => Pages.page(frame, request, page))

    const answer = (request: Request, id: string, find: Find, nothing: Nothing) => {
      const kind = preferred(request.headers["accept"], kinds)
      if (kind === undefined) return Effect.succeed(refuse(new NotAcceptable({})))
      const missing = () => {
        const refusal = nothing.refusal()
        return kind === "application/json" ? refuse(refusal) : Pages.notFound(frame, request, nothing.words)
      }
      if (!Pages.isUuid(id)) return Effect.succeed(missing())
      const found = find(id).pipe(
        Effect.flatMap((one) => respond(request, kind, one)),
        Effect.catchIf(isMissing, () => Effect.succeed(missing())),
      )
      return kind === "text/html"
        ? Pages.guarded(frame, found)
        : Effect.catchTag(found, "ChainBroken", (error) => Effect.succeed(refuse(brokenLink("stone", error))))
    }

    const varied = (response: HttpServerResponse.HttpServerResponse) =>
      HttpServerResponse.setHeader(
        response,
        "vary",
        response.headers["vary"] === undefined ? "accept" : `accept, ${response.headers["vary"]}`,
      )

    const permalink = (path: "/acts/:id" | "/witness/:id", find: Find, nothing: Nothing) =>
      router.add("GET", path, (request) =>
        Effect.flatMap(HttpRouter.params, ({ id }) => Effect.map(answer(request, id ?? "", find, nothing), varied)),
      )

    yield* permalink("/acts/:id", act, noAct)
    yield* permalink("/witness/:id", stone, noStone)
  }),
)

const noAct: Nothing = {
  refusal: () => new ActNotFound({}),
  words:
    "No act is recorded under this address. Its payment may still be pending, or the address may have been cut short.",
}

const noStone: Nothing = {
  refusal: () => new WitnessNotFound({}),
  words:
    "No stone is set under this address. Its payment may still be pending, or the address may have been cut short.",
}
