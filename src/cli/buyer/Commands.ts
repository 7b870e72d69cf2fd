/** The buyer's commands. */
import { Option } from "effect"
import { Argument, Flag } from "effect/cli"
import { dedicationMaximum, lightDay, lightMonth, lightWeek, rungTerms } from "../../../schema/altar/Candle.ts"
import { spiritIds } from "../../../schema/altar/Spirit.ts"
import { setWitnessStone, StoneKind } from "../../../schema/altar/Witness.ts"
import type { Orders } from "../../buyer/Orders.ts"
import { messageOf, refuse, Refused } from "../../buyer/PurchaseError.ts"
import { command, type Config, type FlagValues, type CommandText, on, optionalText, word } from "../Define.ts"
import { agentName, common, paying, provided, salt } from "../Flags.ts"
import { plain, pretty } from "../Output.ts"
import { act, commandsOf, cost, paid } from "./ActCommands.ts"
import { checking, hashOf, sealedFiles } from "./FileSeal.ts"
import { runFree, showWallet } from "./Session.ts"

const free = <const Name extends string, const Flags extends Config, A>(
  name: Name,
  spec: CommandText & {
    readonly flags: Flags
    readonly ask: (orders: Orders, given: FlagValues<Flags>) => Promise<A>
  },
) =>
  command(name, {
    ...spec,
    flags: { ...common, own: spec.flags },
    run: ({ own, ...flags }) => runFree(flags, (orders) => spec.ask(orders, own), pretty),
  })

const spirit = Argument.Literals("spirit", spiritIds).pipe(Argument.withDescription("Spirit of the altar"))
const onAltar = (says: string) => Flag.Literals("spirit", spiritIds).pipe(Flag.withDescription(says), Flag.optional)

const witness = paid("witness", {
  description: `Seal words, a file or a folder, and set a witness stone: ${cost(setWitnessStone)}. A file or folder stays on this machine: its hash is the commitment, without a salt, and anyone who has it can recognise it`,
  examples: {
    'spirit-altar witness --text "The heron will return by May."': "Set a stone",
    'spirit-altar witness --text "I will call my sister." --kind promise --spirit moss-hare --reveal':
      "Set a promise on an altar and reveal it",
    "spirit-altar witness --file draft.pdf": "Set a stone of a file",
    "spirit-altar witness --folder draft": "List the files of a folder in its SHA256SUMS, and set a stone of that list",
  },
  flags: {
    words: optionalText("text", "The words to seal; words and salt stay on this machine until revealed"),
    ...sealedFiles,
    salt,
    kind: Flag.Literals("kind", StoneKind.literals).pipe(
      Flag.withDescription("Kind of the words (intention; hash of a file or folder)"),
      Flag.optional,
    ),
    spirit: onAltar("Spirit of the stone; chosen by the commitment when absent"),
    agentName,
    reveal: on("reveal", "Reveal the words at once: words and salt become public"),
  },
  objection: ({ file, folder, reveal, salt, words }) =>
    [words, file, folder].filter(Option.isSome).length !== 1
      ? "Name what to seal by one of --text, --file and --folder."
      : Option.isNone(words) && (reveal || Option.isSome(salt))
        ? "A file or folder has no words to reveal, and no salt: leave --reveal and --salt out."
        : undefined,
  buy: async (orders, { agentName, file, folder, kind, reveal, salt, spirit, words }, key) => {
    const sealing = Option.isSome(words)
      ? { words: words.value, kind: "intention" as const, ...provided({ salt }) }
      : { commitment: await hashOf({ file, folder }, key), kind: "hash" as const }
    const stone = await orders.witness({ key, ...sealing, ...provided({ kind, spirit, agentName }) })
    const { id } = stone.record
    if (!reveal) return stone
    const { stone: opened } = await orders.reveal(id).catch((error: unknown) => {
      const why = `Stone ${id} is set and paid for, but not revealed: ${messageOf(error)}`
      throw refuse(
        error instanceof Refused ? error.code : "not_revealed",
        `${why} Reveal it later, free: reveal ${id}`,
        key,
      )
    })
    return { ...stone, revealed: opened.reveal }
  },
  later: ({ reveal, words }) => (reveal || Option.isNone(words) ? undefined : "reveal"),
  checking: (given, stone) => checking(given, stone),
})

