/** `serve --check`: asks each external dependency of a server once and prints a line for each. */
import { Cause, Clock, ConfigProvider, Console, Duration, Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { formatEther, numberToHex } from "viem"
import { Quantity, usedTopic } from "../../payments/chain/Eip3009.ts"
import * as JsonRpc from "../../payments/chain/JsonRpc.ts"
import { tokenStateOf } from "../../payments/chain/NodeWatch.ts"
import { both, getBalance, getCode, question } from "../../payments/chain/Rpc.ts"
import type { PaymentsConfig } from "../../payments/Payments.ts"
import * as Facilitator from "../../payments/settle/Facilitator.ts"
import { addressOf } from "../../payments/settle/Relayer.ts"
import { settlementGas } from "../../payments/settle/RelayerNode.ts"
import { clockTolerance } from "../../platform/DatabaseClock.ts"
import * as DatabaseSettings from "../../platform/DatabaseSettings.ts"
import * as Sql from "../../platform/Sql.ts"
import { adviceFor } from "../../server/config/Advice.ts"
import { production } from "../../server/config/Config.ts"
import { codeOf, CommandFailure, messageOf } from "../CommandFailure.ts"
import { givenEnvironment } from "../Environment.ts"
import { plain } from "../Output.ts"

interface Line {
  readonly check: string
  readonly state: "ok" | "failed" | "warning" | "skipped"
  readonly message: string
}

class Unfit extends Schema.TaggedError<Unfit>()("Unfit", { message: Schema.String }) {}

const unfit = (message: string) => new Unfit({ message })

const timeout = Duration.seconds(10)

/** The node's own words about a refusal. */
const detailOf = (error: unknown) =>
  typeof error === "object" && error !== null && "detail" in error && typeof error.detail === "string"
    ? error.detail
    : ""

/** The line of a check. A failure may quote the environment's secrets, which are left out. */
const line = <E>(check: string, secrets: ReadonlyArray<string>, run: Effect.Effect<string, E>): Effect.Effect<Line> =>
  run.pipe(
    Effect.timeoutOrElse({ duration: timeout, orElse: () => unfit("no answer within 10 seconds") }),
    Effect.map((message): Line => ({ check, state: "ok", message })),
    Effect.catchCause((cause) => {
      const error = Cause.squash(cause)
      const code = codeOf(error)
      const said = [messageOf(error).replace("PgConnection: ", ""), detailOf(error)]
        .filter((part) => part !== "")
        .join(": ")
      const reason = `${said.split("\n")[0] ?? ""}${code === undefined ? "" : ` (${code})`}`
      const message = plain(secrets.reduce((text, secret) => text.replaceAll(secret, "…"), reason)).slice(0, 300)
      return Effect.succeed({ check, state: "failed", message } as const)
    }),
  )

/** This machine's clock, compared with another; `ahead` in milliseconds. */
const compared = (ahead: number, of: string) =>
  Math.abs(ahead) > Duration.toMillis(clockTolerance)
    ? unfit(
        `this machine's clock is ${Math.abs(Math.round(ahead / 1000))} s ${ahead > 0 ? "ahead of" : "behind"} ${of}: set it by NTP`,
      )
    : Effect.succeed(`within ${Math.ceil(Math.abs(ahead) / 1000)} s of ${of}`)

const databaseLines = (url: Redacted.Redacted<string>) => {
  const secrets = [Redacted.value(url), URL.parse(Redacted.value(url))?.password ?? ""].filter((one) => one !== "")
  const ask = <E>(check: string, run: Effect.Effect<string, E, SqlClient.SqlClient>) =>
    line(check, secrets, Effect.scoped(Effect.provide(run, Sql.layer(url, 1))))
  const usable = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly version: string }>`SELECT current_setting('server_version') AS version`
    const fault = yield* DatabaseSettings.unsellable
    return fault === undefined ? `PostgreSQL ${row?.version} answers` : yield* unfit(fault)
  })
  const clock = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly now: Date }>`SELECT clock_timestamp() AS now`
    const here = yield* Clock.currentTimeMillis
    return yield* compared(here - (row?.now.getTime() ?? here), "the database")
  })
  return Effect.flatMap(ask("database", usable), (database) =>
    database.state === "ok" ? Effect.map(ask("clock", clock), (one) => [database, one]) : Effect.succeed([database]),
  )
}

const getChainId = question("eth_chainId", Quantity)
const getLogs = question("eth_getLogs", Schema.Array(Schema.Unknown))
const getBlock = question(
  "eth_getBlockByNumber",
  Schema.Struct({ number: Quantity, timestamp: Quantity, baseFeePerGas: Schema.optionalKey(Quantity) }),
)
const newest = getBlock("latest", false)

/** Blocks that the node must be able to search for a payment. */
const logRange = 1_000n

const tokenStates = {
  open: undefined,
  paused: "its issuer has paused all transfers: sales resume when the issuer resumes them",
  blocked: "its issuer has blocked PAY_TO: configure another wallet",
} as const

