/** A buyer whose signatures are counted and whose network a test decides, and what the chain says of its wallet. */
import { Effect } from "effect"
import { type Hex, parseAbiItem } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import {
  buyer,
  type Buyer,
  type BuyerOptions,
  type Call,
  type Journal,
  memoryJournal,
} from "../../../src/buyer/index.ts"
import { onChain } from "../Chain.ts"
import { newPayer, TestServer } from "../Fixture.ts"
import { rejected } from "../Assertions.ts"

/** Everything as it is, except what a test changes. */
export type Network = (request: Request, forward: typeof fetch) => Promise<Response>

export interface Stage {
  readonly account: PrivateKeyAccount
  readonly journal: Journal
  readonly counted: { signatures: number }
  /** `PAYMENT-SIGNATURE` of every paid request that left. */
  readonly handedIn: Array<string>
  readonly url: string
}

export const stage = Effect.fnUntraced(function* (amountAtomic?: bigint) {
  const { url } = yield* TestServer
  const account = yield* newPayer(amountAtomic)
  const stage: Stage = { url, account, journal: memoryJournal(), counted: { signatures: 0 }, handedIn: [] }
  return stage
})

/** A buyer of its own, as after a restart: only the journal is what it was. */
export const buyerOf = (
  { account, counted, handedIn, journal, url }: Stage,
  network: Network = (request, forward) => forward(request),
  options: Partial<BuyerOptions> = {},
) => {
  const signer: PrivateKeyAccount = {
    ...account,
    signTypedData: (message) => {
      counted.signatures += 1
      return account.signTypedData(message)
    },
  }
  const send: typeof fetch = (input, init) => {
    const request = new Request(input, init)
    const payment = request.headers.get("payment-signature")
    if (payment !== null) handedIn.push(payment)
    return network(request, fetch)
  }
  return buyer({ url, account: signer, journal, fetch: send, ...options })
}

const used = parseAbiItem("event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)")

/** How many authorizations of this wallet the chain has seen used. */
export const authorizationsUsed = ({ account }: { readonly account: { readonly address: Hex } }) =>
  onChain((client, { asset }) =>
    client
      .getLogs({ address: asset, fromBlock: 0n, event: used, args: { authorizer: account.address } })
      .then((logs) => logs.length),
  )

/** A process that ends between the signature and its sending: nothing goes out, and nothing comes after. */
export const diesSigned = (at: Stage, order: (altar: Buyer, call: Call) => Promise<unknown>) =>
  Effect.promise(async () => {
    const reached = Promise.withResolvers<never>()
    const process = new AbortController()
    const hold: Network = (request, forward) => {
      if (!request.headers.has("payment-signature")) return forward(request)
      process.abort()
      return reached.promise
    }
    await rejected(order(buyerOf(at, hold), { signal: process.signal }))
  })

interface Rejected {
  readonly _tag: string
  readonly code?: string
  readonly message: string
}

export const rejection = (promise: Promise<unknown>) => Effect.promise(() => rejected<Rejected>(promise))
