/** The chain as this browser saw it on this site: points, and when each was seen first. */
import type { ChainPoint } from "../../../../schema/altar/ChainCheck.ts"
import { browser } from "../page/store.ts"

export interface SeenPoint extends ChainPoint {
  /** Milliseconds since 1970, when it was seen first. */
  readonly at: number
  /** Whether a check hashed its way to it; other points were only shown by a page. */
  readonly isWalked: boolean
}

const slot = "altar:seen"

const most = 240

const dayMillis = 86_400_000

const isEntry = (value: unknown): value is readonly [number, string, number] =>
  Array.isArray(value) &&
  Number.isSafeInteger(value[0]) &&
  typeof value[1] === "string" &&
  Number.isSafeInteger(value[2])

export const history = (): ReadonlyArray<SeenPoint> => {
  const points = browser.json(slot)
  return (Array.isArray(points) ? points : []).flatMap((point: unknown) =>
    isEntry(point)
      ? [{ sequence: point[0], chainHash: point[1], at: point[2], isWalked: Reflect.get(point, 3) === 1 }]
      : [],
  )
}

export const newest = (points: ReadonlyArray<SeenPoint>): SeenPoint | undefined =>
  points.reduce<SeenPoint | undefined>(
    (best, one) => (best === undefined || one.sequence > best.sequence ? one : best),
    undefined,
  )

/** Keeps the newest, the walked, and each day's first points in equal number: a flood cannot displace earlier ones. */
const thinned = (points: ReadonlyArray<SeenPoint>): ReadonlyArray<SeenPoint> => {
  const last = newest(points)
  const shown = new Map<number, number>()
  const rankOf = (point: SeenPoint) => {
    if (point === last) return -1
    if (point.isWalked) return 0
    const day = Math.floor(point.at / dayMillis)
    const rank = (shown.get(day) ?? 0) + 1
    shown.set(day, rank)
    return rank
  }
  const ranks = new Map(points.map((point) => [point, rankOf(point)]))
  const kept = new Set(
    [...ranks]
      .sort(([, one], [, other]) => one - other)
      .slice(0, most)
      .map(([point]) => point),
  )
  return points.filter((point) => kept.has(point))
}

/** A later value never replaces the one that was seen first. */
export const record = (points: ReadonlyArray<ChainPoint>, isWalked = false) => {
  const all = new Map(history().map((point) => [point.sequence, point]))
  const known = all.size
  for (const { chainHash, sequence } of points) {
    const before = all.get(sequence)
    if (before === undefined && sequence > 0) all.set(sequence, { sequence, chainHash, at: Date.now(), isWalked })
    if (before?.isWalked === false && isWalked && before.chainHash === chainHash)
      all.set(sequence, { ...before, isWalked })
  }
  if (all.size === known && !isWalked) return
  const kept = thinned([...all.values()])
  browser.set(
    slot,
    JSON.stringify(
      kept.map(({ at, chainHash, isWalked: is, sequence }) => [sequence, chainHash, at, ...(is ? [1] : [])]),
    ),
  )
}

export const forget = () => browser.remove(slot)

/** False without storage: nothing earlier to compare with, and nothing kept for later. */
export const isKept = () => browser.keeps()
