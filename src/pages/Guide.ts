/** The field guide's pages: each reads its services once and is rendered as a whole document. */
import { Clock, DateTime, Effect, Option } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Acts } from "../altar/Acts.ts"
import { CandleWall } from "../altar/candles/CandleWall.ts"
import { Catalogs } from "../altar/collectibles/Catalogs.ts"
import { Collectibles } from "../altar/collectibles/Collectibles.ts"
import { RevealBroken } from "../../schema/altar/Reveal.ts"
import { FieldGuide } from "../altar/guide/FieldGuide.ts"
import { type CatalogName, catalogs as titles, Items } from "../altar/collectibles/Items.ts"
import { WitnessStones } from "../altar/witness/WitnessStones.ts"
import { PublishedLog } from "../log/PublishedLog.ts"
import { isWitnessed } from "../log/Witnesses.ts"
import * as CandlesPage from "./templates/Candles.ts"
import * as CatalogPage from "./templates/Catalog.ts"
import { actReader } from "./templates/ActList.ts"
import * as HomePage from "./templates/Home.ts"
import type { Page } from "./templates/Layout.ts"
import { myPurchases } from "./templates/MyPurchases.ts"
import { plateOf } from "./templates/Plates.ts"
import * as SetStonePage from "./templates/SetStone.ts"
import * as SpiritPage from "./templates/Spirit.ts"
import * as WitnessPage from "./templates/Witness.ts"
import { Frame } from "./Frame.ts"
import * as Pages from "./Pages.ts"

type Request = HttpServerRequest.HttpServerRequest

const shelves: ReadonlyArray<readonly [name: CatalogName, note: string]> = [
  ["elements", "Twelve plain things one could find on a walk."],
  ["companions", "Eight crabs, each with an opinion."],
  ["pixels", "Six small animals of 128 editions each."],
]

const positive = (text: string | null) => (text !== null && /^[1-9][0-9]{0,14}$/u.test(text) ? Number(text) : undefined)

