/** The history of the chain as this browser saw it on this site: points, and when each was seen first. */
import type { ChainPoint } from "../../../schema/altar/ChainCheck.ts"
import { browser } from "./store.ts"

export interface SeenPoint extends ChainPoint {
  /** Milliseconds since 1970, when it was seen first. */
  readonly at: number
}

const slot = "altar:seen"

/** Points kept; beyond them the longest known go first, but never the newest of the chain. */
const most = 240

const isEntry = (value: unknown): value is readonly [number, string, number] =>
  Array.isArray(value) &&
  Number.isSafeInteger(value[0]) &&
  typeof value[1] === "string" &&
  Number.isSafeInteger(value[2])

const read = (): ReadonlyArray<unknown> => {
  try {
    const value: unknown = JSON.parse(browser.get(slot) ?? "[]")
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

export const history = (): ReadonlyArray<SeenPoint> =>
  read().flatMap((point) => (isEntry(point) ? [{ sequence: point[0], chainHash: point[1], at: point[2] }] : []))

export const newest = (points: ReadonlyArray<SeenPoint>): SeenPoint | undefined =>
  points.reduce<SeenPoint | undefined>(
    (best, one) => (best === undefined || one.sequence > best.sequence ? one : best),
    undefined,
  )

/** What was seen first is never replaced by what is shown later. */
export const record = (points: ReadonlyArray<ChainPoint>) => {
  const before = history()
  const known = new Set(before.map(({ sequence }) => sequence))
  const added = points.filter(({ sequence }) => sequence > 0 && !known.has(sequence))
  if (added.length === 0) return
  const all = [...before, ...added.map((point) => ({ ...point, at: Date.now() }))]
  const last = newest(all)
  const kept = all.filter((one, index) => one === last || index >= all.length - most)
  browser.set(slot, JSON.stringify(kept.map(({ at, chainHash, sequence }) => [sequence, chainHash, at])))
}

export const forget = () => browser.remove(slot)

/** False when there is nothing from before to compare with, and nothing is kept for later. */
export const isKept = () => browser.keeps()
