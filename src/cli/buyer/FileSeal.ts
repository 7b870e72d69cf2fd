/** Stones of files: the flags, the hash, and how to check it in ten years without this program. */
import { join } from "node:path"
import { Option } from "effect"
import { sumsName } from "../../buyer/core/Sums.ts"
import { messageOf, refuse } from "../../buyer/PurchaseError.ts"
import { optionalText } from "../Define.ts"
import { hashFile, listFolder } from "../files/Hash.ts"
import { plain } from "../Output.ts"

export const sealedFiles = {
  file: optionalText("file", "A file to seal by its hash", "file"),
  folder: optionalText(
    "folder",
    `A folder to seal by the hash of its ${sumsName}, which is written into it`,
    "directory",
  ),
}

interface Sealed {
  readonly file: Option.Option<string>
  readonly folder: Option.Option<string>
}

/** The hash of the named file or folder; throws before anything is paid. */
export const hashOf = ({ file, folder }: Sealed, key: string): Promise<string> =>
  Promise.resolve()
    .then(() => (Option.isSome(folder) ? listFolder(folder.value) : hashFile(Option.getOrElse(file, () => ""))))
    .catch((error: unknown) => {
      throw refuse("bad_request", `${messageOf(error)} Nothing was sent or charged.`, key)
    })

const quoted = (path: string) => `'${plain(path).replaceAll("'", String.raw`'\''`)}'`

interface FileStone {
  readonly permalink: string
  readonly record: { readonly commitment: string; readonly sequence: number }
}

/** The lines that tell how to check a stone of a file or folder; empty for one of words. */
export const checking = (
  { file, folder }: Sealed,
  { permalink, record: { commitment, sequence } }: FileStone,
): string => {
  const named = Option.orElse(file, () => Option.map(folder, (path) => join(path, sumsName)))
  if (Option.isNone(named)) return ""
  const [flag, path] = Option.match(folder, {
    onNone: () => ["--file", named.value] as const,
    onSome: (value) => ["--folder", value] as const,
  })
  return [
    `Keep ${flag === "--file" ? "the file" : `the folder with its ${sumsName}`} unchanged, and the answer above as stone.json. To check them in ten years:`,
    ...(flag === "--file" ? [] : [`  cd ${quoted(path)} && sha256sum -c ${sumsName}`]),
    `  sha256sum ${quoted(named.value)}    # ${commitment}, the commitment of stone ${sequence}, ${plain(permalink)}`,
    `  spirit-altar verify ${flag} ${quoted(path)} --stone stone.json`,
  ].join("\n")
}
