/** A real browser beside a real server: every visitor has an address, a memory and a list of complaints of its own. */
import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { assert, describe, layer } from "../It.ts"
import { Context, Effect, Exit, Layer, type Scope } from "effect"
import {
  type Browser as Chromium,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Response,
} from "playwright-core"
import { isDocumented } from "../run/Contract.ts"
import { fileOf } from "../run/FailureArtifacts.ts"
import { patience } from "../Patience.ts"
import { from, rooms, newAddress } from "../server/Rooms.ts"
import { judgeLater } from "../run/AnswerValidation.ts"
import { TestServer } from "../Fixture.ts"

/** `CHROMIUM_PATH` if given, else Debian's. The same engine without windows takes half of the time to open a page. */
const usual = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"]
const executablePath = (process.env["CHROMIUM_PATH"] === undefined ? usual : [process.env["CHROMIUM_PATH"]]).find(
  (path) => existsSync(path),
)

export const hasBrowser = executablePath !== undefined

/** It calls no other host, and draws without a screen. */
const args = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
]

let launched: Promise<Chromium> | undefined

/** The browser of this worker, started for its first page; it ends with the worker. */
export class Browser extends Context.Service<Browser, Chromium>()("test/Browser") {
  static readonly layer = Layer.effect(
    Browser,
    Effect.promise(() => (launched ??= chromium.launch({ ...(executablePath && { executablePath }), args }))),
  )
}

const world = Layer.merge(rooms(), Browser.layer)

/** A test in a browser: it opens pages, and runs effects against the server behind them. */
interface Journey<R> {
  readonly run: <A, E>(effect: Effect.Effect<A, E, R | Scope.Scope>) => Promise<A>
  readonly visit: (...of: Parameters<typeof visit>) => Promise<BrowserClient>
  readonly url: string
}

type Journeys<R> = (tests: (it: (title: string, body: (journey: Journey<R>) => Promise<void>) => void) => void) => void

/** Tests that need a browser; without one they are skipped (apt install chromium-headless-shell). No page may complain. */
export const journeys = <R>(
  name: string,
  parts: Layer.Layer<R | TestServer | Browser>,
): Journeys<R | TestServer | Browser> => {
  const journey = (body: (journey: Journey<R | TestServer | Browser>) => Promise<void>) =>
    Effect.gen(function* () {
      const run = Effect.runPromiseWith(yield* Effect.context<R | TestServer | Browser | Scope.Scope>())
      const { url } = yield* TestServer
      const visitors: Array<BrowserClient> = []
      const opening = async (...of: Parameters<typeof visit>) => {
        const visitor = await run(visit(...of))
        visitors.push(visitor)
        return visitor
      }
      yield* Effect.promise(() => body({ run, visit: opening, url }))
      for (const { complaints } of visitors) assert.deepStrictEqual(complaints, [])
    }).pipe(Effect.scoped)
  return (tests) =>
    describe.skipIf(!hasBrowser)("in a browser,", () => {
      layer(parts, { excludeTestServices: true })(name, (it) => {
        tests((title, body) => it.effect(title, () => journey(body)))
      })
    })
}

export const browser = (name: string, tests: Parameters<Journeys<Layer.Success<typeof world>>>[0]) =>
  journeys(name, world)(tests)

export type BrowserClient = Effect.Success<ReturnType<typeof visit>>

/** Network failures that a test causes itself are printed by the browser whatever the page does. */
const isOurs = (text: string) => !text.startsWith("Failed to load resource")

/** An answer that the page left behind, or one made for a test to cut, has no body to judge. */
const heardIn = async (response: Response) => {
  const heard = {
    method: response.request().method(),
    url: response.url(),
    status: response.status(),
    headers: new Headers(await response.allHeaders().catch(() => response.headers())),
  }
  const body = await response.text().catch(() => undefined)
  return body === undefined ? heard : { ...heard, body }
}

/** The last page of a failed test. */
const keepPictures = async (context: BrowserContext) => {
  for (const [index, page] of context.pages().entries())
    await page.screenshot({ path: fileOf(`page-${index + 1}.png`), timeout: patience(10) }).catch(() => undefined)
}

/** A visitor of its own; `path` is opened and loaded. */
export const visit = Effect.fnUntraced(function* (path: string, options: BrowserContextOptions = {}) {
  const { url } = yield* TestServer
  const context = yield* Effect.acquireRelease(
    Effect.flatMap(Browser, (instance) =>
      Effect.promise(() =>
        instance.newContext({
          reducedMotion: "no-preference",
          locale: "en-GB",
          ...options,
          extraHTTPHeaders: from(newAddress()),
        }),
      ),
    ),
    (context, exit) =>
      Effect.promise(async () => {
        if (Exit.isFailure(exit)) await keepPictures(context)
        await context.close()
      }),
  )
  context.setDefaultTimeout(patience(30))
  const page = yield* Effect.promise(() => context.newPage())
  /** Console errors, uncaught exceptions and requests to other hosts; a page should cause none. */
  const complaints: Array<string> = []
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && isOurs(message.text())) complaints.push(message.text())
  })
  page.on("pageerror", (error) => complaints.push(error.message))
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith("data:")) complaints.push(request.url())
  })
  page.on("response", (response) => {
    // Reading back every script and drawing would cost more than showing the page does.
    if (isDocumented({ method: response.request().method(), url: response.url() })) judgeLater(heardIn(response))
  })
  yield* Effect.promise(() => page.goto(`${url}${path}`, { waitUntil: "load" }))
  return { page, url, complaints }
})

/** Minified, since it is sent to the browser once for each page. */
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/**
 * No violation of WCAG 2.2 AA or of axe's best practices in what is shown now, but for what is marked as known, or for single
 * rules as repeated; needs a context with `bypassCSP`.
 */
export const isAccessible = async (page: Page, state: string, rules?: ReadonlyArray<string>) => {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe)
  const faults = await page.evaluate(async (only) => {
    const { violations }: { violations: ReadonlyArray<{ id: string; nodes: ReadonlyArray<{ html: string }> }> } =
      await Reflect.get(window, "axe").run(
        { exclude: only ? [["[data-known]"], ["[data-repeated]"]] : [["[data-known]"]] },
        {
          resultTypes: ["violations"],
          ...(only ? { runOnly: only } : { rules: { "target-size": { enabled: true } } }),
        },
      )
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`))
  }, rules)
  assert.deepStrictEqual(faults, [], state)
}
