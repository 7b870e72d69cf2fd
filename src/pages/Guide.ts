/** The field guide's pages: each reads its services once and is rendered as a whole document. */
import { Clock, Effect, Option, Schema } from "effect"
import { HttpRouter } from "effect/http"
import { Acts } from "../altar/Acts.ts"
import { CandleWall } from "../altar/candles/CandleWall.ts"
import { Catalogs } from "../altar/collectibles/Catalogs.ts"
import { Collectibles } from "../altar/collectibles/Collectibles.ts"
import { FieldGuide } from "../altar/guide/FieldGuide.ts"
import { type CatalogName, catalogs as titles, Items } from "../altar/collectibles/Items.ts"
import { Address } from "../../schema/Common.ts"
import { WitnessStones } from "../altar/witness/WitnessStones.ts"
import { PublishedLog } from "../log/PublishedLog.ts"
import { verifierKeyOf } from "../log/Signer.ts"
import { keyId, ReceiptKeys } from "../payments/Receipt.ts"
import { Operator } from "../platform/Operator.ts"
import { buyAct, soldAct } from "./templates/BuyAct.ts"
import * as CandlesPage from "./templates/Candles.ts"
import * as CatalogPage from "./templates/Catalog.ts"
import { actReader } from "./templates/ActList.ts"
import * as HomePage from "./templates/Home.ts"
import { hrefOf, type Page } from "./templates/Layout.ts"
import { checkPage } from "./templates/Check.ts"
import { privacyPage, termsPage } from "./templates/Legal.ts"
import { myPurchases } from "./templates/MyPurchases.ts"
import { plateOf } from "./templates/Plates.ts"
import * as SetStonePage from "./templates/SetStone.ts"
import { signalRoom } from "./templates/SignalRoom.ts"
import * as SpiritPage from "./templates/Spirit.ts"
import * as WalletPage from "./templates/Wallet.ts"
import * as WitnessPage from "./templates/Witness.ts"
import { actsPage } from "./ActPages.ts"
import { surroundings } from "./Frame.ts"
import * as Pages from "./Pages.ts"

const shelves: ReadonlyArray<readonly [name: CatalogName, note: string]> = [
  ["elements", "Twelve plain things one could find on a walk."],
  ["companions", "Eight crabs, each with an opinion."],
  ["pixels", "Six small animals of 128 editions each."],
]

const isAddress = Schema.is(Address)
const positive = (text: string | null) => (text !== null && /^[1-9][0-9]{0,14}$/u.test(text) ? Number(text) : undefined)

