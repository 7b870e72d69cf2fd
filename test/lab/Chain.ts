/** Real chains of this machine, lent to one test or file at a time, and what tests change on them. */
import { setTimeout } from "node:timers/promises"
import { Effect, Layer, Option, Scope, Context } from "effect"
import {
  createTestClient,
  type Hex,
  http,
  parseAbi,
  type PublicActions,
  publicActions,
  TransactionReceiptNotFoundError,
  walletActions,
} from "viem"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { patience } from "./Patience.ts"

export const network = "eip155:84532"

export const token = parseAbi([
  "function mint(address to, uint256 amount) returns (bool)",
  "function balanceOf(address account) view returns (uint256)",
  "function transfer(address to, uint256 value) returns (bool)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
])

// Accounts of the public test mnemonic: anvil signs for them.
export const stranger: Hex = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266" // account 0
export const facilitatorAccount: Hex = "0x976EA74026E726554dB657fA54763abd0C3a0aa9" // account 6
/** The key of the wallet that is paid, worthless on any real chain. */
export const payToKey: Hex = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a" // account 2

/**
 * Polls for the receipt until it is there. viem waits for the next block between two polls. A chain that mines for
 * transactions only may have none.
 */
export const receiptBy =
  (client: Pick<PublicActions, "getTransactionReceipt">) =>
  async ({ hash }: { readonly hash: Hex }) => {
    for (const end = performance.now() + patience(30); ; await setTimeout(20)) {
      const receipt = await client.getTransactionReceipt({ hash }).catch((error: unknown) => {
        if (error instanceof TransactionReceiptNotFoundError && performance.now() < end) return undefined
        throw error
      })
      if (receipt !== undefined) return receipt
    }
  }

/** A client that changes the balances, blocks and clocks of a chain. */
export const chainClient = (rpcUrl: string) =>
  createTestClient({ mode: "anvil", transport: http(rpcUrl) })
    .extend(publicActions)
    .extend(walletActions)
    .extend((client) => ({ waitForTransactionReceipt: receiptBy(client) }))

export const onChain = <A>(use: (client: ReturnType<typeof chainClient>, chain: LocalChain["Service"]) => Promise<A>) =>
  Effect.flatMap(LocalChain, (chain) => Effect.promise(() => use(chainClient(chain.rpcUrl), chain)))

/** A chain that is lent out, with the state it goes back to. */
interface Lent {
  readonly chain: LocalChain["Service"]
  readonly first: Hex
}

/** Unused chains of this worker: starting one costs more than most tests do on it. */
const idle: Array<Lent> = []

const startChain = Effect.gen(function* () {
  // Ends with the worker.
  const context = yield* Layer.buildWithScope(LocalChain.layer({ network }), yield* Scope.make())
  const started = Context.get(context, LocalChain)
  const first = yield* Effect.promise(() => chainClient(started.rpcUrl).snapshot())
  return { chain: started, first } satisfies Lent
})

/** Resets a chain to its first block, without pending transactions. One that fails is lent to no further test. */
const giveBack = ({ chain: used, first }: Lent) =>
  Effect.ignore(
    Effect.tryPromise(async () => {
      const client = chainClient(used.rpcUrl)
      await client.setAutomine(true)
      await client.transport.request({ method: "anvil_dropAllTransactions" })
      await client.revert({ id: first })
      idle.push({ chain: used, first: await client.snapshot() })
    }),
  )

/** Makes it like a newly started chain: a block of this moment, and the initial gas price. */
const renew = (lent: Lent) =>
  Effect.as(
    Effect.promise(async () => {
      const client = chainClient(lent.chain.rpcUrl)
      // The reset moved its clock back, too.
      await client.transport.request({ method: "evm_setTime", params: [Math.floor(Date.now() / 1000)] })
      await client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_000_000_000n })
      await client.mine({ blocks: 1 })
    }),
    lent,
  )

/** A chain for one test or file alone. */
export const chain = Layer.effect(
  LocalChain,
  Effect.map(
    Effect.acquireRelease(
      Effect.suspend(() =>
        Option.match(Option.fromUndefinedOr(idle.pop()), { onNone: () => startChain, onSome: renew }),
      ),
      giveBack,
    ),
    (lent) => lent.chain,
  ),
)
