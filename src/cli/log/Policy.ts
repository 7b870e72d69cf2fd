/** The policy file of a reader: trusted logs, and the log witnesses that must have signed. */
import { Effect, FileSystem, Option } from "effect"
import type { Opened } from "../../buyer/log/SignedCheckpoint.ts"
import { Malformed } from "../../../schema/log/Bytes.ts"
import { parsePolicy, type Policy } from "../../../schema/log/Policy.ts"
import { CommandFailure } from "../CommandFailure.ts"

export const policyIn = Effect.fnUntraced(function* (named: Option.Option<string>) {
  if (Option.isNone(named)) return Option.none<Policy>()
  const file = named.value
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(
    fs.readFileString(file),
    () => new CommandFailure({ message: `${file} cannot be read.` }),
  )
  const policy = parsePolicy(text)
  return policy instanceof Malformed
    ? yield* new CommandFailure({ message: `${file}: ${policy.message}` })
    : Option.some(policy)
})

/** The cosigners, for a person. */
export const cosignedBy = ({ cosignatures }: Pick<Opened, "cosignatures">): ReadonlyArray<string> =>
  cosignatures.length === 0
    ? []
    : [`Cosigned by ${cosignatures.map(({ name }) => name).join(", ")}: the quorum of the policy.`]