const light = paid("light", {
  description: `Light a candle on a spirit's altar: ${cost(lightDay)} for a day, ${cost(lightWeek)} for a week, ${cost(lightMonth)} for a month`,
  examples: {
    'spirit-altar light kelp-seal --days 7 --dedication "For the bees"': "Light a candle",
    "spirit-altar light kelp-seal --parent 3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1": "Add a light",
  },
  flags: {
    spirit,
    days: Flag.ChoiceWithValue(
      "days",
      Object.values(rungTerms).map(({ days }) => [String(days), days] as const),
    ).pipe(
      Flag.withDescription(`How long it burns: ${cost(lightDay)}, ${cost(lightWeek)} or ${cost(lightMonth)}`),
      Flag.withDefault(rungTerms.day.days),
    ),
    dedication: optionalText("dedication", `Public words on the candle, 1 to ${dedicationMaximum} characters`),
    parentId: optionalText("parent", "Add a light to this lit candle instead of lighting a new one"),
    words: optionalText("words", "Words to seal with it; words and salt stay on this machine until unsealed"),
    salt,
    agentName,
  },
  buy: async (orders, { days, spirit, ...others }, key) => {
    if (Option.isSome(others.dedication) === Option.isSome(others.parentId))
      throw refuse(
        "bad_request",
        "A candle needs its public words, --dedication; a light needs its candle, --parent. Give one of the two. Nothing was sent or charged.",
        key,
      )
    return orders.light({ key, spirit, days, ...provided(others) })
  },
  later: ({ words }) => (Option.isSome(words) ? "unseal" : undefined),
})

const opening = (words: "text" | "words") => ({
  salt: salt.pipe(Flag.withDescription("Its salt, when this machine's journal does not have it")),
  words: optionalText(words, "Its words, when this machine's journal does not have them"),
})

const openingSays = (what: string) =>
  `${what}, free and once. Words and salt become public, so that everyone can check them; words that look like a link, a wallet or an address stay hidden, and so does their salt`

const someId = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"

const reveal = free("reveal", {
  description: openingSays("Reveal the words of a stone"),
  examples: { [`spirit-altar reveal ${someId}`]: "With words from this journal" },
  flags: { ...opening("text"), agentName, id: word("id", "Of the stone") },
  ask: (orders, { id, ...given }) => orders.reveal(id, provided(given)),
})

const unseal = free("unseal", {
  description: openingSays("Unseal the words of a candle or light"),
  examples: { [`spirit-altar unseal ${someId}`]: "With words from this journal" },
  flags: { ...opening("words"), id: word("id", "Of the candle or light") },
  ask: (orders, { id, ...given }) => orders.unseal(id, provided(given)),
})

const acts = command("acts", {
  description:
    "List your acts, or show the outcome of one. The list is from this machine's journal, without salts and words. With a key, ask for that purchase's outcome and complete it; this is free and signs nothing",
  examples: {
    "spirit-altar acts": "List keys and ids",
    "spirit-altar acts buyer-1f0c2c1e5b0a4c1f9d518a54": "Ask for an outcome",
  },
  flags: {
    ...common,
    key: Argument.optional(word("key", "The idempotency key of one purchase; after -- if it begins with a dash")),
  },
  run: ({ key, ...flags }) =>
    Option.isSome(key)
      ? runFree(flags, (orders) => orders.reconcile(key.value), pretty)
      : runFree(
          flags,
          (orders) => orders.purchases(),
          (all) =>
            all
              .map(({ act, begunAt, id, key, state }) =>
                plain([begunAt, act.padEnd(15), state.padEnd(11), key, id ?? ""].join("  ")),
              )
              .join("\n") || "This journal holds no purchases. Name another with --data.",
        ),
})

const { data, insecure, url, wallet: file } = paying

const wallet = command("wallet", {
  description: "Show the address that would pay at this altar. A sandbox fills it with play money. No key is printed",
  examples: { "spirit-altar wallet --wallet key.txt": "The address of a key file" },
  flags: { data, insecure, url, wallet: file },
  run: showWallet,
})

const written = [witness, light] as const

export const purchases = [...written, ...commandsOf(new Set(written.map(({ name }) => name))), act]

export const buying = [...purchases, reveal, unseal, wallet, acts] as const
