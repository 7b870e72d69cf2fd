/** Every question to the node: its method, the decoder of its answer, and the meaning of its refusals. */
import { Predicate, Result, Schema } from "effect"
import { type Hex, numberToHex, toFunctionSelector } from "viem"
import type { Address } from "../../../../schema/Common.ts"
import {
  AddressText,
  authorizationStateData,
  balanceData,
  HexText,
  inLowerCase,
  type Log,
  Quantity,
  reasonOf,
  type SignedAuthorization,
  type TokenLog,
  Word,
  wordOf,
} from "./Eip3009.ts"
import {
  type BlockParameter,
  type BlockRange,
  both,
  type ChainUnavailable,
  isRevert,
  malformedAnswer,
  mapped,
  type Question,
  question,
} from "./Rpc.ts"

const Block = Schema.Struct({
  number: Quantity,
  hash: Word,
  timestamp: Quantity,
  /** Some chains answer null. */
  baseFeePerGas: Schema.optionalKey(Schema.NullOr(Quantity)),
})

type At = bigint | "latest" | "finalized"
const byNumber =
  <A>(ask: (...params: ReadonlyArray<unknown>) => Question<A>) =>
  (at: At) =>
    ask(typeof at === "bigint" ? numberToHex(at) : at, false)

export const blockAt = byNumber(question("eth_getBlockByNumber", Block))
export const blockIfAny = byNumber(question("eth_getBlockByNumber", Schema.OptionFromNullOr(Block)))
export const headerAt = byNumber(question("eth_getBlockByNumber", Schema.Struct({ ...Block.fields, parentHash: Word })))

export const getChainId = question("eth_chainId", Quantity)
export const getBalance = question("eth_getBalance", Quantity)
export const getTransactionCount = question(
  "eth_getTransactionCount",
  Quantity.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: BigInt(Number.MAX_SAFE_INTEGER) })),
)
const getCode = question("eth_getCode", HexText)
export const hasCode = (address: Address) => mapped(getCode(address, "latest"), (code) => code.length > 2)

export const getTransaction = question(
  "eth_getTransactionByHash",
  Schema.NullOr(
    Schema.Struct({ hash: Word, from: AddressText, blockNumber: Schema.optionalKey(Schema.NullOr(Quantity)) }),
  ),
)

/** Logs of other contracts are not decoded: the sender of the transaction chooses their number. */
export const getReceipt = question(
  "eth_getTransactionReceipt",
  Schema.NullOr(
    Schema.Struct({
      transactionHash: Word,
      blockNumber: Quantity,
      blockHash: Word,
      status: HexText,
      logs: Schema.Array(Schema.Unknown),
      gasUsed: Schema.optionalKey(Quantity),
      effectiveGasPrice: Schema.optionalKey(Quantity),
    }),
  ),
)

const Logs = Schema.Array(
  Schema.Struct({
    address: AddressText,
    topics: Schema.Array(Word),
    data: HexText,
    transactionHash: Word,
    blockNumber: Quantity,
    blockHash: Word,
    logIndex: Quantity,
    removed: Schema.optionalKey(Schema.Boolean),
  }),
)
const getLogs = question("eth_getLogs", Logs)
const decodeLogs = Schema.decodeUnknownResult(Logs)

const isOf = (asset: Address) => (log: unknown) =>
  Predicate.hasProperty(log, "address") && String(log.address).toLowerCase() === asset.toLowerCase()

const ofToken = (logs: typeof Logs.Type, asset: Address): ReadonlyArray<TokenLog & Log> =>
  logs
    .filter((log) => log.removed !== true && isOf(asset)(log))
    .map(({ address, blockHash, blockNumber, data, logIndex, topics, transactionHash }) => ({
      address,
      topics,
      data,
      transaction: inLowerCase(transactionHash),
      block: blockNumber,
      blockHash,
      index: Number(logIndex),
    }))

/** The token's logs among those of a receipt. */
export const tokenLogsIn = (logs: ReadonlyArray<unknown>, asset: Address) =>
  Result.mapBoth(decodeLogs(logs.filter(isOf(asset))), {
    onSuccess: (decoded) => ofToken(decoded, asset),
    onFailure: () => malformedAnswer("eth_getTransactionReceipt"),
  })

