/** Verifies whatever it is given, by its form, and says what was checked and what was not; trusts no statement of a server. */
import { checkLink, genesis, linkFault } from "../../schema/altar/ChainCheck.ts"
import { Malformed } from "../../schema/log/Bytes.ts"
import { parseProofFile } from "../../schema/log/ProofFile.ts"
import { unlessAborted } from "./core/Abort.ts"
import { chainHashOf, checkSegment, type Segment } from "./core/Chain.ts"
import { checkReveal } from "./core/Commitment.ts"
import { isMembers, malformed, type Members, wholeAt } from "./core/Json.ts"
import { Unproven } from "./core/Verdict.ts"
import type { Check, Trust, Verified } from "./Library.ts"
import { verifyEntry } from "./log/EntryProof.ts"
import { openCheckpoint } from "./log/SignedCheckpoint.ts"
import { reasonOf, refuse } from "./PurchaseError.ts"
import { checked, holds, isSound, open, type ReceiptCheck } from "./receipt/Checks.ts"
import { checkProof, cosignatureCheck } from "./receipt/ProofChecks.ts"
import { linkOf, receiptFormat } from "./receipt/ReceiptFile.ts"
import { verifyReceipt } from "./receipt/VerifyReceipt.ts"
import { faultOf } from "./Site.ts"

const verified = (
  kind: Verified["kind"],
  checks: ReadonlyArray<ReceiptCheck>,
  more: Pick<Verified, "head"> = {},
): Verified => ({
  kind,
  ok: isSound(checks) && checks.some(({ state }) => state === "holds"),
  checks: checks.map(({ name, says, state }): Check => ({ name, state, says })),
  ...more,
})

const broken = (detail: string) => new Unproven("malformed", `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`)

const textOrNull = (value: unknown) => (typeof value === "string" ? value : null)

/** Whether shown words, and the caller's own, are those of a commitment. */
const wordsChecks = (commitment: string | null, shown: unknown, { sealed }: Trust) => {
  const check = (name: string, words: { readonly text: string | null; readonly salt: string | null }, says: string) =>
    checked(name, async () => {
      const fault = await checkReveal(commitment, words)
      if (fault !== undefined) throw broken(fault.detail)
      return holds(name, says)
    })
  const reveal = isMembers(shown) ? shown : {}
  const text = textOrNull(reveal["text"] ?? reveal["words"])
  return Promise.all([
    text === null
      ? open("words", isMembers(shown) ? "The words are hidden." : "No words are revealed.")
      : check("words", { text, salt: textOrNull(reveal["salt"]) }, "The words and their salt hash to the commitment."),
    ...(sealed === undefined
      ? []
      : [check("sealed", { text: sealed.words, salt: sealed.salt }, "Your salt and words hash to the commitment.")]),
  ])
}

const stoneChecks = async (record: Members, reveal: unknown, trust: Trust) => [
  await checked("stone", async () => {
    const stone = linkOf(record)
    // A single stone is checked at the place it claims.
    const before = { sequence: stone.sequence - 1, chainHash: stone.previousHash }
    const fault = linkFault(checkLink(stone, before, await chainHashOf(stone)))
    if (fault !== undefined) throw broken(`stone ${stone.sequence}: ${fault.detail}`)
    return holds("stone", `Stone ${stone.sequence} hashes to its chainHash.`)
  }),
  ...(await wordsChecks(textOrNull(record["commitment"]), reveal, trust)),
  open("place", "Its place in the chain was not checked: verify its segment, or a proof of it."),
]

const pointOf = (value: unknown) =>
  isMembers(value) ? { sequence: wholeAt(value, "sequence"), chainHash: String(value["chainHash"]) } : genesis

const segmentOf = ({ anchor, entries, head, next }: Members): Segment => ({
  anchor: pointOf(anchor),
  entries: (Array.isArray(entries) ? entries : []).map((entry) => {
    if (isMembers(entry)) return linkOf(entry)
    throw malformed("An entry is no JSON object.")
  }),
  head: pointOf(head),
  next: typeof next === "number" ? next : null,
})

const ofSegment = async (members: Members, { anchor }: Trust): Promise<Verified> => {
  let head: Verified["head"]
  const links = await checked("links", async () => {
    const segment = segmentOf(members)
    // At sequence 0 an anchor is always the genesis of 64 zeros.
    const start = anchor ?? (segment.anchor.sequence === 0 ? genesis : segment.anchor)
    const { checks, end, last } = await checkSegment(segment, start)
    const fault = checks.map(linkFault).find((each) => each !== undefined) ?? end
    if (fault !== undefined) throw broken(`stone ${fault.sequence}: ${fault.detail}`)
    head = last
    return holds("links", `${checks.length} links hash and follow ${start.sequence}, up to ${last.sequence}.`)
  })
  const own = members["anchor"]
  const isAnchored = anchor !== undefined || !isMembers(own) || own["sequence"] === 0
  const more = isAnchored ? [] : [open("anchor", "The links before it were not checked: give the head you kept.")]
  return verified("segment", [links, ...more], head === undefined ? {} : { head })
}

const noLog = open("checkpoint", "Not checked: name the log's verifier key (`log`).")

const ofCheckpoint = async (note: string, log: Trust["log"]): Promise<ReadonlyArray<ReceiptCheck>> => {
  if (log === undefined) return [noLog]
  const opened = await openCheckpoint(note, log)
  return opened.ok
    ? [
        holds("checkpoint", `The log ${opened.checkpoint.origin} signed its tree of ${opened.checkpoint.size}.`),
        cosignatureCheck(opened),
      ]
    : [await checked("checkpoint", () => Promise.reject(new Unproven(opened.fault, opened.reason)))]
}

