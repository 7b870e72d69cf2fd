/** An adversarial chain: blocks that are replaced until they are final, and a node that is behind for as long as it likes. */

/**
 * The knowledge of one node. Blocks are numbered from 1, hold one transaction or none, and are made at a time that is their
 * number; a block's hash is the text of the chain up to it, so two branches never share one.
 */
export interface View {
  readonly blocks: string
  /** Number of the newest block that cannot be orphaned. */
  readonly final: number
}

/** The possible content of a block: any submitter may add it at any time, or never. */
export interface Pool {
  /** Our submitted transactions; anyone who saw one may resubmit it. */
  readonly sent: ReadonlyArray<string>
  /** Those that nodes still know. */
  readonly known: ReadonlyArray<string>
  /** Authorizations whose signature others have read. */
  readonly open: string
}

/** How an authorization ended. */
export interface End {
  readonly transaction: string
  readonly isPaid: boolean
  readonly block: number
}

export interface Executed {
  readonly height: number
  readonly transactions: ReadonlyArray<string>
  readonly ends: Readonly<Record<string, End>>
  readonly reverted: ReadonlyArray<string>
  /** Transactions of our relayer, which is its nonce. */
  readonly relayed: number
  /** Wallets that cannot pay at the moment, by their authorization. */
  readonly poor: string
}

/**
 * A transaction is called by its authorization, who sends it, and for our relayer nonce and version: `aR00`. Others are
 * an outsider's or facilitator's transfer `aO`, the payer's own `aP`, the payer's cancellation `aC`, and the payer's
 * money leaving `aD` and coming back `aF`. A group of our relayer names those who travel in it: `gR00ab`; in a block it
 * may say whom the gas did not suffice for, `gR00ab!b`, which changes nothing of its hash.
 */
export const authorizationOf = (transaction: string) => transaction.charAt(0)
const groupMark = "g"
export const isGroup = (transaction: string) => transaction.startsWith(groupMark)
/** The input of its hash. */
const hashedPart = (transaction: string) => transaction.split("!")[0] ?? ""
const withoutGas = (transaction: string) => transaction.split("!")[1] ?? ""
/** The authorizations that a transaction of ours brings to the chain. */
export const membersOf = (transaction: string) =>
  isGroup(transaction) ? hashedPart(transaction).slice(4) : authorizationOf(transaction)
export const senderOf = (transaction: string) => transaction.charAt(1)
export const nonceOf = (transaction: string) => Number(transaction.charAt(2))
export const versionOf = (transaction: string) => Number(transaction.charAt(3))

/** The authorization `a` is valid in blocks below this number. */
export type Expiry = number

/** A second signature, or another payer's, expires one block later. */
export const endOf = (authorization: string, expiry: Expiry) => (authorization === "b" ? expiry + 1 : expiry)

const transfers = new Set(["R", "O", "P"])

const listOf = (blocks: string) => (blocks === "" ? [] : blocks.slice(1).split("|"))

const executions = new Map<string, Executed>()

/** The effects of the blocks, in order. */
export const execute = (blocks: string, expiry: Expiry): Executed => {
  const name = `${expiry}${blocks}`
  const known = executions.get(name)
  if (known !== undefined) return known
  const inBlocks = listOf(blocks)
  const transactions = inBlocks.map(hashedPart)
  const ends: Record<string, End> = {}
  const reverted: Array<string> = []
  let relayed = 0
  let poor = ""
  for (const [index, inBlock] of inBlocks.entries()) {
    const block = index + 1
    const transaction = hashedPart(inBlock)
    const authorization = authorizationOf(transaction)
    const sender = senderOf(transaction)
    if (sender === "R") relayed += 1
    if (sender === "D") poor += authorization
    if (sender === "F") poor = poor.replace(authorization, "")
    if (sender === "C") ends[authorization] ??= { transaction, isPaid: false, block }
    if (!transfers.has(sender)) continue
    for (const member of membersOf(transaction)) {
      const isRefused = block >= endOf(member, expiry) || ends[member] !== undefined || poor.includes(member)
      if (!isRefused && !withoutGas(inBlock).includes(member)) ends[member] = { transaction, isPaid: true, block }
      // A failing member of a group fails alone.
      else if (!isGroup(transaction)) reverted.push(transaction)
    }
  }
  const executed = { height: transactions.length, transactions, ends, reverted, relayed, poor }
  executions.set(name, executed)
  return executed
}