export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const acts = yield* Acts
    const { actOf, actsOf } = yield* actReader
    const catalogs = yield* Catalogs
    const collectibles = yield* Collectibles
    const guide = yield* FieldGuide
    const items = yield* Items
    const published = yield* PublishedLog
    const frame = yield* surroundings
    const stones = yield* WitnessStones
    const wall = yield* CandleWall
    const { current, retired = [] } = (yield* ReceiptKeys) ?? {}
    const keys = [current, ...retired].filter((key) => key !== undefined)
    const shop = { payment: { ...catalogs.payment, ...frame } }

    const home = Effect.gen(function* () {
      const { altars, newest } = yield* Effect.all(
        { altars: guide.altars, newest: acts.list(6, undefined) },
        { concurrency: "unbounded" },
      )
      return HomePage.home({ altars, acts: yield* actsOf(newest.acts), now: yield* Clock.currentTimeMillis })
    })

    const spirit = Effect.fnUntraced(function* ({ name }: Pages.PageCall) {
      const plate = plateOf(name)
      if (plate === undefined) return Pages.notFound(frame, noPlate)
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
      const altar = altars.altars.find((candidate) => candidate.spirit === plate.id)
      if (altar === undefined) return Pages.notFound(frame, noPlate)
      const settled = (act: { readonly id: string } | null) =>
        act === null ? Effect.undefined : Effect.flatMap(Effect.orDie(acts.get(act.id)), actOf)
      const [keeping, praying] = yield* Effect.all([settled(altar.keeper), settled(altar.today.prayer)], {
        concurrency: "unbounded",
      })
      const dedicated = editions.flatMap((edition) => {
        const item = items.get(edition.elementId)
        return item === undefined ? [] : [{ ...edition, item }]
      })
      return SpiritPage.spirit({ plate, altar, wall: lit, keeping, praying, dedicated, stones: set, ...shop, now })
    })

    const candles = Effect.fnUntraced(function* ({ before, spirit }: Pages.PageCall) {
      const now = yield* Clock.currentTimeMillis
      const lit = yield* wall.list({ spirit, limit: 50, before })
      return CandlesPage.candles({ wall: lit, spirit, before, ...shop, now })
    })

    const catalog = Effect.forEach(
      shelves,
      ([id, note]) => Effect.map(catalogs.items(id), (items) => ({ id, title: titles[id].title, note, items })),
      { concurrency: "unbounded" },
    ).pipe(Effect.map((shelves) => CatalogPage.catalog({ shelves, ...shop })))

    const log = Effect.gen(function* () {
      const log = Option.getOrUndefined(published.identity)
      if (log === undefined) return undefined
      const checkpoint = Option.getOrUndefined(yield* Effect.option(published.checkpoint))
      const { state } = yield* published.state
      return { log, checkpoint, cosigners: published.cosigners, isStopped: state === "stopped" }
    })

    const witness = Effect.fnUntraced(function* ({ query }: Pages.PageCall) {
      const before = positive(query.get("before"))
      const { head, next, stones: listed } = yield* stones.list(24, before)
      return WitnessPage.witness({
        stones: listed,
        head,
        next,
        before,
        log: yield* log,
        now: yield* Clock.currentTimeMillis,
      })
    })

    /** A search may have any spelling of an address; its record has one place. */
    const walletRecord = Effect.fnUntraced(function* ({ name, query }: Pages.PageCall) {
      const wallet = name.toLowerCase()
      if (!isAddress(wallet)) return Pages.notFound(frame, noWallet)
      if (wallet !== name) return Pages.moved(`/v2/wallets/${wallet}`)
      const before = positive(query.get("before"))
      return WalletPage.wallet({
        record: yield* stones.ofWallet({ wallet, limit: 50, before }),
        before,
        publicUrl: frame.publicUrl,
        now: yield* Clock.currentTimeMillis,
      })
    })

    const check = checkPage({
      publicUrl: frame.publicUrl,
      keys: keys.map((key) => ({ kid: keyId(frame.publicUrl, key), vkey: verifierKeyOf(key) })),
      logs: Option.toArray(published.identity),
    })

    const page = Pages.pagesOn(router, frame)
    yield* page("/v2/", () => home)
    yield* page("/v2/stone", ({ spirit }) => Effect.succeed(SetStonePage.setStone({ ...shop, spirit })))
    yield* page("/v2/buy/:name", ({ name, spirit }) => {
      const act = soldAct(name)
      return Effect.succeed(
        act === undefined
          ? Pages.notFound(frame, "No act of this name is sold here.")
          : buyAct(act, shop.payment, spirit),
      )
    })
    yield* page("/v2/spirits/:name", spirit)
    yield* page("/v2/candles", candles)
    yield* page("/v2/catalog", () => catalog)
    yield* page("/v2/witness", witness)
    yield* page("/v2/acts", yield* actsPage)
    yield* page("/verify", always(check))
    yield* page("/signals/", always(signalRoom))
    yield* page("/terms", always(termsPage(yield* Operator)))
    yield* page("/privacy", always(privacyPage(yield* Operator)))
    yield* page("/v2/mine", ({ query }) => {
      const q = query.get("wallet")
      return Effect.succeed(q === null ? myPurchases : Pages.moved(hrefOf("/v2/acts", { q })))
    })
    yield* page("/v2/search", ({ query }) => Effect.succeed(Pages.moved(`/v2/acts?${query}`)))
    yield* page("/v2/wallets/:name", walletRecord)
    for (const [from, to] of shortcuts)
      for (const path of [from, `${from}/`] as const)
        if (path !== to)
          yield* router.add("GET", path, (request) => Effect.succeed(Pages.moved(Pages.withQuery(to, request))))
  }),
)

const always = (shown: Page) => () => Effect.succeed(shown)

const noWallet = "This is no address of a wallet, which has 0x and 40 hexadecimal digits."
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
  ["/for-agents.md", "/for-agents"],
  // Browsers without support for drawn icons request this path unasked.
  ["/favicon.ico", "/art/icons/icon-192.png"],
  // Old invites name the file; the redirect keeps them working, because a browser carries the fragment along.
  ["/signals/index.html", "/signals/"],
] as const
