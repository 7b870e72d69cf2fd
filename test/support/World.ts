/** A running altar on a real database and a real chain, and the hands of a paying agent. */
import { randomBytes } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import { Context, Duration, Effect, Layer, Option, Redacted, Scope } from "effect"
import type { SqlClient } from "effect/sql"
import {
  createTestClient,
  type Hex,
  http,
  type PublicActions,
  publicActions,
  TransactionReceiptNotFoundError,
  walletActions,
} from "viem"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { spiritIds } from "../../schema/altar/Spirit.ts"
import type { PaymentsConfig } from "../../src/payments/Payments.ts"
import { AppConfig, type ServerConfig } from "../../src/server/config/Config.ts"
import { usdc } from "../../src/payments/PaymentTerms.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as Server from "../../src/server/Server.ts"
import { database, sql } from "./Database.ts"
import { patience } from "./Patience.ts"
import { freePort } from "./Ports.ts"

export const network = "eip155:84532"

export const paymentsOf = (chain: LocalChain["Service"], change: Partial<PaymentsConfig> = {}): PaymentsConfig => ({
  terms: {
    network,
    asset: chain.asset,
    assetName: usdc[network].assetName,
    assetVersion: usdc[network].assetVersion,
    payTo: chain.payTo,
    settledBy: "self-settled by a relayer",
    isCatalogued: false,
    maxTimeoutSeconds: 300,
    explorer: "https://explorer.example/{tx}",
  },
  rpcUrl: Redacted.make(chain.rpcUrl),
  finalTag: "finalized",
  settlement: { _tag: "Relayer", privateKey: chain.relayerKey },
  walletFactories: [],
  patience: Duration.millis(patience(20)),
  sweepEvery: Duration.seconds(60),
  // What a test changes, the next look shall find.
  lookEvery: Duration.zero,
  ...change,
})

/** The configuration of one server; several may share a database and a chain. */
export const configOf = Effect.fnUntraced(function* (
  change: Partial<PaymentsConfig> = {},
  server: Partial<ServerConfig> = {},
) {
  const chain = yield* LocalChain
  const { url } = yield* LocalDatabase
  const port = yield* freePort
  const config: ServerConfig = {
    host: "127.0.0.1",
    port,
    publicUrl: `http://127.0.0.1:${port}`,
    databaseUrl: url,
    trustedProxies: [],
    rateLimitSecret: Option.none(),
    payments: paymentsOf(chain, change),
    ...server,
  }
  return config
})

/** Where the server of a test answers. */
export class World extends Context.Service<World, { readonly url: string }>()("test/World") {}

const config = (change: Partial<PaymentsConfig>, server?: Partial<ServerConfig>) =>
  Layer.effect(AppConfig, configOf(change, server))

const world = Layer.effect(
  World,
  Effect.map(AppConfig, ({ publicUrl }) => ({ url: publicUrl })),
)

/** A chain that is lent out, with the state it goes back to. */
interface Lent {
  readonly chain: LocalChain["Service"]
  readonly first: Hex
}

/** Chains of this worker that nobody uses: starting one costs more than most tests do on it. */
const idle: Array<Lent> = []

const startChain = Effect.gen(function* () {
  // Ends with the worker.
  const context = yield* Layer.buildWithScope(LocalChain.layer({ network }), yield* Scope.make())
  const started = Context.get(context, LocalChain)
  const first = yield* Effect.promise(() => chainClient(started.rpcUrl).snapshot())
  return { chain: started, first } satisfies Lent
})

/** Back at its first block, with nothing waiting; one that does not obey is left alone. */
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

