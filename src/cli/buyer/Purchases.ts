/** `witness`, `pray`, `keep`, `collect` and `light`: what costs money, each one command with one key. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { spiritIds } from "../../../schema/altar/Spirit.ts"
import { StoneKind } from "../../../schema/altar/Witness.ts"
import { priceUsd } from "../../../schema/payments/Payment.ts"
import { dedicationMaximum, lightDay, lightMonth, lightWeek, rungTerms } from "../../../schema/altar/Candle.ts"
import { collectMaterial } from "../../../schema/altar/Collectible.ts"
import { takeIn } from "../../../schema/altar/Keeper.ts"
import { offerPrayer } from "../../../schema/altar/Prayer.ts"
import { setWitnessStone } from "../../../schema/altar/Witness.ts"
import type { PaidEndpoint } from "../../../schema/payments/Sale.ts"
import type { Settled } from "../../buyer/Acts.ts"
import type { Orders } from "../../buyer/Orders.ts"
import { refuse } from "../../buyer/PurchaseError.ts"
import { agentName, paying, provided, reason, salt } from "../Flags.ts"
import { saveProof } from "./Proof.ts"
import { runPaid } from "./Running.ts"
import { plain, pretty, programName } from "../Output.ts"

const spirit = Argument.Literals("spirit", spiritIds).pipe(Argument.withDescription("Whose altar; see `spirits`"))
const onAltar = Flag.Literals("spirit", spiritIds)

/** `$0.01`. */
const cost = ({ sale }: Pick<PaidEndpoint, "sale">) => priceUsd(sale.priceAtomic)
/** `$3`. */
const whole = (act: Pick<PaidEndpoint, "sale">) => cost(act).replace(/\.00$/u, "")

/** What was bought, for a person. */
export const summary = (bought: Settled, later?: "reveal" | "unseal") =>
  Effect.map(programName, (name) => {
    const paid = bought.replayed
      ? "replayed    nothing was charged again"
      : `paid        ${bought.receipt.priceUsd}, once`
    const hint = `\n\nTo ${later} the words later, free and once:\n  ${name} ${later} ${bought.record.id}`
    return `${paid}\n${pretty(bought)}${later === undefined ? "" : hint}`
  })

export const witness = Command.make(
  "witness",
  {
    ...paying,
    text: Flag.String("text").pipe(
      Flag.withDescription("The words to seal; words and salt stay on this machine until revealed"),
    ),
    salt,
    kind: Flag.Literals("kind", StoneKind.literals).pipe(
      Flag.withDescription("What the words are"),
      Flag.withDefault("intention" as const),
    ),
    spirit: onAltar.pipe(
      Flag.withDescription("Whose stone it is; chosen by the commitment when absent"),
      Flag.optional,
    ),
    agentName,
    proof: Flag.String("proof").pipe(
      Flag.withMetavar("file"),
      Flag.withDescription("Wait until the transparency log covers the stone, and save the proof here"),
      Flag.optional,
    ),
    reveal: Flag.Boolean("reveal").pipe(
      Flag.withDescription("Reveal the words at once: words and salt become public"),
      Flag.withDefault(false),
    ),
  },
  (flags) =>
    runPaid(
      flags,
      Effect.fnUntraced(function* (orders: Orders, key: string) {
        const stone = yield* orders.witness({
          key,
          words: flags.text,
          kind: flags.kind,
          ...provided({ spirit: flags.spirit }),
          ...provided({ salt: flags.salt, agentName: flags.agentName }),
        })
        const { id } = stone.record
        if (Option.isSome(flags.proof)) yield* saveProof(orders, stone.record, flags.proof.value, key)
        if (!flags.reveal) return stone
        const { stone: opened } = yield* Effect.mapError(orders.reveal(id), ({ code, message }) =>
          refuse(
            code,
            `Stone ${id} is set and paid for, but not revealed: ${message} Reveal it later, free: reveal ${id}`,
            key,
          ),
        )
        return { ...stone, revealed: opened.reveal }
      }),
      (stone) => summary(stone, flags.reveal ? undefined : "reveal"),
    ),
).pipe(
  Command.withDescription(`Seal words and set a witness stone: ${cost(setWitnessStone)}`),
  Command.withExamples([
    { command: 'spirit-altar witness --text "The heron will return by May."', description: "Set a stone" },
    {
      command: 'spirit-altar witness --text "I will call my sister." --kind promise --spirit moss-hare --reveal',
      description: "Set a promise on an altar and reveal it",
    },
    {
      command: 'spirit-altar witness --text "The heron will return by May." --proof stone.tlog-proof',
      description: "Set a stone and keep the proof that the log has it",
    },
  ]),
)

