/** The whole service on one machine with play money, from the same layers as production. */
import { Console, Duration, Effect, FileSystem, Layer, Option, Path, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Address, AtomicAmount } from "../../schema/Common.ts"
import { createPublicClient, http } from "viem"
import { NotFound } from "../../schema/Errors.ts"
import { usdc, type UsdcNetwork } from "../../schema/payments/Usdc.ts"
import { AppConfig, listen, type ServerConfig } from "../server/config/Config.ts"
import { mayListen } from "../http/Listener.ts"
import { LimitFactor } from "../limits/Limit.ts"
import { body, jsonText, refuse } from "../http/Responses.ts"
import { sandbox, sufficient } from "../server/config/Table.ts"
import { DataFolder } from "./DataFolder.ts"
import { LocalChain } from "./LocalChain.ts"
import { LocalDatabase } from "./LocalDatabase.ts"
import { type LogConfig } from "../log/Log.ts"
import { fromText, generate, originOf, plainFrom } from "../log/Signer.ts"

/** Milliseconds between empty blocks: finality, two blocks away, must come without traffic. */
const heartbeatMs = 5_000

/** Announces a step that takes about a second. */
const saying = <A, E, R>(line: string, layer: Layer.Layer<A, E, R>) =>
  Layer.unwrap(Effect.as(Console.log(`  ${line} …`), layer))

/** A database and a chain whose data outlive the process in its data folder; a chain at `rpcUrl` is used as it runs. */
export const parts = (network: UsdcNetwork, rpcUrl: Option.Option<string>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const { folder } = yield* DataFolder
      yield* mayListen(yield* listen)
      const databaseUrl = yield* sufficient.databaseUrl
      const chain = LocalChain.layer({
        network,
        stateFile: path.join(folder, `chain-${network.replace(":", "-")}.json`),
        heartbeatMs,
        ...Option.match(rpcUrl, { onNone: () => ({}), onSome: (rpcUrl) => ({ rpcUrl }) }),
      })
      const dataDir = path.join(folder, "postgres")
      const verb = (yield* fs.exists(dataDir)) ? "Starting" : "Installing"
      const database =
        databaseUrl._tag === "Some"
          ? Layer.succeed(LocalDatabase, LocalDatabase.of({ url: databaseUrl.value }))
          : saying(`${verb} the database in ${dataDir}`, LocalDatabase.layer({ dataDir, durable: true }))
      return Layer.merge(Option.isSome(rpcUrl) ? chain : saying("Starting a private chain", chain), database)
    }),
  )

/** The configuration that an operator would write for these parts. */
export const config = (network: UsdcNetwork) =>
  Layer.effect(
    AppConfig,
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const database = yield* LocalDatabase
      const address = yield* listen
      const context = yield* Effect.context<FileSystem.FileSystem | Path.Path | DataFolder>()
      const { assetName, assetVersion } = usdc[network]
      const config: ServerConfig = {
        ...address,
        databaseUrl: database.url,
        receipts: yield* Effect.orDie(receipts),
        // A key is named after the address, so it waits until that is ours.
        makeLog: Effect.orDie(Effect.provideContext(logOf(address.publicUrl), context)),
        payments: {
          terms: {
            network,
            asset: chain.asset,
            assetName,
            assetVersion,
            payTo: chain.payTo,
            settledBy: "self-settled by a relayer",
            isCatalogued: false,
            isPlayMoney: true,
            maxTimeoutSeconds: 300,
            explorer: `${address.publicUrl}/sandbox/transactions/{tx}`,
          },
          rpcUrl: Redacted.make(chain.rpcUrl),
          settlement: { _tag: "Relayer", privateKey: chain.relayerKey },
          patience: Duration.seconds(30),
          sweepEvery: Duration.seconds(5),
        },
      }
      return config
    }),
  )

/** The specification's limits, unless the environment loosens them for a run of contract tests. */
export const limits = Layer.effect(
  LimitFactor,
  Effect.map(sandbox.limits, (limits) => (limits === "loose" ? 100 : 1)),
)

/** At most a million play dollars at once. */
const Gift = AtomicAmount.check(Schema.isMaxLength(12))

const FundBody = Schema.Struct({ address: Address, amountAtomic: Schema.optionalKey(Gift) })
const fundBody = body.as(FundBody)

/** Play money where the caller names no amount: ten dollars. */
const defaultGift = "10000000"

/** A transaction on the sandbox's chain, as JSON: the receipt's `explorerUrl`. */
const explorer = HttpRouter.add(
  "GET",
  "/sandbox/transactions/:hash",
  Effect.gen(function* () {
    const { hash = "" } = yield* HttpRouter.params
    const { rpcUrl } = yield* LocalChain
    const receipt = yield* Effect.promise(() =>
      createPublicClient({ transport: http(rpcUrl) })
        .getTransactionReceipt({ hash: `0x${hash.slice(2)}` })
        .catch(() => null),
    )
    return receipt === null
      ? refuse(new NotFound({}))
      : jsonText(JSON.stringify({ ok: true, receipt }, (_, value) => (typeof value === "bigint" ? `${value}` : value)))
  }),
)

/** `GET /sandbox`, the faucet, and a transaction as JSON; none exists outside the sandbox. */
export const routes = Layer.mergeAll(
  HttpRouter.add(
    "GET",
    "/sandbox",
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const { publicUrl } = yield* AppConfig
      return HttpServerResponse.jsonUnsafe({
        ok: true,
        network: chain.network,
        chainId: chain.chainId,
        rpcUrl: chain.rpcUrl,
        asset: chain.asset,
        payTo: chain.payTo,
        fund: `${publicUrl}/sandbox/fund`,
      })
    }),
  ),
  HttpRouter.add(
    "POST",
    "/sandbox/fund",
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const { address, amountAtomic } = yield* fundBody(yield* HttpServerRequest.HttpServerRequest)
      const funded = yield* Effect.orDie(chain.fund(`0x${address.slice(2)}`, BigInt(amountAtomic ?? defaultGift)))
      return HttpServerResponse.jsonUnsafe({
        ok: true,
        address,
        balanceAtomic: funded.balanceAtomic.toString(),
        transaction: funded.transaction,
      })
    }).pipe(Effect.catch((error) => Effect.succeed(refuse(error)))),
  ),
  explorer,
)

/** The text of a key in the data folder, which is made under this name when there is none. */
const keyIn = Effect.fnUntraced(function* (fileName: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { folder } = yield* DataFolder
  const file = path.join(folder, fileName)
  if (!(yield* fs.exists(file))) {
    const made = yield* Effect.fromResult(generate(name))
    yield* fs.writeFileString(`${file}.half`, `${Redacted.value(made)}\n`, { mode: 0o600 })
    yield* fs.rename(`${file}.half`, file)
  }
  return Redacted.make((yield* fs.readFileString(file)).trim())
})

/** The receipt key of this data folder. */
const receipts = Effect.gen(function* () {
  return { current: yield* Effect.fromResult(plainFrom(yield* keyIn("receipt-key", "receipts-1"))), retired: [] }
})

/** The log of this data folder. */
const logOf = Effect.fn("Sandbox.logOf")(function* (publicUrl: string) {
  const path = yield* Path.Path
  const { folder } = yield* DataFolder
  const signer = yield* Effect.fromResult(fromText(yield* keyIn("log-key", originOf(publicUrl))))
  return {
    signer,
    origin: signer.name,
    checkpointFile: Option.some(path.join(folder, "log-checkpoint")),
    publishSeconds: 1,
  } satisfies LogConfig
})