/** As one that has just been started: its newest block is of this moment, and gas costs what it did at first. */
const renew = (lent: Lent) =>
  Effect.as(
    Effect.promise(async () => {
      const client = chainClient(lent.chain.rpcUrl)
      // The way back took its clock along.
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

/** Everything: server, chain, database, and the tests' own SQL; another contract and its acts may be served. */
export const layer = (
  change: Partial<PaymentsConfig> = {},
  house?: Server.House,
  server?: Partial<ServerConfig>,
): Layer.Layer<World | LocalChain | LocalDatabase | SqlClient.SqlClient | AppConfig> =>
  Layer.orDie(
    world.pipe(
      Layer.provideMerge(Server.layer(Layer.empty, house)),
      Layer.provideMerge(config(change, server)),
      Layer.provideMerge(sql),
      Layer.provideMerge(Layer.merge(database, chain)),
    ),
  )

/**
 * Asks for the receipt itself until it is there. viem waits for the next block between two looks, and on a chain that
 * mines for transactions only, there may be none.
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

/** The tests' hands on the chain: balances, blocks, clocks. */
export const chainClient = (rpcUrl: string) =>
  createTestClient({ mode: "anvil", transport: http(rpcUrl) })
    .extend(publicActions)
    .extend(walletActions)
    .extend((client) => ({ waitForTransactionReceipt: receiptBy(client) }))

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}

/** One request with its body read; redirects are not followed. */
export const ask = (url: string, init: RequestInit = {}) =>
  Effect.promise(async (): Promise<Answer> => {
    const response = await fetch(url, { redirect: "manual", ...init })
    const text = await response.text()
    const isJson = (response.headers.get("content-type") ?? "").includes("json")
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson && text !== "" ? JSON.parse(text) : {},
    }
  })

export const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: typeof body === "string" ? body : JSON.stringify(body),
})

export const newKey = () => `test-${randomBytes(12).toString("hex")}`

/** A stone that names no spirit lies on the altar of this one, which no test asks about. */
const elsewhere = BigInt(spiritIds.indexOf("drift-albatross"))

export const newCommitment = () => {
  const drawn = BigInt(`0x${randomBytes(31).toString("hex")}`)
  return (drawn * BigInt(spiritIds.length) + elsewhere).toString(16).padStart(64, "0")
}

/** A wallet with play money. */
export const newPayer = Effect.fnUntraced(function* (amountAtomic: bigint = 10_000_000n) {
  const account = privateKeyToAccount(generatePrivateKey())
  const localChain = yield* LocalChain
  if (amountAtomic > 0n) yield* Effect.orDie(localChain.fund(account.address, amountAtomic))
  return account
})

export interface Offer {
  readonly scheme: string
  readonly network: string
  readonly amount: string
  readonly asset: Hex
  readonly payTo: Hex
  readonly maxTimeoutSeconds: number
  readonly extra: { readonly name: string; readonly version: string }
}

export interface Authorization {
  readonly from: Hex
  readonly to: Hex
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: Hex
}

export const types = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const

/** A signed x402 v2 payment for an offer; `change` alters the authorization before it is signed. */
export const sign = (
  account: PrivateKeyAccount,
  offer: Offer,
  resource: { readonly url: string },
  change: Partial<Authorization> = {},
) =>
  Effect.promise(async () => {
    const authorization: Authorization = {
      from: account.address,
      to: offer.payTo,
      value: offer.amount,
      validAfter: "0",
      validBefore: String(Math.floor(Date.now() / 1000) + offer.maxTimeoutSeconds),
      nonce: `0x${randomBytes(32).toString("hex")}`,
      ...change,
    }
    const signature = await account.signTypedData({
      domain: {
        name: offer.extra.name,
        version: offer.extra.version,
        chainId: Number(offer.network.split(":")[1]),
        verifyingContract: offer.asset,
      },
      types,
      primaryType: "TransferWithAuthorization",
      message: {
        from: authorization.from,
        to: authorization.to,
        value: BigInt(authorization.value),
        validAfter: BigInt(authorization.validAfter),
        validBefore: BigInt(authorization.validBefore),
        nonce: authorization.nonce,
      },
    })
    return { x402Version: 2, resource, accepted: offer, payload: { signature, authorization } }
  })

export type Payment = Effect.Success<ReturnType<typeof sign>>

export const encode = (payment: object) => Buffer.from(JSON.stringify(payment)).toString("base64")

/** The challenge of a 402. */
export const challengeOf = (
  answer: Answer,
): { readonly resource: { readonly url: string }; readonly accepts: readonly [Offer] } =>
  JSON.parse(Buffer.from(answer.headers.get("payment-required") ?? "", "base64").toString())

/** Pays a route the long way: challenge, signature, settlement. */
export const pay = Effect.fnUntraced(function* (
  account: PrivateKeyAccount,
  url: string,
  body: object,
  key: string = newKey(),
  change: Partial<Authorization> = {},
) {
  const challenge = challengeOf(yield* ask(url, post(body, { "idempotency-key": key })))
  const payment = yield* sign(account, challenge.accepts[0], challenge.resource, change)
  const headers = { "idempotency-key": key, "payment-signature": encode(payment) }
  return { answer: yield* ask(url, post(body, headers)), payment, headers, key }
})