const routes = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const acts = yield* Acts
    const { actOf, actsOf } = yield* actReader
    const catalogs = yield* Catalogs
    const collectibles = yield* Collectibles
    const guide = yield* FieldGuide
    const items = yield* Items
    const published = yield* PublishedLog
    const frame = yield* Frame
    const { money, publicUrl } = frame
    const stones = yield* WitnessStones
    const wall = yield* CandleWall
    const shop = { payment: { ...catalogs.payment, money }, publicUrl }

    /** A broken chain or reveal takes its own pages down, and is no example. */
    const newestRevealed = stones.list(24, undefined).pipe(
      Effect.map(({ stones }) => stones.find(({ reveal }) => reveal !== null && reveal.text !== null)),
      Effect.catchTag("ChainBroken", () => Effect.undefined),
      Effect.catchDefect((defect) => (defect instanceof RevealBroken ? Effect.undefined : Effect.die(defect))),
    )

    const home = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const { altars, field, newest, revealed } = yield* Effect.all(
        { altars: guide.altars, field: guide.field, newest: acts.list(12, undefined), revealed: newestRevealed },
        { concurrency: "unbounded" },
      )
      return HomePage.home({ altars, field, acts: yield* actsOf(newest.acts), revealed, now })
    })

    const spirit = Effect.fnUntraced(function* (id: string) {
      const plate = plateOf(id)
      if (plate === undefined) return undefined
      const now = yield* Clock.currentTimeMillis
      const { altars, editions, lit, set } = yield* Effect.all(
        {
          altars: guide.altars,
          editions: collectibles.dedicated(plate.id, 12),
          lit: wall.list({ spirit: plate.id, limit: 50, before: undefined }),
          // A broken chain does not take the altar down; only its stones cannot be shown.
          set: stones
            .find({ spirit: plate.id }, 6)
            .pipe(Effect.catchTag("ChainBroken", (error) => Effect.succeed(error.message))),
        },
        { concurrency: "unbounded" },
      )
      const altar = altars.altars.find((one) => one.spirit === plate.id)
      if (altar === undefined) return undefined
      const keeping = altar.keeper === null ? undefined : yield* actOf(yield* Effect.orDie(acts.get(altar.keeper.id)))
      const dedicated = editions.flatMap((one) => {
        const item = items.get(one.elementId)
        return item === undefined ? [] : [{ ...one, item }]
      })
      return SpiritPage.spirit({ plate, altar, wall: lit, keeping, dedicated, stones: set, ...shop, now })
    })

    const candles = Effect.fnUntraced(function* (request: Request) {
      const now = yield* Clock.currentTimeMillis
      const query = Pages.urlOf(request).searchParams
      const [asked, from] = [query.get("spirit") ?? "", query.get("before") ?? ""]
      const chosen = Pages.isSpirit(asked) ? asked : undefined
      const before = Pages.isUuid(from) ? from : undefined
      const lit = yield* wall.list({ spirit: chosen, limit: 50, before })
      return CandlesPage.candles({ wall: lit, spirit: chosen, before, ...shop, now })
    })

    const catalog = Effect.forEach(
      shelves,
      ([id, note]) => Effect.map(catalogs.items(id), (items) => ({ id, title: titles[id].title, note, items })),
      { concurrency: "unbounded" },
    ).pipe(Effect.map((shelves) => CatalogPage.catalog({ shelves, ...shop })))

    const log = Effect.gen(function* () {
      if (Option.isNone(published.identity)) return undefined
      const checkpoint = yield* Effect.option(published.checkpoint)
      const { cosigned, policy } = published.witnesses
      return {
        log: published.identity.value,
        published: Option.getOrUndefined(
          Option.map(checkpoint, ({ at, note, size }) => ({
            size,
            note,
            at: DateTime.formatIso(DateTime.fromDateUnsafe(at)),
            cosigned: Option.getOrElse(cosigned(note), () => []),
            isWitnessed: isWitnessed(published.witnesses, note),
          })),
        ),
        witnesses: Option.match(policy, { onNone: () => 0, onSome: ({ witnesses }) => witnesses.length }),
        stopped: (yield* published.state).state === "stopped",
      }
    })

    const witness = Effect.fnUntraced(function* (request: Request) {
      const query = Pages.urlOf(request).searchParams
      const before = positive(query.get("before"))
      const { head, next, stones: listed } = yield* stones.list(24, before)
      return WitnessPage.witness({ stones: listed, head, next, before, log: yield* log })
    })

    const setStone = (request: Request) => {
      const spirit = Pages.urlOf(request).searchParams.get("spirit") ?? ""
      return Effect.succeed(SetStonePage.setStone({ ...shop, spirit: Pages.isSpirit(spirit) ? spirit : undefined }))
    }

    const page = (
      path: "/v2/" | "/v2/stone" | "/v2/candles" | "/v2/catalog" | "/v2/witness" | "/v2/spirits/:id",
      make: (request: Request, id: string) => Effect.Effect<Page | undefined, Pages.Unreadable>,
    ) =>
      router.add("GET", path, (request) =>
        Effect.flatMap(HttpRouter.params, ({ id }) =>
          Pages.guarded(
            frame,
            Effect.flatMap(make(request, id ?? ""), (made) =>
              made === undefined
                ? Effect.succeed(Pages.notFound(frame, request, noPlate))
                : Pages.page(frame, request, made),
            ),
          ),
        ),
      )

    yield* page("/v2/", () => home)
    yield* page("/v2/stone", setStone)
    yield* page("/v2/spirits/:id", (_, id) => spirit(id))
    yield* page("/v2/candles", candles)
    yield* page("/v2/catalog", () => catalog)
    yield* page("/v2/witness", witness)
    yield* router.add("GET", "/v2/mine", (request) => {
      const wallet = Pages.urlOf(request).searchParams.get("wallet")
      return wallet === null
        ? Pages.page(frame, request, myPurchases)
        : Effect.succeed(HttpServerResponse.redirect(`/v2/acts?${new URLSearchParams({ q: wallet })}`, { status: 308 }))
    })

    yield* router.add("GET", "/v2/search", ({ url }) =>
      Effect.succeed(HttpServerResponse.redirect(url.replace("/v2/search", "/v2/acts"), { status: 308 })),
    )
    for (const [from, to] of shortcuts) {
      yield* router.add("GET", from, HttpServerResponse.redirect(to, { status: 308 }))
    }
  }),
)

const noPlate = "There is no such plate. The guide has twenty-four."

/** Short and earlier forms of paths. */
const shortcuts = [
  ["/v2", "/v2/"],
  ["/v2/spirits", "/v2/#plates"],
  ["/acts", "/v2/acts"],
  ["/witness", "/v2/witness"],
  ["/v2/log", "/v2/witness#log"],
  ["/v2/verify", "/verify"],
  ["/docs.md", "/docs"],
] as const

export const layer = routes
