/** The policy file of a reader: trusted logs, and the log witnesses that must have signed. */
import { Effect, FileSystem, Option } from "effect"
import type { Trust } from "../../buyer/log/SignedCheckpoint.ts"
import { Malformed } from "../../../schema/log/Bytes.ts"
import { parsePolicy, type Policy } from "../../../schema/log/Policy.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { provided } from "../Flags.ts"

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

interface TrustFlags {
  readonly vkey: Option.Option<string>
  /** First line of the checkpoints, when that is not the name of the key. */
  readonly origin?: Option.Option<string>
  readonly policy: Option.Option<string>
}

/** The log and the witnesses that the flags trust; none where neither the key nor the policy names a log. */
export const trustIn = Effect.fnUntraced(function* (
  { origin = Option.none(), policy: file, vkey }: TrustFlags,
  logIn: (policy: Policy) => string | undefined,
) {
  const policy = yield* policyIn(file)
  const known = Option.orElse(vkey, () => Option.flatMapNullishOr(policy, logIn))
  return Option.map(known, (one): Trust => ({ vkey: one, ...provided({ origin, witnesses: policy }) }))
})
