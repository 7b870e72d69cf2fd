/** A visitor pays from the page: three clicks, one signature, one charge, whatever the network does. */
import { assert } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Page, Request } from "playwright-core"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { isAccessible, picture, steps, visit } from "../support/Browser.ts"
import { fill, guide, settled, signed } from "../support/Guide.ts"
import { ask, chainClient } from "../support/World.ts"

/** All requests a page makes from now on. */
const watch = (page: Page) => {
  const requests: Array<Request> = []
  page.on("request", (request) => requests.push(request))
  return requests
}

const attempts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ key: string; state: string; url: string }>`
    SELECT idempotency_key AS key, state, url FROM payment_attempts ORDER BY accepted_at`.pipe(Effect.orDie)
  return rows
})

/** What happened on the altar of a spirit. */
const attemptsAt = (spirit: string) =>
  Effect.map(attempts, (all) => all.filter(({ url }) => url.endsWith(`/${spirit}`)))

const wallet = (page: Page) => page.locator("#prayer").getByRole("button", { name: "Make a play wallet" })
const lay = (page: Page) => page.getByRole("button", { name: "Lay the prayer for $0.01" })
const paidPath = (url: URL) => url.pathname.startsWith("/api/prayers/")

/** What the browser keeps for the page. */
const kept = (page: Page) => page.evaluate(() => [sessionStorage, localStorage].flatMap((store) => Object.keys(store)))

/** The signed request and every question after it are lost on their way. */
const cutOff = (page: Page) =>
  page.route(
    (url) => paidPath(url) || url.pathname.startsWith("/api/reconcile/"),
    (route) =>
      route.request().headers()["payment-signature"] === undefined && paidPath(new URL(route.request().url()))
        ? route.continue()
        : route.abort("internetdisconnected"),
  )

