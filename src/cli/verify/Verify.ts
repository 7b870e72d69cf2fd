/** `verify`: checks a whole witness chain for a person. */
import { Console, Effect, Option, Schema } from "effect"
import type { Command } from "effect/cli"
import { command, on, optionalText } from "../Define.ts"
import { common } from "../Flags.ts"
import { isLoopback } from "../../http/Origins.ts"
import * as Download from "./Download.ts"
import { openLog, sentencesOf, verifyLog } from "./Log.ts"
import { chainChecks, type Fingerprint, fileFlags, fingerprintOf, verifyFile } from "./Files.ts"
import * as Payments from "./Payments.ts"
import { policyIn } from "./Policy.ts"
import { plain, print } from "../Output.ts"
import { CheckFailed, CommandFailure } from "../CommandFailure.ts"
import { baseOf } from "../../buyer/Site.ts"
import { receiptFlags, verifyReceiptFile } from "./Receipt.ts"
import { lineOf } from "./Report.ts"
import { verifyReveals } from "./Reveals.ts"
import { openWallet, walletChecks, walletFlag } from "./Wallet.ts"
import { verifyChain } from "./Chain.ts"
import { onlyLogOf } from "../../../schema/log/Policy.ts"

const flags = {
  url: common.url,
  log: on(
    "log",
    "Check the transparency log, too: that its root is that of the chain, and that it only grew since the last check",
  ),
  seen: optionalText(
    "seen",
    "File for the last checkpoint, with contradictions beside it (else one for each altar in the journal's folder)",
    "file",
  ),
  receipt: optionalText(
    "receipt",
    "Check the receipt file of one act instead, offline: its page links it, and it is at its permalink with .receipt.json",
    "file",
  ),
  wallet: walletFlag,
  ...receiptFlags,
  ...fileFlags,
}

type Flags = Command.Command.Config.Infer<typeof flags>

const Sandbox = Schema.Struct({ rpcUrl: Schema.String })

const isHere = (url: string) => URL.canParse(url) && isLoopback(url)

/** The node of a sandbox on this machine. A remote altar must not choose the node that checks it. */
const ownNode = Effect.fnUntraced(function* (base: string) {
  if (!isHere(base)) return Option.none<string>()
  const sandbox = yield* Effect.option(Download.json(`${base}/sandbox`, Sandbox))
  return sandbox.pipe(
    Option.map(({ rpcUrl }) => rpcUrl),
    Option.filter(isHere),
  )
})

