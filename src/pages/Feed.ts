/** What feed readers, search engines and home screens ask for: the newest acts as Atom, the list of pages, the manifest. */
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { Acts } from "../altar/Acts.ts"
import { html } from "../platform/Html.ts"
import { fresh } from "../platform/http/Responses.ts"
import { written } from "../platform/http/Written.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { actsOf, pathOf, sentence, type SettledAct } from "./templates/ActList.ts"
import { plates, spiritPath } from "./templates/Plates.ts"

/** Acts in the feed. */
const most = 50

/** Before the first act there is nothing that was updated; the feed is as old as its altar's first day could be. */
const epoch = "2025-01-01T00:00:00.000Z"

const entry = (publicUrl: string, act: SettledAct) =>
  html`<entry
    ><id>${publicUrl}${pathOf(act)}</id><title>${sentence(act)}</title><updated>${act.settledAt}</updated
    ><author><name>${act.agentName ?? "Somebody"}</name></author
    ><link rel="alternate" type="text/html" href="${publicUrl}${pathOf(act)}"
  /></entry>`

export const atom = (publicUrl: string, acts: ReadonlyArray<SettledAct>): string =>
  `<?xml version="1.0" encoding="utf-8"?>\n${
    html`<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"
      ><id>${publicUrl}/acts.atom</id><title>Spirit Altar: acts</title
      ><subtitle>Every paid act, newest first. Names are self-declared.</subtitle
      ><updated>${acts[0]?.settledAt ?? epoch}</updated
      ><link rel="self" type="application/atom+xml" href="${publicUrl}/acts.atom" /><link
        rel="alternate"
        type="text/html"
        href="${publicUrl}/v2/#acts"
      />${acts.map((act) => entry(publicUrl, act))}</feed
    >`.text
  }\n`

/** Pages that stay; permalinks are found from them. */
const pages = [
  "/v2/",
  "/v2/candles",
  "/v2/witness",
  "/v2/catalog",
  "/signals/",
  "/for-agents",
  "/docs",
  "/terms",
  "/privacy",
]

const sitemap = (publicUrl: string) =>
  `<?xml version="1.0" encoding="utf-8"?>\n${
    html`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
      >${[...pages, ...plates.map(({ id }) => spiritPath(id))].map((path) => html`<url><loc>${publicUrl}${path}</loc></url>`)}</urlset
    >`.text
  }\n`

const manifest = JSON.stringify({
  name: "Spirit Altar",
  short_name: "Altar",
  description: "A field guide of 24 animal spirits with living altars.",
  lang: "en",
  start_url: "/v2/",
  scope: "/",
  display: "minimal-ui",
  background_color: "#f6f1e4",
  theme_color: "#f6f1e4",
  icons: [
    { src: "/style/icon.svg", type: "image/svg+xml", sizes: "any" },
    { src: "/art/icons/icon-192.png", type: "image/png", sizes: "192x192" },
    { src: "/art/icons/icon-512.png", type: "image/png", sizes: "512x512" },
  ],
})

export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const acts = yield* Acts
    const publicUrl = yield* PublicUrl
    yield* router.add("GET", "/acts.atom", (request) =>
      acts.list(most, undefined).pipe(
        Effect.flatMap((list) => actsOf(list.acts)),
        Effect.flatMap((list) =>
          fresh(request, atom(publicUrl, list), { contentType: "application/atom+xml; charset=utf-8" }),
        ),
      ),
    )
    yield* router.add(
      "GET",
      "/sitemap.xml",
      written(sitemap(publicUrl), { contentType: "application/xml; charset=utf-8" }).respond,
    )
    yield* router.add(
      "GET",
      "/site.webmanifest",
      written(manifest, { contentType: "application/manifest+json" }).respond,
    )
  }),
)
