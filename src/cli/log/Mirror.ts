/** `log mirror`: a complete, verified copy of a log as files, by the walk of `verify --log`. */
import { Console, Effect, Option, Path } from "effect"
import type { Command } from "effect/cli"
import { base64 } from "../../../schema/log/Bytes.ts"
import { logAt } from "../../../schema/log/Policy.ts"
import { command, optionalText, word } from "../Define.ts"
import { plain } from "../Output.ts"
import { CheckFailed } from "../CommandFailure.ts"
import { common } from "../Flags.ts"
import * as Download from "../verify/Download.ts"
import { policy } from "../verify/Verify.ts"
import { at, inFolder, locate } from "./LogSource.ts"
import * as MirrorFolder from "./MirrorFolder.ts"
import { copyStones } from "./MirroredStones.ts"
import {
  altarOf,
  contradicted,
  incomparable,
  type LogCheck,
  open,
  openLog,
  type OpenedLog,
  remember,
  wayBetween,
} from "./OpenedLog.ts"
import { cosignedBy, policyIn } from "./Policy.ts"
import { noPlace, walk, walkStart } from "./Walk.ts"

const flags = {
  folder: word("folder", "Folder for the files of the log, which a file server can serve"),
  url: common.url,
  vkey: optionalText("vkey", "The log's verifier key (else the last run's, or the one that the altar names)"),
  origin: optionalText("origin", "First line of its checkpoints, when that is not the name of the key"),
  policy,
}

type Flags = Command.Command.Config.Infer<typeof flags>

/** Opens a log's checkpoint after the one that the folder has, also in a copy of the folder without `mirror.json`. */
export const openInto = Effect.fnUntraced(function* (
  folder: MirrorFolder.MirrorFolder,
  check: Omit<LogCheck, "seen" | "copied">,
) {
  const path = yield* Path.Path
  const copied = Option.map(yield* folder.read("checkpoint"), (bytes) => new TextDecoder().decode(bytes))
  return yield* openLog({ ...check, copied, seen: Option.some(path.join(folder.folder, "mirror.json")) })
})

/** Brings the folder up to the opened checkpoint, which is the last file that is written. */
export const mirrorLog = Effect.fn("mirrorLog")(function* (opened: OpenedLog, folder: MirrorFolder.MirrorFolder) {
  const { checkpoint, memory, note, old, source, trust } = opened
  if (Option.isSome(old)) {
    const way = yield* wayBetween(source, old.value, checkpoint)
    const what = `This mirror has ${old.value.size} entries and stays as it is; the log shows ${checkpoint.size}.`
    if (way === "unknown") return yield* incomparable(memory, note, checkpoint, what)
    if (way === "differs") return yield* contradicted(memory, note, checkpoint, what)
  }
  const { chainHash } = yield* walk({
    source,
    copy: folder.copy,
    isOurs: false,
    checkpoint,
    // Its continuation is proved above.
    old: Option.none(),
    from: walkStart,
    save: noPlace,
  }).pipe(
    Effect.catchTag(["CheckFailed", "Rewritten"], ({ message }) =>
      Effect.fail(
        new CheckFailed({
          message: `${message} If files of ${folder.folder} were changed, mirror into an empty folder.`,
        }),
      ),
    ),
  )
  const altar = chainHash === null ? Option.none() : altarOf(source)
  const stones = Option.isNone(altar)
    ? undefined
    : yield* copyStones(altar.value, yield* inFolder(folder.folder), folder, checkpoint.size)
  const keyIsItsOwnWord = yield* remember(opened)
  // A concurrent run into this folder may have remembered a larger one, whose files are here, too.
  const newest = Option.getOrElse(yield* memory.seen, () => ({ checkpoint: note }))
  yield* folder.publish(newest.checkpoint, (yield* open(newest.checkpoint, trust)).checkpoint)
  yield* folder.prune(Option.match(old, { onNone: () => 0, onSome: ({ size }) => size }), checkpoint.size)
  return { stones, keyIsItsOwnWord, isOpaque: chainHash === null }
})

export const mirroring = Effect.fn("mirroring")(
  function* ({ folder: named, origin, policy: file, url, vkey }: Flags) {
    const path = yield* Path.Path
    const target = path.resolve(named)
    const rules = yield* policyIn(file)
    const folder = yield* MirrorFolder.make(target)
    const opened = yield* openInto(folder, {
      source: at(yield* locate(url)),
      vkey: Option.orElse(vkey, () => Option.flatMapNullishOr(rules, (one) => logAt(one, url))),
      origin,
      policy: rules,
    })
    const { isOpaque, keyIsItsOwnWord, stones } = yield* mirrorLog(opened, folder)
    const { checkpoint, vkey: key } = opened
    const { origin: name, root, size } = checkpoint
    const say = (sentence: string) => Console.log(plain(sentence))
    yield* say(`${target} holds all ${size} entries of ${name}: every tile and the signed root derive from them.`)
    for (const sentence of cosignedBy(opened)) yield* say(sentence)
    if (isOpaque) yield* say("NOT shown: the meaning of the entries. Only their hashes were compared.")
    if (stones !== undefined && stones < size) {
      yield* say(
        `Of ${size} stones ${stones} are beside them: the altar showed no more, so ids of the others are missing.`,
      )
    }
    if (keyIsItsOwnWord) {
      yield* say(`The server itself named the key: ${key}. Compare it, or name it with --vkey.`)
    }
    yield* Console.log(`root ${base64(root)}`)
  },
  (run, { url }) => Effect.provide(run, Download.client(url)),
)

export const mirror = command("mirror", {
  description:
    "Keep a complete, verified copy of a log as files: checkpoint, tiles and entries (C2SP tlog-tiles), all earlier checkpoints and an altar's stones. Run it again to update it, also after an interruption: it downloads missing and damaged files again. A shorter or rewritten history changes no file, is stored beside mirror.json and ends with exit code 1",
  summary: "Keep a verified copy of a log as files",
  examples: [
    ["spirit-altar log mirror ./mirror --url https://altar.example", "Mirror the log of an altar"],
    [
      "spirit-altar log mirror ./acts --url https://altar.example/log/acts --vkey altar.example/log/acts+0c3a9d11+AW…",
      "Mirror any log by its own URL",
    ],
  ],
  flags,
  run: mirroring,
})