const check = Effect.fnUntraced(function* (flags: Flags, fingerprint: Fingerprint | undefined) {
  const { payTo, rpc, seen, url, vkey, wallet } = flags
  const base = baseOf(url)
  yield* Console.error(`altar       ${base}`)
  const policy = yield* policyIn(flags.policy)
  const named = Option.orElse(vkey, () => Option.flatMapNullishOr(policy, onlyLogOf))
  if (Option.isNone(named) && Option.exists(policy, ({ logs }) => logs.length > 1))
    return yield* new CommandFailure({ message: "The policy names several logs: name this one's key with --vkey." })
  const rpcUrl = Option.isSome(rpc) ? rpc : yield* ownNode(base)
  if (payTo.length > 0 && Option.isNone(rpcUrl))
    return yield* new CommandFailure({
      message: "--pay-to checks where payments went: name the network's RPC with --rpc.",
    })
  // Log and reveals are read before the chain is walked, so that this walk covers all their stones.
  const opened = flags.log ? yield* openLog({ altar: base, vkey: named, policy, seen }) : undefined
  const counting = Option.isSome(wallet) ? yield* openWallet(base, wallet.value, rpcUrl, payTo) : undefined
  const { paidBy, revealed, reveals } = yield* verifyReveals(base)
  const payments = Option.isSome(rpcUrl) ? yield* Payments.make(base, rpcUrl.value, payTo) : undefined
  const walked = yield* verifyChain(base, {
    payments,
    sizes: opened?.sizes ?? [],
    revealed,
    isSought: ({ commitment, payer }) => commitment === fingerprint?.sha256 || payer.toLowerCase() === counting?.wallet,
  })
  const { stonesSought } = walked
  const files =
    fingerprint &&
    chainChecks(
      fingerprint,
      stonesSought.filter(({ commitment }) => commitment === fingerprint.sha256),
    )
  return {
    stones: walked.stones,
    chainHash: walked.chainHash,
    ...(payments?.summary() ?? { payTo: [], lost: [] }),
    reveals,
    payments: payments === undefined ? "unchecked" : "checked",
    log: opened === undefined ? null : yield* verifyLog(opened, walked),
    ...(files === undefined ? {} : { files }),
    ...(counting === undefined ? {} : { wallet: walletChecks(counting, stonesSought, { paidBy, revealed }) }),
  }
}, Effect.scoped)

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`

const lostSentence = (lost: ReadonlyArray<number>) =>
  `NOT PAID: the altar itself declares the payments of ${lost.length} stones lost in a reorganisation of the chain: ${lost.join(", ")}. Everything else holds.`

const sentences = ({
  chainHash,
  files = [],
  log,
  lost,
  payTo,
  payments,
  reveals: { checked, hidden },
  stones,
  wallet = [],
}: Effect.Success<ReturnType<typeof check>>) => [
  `${counted(stones, "stone")}: every link hashes${
    payments === "unchecked"
      ? ". NO payment was looked up: name the network's RPC with --rpc."
      : `, ${lost.length === 0 ? "every payment is" : `${stones - lost.length} payments are`} on the chain.`
  }`,
  `${counted(checked, "reveal")}: all words that are shown hash to what was sealed.${hidden === 0 ? "" : ` ${hidden} more are hidden and cannot be checked.`}`,
  ...(payTo.length === 0 ? [] : [`paid to ${payTo.join(", ")}`]),
  `head ${chainHash}`,
  ...(log === null ? [] : sentencesOf(log)),
  ...[...files, ...wallet].map(lineOf),
]

/** Checks the chain at `url` and reports; payments are looked up at `rpc`, or at the node of a local sandbox. */
export const verifying = Effect.fn("verifying")(function* (flags: Flags) {
  const fingerprint = yield* fingerprintOf(flags)
  if (Option.isSome(flags.receipt)) return yield* verifyReceiptFile(flags.receipt.value, flags, fingerprint)
  if (Option.isSome(flags.stone)) return yield* verifyFile(fingerprint, flags.stone.value)
  const result = yield* check(flags, fingerprint)
  const isPaid = result.lost.length === 0
  const differs = [...(result.files ?? []), ...(result.wallet ?? [])].some(({ state }) => state === "broken")
  const what = result.wallet === undefined ? fingerprint?.path : "The record of the wallet"
  const message = isPaid ? `${what} does not hold: see above.` : lostSentence(result.lost)
  const isSound = isPaid && !differs
  yield* print(
    { ...(isSound ? { ok: true } : { ok: false, code: isPaid ? "broken" : "lost", message }), ...result },
    sentences(result).map(plain).join("\n"),
  )
  if (!isSound) return yield* new CheckFailed({ message, isPrinted: true })
}, Effect.provide(Download.client))

export const verify = command("verify", {
  description:
    "Check a whole witness chain, its revealed words and its payments. It recomputes every link, hashes every revealed word of stones, candles and lights and, with --rpc, looks up every payment on its chain. Exit code 1 when a check fails, or when the altar itself declares payments lost, which are named",
  examples: {
    "npm run verify -- --url http://127.0.0.1:3000": "Check the sandbox",
    "npm run verify -- --url https://altar.example --rpc https://…": "Check a public altar",
    "npm run verify -- --url https://altar.example --log --vkey altar.example/log+21ce6caa+AW…":
      "Check its log as well",
    "spirit-altar verify --receipt act.receipt.json --key receipts-2026-11+6e596319+AepK…":
      "Check the receipt of one act, offline",
    "spirit-altar verify --receipt act.receipt.json --key receipts-2026-11+6e596319+AepK… --rpc https://…":
      "Look its transfer up as well",
    "spirit-altar verify --url https://altar.example --wallet 0x… --rpc https://…":
      "Count a wallet's stones again, and its payments",
    "spirit-altar verify --folder draft --stone stone.json": "Check a folder and its stone, offline",
  },
  flags,
  run: verifying,
})
