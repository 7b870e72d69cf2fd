/** The steps of a prayer's visitor, and the data that page and altar store. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Locator, Page, Request } from "playwright-core"

export const watch = (page: Page) => {
  const requests: Array<Request> = []
  page.on("request", (request) => requests.push(request))
  return requests
}

export const attempts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ key: string; state: string; url: string }>`
    SELECT idempotency_key AS key, state, url FROM payment_attempts ORDER BY accepted_at`.pipe(Effect.orDie)
  return rows
})

export const attemptsAt = (spirit: string) =>
  Effect.map(attempts, (all) => all.filter(({ url }) => url.endsWith(`/${spirit}`)))

/** The states of what happened on the altar of a spirit. */
export const statesAt = (spirit: string) => Effect.map(attemptsAt(spirit), (all) => all.map(({ state }) => state))

/** The steps of a payment on one line, without their signs. */
export const stepsOf = async (within: Page | Locator) =>
  (await within.locator(".steps li .verdict > span:last-child").allInnerTexts()).join(" ").replaceAll(/\s+/gu, " ")

export const wallet = (page: Page) => page.locator("#prayer").getByRole("button", { name: "Make a play wallet" })
export const lay = (page: Page) => page.getByRole("button", { name: "Leave the prayer for $0.01" })

/** Writes the words of the prayer. */
export const write = (page: Page) => page.locator("#prayer-words").fill("I came by, and it was quiet.")

export const fund = async (page: Page) => {
  await write(page)
  await wallet(page).click()
  await page.getByText("Play wallet with").first().waitFor()
}

export const fundAndLay = async (page: Page) => {
  await fund(page)
  await lay(page).click()
}

export const paidPath = (url: URL) => url.pathname.startsWith("/api/prayers/")

/** The page's data in the browser. */
export const kept = (page: Page) =>
  page.evaluate(() => [sessionStorage, localStorage].flatMap((store) => Object.keys(store)))

/** The signed request and every question after it are lost on their way. */
export const cutOff = (page: Page) =>
  page.route(
    (url) => paidPath(url) || url.pathname.startsWith("/api/reconcile/"),
    (route) =>
      route.request().headers()["payment-signature"] === undefined && paidPath(new URL(route.request().url()))
        ? route.continue()
        : route.abort("internetdisconnected"),
  )

/** Every signed request of a prayer is answered by this refusal. */
export const refusePaid = (page: Page, status: number, code: string, message: string) =>
  page.route(paidPath, (route) =>
    route.request().headers()["payment-signature"] === undefined
      ? route.continue()
      : route.fulfill({
          status,
          headers: { "access-control-allow-origin": "*" },
          json: { ok: false, code, message, docs: `/docs/errors#${code}` },
        }),
  )

/** The tab's purchases as they were before they were signed, as a restored tab has them. */
export const unsigned = (page: Page) =>
  page.evaluate(() =>
    Object.keys(sessionStorage)
      .filter((name) => name.startsWith("altar:purchase:"))
      .map((slot) => {
        const { payment: _, ...purchase } = JSON.parse(sessionStorage.getItem(slot) ?? "{}")
        return [slot, JSON.stringify(purchase)] as const
      }),
  )

export const restore = (page: Page, purchases: ReadonlyArray<readonly [slot: string, text: string]>) =>
  page.evaluate((all) => all.forEach(([slot, text]) => sessionStorage.setItem(slot, text)), purchases)
