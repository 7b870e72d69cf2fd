/** A node as it may be behind a load balancer: behind the others, forgetful, narrow, or keeping few states. */
import { hexToBigInt, type Hex, numberToHex } from "viem"

/** The knowledge and limits of a node; one that is `{}` is the node itself. */
export interface View {
  /** The newest block it has heard of. */
  readonly head?: bigint
  /** Whether it answers for the state of blocks it has not heard of, with its newest. */
  readonly clamps?: boolean
  /** The calls that it answers with `null` or `[]`, although it has the data. */
  readonly forgets?: ReadonlyArray<"receipts" | "logs">
  /** The most blocks it takes in one question for logs. */
  readonly logRange?: number
  /** The most logs it answers with. */
  readonly logsAtMost?: number
  /** How many states it keeps, its newest among them; it refuses those of older blocks. */
  readonly keepsStates?: number
  /** Whether it takes no block hash where a number will do (EIP-1898). */
  readonly numbersOnly?: boolean
}

export interface Call {
  readonly id: number
  readonly method: string
  readonly params?: ReadonlyArray<unknown>
}

export type Answer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }

export type Ask = (method: string, params: ReadonlyArray<unknown>) => Promise<Answer>

interface Block {
  readonly number: Hex
}

const refused = (code: number, message: string): Answer => ({ error: { code, message } })
const unknownBlock = refused(-32_000, "header not found")

const resultOf = async <A>(answer: Promise<Answer>): Promise<A> => {
  const given = await answer
  if ("error" in given) throw new Error(given.error.message)
  return given.result as A
}

export const answerAs = async (view: View, call: Call, ask: Ask): Promise<Answer> => {
  const { method, params = [] } = call
  const newest = hexToBigInt(await resultOf<Hex>(ask("eth_blockNumber", [])))
  const head = view.head === undefined || view.head > newest ? newest : view.head
  // The local chain's `safe` is one block behind its head, and `finalized` two.
  const behind: Readonly<Record<string, bigint>> = { latest: 0n, pending: 0n, safe: 1n, finalized: 2n, earliest: head }
  const numberOf = (block: string) => {
    const back = behind[block]
    if (back === undefined) return hexToBigInt(block as Hex)
    return head > back ? head - back : 0n
  }
  const isKnown = (block: Block | null): block is Block => block !== null && hexToBigInt(block.number) <= head

  const stateOf = async (block: unknown): Promise<bigint | undefined> => {
    if (typeof block !== "object" || block === null) return numberOf(String(block ?? "latest"))
    const hash = Reflect.get(block, "blockHash")
    const target = await resultOf<Block | null>(ask("eth_getBlockByHash", [hash, false]))
    return target === null ? undefined : hexToBigInt(target.number)
  }

  switch (method) {
    case "eth_blockNumber":
      return { result: numberToHex(head) }
    case "eth_getBlockByNumber": {
      const number = numberOf(String(params[0]))
      return number > head ? { result: null } : ask(method, [numberToHex(number), params[1]])
    }
    case "eth_getTransactionReceipt": {
      const receipt = await resultOf<{ readonly blockNumber: Hex } | null>(ask(method, params))
      const knows = receipt !== null && hexToBigInt(receipt.blockNumber) <= head
      return { result: knows && view.forgets?.includes("receipts") !== true ? receipt : null }
    }
    case "eth_getLogs": {
      const [filter] = params as readonly [{ readonly fromBlock: Hex; readonly toBlock: Hex }]
      const [from, to] = [numberOf(filter.fromBlock), numberOf(filter.toBlock)]
      if (view.logRange !== undefined && to - from + 1n > BigInt(view.logRange))
        return refused(-32_000, `query exceeds max block range ${view.logRange}`)
      if (view.forgets?.includes("logs") === true || from > head) return { result: [] }
      const answer = await ask(method, [{ ...filter, toBlock: numberToHex(to > head ? head : to) }])
      const isTooMuch = "result" in answer && [answer.result].flat().length > (view.logsAtMost ?? Infinity)
      return isTooMuch ? refused(-32_000, `query returned more than ${view.logsAtMost} results`) : answer
    }
    case "eth_call": {
      if (view.numbersOnly === true && typeof params[1] === "object")
        return refused(-32_602, "invalid argument 1: json: cannot unmarshal object into Go value of type string")
      const number = await stateOf(params[1])
      if (view.clamps === true && (number === undefined || number > head))
        return ask(method, [params[0], numberToHex(head)])
      if (number === undefined || number > head) return unknownBlock
      if (view.keepsStates !== undefined && head - number >= BigInt(view.keepsStates))
        return refused(-32_000, "missing trie node")
      return ask(method, [params[0], typeof params[1] === "object" ? params[1] : numberToHex(number)])
    }
    case "eth_getTransactionCount": {
      if (head === newest) return ask(method, params)
      const number = await stateOf(params[1])
      return number === undefined || number > head ? unknownBlock : ask(method, [params[0], numberToHex(number)])
    }
    case "eth_getTransactionByHash": {
      const transaction = await resultOf<{ readonly blockNumber: Hex | null } | null>(ask(method, params))
      const block = transaction?.blockNumber ?? null
      const isAhead = block !== null && hexToBigInt(block) > head
      return { result: isAhead ? null : transaction }
    }
    case "eth_getBlockByHash": {
      const target = await resultOf<Block | null>(ask(method, params))
      return { result: isKnown(target) ? target : null }
    }
    default:
      return ask(method, params)
  }
}
