/** The log over all acts, each entry of which the auditor makes from the first answer. */
import type { Findings } from "./Findings.ts"
import type { Attempt, Ledger } from "./Ledger.ts"
import { auditOne, type Checks } from "./Log.ts"
import { sha256 } from "./Merkle.ts"

const ofActs: Checks = {
  checkpoint: "a checkpoint over all acts is signed, and of the acts as they were answered",
  covered: "every act is in the log over all acts, once",
  tiles: "the files of the log over all acts are those of its acts",
  proof: "every act has a proof that leads to the signed root",
}

type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [name: string]: Json }

/** RFC 8785. */
const canonical = (value: Json): string => {
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`
}

const digest = (text: string) => sha256(text).toString("hex")

/** The entry of an act, by docs/proofs.md. */
const actText = (id: string, { answer, paymentResponse, rail }: Partial<Attempt> = {}) => {
  const { receipt = {} } = JSON.parse(answer ?? "{}")
  const header = rail === "card" ? {} : JSON.parse(Buffer.from(paymentResponse ?? "e30=", "base64").toString())
  const jws: string | undefined = header.extensions?.["offer-receipt"]?.info.receipt.signature
  return [
    "spirit-altar/act/v1",
    `act ${id}`,
    jws === undefined ? `receipt json ${digest(canonical(receipt))}` : `receipt jws ${digest(jws)}`,
    `transaction ${receipt.transaction ?? "-"}`,
    "",
  ].join("\n")
}

/** Each settled act has one leaf, at its position, made of its first answer. */
export const auditActsLog = async (servers: ReadonlyArray<string>, ledger: Ledger, found: Findings) => {
  const attempts = new Map(ledger.attempts.map((attempt) => [attempt.id, attempt]))
  const { actCheckpoints: checkpoints, actLogHead: heads, acts } = ledger
  const entries = acts.map(({ id }) => ({ id, text: actText(id, attempts.get(id)) }))
  const logged = { noun: "act", checks: ofActs, api: "/api/acts", files: "/log/acts/", entries, checkpoints, heads }
  const view = await auditOne(servers, logged, found)
  if (view === undefined) return
  for (const [at, { id, position }] of acts.entries()) {
    found.hold(ofActs.covered, Number(position) === at + 1, { id, position, expected: at + 1 })
  }
}