/** The token's logs with these topics. Third parties choose the length of the answer. */
export const tokenLogs = (asset: Address, topics: ReadonlyArray<unknown>, { from, to }: BlockRange) =>
  mapped(getLogs({ address: asset, fromBlock: numberToHex(from), toBlock: numberToHex(to), topics }), (logs) =>
    ofToken(logs, asset),
  )

export const call = question("eth_call", HexText)
const callForWord = question("eth_call", Word)

const numberIn = (asset: Address, data: Hex, block: BlockParameter) =>
  mapped(callForWord({ to: asset, data }, block), BigInt)

export const tokenBalance = (asset: Address, owner: Address, block: BlockParameter) =>
  numberIn(asset, balanceData(owner), block)

export type Authorization = Pick<SignedAuthorization, "asset" | "from" | "nonce">

/** Whether the token calls the authorization used or cancelled. */
export const isUsed = ({ asset, from, nonce }: Authorization, block: BlockParameter) =>
  mapped(numberIn(asset, authorizationStateData(from, nonce), block), (state) => state === 1n)

const yes = `0x${"1".padStart(64, "0")}`

/** A contract without the function says no. */
const isSo = (asset: Address, data: Hex): Question<boolean> => {
  const { calls, decode } = call({ to: asset, data }, "latest")
  return {
    calls,
    decode: (answers) =>
      Result.match(decode(answers), {
        onSuccess: (answer) => Result.succeed(answer === yes),
        onFailure: (error) => (isRevert(error) ? Result.succeed(false) : Result.fail(error)),
      }),
  }
}

const pausedData = toFunctionSelector("paused()")
const blacklistSelector = toFunctionSelector("isBlacklisted(address)")

/** Whether the token's issuer permits payments to this wallet. */
export const tokenState = (asset: Address, payTo: Address) =>
  mapped(both(isSo(asset, pausedData), isSo(asset, `${blacklistSelector}${wordOf(payTo)}`)), ([isPaused, isBlocked]) =>
    isPaused ? "paused" : isBlocked ? "blocked" : "open",
  )

export interface Fee {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** A call with the gas limit and the fee of its transaction: a contract may behave by either. */
export interface Rehearsal {
  readonly to: Hex
  readonly data: Hex
  readonly gas: bigint
  readonly fee: Fee
}

export const rehearsal = (from: Hex, { data, fee, gas, to }: Rehearsal, block: BlockParameter) =>
  call(
    {
      from,
      to,
      data,
      gas: numberToHex(gas),
      maxFeePerGas: numberToHex(fee.maxFeePerGas),
      maxPriorityFeePerGas: numberToHex(fee.maxPriorityFeePerGas),
    },
    block,
  )
export const estimateGas = question("eth_estimateGas", Quantity)
export const sendRaw = question("eth_sendRawTransaction", Schema.Unknown)

/** The refusal of a transfer whose contract takes more gas for its signature check than we pay for. */
export const gasTooHigh = "gas_too_high"

/** The reason why a transfer cannot be sent, if the node gives one. */
export const refusalOf = (failure: ChainUnavailable): string | undefined => {
  const { detail = "" } = failure
  if (detail === gasTooHigh || /gas required exceeds|out of gas/iu.test(detail)) return gasTooHigh
  return isRevert(failure) ? reasonOf(detail) : undefined
}

/** Whether the node has the transaction already. */
export const isSentBefore = ({ detail = "" }: ChainUnavailable) =>
  /already known|known transaction|already imported/iu.test(detail)

/**
 * Whether a refusal speaks of the number of blocks or results, in the words of common providers. A rate limit and a
 * block that the node lacks do not become better by a narrower question.
 */
export const isTooManyBlocks = (error: ChainUnavailable): boolean =>
  isTooLarge(error) || (/\b(?:blocks?|range|logs)\b/iu.test(error.detail ?? "") && !isOtherwise(error))

/** Whether a refusal speaks of the size of the answer. Even a single block can have too large a one. */
export const isTooLarge = (error: ChainUnavailable): boolean =>
  error.reason === "AnswerTooLarge" ||
  error.status === 413 ||
  (/\b(?:results?|response size)\b/iu.test(error.detail ?? "") && !isOtherwise(error))

const isOtherwise = ({ detail = "" }: ChainUnavailable) =>
  /\brate\b|too many requests|per (?:second|minute|day)|request limit|credits?|quota|compute|not found|unknown|missing|beyond|unavailable|cannot be found|not available|pruned|failed to/iu.test(
    detail,
  )
