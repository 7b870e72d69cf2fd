/** `serve --check`: asks each external dependency of a server once, and fails with the first fault. */
import { Clock, Duration, Effect, Layer, Option } from "effect"
import { formatEther, numberToHex } from "viem"
import { base } from "../../../schema/payments/Usdc.ts"
import { type Address, mayListen } from "../../http/Listener.ts"
import type { LogConfig } from "../../log/Log.ts"
import { LogStore } from "../../log/LogStore.ts"
import { Chain } from "../../payments/x402/chain/Chain.ts"
import { usedTopic } from "../../payments/x402/chain/Eip3009.ts"
import { getChainId, tokenLogs, tokenState } from "../../payments/x402/chain/Questions.ts"
import type { PaymentsConfig } from "../../payments/Payments.ts"
import * as Facilitator from "../../payments/x402/settle/Facilitator.ts"
import { currentFees, settlementGas } from "../../payments/x402/settle/Fees.ts"
import { addressOf } from "../../payments/x402/settle/Relayer.ts"
import { DatabaseClock, isFarOff } from "../../platform/DatabaseClock.ts"
import * as DatabaseSettings from "../../platform/DatabaseSettings.ts"
import { Operator, type OperatorConfig } from "../../platform/Operator.ts"
import * as Sql from "../../platform/Sql.ts"
import { advice, withUnknown } from "../../server/config/Advice.ts"
import { production, telemetry } from "../../server/config/Config.ts"
import { CheckFailed, codeOf } from "../CommandFailure.ts"
import { noTable } from "../Database.ts"
import { done, plain, say } from "../Output.ts"

const unfit = (message: string) => new CheckFailed({ message })

const says = (part: string, message: string) => say(`${part.padEnd(14)}${message}`)

/** A server that is to be replaced may still listen there. */
const checkAddress = (variables: string, address: Address) =>
  Effect.catchTag(mayListen(address), "AddressRefused", (error) => {
    const [code, place] = [codeOf(error), `${address.host}:${address.port}`]
    return code === "EADDRINUSE"
      ? says("advice", `${place} is taken: stop the program there before the start.`)
      : unfit(`${variables} is wrong: the system refuses to listen at ${place} (${code}).`)
  })

const checkDatabase = Effect.fnUntraced(function* (log: LogConfig | undefined) {
  const fault = yield* DatabaseSettings.unsellable
  if (fault !== undefined) return yield* unfit(fault)
  const reading = yield* (yield* DatabaseClock).now
  if (isFarOff(reading)) {
    const seconds = Math.round(reading.aheadMillis / 1000)
    return yield* unfit(`This machine's clock is ${seconds} s ahead of the database's. Set it by NTP.`)
  }
  // A database without tables has no log.
  if (log !== undefined)
    yield* Effect.catchIf(
      LogStore.use(({ signedBy }) => signedBy(log.signer)),
      (error) => codeOf(error) === noTable,
      () => Effect.void,
    )
  yield* says("database", "it answers, and its clock agrees with this machine's")
})

/** Buyers of real things must know whom they pay, and where to write. */
const checkOperator = ({ terms: { network } }: PaymentsConfig, { contact, name }: OperatorConfig = Operator.unnamed) =>
  network === base && (Option.isNone(name) || Option.isNone(contact))
    ? unfit(
        "OPERATOR_NAME and OPERATOR_CONTACT must both be set: the terms of a server that takes real money name them.",
      )
    : Effect.void

/** Blocks that the node must be able to search for a payment. */
const logRange = 1_000n

const tokenFaults = {
  open: undefined,
  paused: "its issuer has paused all transfers. Sales resume when the issuer resumes them.",
  blocked: "its issuer has blocked PAY_TO. Configure another wallet.",
} as const

const checkPayments = Effect.fnUntraced(
  function* ({ rpcUrl, settlement, terms }: PaymentsConfig) {
    const { asset, network, payTo } = terms
    const chain = yield* Chain.make({ rpcUrl, timeout: Duration.seconds(10) })

    const id = yield* chain.ask(getChainId())
    if (network !== `eip155:${id}`) return yield* unfit(`RPC_URL is chain ${id}, but X402_NETWORK is ${network}.`)
    const { number, timestamp } = yield* chain.newest
    const age = Math.round((yield* Clock.currentTimeMillis) / 1000 - Number(timestamp))
    if (age > 120) return yield* unfit(`The newest block of RPC_URL is ${age} s old.`)
    const final = yield* chain.final
    const from = number > logRange ? number - logRange : 0n
    // An authorizer without payments: the result is empty, but the node must search the whole range.
    const topics = [usedTopic, numberToHex(1, { size: 32 })]
    yield* chain.ask(tokenLogs(asset, topics, { from, to: number }))
    yield* says("chain", `${network}; block ${final.number} is finalized; ${number - from} blocks have logs`)

    if (!(yield* chain.hasCode(asset))) return yield* unfit(`No contract is at ${asset}.`)
    const fault = tokenFaults[yield* chain.ask(tokenState(asset, payTo))]
    if (fault !== undefined) return yield* unfit(`USDC at ${asset}: ${fault}`)
    yield* says("token", `USDC at ${asset}`)

    if (settlement._tag === "Facilitator") {
      yield* yield* Facilitator.supported(settlement, network)
      yield* Facilitator.unredirected(settlement)
      return yield* says("facilitator", `${new URL(settlement.url).host} settles exact payments on ${network}`)
    }
    const relayer = addressOf(settlement.privateKey)
    const balance = yield* chain.balance(relayer)
    const least = settlementGas * (yield* currentFees(chain)).fee.maxFeePerGas
    if (balance < least)
      return yield* unfit(
        `The relayer ${relayer} has ${formatEther(balance)} ETH and needs ${formatEther(least)} for one settlement. Send it some.`,
      )
    yield* says("relayer", `${relayer} has ${formatEther(balance)} ETH for gas`)
  },
  Effect.catchTags({
    ChainUnavailable: ({ detail = "", message }) =>
      unfit(plain(`The node of RPC_URL cannot be used: ${message} ${detail}`)),
    ConnectionFailed: () => unfit("FACILITATOR_URL gives no answer."),
    AnswerTooLarge: () => unfit("FACILITATOR_URL gives too large an answer."),
  }),
  Effect.scoped,
)

const within = Effect.timeoutOrElse({
  duration: "30 seconds",
  orElse: () =>
    unfit("The next part gave no answer within 30 seconds: database, chain, token, relayer or facilitator."),
})

export const checking = Effect.gen(function* () {
  const { databaseUrl, host, log, operator, payments, port } = yield* withUnknown(production)
  const { metricsPort } = yield* telemetry("json")
  for (const sentence of yield* advice) yield* says("advice", sentence)
  yield* checkAddress("HOST", { host, port })
  if (metricsPort !== undefined) yield* checkAddress("METRICS_PORT", metricsPort)
  yield* checkDatabase(log).pipe(
    Effect.provide(
      LogStore.layer.pipe(Layer.provideMerge(DatabaseClock.layer), Layer.provideMerge(Sql.layer(databaseUrl, 1))),
    ),
    within,
  )
  if ("length" in payments) yield* says("payments", `paid routes are off without ${payments.join(", ")}`)
  else {
    yield* checkOperator(payments, operator)
    yield* within(checkPayments(payments))
  }
  yield* done
})