guide("a prayer", (it) => {
  it.effect("takes three clicks from the first page to its receipt", () =>
    Effect.gen(function* () {
      const { complaints, page, url } = yield* visit("/v2/")
      const requests = watch(page)
      yield* steps(async () => {
        await page.getByRole("link", { name: "Lay a prayer with Moss Hare" }).click()
        await wallet(page).click()
        await page.getByText("Play wallet with $10.00 of play money").first().waitFor()
        await lay(page).click()
        await settled(page).waitFor()
        assert.isTrue(await page.locator(".receipt").evaluate((receipt) => receipt === document.activeElement))
        assert.match(await page.locator(".receipt").innerText(), /\$0\.01 was charged, once/u)
        const keepsake: { salt: string; words: string; commitment: string } = JSON.parse(
          await page.locator(".keepsake code").innerText(),
        )
        assert.strictEqual(keepsake.words, "I came by, and it was quiet.")
        const sent = requests.map((request) => request.postData() ?? "").join()
        assert.include(sent, keepsake.commitment)
        assert.notInclude(sent, keepsake.salt)
        assert.notInclude(sent, "quiet")
        assert.deepStrictEqual(await kept(page), ["altar:play-wallet", `altar:words:${keepsake.commitment}`])
        const saving = page.waitForEvent("download")
        await page.getByRole("link", { name: "Save as a file" }).click()
        assert.match((await saving).suggestedFilename(), /^[0-9a-f-]{36}\.json$/u)
        await page.getByRole("link", { name: "Open the act" }).click()
        await page.getByRole("heading", { name: "A visitor laid a prayer with Moss Hare" }).waitFor()
      })
      assert.strictEqual(signed(requests).length, 1)
      const [attempt, ...others] = yield* attemptsAt("moss-hare")
      assert.deepStrictEqual([attempt?.state, attempt?.key, others], ["settled", signed(requests)[0]?.key, []])
      const field = yield* ask(`${url}/api/field`)
      assert.deepInclude(field.json, { prayersToday: 1, centsSettled: 1 })
      assert.deepStrictEqual(complaints, [])
    }),
  )

  for (const [what, change] of [
    ["another price", (offer: Record<string, unknown>) => ({ ...offer, amount: "20000" })],
    ["another asset", (offer: Record<string, unknown>) => ({ ...offer, asset: `0x${"9".repeat(40)}` })],
    ["another network", (offer: Record<string, unknown>) => ({ ...offer, network: "eip155:8453" })],
  ] as const) {
    it.effect(`is not signed for ${what} than the page listed`, () =>
      Effect.gen(function* () {
        const { page } = yield* visit("/v2/spirits/static-fox")
        const requests = watch(page)
        yield* steps(async () => {
          await page.route(paidPath, async (route) => {
            const response = await route.fetch()
            const challenge = JSON.parse(Buffer.from(response.headers()["payment-required"] ?? "", "base64").toString())
            const header = { ...challenge, accepts: [change(challenge.accepts[0])] }
            const headers = {
              ...response.headers(),
              "payment-required": Buffer.from(JSON.stringify(header)).toString("base64"),
            }
            await route.fulfill({ response, headers })
          })
          await wallet(page).click()
          await page.getByText("Play wallet with").first().waitFor()
          await lay(page).click()
          await page.getByText("Nothing was signed.").waitFor()
        })
        assert.deepStrictEqual(signed(requests), [])
        assert.deepStrictEqual(yield* attemptsAt("static-fox"), [])
      }),
    )
  }

  it.effect("whose answer is lost is asked for, not paid again", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/v2/spirits/rain-crow")
      const requests = watch(page)
      yield* steps(async () => {
        await page.route(paidPath, async (route) => {
          if (route.request().headers()["payment-signature"] === undefined) return route.continue()
          await route.fetch()
          await route.abort("connectionreset")
        })
        await wallet(page).click()
        await page.getByText("Play wallet with").first().waitFor()
        await lay(page).click()
        await settled(page).waitFor()
      })
      assert.strictEqual(signed(requests).length, 1)
      assert.deepStrictEqual(
        (yield* attemptsAt("rain-crow")).map(({ state }) => state),
        ["settled"],
      )
    }),
  )

  it.effect("that never arrived is handed in again after a reload, with the one signature it has", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/v2/spirits/library-moth")
      const requests = watch(page)
      yield* steps(async () => {
        await cutOff(page)
        await wallet(page).click()
        await page.getByText("Play wallet with").first().waitFor()
        await lay(page).click()
        await page.getByText("not paying again").waitFor()
        await page.unrouteAll({ behavior: "ignoreErrors" })
        await page.reload()
        await settled(page).waitFor()
      })
      const handed = signed(requests)
      assert.isAtLeast(handed.length, 2)
      assert.strictEqual(new Set(handed.map(({ payment }) => payment)).size, 1)
      assert.strictEqual(new Set(handed.map(({ key }) => key)).size, 1)
      assert.deepStrictEqual(
        (yield* attemptsAt("library-moth")).map(({ state }) => state),
        ["settled"],
      )
    }),
  )

  it.effect("whose tab is closed is finished by the next one, and its words are not lost", () =>
    Effect.gen(function* () {
      const { page, url } = yield* visit("/v2/spirits/brass-cicada")
      const first = watch(page)
      yield* steps(async () => {
        const next = await page.context().newPage()
        const second = watch(next)
        await cutOff(page)
        await wallet(page).click()
        await page.getByText("Play wallet with").first().waitFor()
        await page.getByLabel("Your words").first().fill("The tab was closed.")
        await lay(page).click()
        await page.getByText("not paying again").waitFor()
        await page.close()
        await next.goto(`${url}/v2/catalog`)
        await settled(next).waitFor()
        assert.include(await next.locator(".keepsake").innerText(), "The tab was closed.")
        const { commitment }: { commitment: string } = JSON.parse(await next.locator(".keepsake code").innerText())
        assert.deepStrictEqual(await kept(next), [`altar:words:${commitment}`])
        const handed = [...signed(first), ...signed(second)]
        assert.isAtLeast(handed.length, 2)
        assert.strictEqual(new Set(handed.map(({ key, payment }) => `${key} ${payment}`)).size, 1)
      })
      assert.deepStrictEqual(
        (yield* attemptsAt("brass-cicada")).map(({ state }) => state),
        ["settled"],
      )
    }),
  )

  it.effect("is finished by a tab that was restored from before it was signed", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/v2/spirits/atlas-sandpiper")
      const requests = watch(page)
      yield* steps(async () => {
        await cutOff(page)
        await wallet(page).click()
        await page.getByText("Play wallet with").first().waitFor()
        await page.getByLabel("Your words").first().fill("The tab came back.")
        await lay(page).click()
        await page.getByText("not paying again").waitFor()
        await page.evaluate(() => {
          for (const slot of Object.keys(sessionStorage).filter((name) => name.startsWith("altar:purchase:"))) {
            const purchase = JSON.parse(sessionStorage.getItem(slot) ?? "{}")
            sessionStorage.setItem(slot, JSON.stringify({ ...purchase, payment: null }))
          }
        })
        await page.reload()
        await page.getByText("not paying again").waitFor()
        await page.unrouteAll({ behavior: "ignoreErrors" })
        await settled(page).waitFor()
        assert.include(await page.locator(".keepsake").innerText(), "The tab came back.")
      })
      assert.strictEqual(new Set(signed(requests).map(({ key, payment }) => `${key} ${payment}`)).size, 1)
      assert.deepStrictEqual(
        (yield* attemptsAt("atlas-sandpiper")).map(({ state }) => state),
        ["settled"],
      )
    }),
  )

  for (const [spirit, what, status] of [
    ["compass-beetle", "a proxy refuses", 403],
    ["ink-cuttlefish", "a portal claims to be", 200],
  ] as const) {
    it.effect(`that ${what} is not over: only the altar ends it`, () =>
      Effect.gen(function* () {
        const { page, url } = yield* visit("/v2/")
        // What is answered here is not the altar's, and no page of ours is judged by it.
        const next = yield* Effect.promise(() => page.context().newPage())
        const requests = watch(next)
        yield* steps(async () => {
          await next.goto(`${url}/v2/spirits/${spirit}`)
          await next.route(
            (to) => paidPath(to) || to.pathname.startsWith("/api/reconcile/"),
            (route) =>
              route.request().headers()["payment-signature"] === undefined && paidPath(new URL(route.request().url()))
                ? route.continue()
                : route.fulfill({ status, contentType: "text/html", body: "<h1>Not so fast</h1>" }),
          )
          await wallet(next).click()
          await next.getByText("Play wallet with").first().waitFor()
          await lay(next).click()
          await next.getByText("No answer. Asking again, not paying again.").waitFor()
          assert.strictEqual(await next.getByText(/nothing was charged/iu).count(), 0)
          await next.unrouteAll({ behavior: "ignoreErrors" })
          await settled(next).waitFor()
        })
        assert.strictEqual(new Set(signed(requests).map(({ key, payment }) => `${key} ${payment}`)).size, 1)
        assert.deepStrictEqual(
          (yield* attemptsAt(spirit)).map(({ state }) => state),
          ["settled"],
        )
      }),
    )
  }

  for (const [what, status, says] of [
    ["whose price a proxy answers is refused with the status that came", 502, "The altar answered 502."],
    ["whose terms cannot be read is stopped there", 402, "The altar sent terms this page cannot read."],
  ] as const) {
    it.effect(what, () =>
      Effect.gen(function* () {
        const { page, url } = yield* visit("/v2/")
        // What is answered here is not the altar's, and no page of ours is judged by it.
        const next = yield* Effect.promise(() => page.context().newPage())
        const requests = watch(next)
        yield* steps(async () => {
          await next.goto(`${url}/v2/spirits/quartz-elephant`)
          await next.route(paidPath, (route) =>
            status === 502
              ? route.fulfill({ status, contentType: "text/html", body: "<h1>Bad gateway</h1>" })
              : route.fulfill({ status, json: { ok: false, code: "payment_required", message: "Pay." } }),
          )
          await wallet(next).click()
          await next.getByText("Play wallet with").first().waitFor()
          await lay(next).click()
          await next.getByText(`${says} Nothing was signed.`).waitFor()
          const steps = await next.locator("#prayer .steps").innerText()
          assert.strictEqual(/Stopped:\s*Not what this page listed\./u.test(steps), status === 402, steps)
        })
        assert.deepStrictEqual(signed(requests), [])
      }),
    )
  }

  it.effect("whose outcome is not known yet is asked for at once, and only then after a while", () =>
    Effect.gen(function* () {
      const { page, url } = yield* visit("/v2/")
      // What is answered here is not the altar's, and no page of ours is judged by it.
      const next = yield* Effect.promise(() => page.context().newPage())
      yield* steps(async () => {
        await next.goto(`${url}/v2/spirits/cloud-tapir`)
        let answered = 0
        let asked = 0
        await next.route(
          (to) => paidPath(to) || to.pathname.startsWith("/api/reconcile/"),
          async (route) => {
            if (route.request().url().includes("/api/reconcile/")) {
              asked ||= Date.now()
              return route.continue()
            }
            if (route.request().headers()["payment-signature"] === undefined) return route.continue()
            const response = await route.fetch()
            const pending = { ok: true, code: "settlement_pending" }
            await route.fulfill({ response, status: 202, headers: { "retry-after": "10" }, json: pending })
            answered = Date.now()
          },
        )
        await wallet(next).click()
        await next.getByText("Play wallet with").first().waitFor()
        await lay(next).click()
        await settled(next).waitFor()
        assert.isAbove(asked, 0)
        assert.isBelow(asked - answered, 9_000)
      })
    }),
  )

  it.effect("that the altar refuses is said to have cost nothing only where the altar says so", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/v2/spirits/dune-pangolin")
      yield* steps(async () => {
        await page.route(paidPath, (route) =>
          route.request().headers()["payment-signature"] === undefined
            ? route.continue()
            : route.fulfill({
                status: 409,
                headers: { "access-control-allow-origin": "*" },
                json: { ok: false, code: "idempotency_conflict", message: "This key names another purchase." },
              }),
        )
        await wallet(page).click()
        await page.getByText("Play wallet with").first().waitFor()
        await lay(page).click()
        await page.getByText("This key names another purchase.").waitFor()
        assert.strictEqual(await page.getByText(/nothing was charged/iu).count(), 0)
        assert.strictEqual((await kept(page)).filter((slot) => slot.startsWith("altar:words:")).length, 1)
      })
    }),
  )

  it.effect("whose signature finds no room is not said to be kept", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/v2/spirits/lichen-yak")
      const requests = watch(page)
      yield* steps(async () => {
        // Room for the words, and none for what is signed.
        await fill(page, 700)
        await cutOff(page)
        await wallet(page).click()
        await page.getByText("Play wallet with").first().waitFor()
        await lay(page).click()
        await page.getByText("Stay on this page until it is settled.").waitFor()
        await page.getByText("not paying again").waitFor()
        const asked = page.waitForEvent("dialog")
        await page.close({ runBeforeUnload: true })
        await (await asked).dismiss()
        await page.unrouteAll({ behavior: "ignoreErrors" })
        await settled(page).waitFor()
      })
      assert.strictEqual(new Set(signed(requests).map(({ payment }) => payment)).size, 1)
    }),
  )

  it.effect("can be laid though another part of the page fails", () =>
    Effect.gen(function* () {
      const { complaints, page } = yield* visit("/v2/spirits/midnight-otter")
      yield* steps(async () => {
        await page.addInitScript(() => {
          new MutationObserver((_, observer) => {
            const form = document.querySelector("#prayer form[data-pay]")
            if (form === null) return
            observer.disconnect()
            // A form that checks and has none of its fields.
            const broken = document.createElement("form")
            broken.setAttribute("data-sealing", "")
            document.body.append(broken)
          }).observe(document, { childList: true, subtree: true })
        })
        await page.reload()
        await wallet(page).click()
        await page.getByText("Play wallet with").first().waitFor()
        await lay(page).click()
        await settled(page).waitFor()
      })
      assert.strictEqual(complaints.length, 1)
      assert.match(complaints.join(), /The page has no \w+ at \[data-salt\]/u)
    }),
  )

  it.effect("can be laid where the browser keeps nothing, and whoever would leave too early is asked", () =>
    Effect.gen(function* () {
      const { complaints, page } = yield* visit("/v2/spirits/ribbon-eel")
      const requests = watch(page)
      yield* steps(async () => {
        await page.addInitScript(() => {
          for (const name of ["localStorage", "sessionStorage"]) {
            Object.defineProperty(globalThis, name, {
              get: () => {
                throw new DOMException("Access is denied for this document.", "SecurityError")
              },
            })
          }
        })
        await page.reload()
        await cutOff(page)
        await wallet(page).click()
        await page.getByText("Play wallet with").first().waitFor()
        await lay(page).click()
        await page.getByText("Stay on this page until it is settled.").waitFor()
        await page.getByText("not paying again").waitFor()
        const asked = page.waitForEvent("dialog")
        await page.close({ runBeforeUnload: true })
        const dialog = await asked
        assert.strictEqual(dialog.type(), "beforeunload")
        await dialog.dismiss()
        await page.unrouteAll({ behavior: "ignoreErrors" })
        await settled(page).waitFor()
      })
      assert.strictEqual(new Set(signed(requests).map(({ payment }) => payment)).size, 1)
      assert.deepStrictEqual(
        (yield* attemptsAt("ribbon-eel")).map(({ state }) => state),
        ["settled"],
      )
      assert.deepStrictEqual(complaints, [])
    }),
  )

  it.effect("that cannot be settled now is kept, and no other is signed beside it", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/v2/spirits/glass-tortoise")
      const requests = watch(page)
      yield* steps(async () => {
        await page.route(paidPath, (route) =>
          route.request().headers()["payment-signature"] === undefined
            ? route.continue()
            : route.fulfill({
                status: 503,
                headers: { "access-control-allow-origin": "*" },
                json: { ok: false, code: "facilitator_unavailable", message: "Not now." },
              }),
        )
        await wallet(page).click()
        await page.getByText("Play wallet with").first().waitFor()
        await lay(page).click()
        await page.getByText("What you signed is kept in this browser.").waitFor()
        await page.unrouteAll()
        await lay(page).click()
        await settled(page).waitFor()
      })
      assert.strictEqual(new Set(signed(requests).map(({ payment }) => payment)).size, 1)
      assert.strictEqual((yield* attemptsAt("glass-tortoise")).length, 1)
    }),
  )

  it.effect("is laid once by a double click, and by one that comes before the wallet is there", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/v2/spirits/lantern-axolotl")
      const requests = watch(page)
      yield* steps(async () => {
        await page.route("**/sandbox/fund", async (route) => {
          await lay(page).dblclick()
          await route.continue()
        })
        await wallet(page).click()
        await settled(page).waitFor()
      })
      assert.strictEqual(signed(requests).length, 1)
      assert.deepStrictEqual(
        (yield* attemptsAt("lantern-axolotl")).map(({ state }) => state),
        ["settled"],
      )
    }),
  )

  it.effect("is paid from a play wallet that remembers what it has left, and is not funded anew", () =>
    Effect.gen(function* () {
      const { page, url } = yield* visit("/v2/spirits/moon-gecko")
      const requests = watch(page)
      yield* steps(async () => {
        await wallet(page).click()
        await page.getByText("Play wallet with $10.00").first().waitFor()
        await lay(page).click()
        await settled(page).waitFor()
        await page.goto(`${url}/v2/spirits/frost-stoat`)
        await page.getByText("Play wallet with $9.99 of play money").first().waitFor()
      })
      assert.strictEqual(requests.filter((request) => request.url().endsWith("/sandbox/fund")).length, 1)
    }),
  )

  it.effect("is paid from a play wallet that can pay for the dearest act of any page, or is funded anew", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/v2/witness")
      yield* steps(async () => {
        await page.evaluate(() => sessionStorage.setItem("altar:play-wallet", `0x${"8".repeat(64)} 8990000`))
        await page.reload()
        await page.getByText("Play wallet with $10.00 of play money").first().waitFor()
      })
    }),
  )

  it.effect("can be laid by keyboard alone, and what happens is told to whoever cannot see it", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/v2/spirits/orchard-dormouse")
      const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim().replace(/\s+/gu, " ") ?? "")
      /** Presses Tab until an element of this text or label has the focus; within a page's worth of stops. */
      const reach = async (name: string) => {
        for (let stop = 0; stop < 40; stop++) {
          await page.keyboard.press("Tab")
          const label = await page.evaluate(() => {
            const active = document.activeElement
            return active instanceof HTMLInputElement || active instanceof HTMLTextAreaElement
              ? (active.labels?.[0]?.textContent ?? "")
              : (active?.textContent ?? "")
          })
          if (label.trim().replace(/\s+/gu, " ") === name) return
        }
        assert.fail(`${name} is not reached`)
      }
      yield* steps(async () => {
        await wallet(page).waitFor()
        await page.keyboard.press("Tab")
        assert.strictEqual(await focused(), "Skip to the content")
        await page.keyboard.press("Enter")
        await reach("Your words")
        await page.keyboard.press("Control+A")
        await page.keyboard.type("By keyboard.")
        await reach("Your public name")
        await reach("Make a play wallet")
        await page.keyboard.press("Enter")
        await page.getByText("Play wallet with").first().waitFor()
        await page.waitForFunction(() => document.activeElement?.textContent?.includes("Lay the prayer") === true)
        await page.keyboard.press("Enter")
        await settled(page).waitFor()
        assert.match(await focused(), /^✓ ?Settled\./u)
        for (const place of ["[data-wallet][aria-live=polite]", "[data-progress][role=status]"]) {
          assert.isAbove(await page.locator(place).count(), 0, place)
        }
        await reach("Open the act")
      })
    }),
  )

  it.effect("that came second is refused, and nothing is signed", () =>
    Effect.gen(function* () {
      const first = yield* visit("/v2/spirits/dew-spider")
      const second = yield* visit("/v2/spirits/dew-spider")
      const requests = watch(second.page)
      yield* steps(async () => {
        for (const { page } of [first, second]) {
          await wallet(page).click()
          await page.getByText("Play wallet with").first().waitFor()
          await lay(page).click()
          await page.locator(page === first.page ? ".receipt" : "#prayer .verdict--broken >> text=Not done.").waitFor()
        }
        assert.match(await second.page.locator("#prayer [data-progress]").innerText(), /today/iu)
      })
      assert.deepStrictEqual(signed(requests), [])
    }),
  )
})

