/** Documents for feed readers, search engines and home screens: the acts as Atom, the sitemap, the web manifest. */
import { Effect, Option } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { NotFound } from "../../schema/Errors.ts"
import { Acts } from "../altar/Acts.ts"
import { WitnessStones } from "../altar/witness/WitnessStones.ts"
import { PublishedLog } from "../log/PublishedLog.ts"
import { type Html, html } from "../platform/Html.ts"
import { fresh, refuse } from "../http/Responses.ts"
import { cachedResponse } from "../http/CachedResponse.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { actReader, commitmentIn, hasOwnPage, pathOf, sentence, type SettledAct } from "./templates/ActList.ts"
import { type Plate, plateOf, plates, spiritFeedPath, spiritPath } from "./templates/Plates.ts"

const most = 50

/** The `updated` of a feed without acts. */
const epoch = "2025-01-01T00:00:00.000Z"

/** A reveal changes an act that was settled before. */
const changedAt = ({ reveal, settledAt }: SettledAct): string => reveal?.revealedAt ?? settledAt

/** Revealed words, with everything needed to hash them. */
const revealed = (act: SettledAct): Html =>
  act.reveal === null || act.reveal.text === null || act.reveal.salt === null
    ? html``
    : html`<content type="text"
        >Revealed: “${act.reveal.text}” Salt: ${act.reveal.salt} Commitment: ${commitmentIn(act)}</content
      >`

const entry = (publicUrl: string, act: SettledAct) =>
  html`<entry
    ><id>${publicUrl}${pathOf(act)}</id><title>${sentence(act)}</title><updated>${changedAt(act)}</updated
    ><published>${act.settledAt}</published><author><name>${act.agentName ?? "Someone"}</name></author
    >${revealed(act)}<link rel="alternate" type="text/html" href="${publicUrl}${pathOf(act)}"
  /></entry>`

/** Replaces characters that XML 1.0 forbids: one in a name or words would break the feed for every reader. */
const xml = (root: Html): string =>
  `<?xml version="1.0" encoding="utf-8"?>\n${root.text.replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "\ufffd")}\n`

const everything = {
  title: "Spirit Altar: acts",
  subtitle: "Every paid act, newest first. Names are self-declared.",
  feed: "/acts.atom",
  page: "/v2/#acts",
}

const spiritFeed = (plate: Plate): typeof everything => ({
  title: `Spirit Altar: acts with ${plate.name}`,
  subtitle: `Acts on the altar of ${plate.name}, newest first; candles as long as they burn. Names are self-declared.`,
  feed: spiritFeedPath(plate.id),
  page: spiritPath(plate.id),
})

const atom = (
  publicUrl: string,
  { feed, page, subtitle, title }: typeof everything,
  acts: ReadonlyArray<SettledAct>,
): string =>
  xml(
    html`<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"
      ><id>${publicUrl}${feed}</id><title>${title}</title><subtitle>${subtitle}</subtitle
      ><updated>${acts.map(changedAt).sort().at(-1) ?? epoch}</updated
      ><link rel="self" type="application/atom+xml" href="${publicUrl}${feed}" /><link
        rel="alternate"
        type="text/html"
        href="${publicUrl}${page}"
      />${acts.map((act) => entry(publicUrl, act))}</feed
    >`,
  )

/** Permanent pages; `/v2/log` where there is a log. */
const pages =
  "/v2/stone /v2/candles /v2/acts /v2/search /v2/witness /v2/catalog /signals/ /for-agents /docs /terms /privacy /verify".split(
    " ",
  )

/** Permalinks of each kind in the sitemap, newest first; the pages of the chain lead to older ones. */
const mostPermalinks = 200

interface Listed {
  readonly path: string
  /** The time of the last change; absent where it is unknown. */
  readonly changed?: string
}

const pageOf = (path: string): Listed => ({ path })

