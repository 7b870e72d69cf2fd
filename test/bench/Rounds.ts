/** Takes turns: every round measures ours and the peer's, one right after the other, so that both meet the same machine. */

/** One side of one round: how many a second, and milliseconds of its processor time for each. */
export interface Slice {
  readonly rate: number
  readonly cpu: number
}

export interface Round {
  readonly ours: Slice
  readonly peer: Slice
}

export type Side = "ours" | "peer"

/** Measures `count` jobs; `cpu` reads the seconds of processor time used so far. */
export const slice = async (count: number, cpu: () => number, run: () => Promise<unknown>): Promise<Slice> => {
  const used = cpu()
  const started = process.hrtime.bigint()
  await run()
  const seconds = Number(process.hrtime.bigint() - started) / 1e9
  return { rate: count / seconds, cpu: ((cpu() - used) * 1000) / count }
}

/** `rounds` rounds after one that warms both sides up; who begins changes from round to round. */
export const takeTurns = async (
  rounds: number,
  measure: (side: Side) => Promise<Slice>,
): Promise<ReadonlyArray<Round>> => {
  const done: Array<Round> = []
  for (let index = 0; index <= rounds; index++) {
    if (index % 2 === 0) {
      const ours = await measure("ours")
      done.push({ ours, peer: await measure("peer") })
    } else {
      const peer = await measure("peer")
      done.push({ ours: await measure("ours"), peer })
    }
  }
  return done.slice(1)
}
