/** `admin`: what an operator looks at and changes by hand, in the database that the environment names. */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import * as Audit from "../../admin/Audit.ts"
import { common } from "../Flags.ts"
import { plain } from "../Output.ts"
import { database, limit, run } from "./AdminDatabase.ts"
import { attempt, attempts } from "./Attempts.ts"
import { deleteRoom, hide, pause, resume, show } from "./Changes.ts"
import { exporting } from "./Export.ts"

const audit = Command.make("audit", { json: common.json, limit }, (flags) =>
  run(
    flags,
    Effect.gen(function* () {
      const { list } = yield* Audit.make
      const deeds = yield* list(flags.limit)
      if (flags.json) return yield* Console.log(JSON.stringify({ ok: true, deeds }))
      for (const { at, subject, what, who, why } of deeds)
        yield* Console.log([at, who, what, subject, why].map(plain).join("  "))
    }),
  ),
).pipe(
  Command.withDescription(`Who changed what by hand, when and why, newest first. ${database}`),
  Command.withShortDescription("Who changed what by hand"),
  Command.withExamples([{ command: "spirit-altar admin audit --json", description: "As one document" }]),
)

export const admin = Command.make("admin").pipe(
  Command.withDescription(
    "What an operator looks at and changes by hand, in the database of DATABASE_URL; every change is kept with who, when and why",
  ),
  Command.withSubcommands([attempts, attempt, pause, resume, hide, show, deleteRoom, exporting, audit]),
)
