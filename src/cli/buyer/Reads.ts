/** `reveal`, `unseal` and `acts`: the free commands, which load no wallet. */
import { Effect, Option } from "effect"
import { Argument, Flag } from "effect/cli"
import type { Purchase } from "../../buyer/Purchases.ts"
import { optionalText, word } from "../Define.ts"
import { agentName, provided, salt } from "../Flags.ts"
import { type CommandError, plain, pretty } from "../Output.ts"
import { free } from "./BuyerCommand.ts"

const table = (rows: ReadonlyArray<ReadonlyArray<string>>) => {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  const line = (row: ReadonlyArray<string>) => row.map((cell, column) => plain(cell).padEnd(width(column))).join("  ")
  return rows.map((row) => line(row).trimEnd()).join("\n")
}

const opening = (words: "text" | "words") => ({
  salt: salt.pipe(Flag.withDescription("Its salt, when this machine's journal does not have it")),
  words: optionalText(words, "Its words, when this machine's journal does not have them"),
  wallet: optionalText(
    "wallet",
    "Accepted as by the paid commands and never read: opening words signs nothing",
    "file",
  ),
})

const openingSays = (what: string) =>
  `${what}, free and once. Words and salt become public, so that everyone can check them; words that look like a link, a wallet or an address stay hidden, and so does their salt`

const someId = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"

export const reveal = free("reveal", {
  description: openingSays("Reveal the words of a stone"),
  examples: [[`spirit-altar reveal ${someId}`, "With words from this journal"]],
  flags: { ...opening("text"), agentName, id: word("id", "Of the stone") },
  ask: (orders, { id, wallet: _, ...given }) => orders.reveal(id, provided(given)),
  render: pretty,
})

export const unseal = free("unseal", {
  description: openingSays("Unseal the words of a candle or light"),
  examples: [[`spirit-altar unseal ${someId}`, "With words from this journal"]],
  flags: { ...opening("words"), id: word("id", "Of the candle or light") },
  ask: (orders, { id, wallet: _, ...given }) => orders.unseal(id, provided(given)),
  render: pretty,
})

const stateOf = ({ failed, misrecorded, payment, settled }: Purchase) => {
  if (settled !== undefined) return "settled"
  if (misrecorded !== undefined) return "misrecorded"
  if (failed !== undefined) return "failed"
  return payment === undefined ? "not signed" : "open"
}

const listed = (purchase: Purchase) => ({
  key: purchase.key,
  act: purchase.act,
  altar: purchase.altar,
  begunAt: purchase.begunAt,
  state: stateOf(purchase),
  id: purchase.settled?.id ?? null,
  permalink: purchase.settled?.permalink ?? null,
  isSealed: purchase.sealed !== undefined,
  misrecorded: purchase.misrecorded ?? null,
})

type Listed = ReadonlyArray<ReturnType<typeof listed>>

const isList = (answer: object): answer is Listed => Array.isArray(answer)

export const acts = free("acts", {
  description:
    "List your acts from this machine's journal, without salts and words. With a key, ask for that purchase's outcome and complete it; this is free and signs nothing",
  summary: "List your acts, or show the outcome of one",
  examples: [
    ["spirit-altar acts", "List keys and ids"],
    ["spirit-altar acts buyer-1f0c2c1e5b0a4c1f9d518a54", "Ask for an outcome"],
  ],
  flags: { key: Argument.optional(word("key", "The idempotency key of one purchase")) },
  ask: (orders, { key }): Effect.Effect<object, CommandError> =>
    Option.match(key, {
      onNone: () => Effect.map(orders.purchases, (all) => all.map(listed)),
      onSome: (one) => orders.reconcile(one),
    }),
  render: (answer) =>
    isList(answer)
      ? table(answer.map(({ act, begunAt, id, key, state }) => [begunAt, act, state, key, id ?? ""]))
      : pretty(answer),
})