/** A line for each question to the node, or only the first on the wrong chain. */
const chainLines = Effect.fnUntraced(function* ({ finalTag, rpcUrl, settlement, terms }: PaymentsConfig) {
  const { asset, network, payTo } = terms
  const { ask } = yield* JsonRpc.make({ url: rpcUrl, timeout })
  const asked = <E>(check: string, run: Effect.Effect<string, E>) => line(check, [Redacted.value(rpcUrl)], run)

  const chain = yield* asked(
    "chain",
    Effect.flatMap(ask(getChainId()), (id) =>
      network === `eip155:${id}`
        ? Effect.succeed(`chain ${id}, as X402_NETWORK says`)
        : unfit(`RPC_URL is chain ${id}, but X402_NETWORK is ${network}`),
    ),
  )
  if (chain.state !== "ok") return [chain]

  const finality = Effect.map(ask(getBlock(finalTag, false)), ({ number }) => `block ${number} is ${finalTag}`)
  const clock = Effect.gen(function* () {
    const { timestamp } = yield* ask(newest)
    const ahead = (yield* Clock.currentTimeMillis) - Number(timestamp) * 1000
    return ahead > 120_000
      ? yield* unfit(`the newest block is ${Math.round(ahead / 1000)} s old`)
      : yield* compared(Math.min(ahead, 0), "the newest block")
  })
  const logs = Effect.gen(function* () {
    const { number } = yield* ask(newest)
    const from = number > logRange ? number - logRange : 0n
    // An authorizer without payments: the result is empty, but the node must search the whole range.
    const topics = [usedTopic, numberToHex(1, { size: 32 })]
    yield* ask(getLogs({ address: asset, topics, fromBlock: numberToHex(from), toBlock: numberToHex(number) }))
    return `logs of ${number - from} blocks in one answer`
  })
  const token = Effect.gen(function* () {
    if ((yield* ask(getCode(asset, "latest"))) === "0x") return yield* unfit(`no contract at ${asset}`)
    const fault = tokenStates[yield* tokenStateOf(ask, { asset, payTo })]
    return fault === undefined ? `USDC at ${asset}` : yield* unfit(`USDC at ${asset}: ${fault}`)
  })
  const relayer = Effect.fnUntraced(function* (address: ReturnType<typeof addressOf>) {
    const [balance, { baseFeePerGas = 0n }] = yield* ask(both(getBalance(address, "latest"), newest))
    const least = settlementGas * 3n * baseFeePerGas
    const has = `${address} has ${formatEther(balance)} ETH`
    return balance > 0n && balance >= least
      ? `${has} for gas`
      : yield* unfit(`${has} and needs ${formatEther(least)} for one settlement: send it some`)
  })
  const others = [
    asked("finality", finality),
    asked("chain clock", clock),
    asked("log range", logs),
    asked("token", token),
    settlement._tag === "Facilitator"
      ? line("facilitator", [], facilitated(settlement, network))
      : asked("relayer", relayer(addressOf(settlement.privateKey))),
  ]
  return [chain, ...(yield* Effect.all(others, { concurrency: "unbounded" }))]
}, Effect.scoped)

const facilitated = (address: Facilitator.FacilitatorAddress, network: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      yield* yield* Facilitator.supported(address, network)
      yield* Facilitator.unredirected(address)
      return `${new URL(address.url).host} settles exact payments on ${network}`
    }),
  )

const advice = () =>
  adviceFor(process.env).map((message): Line => ({ check: "configuration", state: "warning", message }))

const configured = Effect.gen(function* () {
  const { databaseUrl, payments } = yield* production
  const readable: Line = { check: "configuration", state: "ok", message: "every value can be read" }
  const unsold = (missing: ReadonlyArray<string>): ReadonlyArray<Line> => [
    { check: "payments", state: "skipped", message: `paid routes are off without ${missing.join(", ")}` },
  ]
  const [database, sales] = yield* Effect.all(
    [databaseLines(databaseUrl), "length" in payments ? Effect.succeed(unsold(payments)) : chainLines(payments)],
    { concurrency: 2 },
  )
  return [readable, ...advice(), ...database, ...sales]
})

/** A table, or one JSON document; fails when a line failed. */
export const checking = Effect.fn("checking")(
  function* (isJson: boolean) {
    const lines = yield* Effect.catch(configured, ({ cause }) => {
      const faults = cause.message
        .split("\n")
        .map((message): Line => ({ check: "configuration", state: "failed", message }))
      return Effect.succeed([...faults, ...advice()])
    })
    const wrong = lines.filter(({ state }) => state === "failed").length
    if (isJson) yield* Console.log(JSON.stringify({ ok: wrong === 0, checks: lines }))
    else
      for (const { check, message, state } of lines)
        yield* Console.log(`${check.padEnd(14)} ${state.padEnd(8)} ${message}`)
    if (wrong > 0) return yield* new CommandFailure({ message: `${wrong} of ${lines.length} checks failed.` })
  },
  Effect.provideService(ConfigProvider.ConfigProvider, givenEnvironment()),
)
