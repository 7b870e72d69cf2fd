/** The session of a buyer's command: its journal, wallet, limits and progress messages. */
import { homedir } from "node:os"
import { Config, Console, Effect, FileSystem, Option, Path } from "effect"
import { priceUsd } from "../../../schema/payments/Usdc.ts"
import type { Command } from "effect/cli"
import { baseOf, faultOf } from "../../buyer/Client.ts"
import type { Kept, Progress } from "../../buyer/Options.ts"
import { type Orders, ordersOf } from "../../buyer/Orders.ts"
import type { Policy } from "../../buyer/Policy.ts"
import { isUnsettled, messageOf } from "../../buyer/PurchaseError.ts"
import { randomHex } from "../../buyer/core/Digest.ts"
import { altarFetch } from "./AltarFetch.ts"
import { type common, type paying, provided } from "../Flags.ts"
import { sandbox as sandboxSettings } from "../../server/config/Table.ts"
import * as JournalFile from "./JournalFile.ts"
import { type CommandError, plain, pretty, resumeHint, show } from "../Output.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { sandboxOf, walletOf } from "./Wallet.ts"

export type Common = Command.Command.Config.Infer<typeof common>
export type Paying = Command.Command.Config.Infer<typeof paying>

/** `buyer` in the data folder of a checkout of this project, otherwise the account's state folder. */
export const folderOf = Effect.fn("Session.folderOf")(function* (data: Option.Option<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (Option.isSome(data)) return path.resolve(data.value)
  const manifest = yield* Effect.orElseSucceed(fs.readFileString("package.json"), () => "")
  if (/"name":\s*"spirit-altar"/u.test(manifest))
    return path.resolve(yield* Effect.orDie(sandboxSettings.dataDir), "buyer")
  const state = yield* Effect.orElseSucceed(Config.option(Config.String("XDG_STATE_HOME")), Option.none<string>)
  return path.join(
    Option.getOrElse(state, () => path.join(homedir(), ".local", "state")),
    "spirit-altar",
  )
})

export const journalOf = Effect.fn("Session.journalOf")(function* (data: Option.Option<string>) {
  const path = yield* Path.Path
  const file = path.join(yield* folderOf(data), "journal.db")
  return yield* Effect.try({
    try: () => JournalFile.open(file),
    catch: (error) =>
      new CommandFailure({
        message: `${file} cannot be opened: ${error instanceof Error ? error.message : ""}. This command charged nothing.`,
      }),
  })
})

const progressLine = (progress: Progress): string => {
  switch (progress.step) {
    case "signed":
      return `signed      ${priceUsd(BigInt(progress.amountAtomic))} to ${progress.payTo}, stored before it is sent`
    case "waiting":
      return `waiting     a failed payment could still be used; signing nothing for ${progress.seconds} s`
    case "repeated":
      return "repeated    resending the payment signed for this key"
    case "pending":
      return `pending     the outcome is not known yet; asking again in ${progress.seconds} s, not paying again`
    case "unkept":
      return `unkept      it is paid for, but: ${plain(progress.because)} Repeat it with --key ${progress.key} to record it, without paying`
    case "silent":
      return `waiting     ${plain(progress.because)}; trying again in ${progress.seconds} s, not paying again`
  }
}

const onProgress = (progress: Progress) => void process.stderr.write(`${progressLine(progress)}\n`)

/** Uses a buyer until it ends or is interrupted. */
const using = <A>(options: Omit<Kept, "onProgress">, use: (orders: Orders) => Promise<A>) =>
  Effect.tryPromise({
    try: async (signal) => use(ordersOf({ ...options, onProgress }, signal)),
    catch: (error): CommandError => (isUnsettled(error) ? error : new CommandFailure({ message: messageOf(error) })),
  })

export const runFree = <A>(flags: Common, use: (orders: Orders) => Promise<A>, render: (answer: A) => string) =>
  show(
    flags,
    Effect.gen(function* () {
      const { insecure, url } = flags
      const journal = yield* journalOf(flags.data)
      return yield* using({ url, insecure, journal, fetch: yield* altarFetch }, use)
    }),
    render,
  )

/** The altar, its sandbox if it is one, and the wallet that pays there. */
const payingAt = Effect.fn("Session.payingAt")(function* (flags: Common & Pick<Paying, "wallet">) {
  const altar = baseOf(flags.url)
  const fault = faultOf(altar, flags.insecure)
  if (fault !== undefined) return yield* fault
  const fetch = yield* altarFetch
  const sandbox = yield* sandboxOf(altar, fetch)
  const account = yield* walletOf(flags.wallet, altar, sandbox, yield* folderOf(flags.data))
  return { account, altar, fetch, sandbox }
})

export const showWallet = (flags: Common & Pick<Paying, "wallet">) =>
  show(
    flags,
    Effect.map(payingAt(flags), ({ account, altar, sandbox }) => ({
      address: account.address,
      altar,
      money: Option.isSome(sandbox) ? "play" : "real",
    })),
    pretty,
  )

/** Runs a purchase under one key; when interrupted, prints how to resume it. */
export const runPaid = <A>(
  flags: Paying,
  use: (orders: Orders, key: string) => Promise<A>,
  render: (answer: A) => string,
) =>
  show(
    flags,
    Effect.gen(function* () {
      const { account, altar, fetch, sandbox } = yield* payingAt(flags)
      const journal = yield* journalOf(flags.data)
      const policy: Policy = {
        ...Option.getOrUndefined(sandbox),
        ...provided({ payTo: flags.payTo, maxPerPayment: flags.max, maxPerDay: flags.maxPerDay }),
      }
      const key = Option.getOrElse(flags.key, () => `buyer-${randomHex(12)}`)
      yield* Console.error(`key         ${key}`)
      const options = { url: altar, insecure: flags.insecure, account, policy, journal, fetch }
      return yield* using(options, (orders) => use(orders, key)).pipe(
        Effect.onInterrupt(() =>
          Effect.flatMap(resumeHint(key, flags.data), (hint) => Console.error(`\nStopped; nothing is lost. ${hint}`)),
        ),
      )
    }),
    render,
  )
