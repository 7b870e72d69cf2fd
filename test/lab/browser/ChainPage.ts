/** The witness chain as pages check it, as the server tells it, and as a proxy may change it. */
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { type ChainClaim, type ChainPoint, genesis } from "../../../schema/altar/ChainCheck.ts"
import { chainHash } from "../../../src/altar/Hashes.ts"
import { ask, newCommitment, TestServer } from "../Fixture.ts"
import { createAct } from "./Guide.ts"

interface Entry extends ChainClaim {
  readonly id: string
  readonly commitment: string
  readonly witnessedAt: string
  readonly transaction: string
  readonly payer: string
}

interface Segment {
  readonly anchor: ChainPoint
  readonly entries: ReadonlyArray<Entry>
  readonly head: ChainPoint
  readonly next: number | null
}

export type Change = (segment: Segment) => object

/** The whole chain with some links changed, and every hash computed again so that it fits. */
export const forge = (entries: ReadonlyArray<Entry>, change: (entry: Entry) => Partial<Entry>) => {
  let before = genesis
  return entries.map((entry): Entry => {
    const link = { ...entry, ...change(entry), previousHash: before.chainHash }
    const forged = { ...link, chainHash: chainHash(link) }
    before = forged
    return forged
  })
}

const pointOf = (entry: Entry | undefined): ChainPoint =>
  entry === undefined ? genesis : { sequence: entry.sequence, chainHash: entry.chainHash }

/** Answers of the chain API as a server would give them that holds these links. */
export const serve = (page: Page, chain: ReadonlyArray<Entry>) =>
  page.route("**/api/witness/chain?*", async (route) => {
    const response = await route.fetch()
    const query = new URL(route.request().url()).searchParams
    const [from, limit] = [Number(query.get("from")), Number(query.get("limit"))]
    const entries = chain.slice(from - 1, from - 1 + limit)
    const json: Segment & { readonly ok: true } = {
      ok: true,
      anchor: pointOf(chain[from - 2]),
      entries,
      head: pointOf(chain.at(-1)),
      next: from - 1 + limit < chain.length ? from + limit : null,
    }
    await route.fulfill({ response, json })
  })

export const said = (page: Page) => page.locator("[data-verify-status]")
export const ended = (page: Page) =>
  said(page).locator(".verdict--holds, .verdict--broken, .verdict--unchecked").first().waitFor()
export const check = (page: Page) =>
  page
    .getByRole("button", { name: /^Check (?:everything|stone \d)/u })
    .first()
    .click()

/** At least so many stones, as the server tells them. */
export const stones = Effect.fnUntraced(function* (atLeast: number) {
  const { url } = yield* TestServer
  const read = Effect.map(ask(`${url}/api/witness/chain?from=1&limit=100`), ({ text }): Segment => JSON.parse(text))
  const { entries } = yield* read
  for (let set = entries.length; set < atLeast; set++) {
    yield* createAct("/api/witness", { commitment: newCommitment() })
  }
  return (yield* read).entries
})

/** The chain's answers with some members changed. */
export const answers = (page: Page, change: Change) =>
  page.route("**/api/witness/chain?*", async (route) => {
    const response = await route.fetch()
    const segment: Segment = await response.json()
    await route.fulfill({ response, json: { ...segment, ...change(segment) } })
  })
