/** The session of a buyer's command: its journal, wallet, limits and progress messages. */
import { homedir } from "node:os"
import { join, resolve } from "node:path"
import { Config, Console, Effect, FileSystem, Option } from "effect"
import type { Command } from "effect/cli"
import { priceUsd } from "../../../schema/payments/Usdc.ts"
import { baseOf, faultOf } from "../../buyer/Site.ts"
import { randomHex } from "../../buyer/core/Digest.ts"
import type { Kept, Progress } from "../../buyer/Options.ts"
import { type Orders, ordersOf } from "../../buyer/Orders.ts"
import { isUnsettled, messageOf, Open, refuse } from "../../buyer/PurchaseError.ts"
import { sandbox as sandboxSettings } from "../../server/config/Table.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { type common, type paying, provided, whichAltar } from "../Flags.ts"
import { plain, pretty, print } from "../Output.ts"
import * as JournalFile from "./JournalFile.ts"
import { sandboxOf, walletOf } from "./Wallet.ts"

export type Common = Command.Command.Config.Infer<typeof common>
export type Paying = Command.Command.Config.Infer<typeof paying>

/** The name this program was called by, for hints that can be copied. */
export const programName = process.env["npm_lifecycle_event"] === "buy" ? "npm run buy --" : "spirit-altar"

const stateHome = Config.withDefault(Config.String("XDG_STATE_HOME"), join(homedir(), ".local", "state"))

/** `buyer` in the data folder of a checkout of this project, otherwise the account's state folder. */
export const folderOf = Effect.fn("Session.folderOf")(function* (data: Option.Option<string>) {
  if (Option.isSome(data)) return resolve(data.value)
  const { readFileString } = yield* FileSystem.FileSystem
  const manifest = yield* Effect.orElseSucceed(readFileString("package.json"), () => "")
  return /"name":\s*"spirit-altar"/u.test(manifest)
    ? resolve(yield* Effect.orDie(sandboxSettings.dataDir), "buyer")
    : join(yield* Effect.orDie(stateHome), "spirit-altar")
})

export const journalOf = Effect.fn("Session.journalOf")(function* (data: Option.Option<string>) {
  const file = join(yield* folderOf(data), "journal.db")
  return yield* Effect.try({
    try: () => JournalFile.open(file),
    catch: (error) =>
      new CommandFailure({ message: `${file} cannot be opened: ${messageOf(error)}. This command charged nothing.` }),
  })
})

const progressLine = (progress: Progress): string => {
  switch (progress.step) {
    case "signed":
      return `signed      ${priceUsd(BigInt(progress.amountAtomic))} to ${progress.payTo}, stored before it is sent`
    case "waiting":
      return `waiting     another payment could still be used; signing nothing for ${progress.seconds} s`
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

const quoted = (word: string) => (/^[\w./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** The command that asks for the outcome of a purchase, with the journal that holds it. */
const resuming = (key: string, data: Option.Option<string>) => {
  const folder = Option.match(data, { onNone: () => "", onSome: (path) => ` --data ${quoted(path)}` })
  return `${programName} acts${folder} ${key.startsWith("-") ? "-- " : ""}${key}`
}

const howToResume = "To ask for the outcome, without paying again:"

/** The altar's address, printed before its first request. */
const altarAt = Effect.fn("Session.altarAt")(function* ({ insecure, url }: Common) {
  const altar = baseOf(url)
  const fault = faultOf(altar, insecure)
  if (fault !== undefined) return yield* Effect.fail(fault)
  yield* Console.error(`altar       ${altar}`)
  return altar
})

/** Uses a buyer until it ends or is interrupted. A failure says what to do. */
const using = <A>({ data }: Common, options: Omit<Kept, "onProgress">, use: (orders: Orders) => Promise<A>) =>
  Effect.tryPromise({
    try: async (signal) => use(ordersOf({ ...options, onProgress }, signal)),
    catch: (error) => {
      if (!isUnsettled(error)) return new CommandFailure({ message: plain(messageOf(error)) })
      const { key, message } = error
      if (error._tag === "Open")
        return new Open({ key: error.key, message: `${message} ${howToResume} ${resuming(error.key, data)}` })
      return error._tag === "Refused" && error.code === "unreachable"
        ? refuse(error.code, `${message} ${whichAltar}`, key)
        : error
    },
  })

export const runFree = Effect.fnUntraced(function* <A>(
  flags: Common,
  use: (orders: Orders) => Promise<A>,
  render: (answer: A) => string,
) {
  const { data, insecure } = flags
  const options = { url: yield* altarAt(flags), insecure, journal: yield* journalOf(data) }
  const answer = yield* using(flags, options, use)
  yield* print(answer, render(answer))
})

/** The altar, its sandbox if it is one, and the wallet that pays there. */
export const payingAt = Effect.fn("Session.payingAt")(function* (flags: Common & Pick<Paying, "wallet">) {
  const altar = yield* altarAt(flags)
  const sandbox = yield* sandboxOf(altar)
  const account = yield* walletOf(flags.wallet, altar, sandbox, yield* folderOf(flags.data))
  return { account, altar, sandbox }
})

export const showWallet = Effect.fnUntraced(function* (flags: Common & Pick<Paying, "wallet">) {
  const { account, altar, sandbox } = yield* payingAt(flags)
  const shown = { address: account.address, altar, money: Option.isSome(sandbox) ? "play" : "real" }
  yield* print(shown, pretty(shown))
})

/** Runs a purchase under one key, with its answer alone on stdout; when interrupted, prints how to resume it. */
export const runPaid = Effect.fnUntraced(function* <A>(
  flags: Paying,
  use: (orders: Orders, key: string) => Promise<A>,
  notesOf: (answer: A) => { readonly before: string; readonly after: string },
) {
  const { data, insecure, max, maxPerDay, payTo } = flags
  const { account, altar, sandbox } = yield* payingAt(flags)
  const journal = yield* journalOf(data)
  const policy = { ...Option.getOrUndefined(sandbox), ...provided({ payTo, maxPerPayment: max, maxPerDay }) }
  const key = Option.getOrElse(flags.key, () => `buyer-${randomHex(12)}`)
  yield* Console.error(`key         ${key}`)
  const options = { url: altar, insecure, account, policy, journal }
  const answer = yield* Effect.onInterrupt(
    using(flags, options, (orders) => use(orders, key)),
    () => Console.error(`\nStopped; nothing is lost. ${howToResume}\n  ${resuming(key, data)}`),
  )
  const { after, before } = notesOf(answer)
  yield* Console.error(before)
  yield* print(answer, pretty(answer))
  if (after !== "") yield* Console.error(after)
})
