/** `verify-proof`: one stone, one proof and one key, checked on this machine alone. */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { policy } from "./Verify.ts"

export const verifyProof = Command.make(
  "verify-proof",
  {
    file: Argument.String("file").pipe(Argument.withDescription("The .tlog-proof of the stone")),
    stone: Flag.String("stone").pipe(
      Flag.withMetavar("file"),
      Flag.withDescription("The stone as JSON: its record, or what /api/witness/{id} answered"),
    ),
    vkey: Flag.String("vkey").pipe(
      Flag.withDescription(
        "The log's verifier key, name+hash+base64, as you learned it from somewhere else (else that of the policy)",
      ),
      Flag.optional,
    ),
    origin: Flag.String("origin").pipe(
      Flag.withDescription("First line of its checkpoints, when that is not the name of the key"),
      Flag.optional,
    ),
    policy,
  },
  (flags) =>
    Effect.flatMap(
      Effect.promise(() => import("./ProofChecking.ts")),
      ({ checking }) => checking(flags),
    ),
).pipe(
  Command.withDescription(
    "Check offline that a log has a stone: nothing but the proof, the stone and the key is needed. It says which fields of the stone are proved, and which are not. Exit code 1 when it is not proved",
  ),
  Command.withShortDescription("Check the proof of a stone, offline"),
  Command.withExamples([
    {
      command:
        "spirit-altar verify-proof stone-417.tlog-proof --stone stone.json --vkey altar.example/log+21ce6caa+AW…",
      description: "Check a proof",
    },
  ]),
)
