/** A segment of the chain as the server tells it, and what our own hashing says to it. */
import { genesisHash } from "../../../schema/altar/ChainLink.ts"
import { ask, messageOf, part } from "./ask.ts"
import { chainHashOf } from "./digest.ts"

export interface Link {
  readonly sequence: number
  readonly id: string
  readonly commitment: string
  readonly witnessedAt: string
  readonly transaction: string
  readonly previousHash: string
  readonly chainHash: string
}

export interface Point {
  readonly sequence: number
  readonly chainHash: string
}

export interface Segment {
  readonly anchor: Point
  readonly entries: ReadonlyArray<Link>
  readonly head: Point
}

export interface Checked {
  readonly link: Link
  /** The hash the link should follow. */
  readonly before: Point
  readonly computed: string
  /** Its number and the hash before it are those of the link before. */
  readonly follows: boolean
  /** Its hash is the one computed here. */
  readonly hashes: boolean
}

const isLink = (value: unknown): value is Link => {
  if (typeof value !== "object" || value === null) return false
  const texts = ["id", "commitment", "witnessedAt", "transaction", "previousHash", "chainHash"]
  return (
    texts.every((name) => typeof Reflect.get(value, name) === "string") && isSequence(Reflect.get(value, "sequence"))
  )
}

const isSequence = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0

const isPoint = (value: unknown): value is Point =>
  isSequence(part(value, "sequence")) && /^[0-9a-f]{64}$/u.test(String(part(value, "chainHash")))

export const readSegment = async (from: number, limit: number): Promise<Segment> => {
  const answer = await ask(`/api/witness/chain?from=${from}&limit=${limit}`)
  const { anchor, entries, head } = answer.body
  if (answer.status !== 200) throw new Error(messageOf(answer))
  if (!isPoint(anchor) || !isPoint(head) || !Array.isArray(entries) || !entries.every(isLink)) {
    throw new Error("The altar answered with something that is no segment of the chain.")
  }
  return { anchor, entries, head }
}

/** The anchor of the first stone is 64 zeros, whatever the server says, and a segment begins where it was asked for. */
export const checkSegment = async ({ anchor, entries }: Segment, from: number): Promise<ReadonlyArray<Checked>> => {
  let before: Point = { sequence: from - 1, chainHash: from === 1 ? genesisHash : anchor.chainHash }
  const checked: Array<Checked> = []
  for (const link of entries) {
    const computed = await chainHashOf(link)
    checked.push({
      link,
      before,
      computed,
      follows: link.previousHash === before.chainHash && link.sequence === before.sequence + 1,
      hashes: computed === link.chainHash,
    })
    before = link
  }
  return checked
}

export const holds = ({ follows, hashes }: Checked) => follows && hashes