const ofProof = async (text: string, { log, of }: Trust): Promise<ReadonlyArray<ReceiptCheck>> => {
  if (log !== undefined && of !== undefined && "chainHash" in of)
    return (await checkProof(text, { stone: of }, log)).checks
  const file = parseProofFile(text)
  if (file instanceof Malformed) return [await checked("file", () => Promise.reject(malformed(file.message)))]
  const checks = await ofCheckpoint(file.checkpoint, log)
  if (log === undefined || of === undefined || "chainHash" in of)
    return [...checks, open("entry", "Not checked: name the stone, the entry or the leaf that the proof is of (`of`).")]
  const bytes = (given: Uint8Array) => Uint8Array.from(given)
  const entry = "leaf" in of ? { leaf: bytes(of.leaf) } : { entry: bytes(of.entry) }
  return [
    ...checks,
    await checked("entry", async () => {
      const verdict = await verifyEntry(text, entry, log)
      if (!verdict.ok) throw new Unproven(verdict.fault, verdict.reason)
      return holds("entry", `The tree of ${verdict.size} holds it at ${verdict.index}.`)
    }),
  ]
}

const ofReceipt = async (text: string, { key, log, payTo }: Trust): Promise<Verified> =>
  verified(
    "receipt",
    key === undefined
      ? [open("signature", "Not checked: name the verifier key of the receipts (`key`).")]
      : (await verifyReceipt(text, { key, payTo, log })).checks,
  )

/** Every object in which an answer carries a record, outermost first, each with the reveal beside it. */
const recordsIn = (json: Members): ReadonlyArray<readonly [record: Members, reveal: unknown]> =>
  [json, json["stone"], json["candle"], json["act"], json["record"]].flatMap((part) => {
    if (!isMembers(part)) return []
    const reveal = part["reveal"] ?? part["unsealed"] ?? null
    const { record } = part
    return [[part, reveal] as const, ...(isMembers(record) ? [[record, reveal] as const] : [])]
  })

const ofJson = async (json: Members, text: string, trust: Trust): Promise<Verified> => {
  if (String(json["format"]).startsWith("spirit-altar-receipt/")) return ofReceipt(text, trust)
  if (Array.isArray(json["entries"])) return ofSegment(json, trust)
  const records = recordsIn(json)
  const [stone, ...others] = records.filter(
    ([record], at) => "chainHash" in record && records.findIndex(([same]) => same === record) === at,
  )
  // Only one would be checked, and its reader may take another.
  if (others.length > 0)
    return verified("stone", [await checked("stone", () => Promise.reject(malformed("It holds more than one stone.")))])
  if (stone !== undefined) return verified("stone", await stoneChecks(...stone, trust))
  const [record, shown] = records.find(([each]) => "intentionCommitment" in each || "commitment" in each) ?? []
  if (record === undefined) return unknownForm
  const commitment = textOrNull(record["intentionCommitment"] ?? record["commitment"])
  // `seal` and `exportWords` return words beside their commitment.
  return verified("words", await wordsChecks(commitment, shown ?? ("words" in record ? record : null), trust))
}

const unknownForm = verified("unknown", [
  open("form", `This is no stone, words, segment, proof, checkpoint or receipt file (${receiptFormat}).`),
])

const ofText = async (text: string, trust: Trust): Promise<Verified> => {
  const begin = text.trimStart()
  if (begin.startsWith("c2sp.org/tlog-proof@")) return verified("proof", await ofProof(text, trust))
  if (/\n\n\u2014 /u.test(text)) return verified("checkpoint", await ofCheckpoint(text, trust.log))
  try {
    const json: unknown = JSON.parse(text)
    return isMembers(json) ? await ofJson(json, text, trust) : unknownForm
  } catch (error) {
    if (error instanceof SyntaxError) return unknownForm
    throw error
  }
}

const permalink = /\/(?:acts|witness)\/[0-9a-f-]{36}$/u

/** The text at a URL; of a permalink its receipt file where a receipt's key is named. */
const textAt = async (url: string, { fetch: send = fetch, insecure = false, key, signal }: Trust): Promise<string> => {
  const fault = faultOf(url, insecure)
  if (fault !== undefined) throw fault
  const address = key !== undefined && permalink.test(url) ? `${url}.receipt.json` : url
  const ends = AbortSignal.timeout(60_000)
  const answer = async () => {
    const init = { headers: { accept: "application/json, text/plain" }, redirect: "error" } as const
    const response = await send(address, {
      ...init,
      signal: signal === undefined ? ends : AbortSignal.any([signal, ends]),
    })
    if (!response.ok) throw new Error(`it answers ${response.status}`)
    return response.text()
  }
  return (signal === undefined ? answer() : unlessAborted(signal, answer)).catch((error: unknown) => {
    signal?.throwIfAborted()
    throw refuse("unreachable", `${address} gives nothing to verify: ${reasonOf(error)}.`)
  })
}

/** See `verify` of the entry. */
export const verify = async (thing: unknown, trust: Trust = {}): Promise<Verified> => {
  trust.signal?.throwIfAborted()
  if (typeof thing !== "string") return ofText(JSON.stringify(thing) ?? "", trust)
  return /^https?:\/\/\S+$/u.test(thing) ? ofText(await textAt(thing, trust), trust) : ofText(thing, trust)
}