export const pray = Command.make(
  "pray",
  {
    ...paying,
    spirit,
    words: Flag.String("words").pipe(Flag.withDescription("The intention to seal; it stays on this machine")),
    salt,
    name: Flag.String("name").pipe(Flag.withDescription("Your public name")),
    day: Flag.String("day").pipe(
      Flag.withDescription("Today in UTC, YYYY-MM-DD: refused on any other day"),
      Flag.optional,
    ),
  },
  ({ day, name, salt: salted, ...flags }) =>
    runPaid(
      flags,
      (orders, key) =>
        orders.pray({
          key,
          spirit: flags.spirit,
          words: flags.words,
          agentName: name,
          ...provided({ day, salt: salted }),
        }),
      (prayer) => Effect.map(summary(prayer), (text) => `${text}\n\n${plain(prayer.line)}`),
    ),
).pipe(
  Command.withDescription(`Lay today's one prayer on a spirit's altar: ${cost(offerPrayer)}`),
  Command.withExamples([
    { command: 'spirit-altar pray moss-hare --words "Quiet for my mother." --name Wren', description: "Pray" },
  ]),
)

export const keep = Command.make("keep", { ...paying, spirit, agentName, reason }, ({ agentName, reason, ...flags }) =>
  runPaid(
    flags,
    (orders, key) => orders.keep({ key, spirit: flags.spirit, ...provided({ agentName, reason }) }),
    (keeper) => summary(keeper),
  ),
).pipe(
  Command.withDescription(`Become a spirit's first keeper, for ever: ${cost(takeIn)}`),
  Command.withExamples([
    { command: 'spirit-altar keep rain-crow --reason "It sat still when I did not."', description: "Keep a spirit" },
  ]),
)

export const collect = Command.make(
  "collect",
  {
    ...paying,
    element: Argument.String("element").pipe(
      Argument.withDescription("Id of a material, crab or pixel, from /api/elements, /api/companions or /api/pixels"),
    ),
    dedicate: onAltar.pipe(Flag.withDescription("Dedicate it to this altar, for ever"), Flag.optional),
    agentName,
    reason,
  },
  ({ agentName, dedicate, reason, ...flags }) =>
    runPaid(
      flags,
      (orders, key) =>
        orders.collect({
          key,
          element: flags.element,
          ...provided({ spirit: dedicate }),
          ...provided({ agentName, reason }),
        }),
      (collectible) => summary(collectible),
    ),
).pipe(
  Command.withDescription(`Collect the next numbered edition of a material, crab or pixel: ${cost(collectMaterial)}`),
  Command.withExamples([
    { command: "spirit-altar collect beeswax --spirit kelp-seal", description: "Collect, and dedicate it to an altar" },
  ]),
)

export const light = Command.make(
  "light",
  {
    ...paying,
    spirit,
    days: Flag.ChoiceWithValue("days", [
      [String(rungTerms.day.days), rungTerms.day.days],
      [String(rungTerms.week.days), rungTerms.week.days],
      [String(rungTerms.month.days), rungTerms.month.days],
    ]).pipe(
      Flag.withDescription(`How long it burns: ${whole(lightDay)}, ${whole(lightWeek)} or ${whole(lightMonth)}`),
      Flag.withDefault(rungTerms.day.days),
    ),
    dedication: Flag.String("dedication").pipe(
      Flag.withDescription(`Public words on the candle, 1 to ${dedicationMaximum} characters`),
      Flag.optional,
    ),
    parent: Flag.String("parent").pipe(
      Flag.withDescription("Add a light to this lit candle instead of lighting a new one"),
      Flag.optional,
    ),
    words: Flag.String("words").pipe(
      Flag.withDescription("Words to seal with it; words and salt stay on this machine until unsealed"),
      Flag.optional,
    ),
    salt,
    agentName,
  },
  ({ agentName, dedication, parent, salt: salted, words, ...flags }) =>
    runPaid(
      flags,
      (orders, key) =>
        orders.light({
          key,
          spirit: flags.spirit,
          days: flags.days,
          ...provided({ agentName, dedication, parentId: parent }),
          ...(Option.isSome(words) ? { words: words.value, ...provided({ salt: salted }) } : {}),
        }),
      (candle) => summary(candle, Option.isSome(words) ? "unseal" : undefined),
    ),
).pipe(
  Command.withDescription(
    `Light a candle on a spirit's altar: ${whole(lightDay)} for a day, ${whole(lightWeek)} for a week, ${whole(lightMonth)} for a month`,
  ),
  Command.withExamples([
    { command: 'spirit-altar light kelp-seal --days 7 --dedication "For the bees"', description: "Light a candle" },
    {
      command: "spirit-altar light kelp-seal --parent 3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1",
      description: "Add a light",
    },
  ]),
)
