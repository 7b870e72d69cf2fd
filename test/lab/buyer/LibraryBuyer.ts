/** A buyer whose signatures are counted and whose network a test decides, and what the chain says of its wallet. */
import { Effect } from "effect"
import type { Hex } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { buyer, type Buyer, type BuyerOptions, type Call, memoryJournal } from "../../../src/buyer/index.ts"
import { onChain } from "../Chain.ts"
import { newPayer, TestServer } from "../Fixture.ts"
import { rejected } from "../Assertions.ts"
import { events } from "../TransferLogs.ts"

/** Everything as it is, except what a test changes. */
export type Network = (request: Request, forward: typeof fetch) => Promise<Response>

type Customer = Effect.Success<ReturnType<typeof newCustomer>>

export const newCustomer = Effect.fnUntraced(function* (amountAtomic?: bigint) {
  const { url } = yield* TestServer
  const account = yield* newPayer(amountAtomic)
  /** `PAYMENT-SIGNATURE` of every paid request that left. */
  const handedIn: Array<string> = []
  return { url, account, journal: memoryJournal(), counted: { signatures: 0 }, handedIn }
})

/** A buyer of its own, as after a restart: only the journal is what it was. */
export const buyerOf = (
  { account, counted, handedIn, journal, url }: Customer,
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

/** How many authorizations of this wallet the chain has seen used. */
export const authorizationsUsed = ({ account }: { readonly account: { readonly address: Hex } }) =>
  onChain(async (client, { asset }) => {
    const filter = { eventName: "AuthorizationUsed", args: { authorizer: account.address } } as const
    return (await client.getContractEvents({ address: asset, abi: events, fromBlock: 0n, ...filter })).length
  })

/** A process that ends between the signature and its sending: nothing goes out, and nothing comes after. */
export const diesSigned = (at: Customer, order: (altar: Buyer, call: Call) => Promise<unknown>) =>
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