guide(
  "a chain that takes its time",
  (it) => {
    it.effect("leaves a payment open: it is asked for, over a reload too, and never paid again", () =>
      Effect.gen(function* () {
        const { rpcUrl } = yield* LocalChain
        const anvil = chainClient(rpcUrl)
        const { page } = yield* visit("/v2/spirits/kelp-seal", { bypassCSP: true })
        const requests = watch(page)
        const open = page.getByText("Not known yet. Asking again, not paying again.")
        yield* steps(async () => {
          await wallet(page).click()
          await page.getByText("Play wallet with").first().waitFor()
          await anvil.setAutomine(false)
          await lay(page).click()
          await open.waitFor()
          await isAccessible(page, "pending")
          await picture(page, "guide-pending")
          await page.reload()
          await page.getByRole("region", { name: "Your open purchase" }).waitFor()
          await page.getByText("A payment in flight holds today's slot.").waitFor()
          await open.waitFor()
          await isAccessible(page, "pending after a reload")
          await picture(page, "guide-pending-reload")
          assert.strictEqual(signed(requests).length, 1)
          await anvil.setAutomine(true)
          await anvil.mine({ blocks: 1 })
          await settled(page).waitFor()
          assert.include(await page.locator(".keepsake").innerText(), "I came by, and it was quiet.")
        })
        assert.strictEqual(signed(requests).length, 1)
        const asked = requests.filter((request) => request.url().includes("/api/reconcile/"))
        assert.isAtLeast(asked.length, 2)
        const [attempt, ...others] = yield* attempts
        assert.deepStrictEqual([attempt?.state, others], ["settled", []])
      }),
    )
  },
  {},
  { patience: Duration.seconds(1) },
)