/** The hash of a block. */
export const hashOf = (blocks: string, number: number) =>
  listOf(blocks)
    .slice(0, number)
    .map((one) => `|${one}`)
    .join("")

/** Why a transfer would revert on the newest of these blocks, if it would; the token looks at the clock first. */
export const dryRun = (blocks: string, authorization: string, expiry: Expiry): string => {
  const { ends, height, poor } = execute(blocks, expiry)
  if (height >= endOf(authorization, expiry)) return "expired"
  if (ends[authorization] !== undefined) return "used"
  return poor.includes(authorization) ? "funds" : ""
}

/** The effects of the final part of a chain. */
export const finalPart = ({ blocks, final }: View, expiry: Expiry) => execute(hashOf(blocks, final), expiry)

export interface Adversary {
  readonly expiry: Expiry
  /** Whether a node may be behind; otherwise all know the newest block. */
  readonly lags?: boolean
  /** Blocks at most. */
  readonly height: number
  readonly authorizations: string
  readonly payerSends?: boolean
  readonly payerCancels?: boolean
  /** Whether the wallet's money may leave and come back. */
  readonly moneyMoves?: boolean
  /** Whether every block stays; otherwise those that are not final may be replaced. */
  readonly blocksStay?: boolean
  /** Whether our transactions may be forgotten by every node and come back. */
  readonly forgets?: boolean
}

/** The possible content of the next block. */
const candidates = ({ blocks }: View, pool: Pool, adversary: Adversary) => {
  const { expiry } = adversary
  const { ends, height, poor, relayed, transactions } = execute(blocks, expiry)
  const found = [""]
  for (const sent of pool.sent) {
    if (nonceOf(sent) !== relayed) continue
    found.push(sent)
    if (isGroup(sent)) for (const member of membersOf(sent)) found.push(`${sent}!${member}`)
  }
  for (const authorization of adversary.authorizations) {
    const isUnused = ends[authorization] === undefined
    const pays = height + 1 < endOf(authorization, expiry) && isUnused && !poor.includes(authorization)
    if (pays && pool.open.includes(authorization)) found.push(`${authorization}O`)
    if (pays && adversary.payerSends === true) found.push(`${authorization}P`)
    if (isUnused && adversary.payerCancels === true) found.push(`${authorization}C`)
    if (adversary.moneyMoves === true && height + 1 < expiry) {
      if (poor.includes(authorization)) found.push(`${authorization}F`)
      else if (isUnused && !transactions.includes(`${authorization}D`)) found.push(`${authorization}D`)
    }
  }
  return found
}

/** Everything the chain can do by itself. */
export const moves = (
  truth: View,
  lag: View,
  pool: Pool,
  adversary: Adversary,
  told: (says: string, change: { readonly truth?: View; readonly lag?: View; readonly pool?: Pool }) => void,
) => {
  const emit: typeof told = (says, change) =>
    told(says, adversary.lags === true || change.truth === undefined ? change : { ...change, lag: change.truth })
  const { height } = execute(truth.blocks, adversary.expiry)
  if (height < adversary.height) {
    for (const transaction of candidates(truth, pool, adversary)) {
      const opens = senderOf(transaction) === "P" && !pool.open.includes(authorizationOf(transaction))
      emit(`chain: block ${height + 1} holds ${transaction === "" ? "nothing" : transaction}`, {
        truth: { blocks: `${truth.blocks}|${transaction}`, final: truth.final },
        ...(opens ? { pool: { ...pool, open: pool.open + authorizationOf(transaction) } } : {}),
      })
    }
  }
  if (truth.final < height) {
    emit(`chain: block ${truth.final + 1} is final`, { truth: { blocks: truth.blocks, final: truth.final + 1 } })
  }
  for (let kept = truth.final; kept < height && adversary.blocksStay !== true; kept += 1) {
    emit(`chain: the blocks above ${kept} are replaced`, {
      truth: { blocks: hashOf(truth.blocks, kept), final: truth.final },
    })
  }
  if (truth.blocks !== lag.blocks || truth.final !== lag.final)
    emit("the node that is behind catches up", { lag: truth })
  if (adversary.forgets !== true) return
  for (const transaction of pool.known) {
    emit(`nodes forget ${transaction}`, {
      pool: { ...pool, known: pool.known.filter((one) => one !== transaction) },
    })
  }
}
