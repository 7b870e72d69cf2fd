/**
 * The auditor: whether all payments, chains and logs of an altar still hold, from the chain's logs, the card processor's books,
 * SQL and the public API alone. It shares no line with what it checks.
 */
import { auditAnswers } from "./AnswerChecks.ts"
import { auditCards, type CardAccount, readCharges } from "./CardChecks.ts"
import { auditChains } from "./Chains.ts"
import { auditClaimed } from "./Claims.ts"
import { type AuditReport, findings } from "./Findings.ts"
import { readLedger } from "./AuditLedger.ts"
import { auditLog } from "./Log.ts"
import { auditPayments } from "./PaymentChecks.ts"
import { auditRefunds } from "./RefundChecks.ts"
import { readChain } from "./Transfers.ts"

export type { AuditReport } from "./Findings.ts"

/** The audited altar, and the answers to its buyers. */
interface AuditTarget {
  readonly databaseUrl: string
  readonly rpcUrl: string
  /** Base URLs of the servers, all on that database. Each is asked. */
  readonly servers: ReadonlyArray<string>
  readonly token: string
  readonly payTo: string
  /** JSONL of every `RecordedAnswer`. */
  readonly answersFile: string
  readonly log: (line: string) => void
  /** The senders of the servers' transactions, each of which must be on disk. Their relayer is found by itself. */
  readonly settlers?: ReadonlyArray<string>
  /** The account that cards are charged for. */
  readonly cards: CardAccount
  /** Whether every attempt has to have ended by now; otherwise attempts with an unknown outcome may be pending. */
  readonly isQuiet?: boolean
}

/** Checks everything once, and changes nothing. Nothing may be in flight during the audit, or it is found half done. */
export const audit = async (target: AuditTarget): Promise<AuditReport> => {
  const { answersFile, isQuiet = false, log, payTo, rpcUrl, settlers = [], token } = target
  const servers = target.servers.map((server) => server.replace(/\/$/u, ""))
  const found = findings()
  const ledger = await readLedger(target.databaseUrl)
  const chain = await readChain(rpcUrl, token, payTo)
  log(`${ledger.attempts.length} attempts, ${chain.transfers.length} transfers, final block ${chain.final.number}`)
  await auditPayments({ token, payTo, servers, isQuiet, settlers, chain, ledger, found })
  await auditRefunds({ rpcUrl, token, servers }, chain, ledger, found)
  const charges = await readCharges(target.cards)
  auditCards(charges, ledger, found)
  log(`${charges.length} charges of cards`)
  await auditClaimed(servers, ledger, found)
  const chains = await auditChains(servers, ledger, found)
  log(`${chains.stones.length} stones, ${chains.publications.length} publications`)
  const view = await auditLog(servers, chains.stones, ledger, found)
  log(view === undefined ? "there is no log" : "the log is read")
  const known = { chain, chains, charges, ledger, log: view }
  await auditAnswers(answersFile, servers, known, found)
  return found.report()
}
