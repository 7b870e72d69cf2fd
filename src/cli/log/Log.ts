/** `log`: an operator's commands for the transparency log: create its key, show its state, resume it. */
import { Clock, Effect, Layer, Option, Redacted, Result } from "effect"
import { Command, Flag } from "effect/cli"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { base64 } from "../../../schema/log/Bytes.ts"
import { WitnessChain } from "../../altar/witness/WitnessChain.ts"
import { LastSigned } from "../../log/LastSigned.ts"
import { LogStore, stateOf, type StopCode } from "../../log/LogStore.ts"
import { fromText, generate, originOf } from "../../log/Signer.ts"
import { helpOf, log as variables } from "../../server/config/Table.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { onDatabase } from "../Database.ts"
import { command, optionalText, text } from "../Define.ts"
import { defaultUrl } from "../Flags.ts"
import { age, done, print, say } from "../Output.ts"

const ageOf = (at: Date, now: number) => `${age(Math.max(0, Math.round((now - at.getTime()) / 1000)))} ago`

const advice: Readonly<Record<StopCode, string>> = {
  backup:
    "Do not resume as it is: stones that were signed are missing here. Restore the newest backup. If they are lost for good, the log has ended: announce a new one with empty log_ tables, no LOG_CHECKPOINT_FILE, another LOG_ORIGIN and a new key.",
  checkpoints:
    "Compare log_checkpoints with a backup and with readers' copies: another program wrote to the table, or the key was changed under the same origin. Restore the rows, then resume.",
  tiles: "Another program wrote to log_tiles: restore the rows from a backup, then resume.",
  entries: "Another program wrote to witness_stones: restore the rows from a backup, then resume.",
}

const status = onDatabase("status", {
  description:
    "Show the log's size, whether it runs, waits or is stopped, why, and what to do. Exit code 1 when it is stopped.",
  examples: { "DATABASE_URL=postgres://… spirit-altar log status": "Look" },
  flags: {},
  run: Effect.fnUntraced(function* () {
    const store = yield* LogStore
    const head = yield* store.head
    const newest = yield* store.newest
    const total = (yield* (yield* WitnessChain).head).sequence
    const now = yield* Clock.currentTimeMillis
    const published = Option.match(newest, {
      onNone: () => "none published yet: is a server with a LOG_KEY running?",
      onSome: ({ at, size }) => `${size} stones, signed ${ageOf(at, now)}; ${total - size} behind`,
    })
    yield* say(`stones      ${total}`)
    yield* say(`tree        ${head.size} stones; ${total - head.size} behind`)
    yield* say(`checkpoint  ${published}`)
    const { since, state, waitsFor } = stateOf(head)
    const duration = since === null ? "" : ` since ${since} (${ageOf(new Date(since), now)}); sales go on`
    yield* say(`state       ${state}${duration}`)
    if (waitsFor !== null) yield* say(`waits for   ${waitsFor}`)
    if (Option.isNone(head.stopped)) return yield* done
    const { code, reason } = head.stopped.value
    return yield* new CommandFailure({ message: `The log is stopped: ${reason}.\n${advice[code]}` })
  }),
})

/** The first line of a checkpoint. */
const originIn = (note: string) => note.slice(0, note.indexOf("\n"))

const confirm = onDatabase("confirm", {
  description: `Confirm the newest checkpoint by hand, for a log that waits after a start. It is written to LOG_CHECKPOINT_FILE. Without --root it changes nothing and lists the values to compare.\n${helpOf([variables.checkpointFile])}`,
  examples: { "DATABASE_URL=postgres://… spirit-altar log confirm": "Show the values to compare" },
  flags: {
    root: optionalText("root", "Root hash, Base64, of the newest checkpoint, after comparing it with others' copies"),
  },
  run: Effect.fnUntraced(function* ({ root }) {
    const newest = Option.getOrUndefined(yield* (yield* LogStore).newest)
    if (newest === undefined)
      return yield* new CommandFailure({ message: "This database has published no checkpoint." })
    const own = base64(newest.root)
    if (!Option.contains(root, own))
      return yield* new CommandFailure({
        message: `The newest checkpoint of this database covers ${newest.size} stones and has the root ${own}. Compare both with the checkpoints that readers, monitors and cosigners of this log hold. If none of them is later or different, run this again with --root ${own}. Nothing was changed.`,
      })
    const path = Option.getOrUndefined(yield* variables.checkpointFile)
    if (path === undefined)
      return yield* new CommandFailure({
        message: "LOG_CHECKPOINT_FILE is not set. Set it here as for the server, to a file outside the database.",
      })
    yield* Effect.flatMap(LastSigned, ({ remember }) => remember(newest)).pipe(
      Effect.provide(LastSigned.file(path, originIn(newest.note)).pipe(Layer.provide(NodeFileSystem.layer))),
      Effect.catchTag("LastSignedLost", ({ message }) => new CommandFailure({ message })),
    )
    yield* say(`${path} holds the checkpoint of ${newest.size} stones. A waiting server continues now.`)
    yield* done
  }),
})

const resume = onDatabase("resume", {
  description: "Resume a stopped log after the cause is fixed. Remaining faults stop it again.",
  examples: { "DATABASE_URL=postgres://… spirit-altar log resume": "Go on" },
  flags: {},
  run: Effect.fnUntraced(function* () {
    const store = yield* LogStore
    const { stopped } = yield* store.head
    if (Option.isNone(stopped)) return yield* Effect.andThen(say("The log is not stopped."), done)
    yield* store.resume
    yield* say(
      `The log is resumed. It had stopped because ${stopped.value.reason}. If the cause remains, it stops again within seconds: spirit-altar log status`,
    )
    yield* done
  }),
})

/** Prints a new key in the form of an environment file. */
export const printKey = Effect.fnUntraced(function* (name: string, variable: string, says: string) {
  const made = generate(name)
  const signer = Result.flatMap(made, fromText)
  if (Result.isFailure(made) || Result.isFailure(signer))
    return yield* new CommandFailure({ message: `${name} names no key: no white space and no plus sign.` })
  const { vkey } = signer.success
  const key = Redacted.value(made.success)
  yield* print({ ok: true, [variable]: key, vkey }, `# ${says}: ${vkey}\n${variable}=${key}`)
})

const key = command("key", {
  description:
    "Make a random key for a log, and print it with its verifier key. Nothing is stored. The first line can sign for the log: keep it secret",
  examples: { "spirit-altar log key --url https://altar.example >> .env": "A key for a server" },
  flags: {
    url: text("url", "Public URL of the server: the log is named after it, unless LOG_ORIGIN names it").pipe(
      Flag.withDefault(defaultUrl),
    ),
  },
  run: Effect.fnUntraced(function* ({ url }) {
    const name = Option.getOrElse(yield* variables.origin, () => originOf(url))
    yield* printKey(name, "LOG_KEY", `The log ${name}. Its public verifier key`)
  }),
})

export const log = Command.make("log").pipe(
  Command.withDescription("The transparency log: its key and its state"),
  Command.withSubcommands([key, status, confirm, resume]),
)
