/** Every answer that a buyer was ever given, held against how things stand now. */
import { each, request, isObject, type Json, parsed, textAt } from "./Api.ts"
import type { Charge } from "./CardChecks.ts"
import type { Chains } from "./Chains.ts"
import type { Findings } from "./Findings.ts"
import { answersOf, type ReadAnswer } from "./RecordedAnswers.ts"
import type { Attempt, Ledger, StoredAnswer } from "./AuditLedger.ts"
import type { LogView } from "./Log.ts"
import { authorizationOf, type ChainView, type Transfer } from "./Transfers.ts"

interface Known {
  readonly chain: ChainView
  readonly chains: Chains
  readonly charges: ReadonlyArray<Charge>
  readonly ledger: Ledger
  readonly log: LogView | undefined
}

/** A replay has the bytes of the first answer, but for its last member. */
const bodyOf = ({ extra, permalink, receipt, record }: StoredAnswer, replayed: boolean) =>
  JSON.stringify({ ok: true, record, receipt, permalink, ...extra, replayed })

/** The authorization in a `PAYMENT-SIGNATURE`. */
const paymentOf = (header: string | undefined) => {
  const payment = header === undefined ? undefined : parsed(Buffer.from(header, "base64").toString())
  const payer = textAt(payment, "payload", "authorization", "from")?.toLowerCase()
  const nonce = textAt(payment, "payload", "authorization", "nonce")?.toLowerCase()
  return payer === undefined || nonce === undefined ? undefined : authorizationOf({ payer, nonce })
}

const checks = {
  answer: "an answer of a settled act is the stored one, to the byte",
  pending: "what was said to be pending is on disk",
  failed: "what was said to have failed was not paid",
  uncharged: "nothing was charged where that was said",
  shown: "every link that was ever shown is in its chain",
  receipt: "every receipt that was ever shown stands",
  log: "every checkpoint and proof that was ever given is of the log",
  refusal: "what was refused as taken is taken",
  bug: "no answer is an internal error",
  replay: "a settled purchase is replayed, to the byte, by every server",
}

/** Holds everything in a JSON body that names a link of a chain, or a payment, against what is known. */
const truthOf = ({ chains, ledger }: Known) => {
  const settled = new Set(
    ledger.attempts.flatMap(({ currentTransaction, state, transaction }) =>
      state === "settled" ? [transaction, currentTransaction] : [],
    ),
  )
  const heads = { witness: chains.stones, publication: chains.publications }
  const covers = [
    "commitment",
    "witnessedAt",
    "transaction",
    "previousHash",
    "chainHash",
    "type",
    "itemId",
    "manifestHash",
    "edition",
    "keeper",
    "publishedAt",
  ]
  const wrong = (value: unknown, kind: keyof typeof heads, found: Findings, where: string): void => {
    if (Array.isArray(value)) {
      for (const one of value) wrong(one, kind, found, where)
      return
    }
    if (!isObject(value)) return
    const { chainHash, sequence } = value
    if (typeof sequence === "number" && typeof chainHash === "string" && sequence > 0) {
      const link: Json | undefined =
        heads[kind][sequence - 1] === undefined ? undefined : { ...heads[kind][sequence - 1] }
      const differs = link && covers.filter((name) => name in value && name in link && value[name] !== link[name])
      found.hold(checks.shown, differs?.length === 0, { where, kind, sequence, link, differs })
    }
    const paidBy =
      textAt(value, "payTo") === undefined ? textAt(value, "card", "reference") : textAt(value, "transaction")
    if (typeof value["settledAt"] === "string" && paidBy !== undefined)
      found.hold(checks.receipt, settled.has(paidBy.toLowerCase()), { where, settlesNothing: paidBy })
    for (const [name, one] of Object.entries(value))
      wrong(one, name === "publication" ? "publication" : kind, found, where)
  }
  return wrong
}

/** The requests to repeat: one successful request for each key. */
interface Bought {
  readonly attempt: Attempt
  readonly method: string
  /** With its query, which belongs to what was bought. */
  readonly path: string
  readonly requestBody: string | undefined
}

const reconcilePath = /^\/api\/reconcile\/([^/]+)$/u