const sitemap = (publicUrl: string, listed: ReadonlyArray<Listed>) =>
  xml(
    html`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
      >${listed.map(({ changed, path }) => html`<url><loc>${publicUrl}${path}</loc>${changed === undefined ? "" : html`<lastmod>${changed}</lastmod>`}</url>`)}</urlset
    >`,
  )

const icons = { small: "/art/icons/icon-192.png" }

const manifest = JSON.stringify({
  name: "Spirit Altar",
  short_name: "Altar",
  description: "A field guide of 24 animal spirits with living altars.",
  lang: "en",
  id: "/v2/",
  start_url: "/v2/",
  scope: "/",
  display: "minimal-ui",
  background_color: "#f6f1e4",
  theme_color: "#f6f1e4",
  icons: [
    { src: "/style/icon.svg", type: "image/svg+xml", sizes: "any" },
    { src: icons.small, type: "image/png", sizes: "192x192" },
    { src: "/art/icons/icon-512.png", type: "image/png", sizes: "512x512" },
  ],
})

export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const acts = yield* Acts
    const { actsOf } = yield* actReader
    const hasLog = Option.isSome((yield* PublishedLog).identity)
    const publicUrl = yield* PublicUrl
    const stones = yield* WitnessStones

    const follow = (
      request: HttpServerRequest.HttpServerRequest,
      followed: typeof everything,
      texts: Effect.Effect<ReadonlyArray<string>>,
    ) =>
      Effect.flatMap(Effect.flatMap(texts, actsOf), (list) =>
        fresh(request, atom(publicUrl, followed, list), { contentType: "application/atom+xml; charset=utf-8" }),
      )

    /** A stone's page last changed when its words were revealed. Stones of a broken chain are not listed. */
    const stonePages = stones.list(mostPermalinks, undefined).pipe(
      Effect.map(({ stones }) =>
        stones.map(({ id, reveal, witnessedAt }): Listed => ({
          path: `/witness/${id}`,
          changed: reveal?.revealedAt ?? witnessedAt,
        })),
      ),
      Effect.catchTag("ChainBroken", () => Effect.succeed<ReadonlyArray<Listed>>([])),
    )

    const listed = Effect.gen(function* () {
      const [newest, ofStones] = yield* Effect.all([acts.list(mostPermalinks, undefined), stonePages], {
        concurrency: "unbounded",
      })
      const read = yield* actsOf(newest.acts)
      const [last] = read
      return [
        { path: "/v2/", ...(last === undefined ? {} : { changed: last.settledAt }) },
        ...[...pages, ...(hasLog ? ["/v2/log"] : []), ...plates.map(({ id }) => spiritPath(id))].map(pageOf),
        ...ofStones,
        ...read.filter((act) => !hasOwnPage(act)).map((act) => ({ path: pathOf(act), changed: changedAt(act) })),
      ]
    })

    yield* router.add("GET", "/acts.atom", (request) =>
      follow(
        request,
        everything,
        Effect.map(acts.list(most, undefined), (list) => list.acts),
      ),
    )
    yield* router.add("GET", "/v2/spirits/:id/acts.atom", (request) =>
      Effect.flatMap(HttpRouter.params, ({ id }) => {
        const plate = plateOf(id ?? "")
        return plate === undefined
          ? Effect.succeed(refuse(new NotFound({})))
          : follow(request, spiritFeed(plate), acts.onAltar(plate.id, most))
      }),
    )
    yield* router.add("GET", "/sitemap.xml", (request) =>
      Effect.flatMap(listed, (all) =>
        fresh(request, sitemap(publicUrl, all), { contentType: "application/xml; charset=utf-8" }),
      ),
    )
    // Browsers without support for drawn icons request this path unasked.
    yield* router.add("GET", "/favicon.ico", HttpServerResponse.redirect(icons.small, { status: 308 }))
    yield* router.add(
      "GET",
      "/site.webmanifest",
      cachedResponse(manifest, { contentType: "application/manifest+json" }).respond,
    )
  }),
)
