/** Takes turns: every round measures ours and the peer's, one right after the other, so that both meet the same machine. */

/** One side of one round: how many a second, and milliseconds of its processor time for each. */
export interface Slice {
  readonly rate: number
  readonly cpu: number
}

export interface Round<A = Slice> {
  readonly ours: A
  readonly peer: A
}

export type Side = "ours" | "peer"

/** Measures what `run` says it has done; `cpu` reads the seconds of processor time used so far. */
export const slice = async (cpu: () => number, run: () => Promise<number>): Promise<Slice> => {
  const used = cpu()
  const started = performance.now()
  const count = await run()
  const seconds = (performance.now() - started) / 1000
  return { rate: count / seconds, cpu: ((cpu() - used) * 1000) / count }
}

/** `rounds` rounds after one that warms both sides up; the order changes from round to round. */
export const takeTurns = async <A>(
  rounds: number,
  measure: (side: Side) => Promise<A>,
): Promise<ReadonlyArray<Round<A>>> => {
  const done: Array<Round<A>> = []
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
