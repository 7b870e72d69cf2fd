/** `verify --file` and `--folder`: compares files with the list that a stone sealed, and the list or file with the stone. */
import { readFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { Effect, Option } from "effect"
import { checkLink, linkFault } from "../../../schema/altar/ChainCheck.ts"
import { chainHashOf, type Link } from "../../buyer/core/Chain.ts"
import { fileDifferences, filesIn, sumsName } from "../../buyer/core/Sums.ts"
import { broken, holds, isSound, open, type ReceiptCheck } from "../../buyer/receipt/Checks.ts"
import { messageOf } from "../../buyer/PurchaseError.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { optionalText } from "../Define.ts"
import { hashFile, hashFolder, sha256Of, unreadable } from "../files/Hash.ts"
import { stoneAt } from "./Proof.ts"
import { report } from "./Report.ts"

export const fileFlags = {
  file: optionalText("file", "Check that a stone is of this file", "file"),
  folder: optionalText(
    "folder",
    `Check the files of this folder by its ${sumsName}, and that a stone is of that list`,
    "directory",
  ),
  stone: optionalText(
    "stone",
    "The stone of the file or folder as JSON, to check offline (else the altar's chain is searched)",
    "file",
  ),
}

export type FileFlags = { readonly [Name in keyof typeof fileFlags]: Option.Option<string> }

const differs = {
  changed: (path: string) => broken(path, `It changed: ${sumsName} lists another hash.`),
  missing: (path: string) => broken(path, `It is missing, and ${sumsName} lists it.`),
  added: (path: string) => open(path, `It is not in ${sumsName}, so it was not sealed.`),
}

export interface Fingerprint {
  readonly path: string
  readonly sha256: string
  readonly checks: ReadonlyArray<ReceiptCheck>
}

const folderAt = async (folder: string): Promise<Fingerprint> => {
  const path = join(folder, sumsName)
  const list = await readFile(path).catch(unreadable(path))
  const listed = filesIn(list.toString())
  if (listed === undefined) throw new Error(`${path} is no list of hashes as sha256sum writes it.`)
  const differences = fileDifferences(listed, await hashFolder(folder))
  const checks = differences.map((difference) => differs[difference.kind](difference.path))
  const wrong = checks.filter(({ state }) => state === "broken").length
  const whole = `${listed.length - wrong} of ${listed.length} files are as ${sumsName} lists them.`
  return {
    path,
    sha256: sha256Of(list),
    checks: [...(wrong === 0 ? [holds("files", whole)] : [broken("files", whole)]), ...checks],
  }
}

/** The hash that a stone has to record, with what differs in a folder; none without a file. */
export const fingerprintOf = Effect.fn("fingerprintOf")(function* ({ file, folder }: FileFlags) {
  if (Option.isSome(file) && Option.isSome(folder))
    return yield* new CommandFailure({ message: "Name either --file or --folder." })
  const from = Option.match(folder, {
    onNone: () =>
      Option.map(file, (path) => async (): Promise<Fingerprint> => ({
        path,
        sha256: await hashFile(path),
        checks: [],
      })),
    onSome: (path) => Option.some(() => folderAt(path)),
  })
  if (Option.isNone(from)) return undefined
  return yield* Effect.tryPromise({
    try: from.value,
    catch: (error) => new CommandFailure({ message: messageOf(error) }),
  })
})

type Sealed = Pick<Link, "commitment" | "sequence" | "witnessedAt">

/** Whether a stone records this hash; its link is checked elsewhere. */
const stoneCheck = ({ path, sha256 }: Fingerprint, { commitment, sequence, witnessedAt }: Sealed) =>
  commitment === sha256
    ? holds(
        "file",
        `Stone ${sequence}, set ${witnessedAt} by its altar's clock, records the hash of ${basename(path)}.`,
      )
    : broken(
        "file",
        `${path} has the hash ${sha256}, and stone ${sequence} records ${commitment}. A copy with changed line ends has another hash.`,
      )

/** The checks of files by the stones of a checked chain that record their hash. */
export const chainChecks = (fingerprint: Fingerprint, stones: ReadonlyArray<Sealed>) => [
  ...fingerprint.checks,
  ...(stones.length > 0
    ? stones.map((stone) => stoneCheck(fingerprint, stone))
    : [broken("file", `No stone of this chain records ${fingerprint.sha256}, the hash of ${fingerprint.path}.`)]),
]

/** The checks of files by the stone in a file of JSON. */
export const stoneChecks = Effect.fn("stoneChecks")(function* (fingerprint: Fingerprint, path: string) {
  const { stone } = yield* stoneAt(path)
  const before = { sequence: stone.sequence - 1, chainHash: stone.previousHash }
  const fault = linkFault(checkLink(stone, before, yield* Effect.promise(() => chainHashOf(stone))))
  return [
    ...fingerprint.checks,
    fault === undefined
      ? stoneCheck(fingerprint, stone)
      : broken("stone", `It does not hash to its chainHash: ${fault.detail}.`),
  ]
})

/** Checks files offline, by the stone in a file of JSON. */
export const verifyFile = Effect.fn("verifyFile")(function* (fingerprint: Fingerprint | undefined, path: string) {
  if (fingerprint === undefined)
    return yield* new CommandFailure({ message: "Name what --stone is of by --file or --folder." })
  const checks = [
    ...(yield* stoneChecks(fingerprint, path)),
    open("time", "This file alone proves no time: check its proof with verify-proof, or its receipt with --receipt."),
  ]
  yield* report(fingerprint.path, { ok: isSound(checks), checks })
})