export const auditAnswers = async (file: string, servers: ReadonlyArray<string>, known: Known, found: Findings) => {
  const { chain, ledger, log } = known
  const attempts = new Map(ledger.attempts.map((one) => [one.key, one]))
  const byPayment = Map.groupBy(ledger.attempts, authorizationOf)
  const transfers = new Map(chain.transfers.map((one) => [authorizationOf(one), one]))
  const charged = new Map(known.charges.map((one) => [one.attempt, one]))
  const bought = new Map<string, Bought>()
  const made = new Set<string>()
  const truth = truthOf(known)

  /** Whether an attempt that has the authorization is settled, maybe under another key. */
  const isBought = (payment: string) => (byPayment.get(payment) ?? []).some(({ state }) => state === "settled")

  const heldAsSettled = (answer: ReadAnswer, key: string) => {
    const { path, where } = answer
    const attempt = attempts.get(key)
    const facts = { where, key, state: attempt?.state }
    if (attempt?.state !== "settled") return found.hold(checks.answer, false, facts)
    const isStored = attempt.answer !== null && answer.body === bodyOf(attempt.answer, answer.status !== 201)
    const header = answer.headers[attempt.rail === "card" ? "payment-receipt" : "payment-response"]
    const isHeader = header === undefined || header === attempt.paymentResponse
    const isFirst = answer.status !== 201 || !made.has(key)
    found.hold(checks.answer, isStored && isHeader && isFirst, { ...facts, isStored, isHeader, isFirst })
    if (answer.status === 201) made.add(key)
    if (!reconcilePath.test(path)) {
      const { search } = new URL(answer.url, answer.server)
      bought.set(key, { attempt, method: answer.method, path: path + search, requestBody: answer.requestBody })
    }
  }

  /** The transaction or charge of a payment, and its time in milliseconds since 1970; none where nothing paid. */
  const takenBy = async (attempt: Attempt | undefined, payment: string | undefined) => {
    if (attempt?.rail === "card") {
      const charge = charged.get(attempt.id)
      // The processor's time has whole seconds.
      return charge && { what: charge.intent, at: charge.createdAt + 1000 }
    }
    const transfer: Transfer | undefined = payment === undefined ? undefined : transfers.get(payment)
    return transfer && { what: transfer.transaction, at: (await chain.timeOf(transfer.block)) * 1000 }
  }

  const heldAsRefused = async (answer: ReadAnswer, key: string | null) => {
    const { json: body, where } = answer
    const code = textAt(body, "code") ?? ""
    const attempt = key === null ? undefined : attempts.get(key)
    const own = attempt === undefined ? undefined : authorizationOf(attempt)
    const payment = paymentOf(answer.payment) ?? own
    const facts = { where, key, code, payment, attempt: attempt?.id, state: attempt?.state }
    if (code === "payment_failed" && key !== null) {
      const taken = await takenBy(attempt, own)
      const isPaid = own !== undefined && taken !== undefined && !isBought(own)
      found.hold(checks.failed, attempt?.state === "failed" && !isPaid, { ...facts, taken })
    }
    if (code === "payment_authorization_already_bound" && payment !== undefined)
      found.hold(checks.refusal, byPayment.has(payment), facts)
    if (code === "idempotency_conflict" && key !== null) found.hold(checks.refusal, attempt !== undefined, facts)
    const spirit = answer.path.split("/").at(-1) ?? ""
    const placesIn = (name: string) => ledger.records.filter(({ table }) => table === name).map(({ place }) => place)
    if (code === "already_kept") found.hold(checks.refusal, placesIn("keepers").includes(spirit), facts)
    if (code === "prayer_already_recorded") {
      const isRecorded = placesIn("prayers").some((place) => place.startsWith(`${spirit} on `))
      found.hold(checks.refusal, isRecorded, facts)
    }
    // "This request charged nothing" says no more than that; "Nothing was charged" is of the payment, up to that moment.
    if (/(?<!request charged )nothing was charged/iu.test(textAt(body, "message") ?? "") && payment !== undefined) {
      const taken = await takenBy(attempt, payment)
      const isFalse = taken !== undefined && !isBought(payment) && taken.at < answer.at
      found.hold(checks.uncharged, !isFalse, { ...facts, taken })
    }
    if (code === "attempt_not_found" && key !== null) found.hold(checks.uncharged, !bought.has(key), facts)
  }

  const heldAsText = ({ body, json, path, where }: ReadAnswer) => {
    if (log === undefined) return
    const id = /^\/api\/witness\/([0-9a-f-]{36})\/proof$/u.exec(path)?.[1]
    if (id !== undefined) {
      const index = known.chains.stones.findIndex((stone) => stone.id === id)
      const wrong = index < 0 ? "is of a stone that is not there" : log.wrongProof(body, index)
      found.hold(checks.log, wrong === undefined, { where, proof: wrong })
      return
    }
    const note =
      path === "/log/checkpoint" ? body : path === "/api/witness/log" ? textAt(json, "checkpoint") : undefined
    if (note !== undefined) {
      const wrong = log.wrongCheckpoint(note)
      found.hold(checks.log, wrong === undefined, { where, checkpoint: wrong })
    }
  }

  for await (const answer of answersOf(file)) {
    const { isGood, json: body, path, where } = answer
    const key = answer.key ?? reconcilePath.exec(path)?.[1] ?? null
    const isPaid = key !== null && isObject(body) && "receipt" in body && "replayed" in body
    found.hold(checks.bug, answer.status !== 500, { where, body: answer.body })
    if (isGood) {
      if (isPaid) heldAsSettled(answer, key)
      truth(body, path === "/api/publish-chain" ? "publication" : "witness", found, where)
      heldAsText(answer)
    } else if (answer.status === 202 && key !== null) {
      const [id, told] = [attempts.get(key)?.id, textAt(body, "attempt", "id")]
      found.hold(checks.pending, id !== undefined && told === id, { where, key, id, told })
    } else if (answer.status >= 400) await heldAsRefused(answer, key)
  }

  await each([...bought], async ([key, { attempt, method, path, requestBody }], at) => {
    const server = servers[at % servers.length]
    const { status, text } = await request(`${server}${path}`, {
      method,
      headers: { "idempotency-key": key, ...(requestBody === undefined ? {} : { "content-type": "application/json" }) },
      ...(requestBody === undefined ? {} : { body: requestBody }),
    })
    const isReplay = status === 200 && attempt.answer !== null && text === bodyOf(attempt.answer, true)
    found.hold(checks.replay, isReplay, { server, key, status, text })
  })
}
