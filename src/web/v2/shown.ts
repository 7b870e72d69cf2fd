/** What the page itself shows of the chain: its stones, and the head it names. */
import type { Link, Point } from "./chain.ts"
import { all } from "./dom.ts"

export const parts = ["commitment", "witnessedAt", "transaction", "previousHash", "chainHash", "id"] as const

export type Part = (typeof parts)[number]

export interface Shown {
  readonly stones: ReadonlyMap<number, Link>
  readonly head: Point | undefined
}

/** Where a stone's own page writes a part out; a row of stones has them beside each picture instead. */
export const written = (part: Part): HTMLElement | undefined => all(`[data-part="${part}"]`, HTMLElement)[0]

const stoneAt = (place: HTMLElement): Link => {
  const part = (name: Part) => written(name)?.textContent ?? place.dataset[name] ?? ""
  return {
    sequence: Number(place.dataset["link"]),
    id: part("id"),
    commitment: part("commitment"),
    witnessedAt: part("witnessedAt"),
    transaction: part("transaction"),
    previousHash: part("previousHash"),
    chainHash: part("chainHash"),
  }
}

export const shown = (): Shown => {
  const stones = all("[data-link]", HTMLElement).map(stoneAt)
  const head = all("[data-shown-head]", HTMLElement).map(({ dataset }) => ({
    sequence: Number(dataset["shownHead"]),
    chainHash: dataset["chainHash"] ?? "",
  }))
  return { stones: new Map(stones.map((stone) => [stone.sequence, stone])), head: head[0] }
}
