/** The server's rendering of the chain in this page: its stones, and the head it names. */
import type { ChainPoint } from "../../../../schema/altar/ChainCheck.ts"
import type { Link } from "../../../buyer/core/Chain.ts"
import { all } from "../page/dom.ts"

export interface Stone extends Link {
  readonly id: string
}

export const parts = ["commitment", "witnessedAt", "transaction", "previousHash", "chainHash", "id"] as const

export type Part = (typeof parts)[number]

export interface Rendered {
  readonly stones: ReadonlyMap<number, Stone>
  readonly head: ChainPoint | undefined
}

/** The element with a part of the stone, on the stone's own page; a row of stones has the parts beside each picture. */
export const elementOf = (part: Part): HTMLElement | undefined => all(`[data-part="${part}"]`, HTMLElement)[0]

const stoneAt = (place: HTMLElement): Stone => {
  const part = (name: Part) => elementOf(name)?.textContent ?? place.dataset[name] ?? ""
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

export const rendered = (): Rendered => {
  const stones = all("[data-link]", HTMLElement).map(stoneAt)
  const head = all("[data-shown-head]", HTMLElement).map(({ dataset }) => ({
    sequence: Number(dataset["shownHead"]),
    chainHash: dataset["chainHash"] ?? "",
  }))
  return { stones: new Map(stones.map((stone) => [stone.sequence, stone])), head: head[0] }
}
