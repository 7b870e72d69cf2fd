/** `verify`: what a person may ask of a whole witness chain. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { common } from "./Flags.ts"

const { json, url } = common
const rpc = Flag.String("rpc").pipe(
  Flag.withDescription("JSON-RPC of its network, of your own choice; a sandbox on this machine tells its own"),
  Flag.optional,
)
const payTo = Flag.String("pay-to").pipe(
  Flag.withMetavar("address"),
  Flag.withDescription(
    "The address that every payment went to; may be repeated where it was changed (else one for all, whichever it is)",
  ),
  Flag.atLeast(0),
)

const log = Flag.Boolean("log").pipe(
  Flag.withDescription(
    "Walk the transparency log, too: every entry, tile and root, that its stones are those of the chain, and that it only grew since the last check",
  ),
  Flag.withDefault(false),
)
const vkey = Flag.String("vkey").pipe(
  Flag.withDescription("The log's verifier key (else the one of the last check, or the server's own word)"),
  Flag.optional,
)
export const policy = Flag.String("policy").pipe(
  Flag.withMetavar("file"),
  Flag.withDescription(
    "Policy (C2SP tlog-policy) that names log witnesses and how many must have signed the newest checkpoint",
  ),
  Flag.optional,
)
const seen = Flag.String("seen").pipe(
  Flag.withMetavar("file"),
  Flag.withDescription(
    "Where the last checkpoint is remembered, and beside it how far a stopped walk came and what contradicts it (else one for each altar in the folder of the journal)",
  ),
  Flag.optional,
)

export const verify = Command.make("verify", { url, rpc, payTo, log, vkey, policy, seen, json }, (flags) =>
  Effect.flatMap(
    Effect.promise(() => import("./Verifying.ts")),
    ({ verifying }) => verifying(flags),
  ),
).pipe(
  Command.withDescription(
    "Download a witness chain, recompute every link, hash every revealed word of stones, candles and lights and, with --rpc, look every payment up on its chain. Exit code 1 when something does not hold, or when the altar itself declares payments lost, which are named",
  ),
  Command.withExamples([
    { command: "npm run verify -- --url http://127.0.0.1:3000", description: "Check the sandbox" },
    { command: "npm run verify -- --url https://altar.example --rpc https://…", description: "Check a public altar" },
    {
      command: "npm run verify -- --url https://altar.example --log --vkey altar.example/log+21ce6caa+AW…",
      description: "Check its whole log as well",
    },
  ]),
)
