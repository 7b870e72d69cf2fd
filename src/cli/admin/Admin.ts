/** `admin`: inspection and manual changes in the environment's database. */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import * as Audit from "../../admin/Audit.ts"
import { command } from "../Define.ts"
import { common } from "../Flags.ts"
import { messages as known } from "../../platform/LogMessages.ts"
import { compact, isolated } from "../Output.ts"
import { database, limit, run } from "./AdminDatabase.ts"
import { attempt, attempts } from "./Attempts.ts"
import { changes } from "./Changes.ts"
import { receiptKey } from "./ReceiptKey.ts"
import { refunded } from "./Refunded.ts"

const audit = command("audit", {
  description: `Manual changes with operator, time and reason, newest first. ${database}`,
  summary: "Manual changes",
  examples: [["spirit-altar admin audit --json", "As one document"]],
  flags: { json: common.json, limit },
  run: (flags) =>
    run(
      flags,
      Effect.gen(function* () {
        const { list } = yield* Audit.make
        const deeds = yield* list(flags.limit)
        if (flags.json) return yield* Console.log(compact({ ok: true, deeds }))
        for (const { at, subject, what, who, why } of deeds)
          yield* Console.log([at, who, what, subject, why].map(isolated).join("  "))
      }),
    ),
})

const messages = command("messages", {
  description:
    "Every warning and error in the log of a server, with its level and what to do. It needs no database. Names between asterisks are sections of docs/operating.md.",
  summary: "Warnings and errors in the log, and what to do",
  examples: [["spirit-altar admin messages", "All of them"]],
  flags: { json: common.json },
  run: ({ json }) => {
    const { Error, Fatal, Warn } = known
    const lines = Object.entries({ Fatal, Error, Warn }).flatMap(([level, actions]) =>
      Object.entries(actions).map(([message, action]) => `${level.padEnd(5)}  ${message}: ${action}`),
    )
    return Console.log(json ? JSON.stringify({ ok: true, messages: { Fatal, Error, Warn } }) : lines.join("\n"))
  },
})

export const admin = Command.make("admin").pipe(
  Command.withDescription(
    "Show and change data in the database of DATABASE_URL. Every change is recorded with operator, time and reason",
  ),
  Command.withSubcommands([attempts, attempt, ...changes, refunded, audit, messages, receiptKey]),
)
