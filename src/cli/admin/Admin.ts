/** `admin`: inspection and manual changes in the environment's database. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import * as Audit from "../../admin/Audit.ts"
import { messages as logMessages } from "../../platform/LogMessages.ts"
import { onDatabase, most } from "../Database.ts"
import { command, text } from "../Define.ts"
import { printKey } from "../log/Log.ts"
import { isolated, print } from "../Output.ts"
import { attempt, attempts } from "./Attempts.ts"
import { changes } from "./Changes.ts"
import { refunded } from "./Refunded.ts"

const receiptKey = command("receipt-key", {
  description:
    "Make a random key for receipts, and print it with its verifier key. Nothing is stored. After a rotation, list the old verifier key in RECEIPT_KEYS_RETIRED, so that old receipts stay valid",
  examples: { "spirit-altar admin receipt-key --name receipts-2026-11 >> .env": "A first key" },
  flags: {
    name: text("name", "Name of the key in /.well-known/did.json, never used before, such as receipts-2026-11").pipe(
      Flag.filter(
        (name) => /^[A-Za-z0-9._-]{1,64}$/u.test(name),
        () => "1 to 64 of A-Z a-z 0-9 . _ -",
      ),
    ),
  },
  run: ({ name }) =>
    printKey(name, "RECEIPT_KEY", `The verifier key of ${name}, for RECEIPT_KEYS_RETIRED after a rotation`),
})

const audit = onDatabase("audit", {
  description: `List the newest ${most} manual changes with operator, time and reason.`,
  examples: { "spirit-altar admin audit --json": "As one document" },
  flags: {},
  run: Effect.fnUntraced(function* () {
    const deeds = yield* (yield* Audit.make).list(most)
    const lines = deeds.map(({ at, subject, what, who, why }) => [at, who, what, subject, why].map(isolated).join("  "))
    yield* print({ ok: true, deeds }, lines.join("\n") || "Nothing was changed by hand.")
  }),
})

const messages = command("messages", {
  description:
    "List every warning and error in the log of a server, with its level and what to do. It needs no database. Names between asterisks are sections of docs/operating.md.",
  examples: { "spirit-altar admin messages": "All of them" },
  flags: {},
  run: () => {
    const { Error, Fatal, Warn } = logMessages
    const lines = Object.entries({ Fatal, Error, Warn }).flatMap(([level, actions]) =>
      Object.entries(actions).map(([message, action]) => `${level.padEnd(5)}  ${message}: ${action}`),
    )
    return print({ ok: true, messages: { Fatal, Error, Warn } }, lines.join("\n"))
  },
})

export const admin = Command.make("admin").pipe(
  Command.withDescription(
    "Show and change data in the database of DATABASE_URL. Every change is recorded with operator, time and reason",
  ),
  Command.withSubcommands([attempts, attempt, ...changes, refunded, audit, messages, receiptKey]),
)
