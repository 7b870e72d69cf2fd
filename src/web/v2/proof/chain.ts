/** A segment of the chain as the server answers it, and what our own hashing says to it. */
import { type ChainPoint, genesis, type LinkCheck } from "../../../../schema/altar/ChainCheck.ts"
import { checkLinks, type Link } from "../../../buyer/core/Chain.ts"
import { ask, messageOf, part, Said } from "../page/http.ts"

/** A link with the id its page is found by. */
export interface Stone extends Link {
  readonly id: string
}

export interface Segment {
  readonly anchor: ChainPoint
  readonly entries: ReadonlyArray<Stone>
  readonly head: ChainPoint
}

const isStone = (value: unknown): value is Stone => {
  if (typeof value !== "object" || value === null) return false
  const texts = ["id", "commitment", "witnessedAt", "transaction", "previousHash", "chainHash"]
  return (
    texts.every((name) => typeof Reflect.get(value, name) === "string") && isSequence(Reflect.get(value, "sequence"))
  )
}

const isSequence = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0

const isPoint = (value: unknown): value is ChainPoint =>
  isSequence(part(value, "sequence")) && /^[0-9a-f]{64}$/u.test(String(part(value, "chainHash")))

export const readSegment = async (from: number, limit: number): Promise<Segment> => {
  const answer = await ask(`/api/witness/chain?from=${from}&limit=${limit}`)
  const { anchor, entries, head } = answer.body
  if (answer.body["code"] === "chain_broken") throw new Said(messageOf(answer), "The chain does not hold.")
  if (answer.status !== 200) throw new Said(messageOf(answer))
  if (!isPoint(anchor) || !isPoint(head) || !Array.isArray(entries) || !entries.every(isStone)) {
    throw new Said("The altar answered with something that is no segment of the chain.")
  }
  return { anchor, entries, head }
}

/** The anchor of the first stone is the genesis, whatever the server says, and a segment begins where it was asked for. */
export const checkSegment = ({ anchor, entries }: Segment, from: number): Promise<ReadonlyArray<LinkCheck<Stone>>> =>
  checkLinks(entries, from === 1 ? genesis : { sequence: from - 1, chainHash: anchor.chainHash })
