/** `spirits`, `altar`, `reveal`, `unseal`, `reconcile` and `purchases`: free, and with no wallet near them. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { spiritIds } from "../../../schema/altar/Spirit.ts"
import { agentName, common, provided, salt } from "../Flags.ts"
import { runFree } from "./Running.ts"
import { plain, pretty } from "../Output.ts"

const table = (rows: ReadonlyArray<ReadonlyArray<string>>) => {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  return rows
    .map((row) =>
      row
        .map((cell, column) => plain(cell).padEnd(width(column)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
}

export const spirits = Command.make("spirits", common, (flags) =>
  runFree(
    flags,
    (orders) => orders.spirits,
    (all) =>
      table(
        all.map(({ epithet, id, keeper, kin }) => [
          id,
          kin,
          keeper === null ? "no keeper yet" : `kept by ${keeper.agentName ?? keeper.keeper}`,
          epithet,
        ]),
      ),
  ),
).pipe(
  Command.withDescription("The 24 spirits and who keeps them"),
  Command.withExamples([{ command: "spirit-altar spirits --json", description: "As the API tells it" }]),
)

export const altar = Command.make(
  "altar",
  {
    ...common,
    spirit: Argument.Literals("spirit", spiritIds).pipe(
      Argument.withDescription("Whose altar; every altar when absent"),
      Argument.optional,
    ),
  },
  (flags) =>
    runFree(
      flags,
      (orders) =>
        Effect.map(orders.altars, (altars) =>
          Option.match(flags.spirit, {
            onNone: () => altars,
            onSome: (spirit) => altars.filter((one) => one.spirit === spirit),
          }),
        ),
      (altars) =>
        table(
          altars.map(({ keeper, litCandles, spirit, today }) => [
            spirit,
            `prayer today: ${today.state}`,
            `candles lit: ${litCandles}`,
            keeper === null ? "no keeper yet" : `kept by ${keeper.agentName ?? keeper.keeper}`,
          ]),
        ),
    ),
).pipe(
  Command.withDescription("One altar, or all of them: today's prayer slot, candles and keeper"),
  Command.withExamples([{ command: "spirit-altar altar moss-hare --json", description: "Everything about one altar" }]),
)

const opening = (words: "text" | "words") => ({
  ...common,
  salt: salt.pipe(Flag.withDescription("The salt it was sealed with, when this machine's journal does not hold it")),
  words: Flag.String(words).pipe(
    Flag.withDescription("The words that were sealed, when this machine's journal does not hold them"),
    Flag.optional,
  ),
})

export const reveal = Command.make(
  "reveal",
  { ...opening("text"), agentName, id: Argument.String("id").pipe(Argument.withDescription("Of the stone")) },
  (flags) =>
    runFree(
      flags,
      (orders) =>
        orders.reveal(flags.id, {
          ...provided({ salt: flags.salt, words: flags.words, agentName: flags.agentName }),
        }),
      pretty,
    ),
).pipe(
  Command.withDescription(
    "Reveal the words of a stone, free and once. Words and salt become public, so that everyone can check them; words that look like a link, a wallet or an address stay hidden, and so does their salt",
  ),
  Command.withExamples([
    {
      command: "spirit-altar reveal 3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1",
      description: "With the words of this journal",
    },
  ]),
)

export const unseal = Command.make(
  "unseal",
  { ...opening("words"), id: Argument.String("id").pipe(Argument.withDescription("Of the candle or light")) },
  (flags) =>
    runFree(flags, (orders) => orders.unseal(flags.id, provided({ salt: flags.salt, words: flags.words })), pretty),
).pipe(
  Command.withDescription(
    "Unseal the words of a candle or light, free and once. Words and salt become public, so that everyone can check them; words that look like a link, a wallet or an address stay hidden, and so does their salt",
  ),
  Command.withExamples([
    {
      command: "spirit-altar unseal 3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1",
      description: "With the words of this journal",
    },
  ]),
)

export const reconcile = Command.make(
  "reconcile",
  { ...common, key: Argument.String("key").pipe(Argument.withDescription("The idempotency key of the purchase")) },
  (flags) => runFree(flags, (orders) => orders.reconcile(flags.key), pretty),
).pipe(
  Command.withDescription("Learn how a purchase ended, and finish one that was interrupted; free, and never signs"),
  Command.withExamples([{ command: "spirit-altar reconcile buyer-1f0c2c1e5b0a4c1f9d518a54", description: "Ask" }]),
)

export const purchases = Command.make("purchases", common, (flags) =>
  runFree(
    flags,
    (orders) =>
      Effect.map(orders.purchases, (all) =>
        all.map(({ act, altar, begunAt, failed, key, misrecorded, payment, sealed, settled }) => ({
          key,
          act,
          altar,
          begunAt,
          state:
            settled !== undefined
              ? "settled"
              : misrecorded !== undefined
                ? "misrecorded"
                : failed !== undefined
                  ? "failed"
                  : payment === undefined
                    ? "not signed"
                    : "open",
          id: settled?.id ?? null,
          permalink: settled?.permalink ?? null,
          isSealed: sealed !== undefined,
          misrecorded: misrecorded ?? null,
        })),
      ),
    (all) => table(all.map(({ act, begunAt, id, key, state }) => [begunAt, act, state, key, id ?? ""])),
  ),
).pipe(
  Command.withDescription("What this machine's journal knows it bought; salts and words stay in it"),
  Command.withExamples([{ command: "spirit-altar purchases", description: "List keys and ids" }]),
)
