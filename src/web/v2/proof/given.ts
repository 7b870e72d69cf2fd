/** The reader's part of a check: keys, a policy, and the entry of a log. */
import { Malformed } from "../../../../schema/log/Bytes.ts"
import { parseVerifierKey } from "../../../../schema/log/Note.ts"
import { logNamed, onlyLogOf, parsePolicy, type Policy } from "../../../../schema/log/Policy.ts"
import type { Trust } from "../../../buyer/log/SignedCheckpoint.ts"
import type { ReceiptCheck } from "../../../buyer/receipt/Checks.ts"
import { checkProof } from "../../../buyer/receipt/ProofChecks.ts"
import { verifyReceipt } from "../../../buyer/receipt/VerifyReceipt.ts"
import { all, one } from "../page/dom.ts"
import { AnswerError } from "../page/http.ts"
import { loggedIn } from "./logged.ts"
import type { Known } from "./recognise.ts"

export interface Outcome {
  readonly ok: boolean
  readonly checks: ReadonlyArray<ReceiptCheck>
}

/** The keys that this server names for its own receipts and logs. */
interface Own {
  readonly keys: ReadonlyArray<{ readonly kid: string; readonly vkey: string }>
  readonly logs: ReadonlyArray<{ readonly origin: string; readonly vkey: string; readonly entries: string }>
}

const keyIn = (what: string, text: string): string | undefined => {
  if (text === "") return undefined
  const key = parseVerifierKey(text)
  if (key instanceof Malformed) throw new AnswerError(`The ${what} is no key. ${key.message}`)
  return text
}

const policyIn = (text: string): Policy | undefined => {
  if (text.trim() === "") return undefined
  const policy = parsePolicy(text)
  if (policy instanceof Malformed) throw new AnswerError(policy.message)
  return policy
}

/** The fields below `root`; a field that lacks something is an error with a sentence. */
export const given = (root: HTMLElement) => {
  const { keys = "[]", logs = "[]" } = root.dataset
  const own: Own = { keys: JSON.parse(keys), logs: JSON.parse(logs) }
  const mine = new Set([...own.keys, ...own.logs].map(({ vkey }) => vkey))
  const input = (name: string) => one(`[data-given="${name}"]`, HTMLInputElement, root)
  const area = (name: string) => one(`[data-given="${name}"]`, HTMLTextAreaElement, root)
  const kind = one("[data-given=kind]", HTMLSelectElement, root)
  const file = one("[data-entry-file]", HTMLInputElement, root)
  const valueOf = (name: string) => input(name).value.trim()

  const showEntry = () => {
    for (const part of all("[data-kind]", HTMLElement, root))
      part.hidden = part.dataset["kind"]?.split(" ").includes(kind.value) === false
  }
  kind.addEventListener("change", showEntry)

  /** Fills in a key of this server, and takes it back from a file of others; a reader's own key stays. */
  const fill = (name: string, vkey: string | undefined) => {
    const field = input(name)
    if (field.value === "" || mine.has(field.value)) field.value = vkey ?? ""
  }

  const trust = (inPolicy: (policy: Policy) => string | undefined): Trust | undefined => {
    const witnesses = policyIn(area("policy").value)
    const named = keyIn("key of the log", valueOf("vkey"))
    const vkey = named ?? (witnesses === undefined ? undefined : inPolicy(witnesses))
    if (vkey === undefined && witnesses !== undefined)
      throw new AnswerError("The policy names no log, or several: name the key of the log, too.")
    if (vkey === undefined) return undefined
    const origin = valueOf("origin")
    return { vkey, ...(origin === "" ? {} : { origin }), ...(witnesses === undefined ? {} : { witnesses }) }
  }

  const ofReceipt = (text: string): Promise<Outcome> => {
    const [key, payTo] = [keyIn("key of the receipts", valueOf("key")), valueOf("payTo")]
    if (payTo !== "" && !/^0x[0-9a-fA-F]{40}$/u.test(payTo))
      throw new AnswerError("An address that was paid is 0x and 40 hexadecimal digits.")
    if (key === undefined) throw new AnswerError("Name the key of the receipts.")
    return verifyReceipt(text, { key, payTo: payTo === "" ? undefined : payTo, log: trust(onlyLogOf) })
  }

  const ofProof = async (text: string, origin: string): Promise<Outcome> => {
    const log = trust((policy) => logNamed(policy, origin))
    if (log === undefined) throw new AnswerError("Name the key of the log, or give a policy that names one log.")
    return checkProof(text, await loggedIn(kind.value, area("entry").value, file.files?.[0]), log)
  }

  return {
    /** Shows the fields that this file needs; true when nothing is missing. */
    ask: (what: Known): boolean => {
      for (const part of all("[data-of]", HTMLElement, root)) part.hidden = part.dataset["of"] !== what.kind
      if (what.kind === "receipt") {
        const known = own.keys.find(({ kid }) => kid === what.kid)
        fill("key", known?.vkey)
        fill("vkey", known === undefined ? undefined : own.logs[0]?.vkey)
        return known !== undefined && mine.has(valueOf("key"))
      }
      const log = own.logs.find(({ origin }) => origin === what.origin)
      fill("vkey", log?.vkey)
      kind.value = log?.entries ?? "text"
      area("entry").value = ""
      file.value = ""
      showEntry()
      return false
    },
    /** Checks by what is given; throws a sentence about what is missing. */
    check: async (text: string, what: Known): Promise<Outcome> =>
      what.kind === "receipt" ? ofReceipt(text) : ofProof(text, what.origin),
  }
}
