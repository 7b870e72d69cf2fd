/** Compares three sources of one history: the chain as answered, the page as rendered, and this browser's memory. */
import type { ChainPoint } from "../../../../schema/altar/ChainCheck.ts"
import { timeWords } from "../page/durations.ts"
import { newest, type SeenPoint } from "./history.ts"
import { type Part, parts, type Rendered, type Stone } from "./rendered.ts"

export interface Known extends Rendered {
  readonly seen: ReadonlyMap<number, SeenPoint>
}

export interface Difference {
  readonly sequence: number
  readonly part: Part
  readonly chain: string
  readonly page: string | undefined
  readonly saw: SeenPoint | undefined
}

/** The chain ends before a point that was shown. */
export interface Shorter {
  readonly ends: number
  /** Newest stone of the page, when it is missing. */
  readonly page: number | undefined
  /** Newest stone this browser saw, when it is missing. */
  readonly saw: SeenPoint | undefined
}

export interface Compared {
  readonly differences: ReadonlyArray<Difference>
  readonly shorter: Shorter | undefined
}

/** The first value that differs from the chain's, or else the first known one. */
const other = (chain: string, values: ReadonlyArray<string | undefined>) =>
  values.find((value) => value !== undefined && value !== chain) ?? values.find((value) => value !== undefined)

const differs = ({ chain, page, saw }: Difference) =>
  (page !== undefined && page !== chain) || (saw !== undefined && saw.chainHash !== chain)

/** The parts in which a link of the chain differs from the page or from this browser's memory. */
export const differencesOf = (link: Stone, { head, seen, stones }: Known): ReadonlyArray<Difference> =>
  parts
    .map((part): Difference => {
      const { sequence } = link
      const named = part === "chainHash" && head?.sequence === sequence ? head.chainHash : undefined
      return {
        sequence,
        part,
        chain: link[part],
        page: other(link[part], [stones.get(sequence)?.[part], named]),
        saw: part === "chainHash" ? seen.get(sequence) : undefined,
      }
    })
    .filter(differs)

/** The same for a point whose link was not requested. */
export const differenceAt = ({ chainHash, sequence }: ChainPoint, { head, seen }: Known): ReadonlyArray<Difference> => {
  const page = head?.sequence === sequence ? head.chainHash : undefined
  return [{ sequence, part: "chainHash" as const, chain: chainHash, page, saw: seen.get(sequence) }].filter(differs)
}

export const shorterOf = (ends: number, { head, seen, stones }: Known): Shorter | undefined => {
  const page = Math.max(head?.sequence ?? 0, ...stones.keys())
  const saw = newest([...seen.values()])
  return page > ends || (saw !== undefined && saw.sequence > ends)
    ? { ends, page: page > ends ? page : undefined, saw: saw !== undefined && saw.sequence > ends ? saw : undefined }
    : undefined
}

export const dateOf = ({ at }: SeenPoint) => timeWords(new Date(at).toISOString())

const odd = ({ differences, shorter }: Compared): string => {
  const page =
    differences.some((one) => one.page !== undefined && one.page !== one.chain) || shorter?.page !== undefined
  const against = differences.filter((one) => one.saw !== undefined && one.saw.chainHash !== one.chain)
  const saw = against.length > 0 || shorter?.saw !== undefined
  if (!saw)
    return differences.some((one) => one.saw !== undefined)
      ? "The chain is as this browser saw it before; this page shows another one."
      : "The altar shows one history on this page and answers with another."
  if (!page) return "This page and the chain agree with each other, and not with what this browser saw."
  return against.some((one) => one.page !== undefined && one.page !== one.saw?.chainHash)
    ? "The page, the chain and what this browser saw are three histories."
    : "This page shows what this browser saw; the chain that is answered is another one."
}

export const headline = (compared: Compared): readonly [word: string, more: string] => {
  const { differences, shorter } = compared
  const saw = shorter?.saw ?? differences.find((one) => one.saw !== undefined && one.saw.chainHash !== one.chain)?.saw
  return [
    saw === undefined
      ? "The chain differs from this page."
      : `History differs from what this browser saw on ${dateOf(saw)}.`,
    odd(compared),
  ]
}

export const shorterWords = ({ ends, page, saw }: Shorter): string => {
  const after = [
    ...(page === undefined ? [] : [`this page shows stone ${page}`]),
    ...(saw === undefined ? [] : [`this browser saw stone ${saw.sequence} on ${dateOf(saw)}`]),
  ].join(", and ")
  return `The chain that is answered ends ${ends === 0 ? "before its first stone" : `at stone ${ends}`}, but ${after}. Stones are missing at its end.`
}
