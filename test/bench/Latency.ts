/** How long requests take at half and at four fifths of the rate that their contest reached. */
import { arrivals, type Shot } from "./Load.ts"
import type { Side } from "./Rounds.ts"

export interface Latency {
  readonly name: string
  readonly side: Side
  /** Of the rate that this side reached. */
  readonly share: number
  /** Requests a second. */
  readonly rate: number
  /** Milliseconds, from the moment a request was due. */
  readonly p50: number
  readonly p99: number
}

const quantile = (sorted: ReadonlyArray<number>, share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

export const latencies = async (
  name: string,
  side: Side,
  to: string,
  reached: number,
  seconds: number,
  expected: number,
  shotOf: () => Shot,
): Promise<ReadonlyArray<Latency>> => {
  const measured: Array<Latency> = []
  for (const share of [0.5, 0.8]) {
    const rate = reached * share
    const millis = (await arrivals(to, rate, seconds, expected, shotOf)).toSorted((a, b) => a - b)
    measured.push({ name, side, share, rate, p50: quantile(millis, 0.5), p99: quantile(millis, 0.99) })
  }
  return measured
}
