/** The one source of chance of a campaign: the same seed and name always draw the same numbers. */
import { createHash } from "node:crypto"

export interface Random {
  /** From 0 up to, but not, 1. */
  readonly next: () => number
  /** A whole number from 0 up to, but not, `count`. */
  readonly below: (count: number) => number
  /** A whole number, both ends included. */
  readonly between: (least: number, most: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(list: ReadonlyArray<A>) => A
  readonly hex: (bytes: number) => string
  /** Numbers of its own, whatever is drawn elsewhere. */
  readonly fork: (name: string) => Random
}

export const random = (seed: string): Random => {
  const digest = createHash("sha256").update(seed).digest()
  let [a, b, c, d] = [0, 4, 8, 12].map((at) => digest.readUInt32LE(at)) as [number, number, number, number]
  /** sfc32: a small generator with a period beyond any campaign. */
  const next = () => {
    const sum = (a + b + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    return (sum >>> 0) / 2 ** 32
  }
  const below = (count: number) => Math.floor(next() * count)
  return {
    next,
    below,
    between: (least, most) => least + below(most - least + 1),
    chance: (probability) => next() < probability,
    pick: (list) => {
      const item = list[below(list.length)]
      if (item === undefined) throw new Error("nothing to pick from")
      return item
    },
    hex: (bytes) => Array.from({ length: bytes }, () => below(256).toString(16).padStart(2, "0")).join(""),
    fork: (name) => random(`${seed}/${name}`),
  }
}
