/** The files of a reader, and the logs and cosigners that a policy file trusts. */
import { Effect, FileSystem, Option } from "effect"
import type { Command } from "effect/cli"
import type { Trust } from "../../buyer/log/SignedCheckpoint.ts"
import { Malformed } from "../../../schema/log/Bytes.ts"
import { parsePolicy, type Policy } from "../../../schema/log/Policy.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { optionalKey, optionalText } from "../Define.ts"
import { provided } from "../Flags.ts"

export const textIn = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.mapError(
    fs.readFileString(path),
    () => new CommandFailure({ message: `${path} cannot be read.` }),
  )
})

export const policyIn = Effect.fnUntraced(function* (file: Option.Option<string>) {
  if (Option.isNone(file)) return Option.none<Policy>()
  const policy = parsePolicy(yield* textIn(file.value))
  return policy instanceof Malformed
    ? yield* new CommandFailure({ message: `${file.value}: ${policy.message}` })
    : Option.some(policy)
})

export const trustFlags = {
  vkey: optionalKey(
    "vkey",
    "The log's verifier key, name+hash+base64, as you learned it from elsewhere than its server (else that of the policy; verify --log takes the last check's, or the one that the server names)",
  ),
  policy: optionalText(
    "policy",
    "Policy (C2SP tlog-policy) with cosigners and the quorum that must have signed the newest checkpoint",
    "file",
  ),
}

/** The log and the cosigners that the flags trust; none where neither the key nor the policy names a log. */
export const trustIn = Effect.fnUntraced(function* (
  { policy: file, vkey }: Command.Command.Config.Infer<typeof trustFlags>,
  logIn: (policy: Policy) => string | undefined,
) {
  const policy = yield* policyIn(file)
  const trustedKey = Option.orElse(vkey, () => Option.flatMapNullishOr(policy, logIn))
  return Option.map(trustedKey, (logKey): Trust => ({ vkey: logKey, ...provided({ cosigners: policy }) }))
})
