/** Reads the receipt file of an act strictly. Its members are claims until they are checked. */
import type { Link } from "../core/Chain.ts"
import { anyMembers, jsonIn, malformed, type Members, membersOf, textAt, wholeAt } from "../core/Json.ts"

/** The first member of a receipt file; another text is another format. */
export const receiptFormat = "spirit-altar-receipt/v1"

/** Maximum characters; the largest true file has a tenth of them. */
export const fileMaximum = 300_000

const hash = /^[0-9a-f]{64}$/u

/** The parts of a stone that its chain hash covers, and the hash. */
export const linkOf = (stone: Members): Link => ({
  sequence: wholeAt(stone, "sequence"),
  commitment: textAt(stone, "commitment", hash),
  witnessedAt: textAt(stone, "witnessedAt", /^[0-9TZ:.-]{24}$/u),
  transaction: textAt(stone, "transaction", /^0x[0-9a-f]{64}$/u),
  previousHash: textAt(stone, "previousHash", hash),
  chainHash: textAt(stone, "chainHash", hash),
})

/**
 * The one stone in a JSON text: a record alone, or an answer or a receipt file that holds one. `others` are the names of
 * its members that no chain hash covers.
 */
export const stoneIn = (text: string) => {
  const answer = anyMembers(jsonIn(text, "The stone"), "The stone")
  const [given, ...more] = [answer, answer["stone"], answer["record"]].flatMap((part) =>
    typeof part === "object" && part !== null && "chainHash" in part ? [anyMembers(part, "The stone")] : [],
  )
  if (given === undefined) throw malformed("This JSON holds no witness stone: save what /api/witness/{id} answers.")
  if (more.length > 0) throw malformed("This JSON holds more than one stone: keep one of them.")
  const stone = linkOf(given)
  const { receipt } = answer
  const hasReceipt = typeof receipt === "object" && receipt !== null && !Array.isArray(receipt)
  for (const name of hasReceipt ? ["payer", "transaction"] : [])
    if (name in given && anyMembers(receipt, "The receipt")[name] !== given[name])
      throw malformed(`This JSON contradicts itself: its receipt names another ${name} than its stone.`)
  return {
    stone,
    others: [...Object.keys(given).filter((name) => !(name in stone)), ...(hasReceipt ? ["receipt"] : [])],
  }
}

const nullable = (members: Members, name: string) => (members[name] === null ? null : textAt(members, name))

const fileNames = [
  "format",
  "act",
  "permalink",
  "receipt",
  "record",
  "reveal",
  "binding",
  "body?",
  "log?",
  "dated?",
  "refund?",
]
const bindingNames = ["version", "salt", "method", "url", "bodySha256"]
const revealNames = ["text", "salt", "hidden", "hiddenBy?", "agentName", "revealedAt"]

/** JSON without the white space between its tokens. */
const compact = (text: string) =>
  text.replace(/("[^"\\]*(?:\\.[^"\\]*)*")|[\t\n\r ]+/gu, (_, quoted: string | undefined) => quoted ?? "")

export const readReceiptFile = (text: string) => {
  if (text.length > fileMaximum) throw malformed("The file is larger than any receipt file.")
  const json = jsonIn(text, "The file")
  // Another reader may take the other one of two members of one name.
  if (JSON.stringify(json) !== compact(text))
    throw malformed("The file names a member twice, or was written anew: download it again.")
  const file = membersOf(json, "The file", fileNames)
  if (file["format"] !== receiptFormat) throw malformed(`The file is not of the format ${receiptFormat}.`)
  const { record, reveal } = file
  const shown = reveal === null ? null : membersOf(reveal, "The reveal", revealNames)
  const named = file["binding"] === null ? null : membersOf(file["binding"], "The binding", bindingNames)
  if (named !== null && (named["version"] !== 1 || named["method"] !== "POST"))
    throw malformed("The binding is of another version than 1, or of another method than POST.")
  return {
    act: textAt(file, "act"),
    permalink: textAt(file, "permalink", /^https?:\/\/\S+$/u),
    receipt: textAt(file, "receipt"),
    record: record === null || record === undefined ? null : anyMembers(record, "The record"),
    reveal: shown === null ? null : { text: nullable(shown, "text"), salt: nullable(shown, "salt") },
    /** The request that the payment names, as the file says. */
    binding:
      named === null
        ? null
        : { salt: textAt(named, "salt"), url: textAt(named, "url"), bodySha256: textAt(named, "bodySha256", hash) },
    /** The body of the purchase; undefined where it is not public. */
    body: "body" in file ? anyMembers(file["body"], "The body") : undefined,
    log: "log" in file ? textAt(file, "log") : undefined,
    isDated: "dated" in file,
  }
}

export type ReceiptFile = ReturnType<typeof readReceiptFile>
