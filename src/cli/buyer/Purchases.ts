/** `witness`, `pray`, `keep`, `collect` and `light`: the paid commands, each with one key. */
import { Console, Effect, FileSystem, Option } from "effect"
import { Argument, Flag } from "effect/cli"
import * as Keeper from "../../../schema/altar/Keeper.ts"
import { dedicationMaximum, lightDay, lightMonth, lightWeek, rungTerms } from "../../../schema/altar/Candle.ts"
import { collectMaterial } from "../../../schema/altar/Collectible.ts"
import { offerPrayer } from "../../../schema/altar/Prayer.ts"
import { spiritIds } from "../../../schema/altar/Spirit.ts"
import { setWitnessStone, StoneKind } from "../../../schema/altar/Witness.ts"
import { priceUsd } from "../../../schema/payments/Payment.ts"
import type { PaidEndpoint } from "../../../schema/payments/Sale.ts"
import { refuse } from "../../buyer/PurchaseError.ts"
import { on, optionalText, text, word } from "../Define.ts"
import { agentName, provided, reason, salt } from "../Flags.ts"
import { plain } from "../Output.ts"
import { paid } from "./BuyerCommand.ts"
import type { Link } from "../../buyer/core/Chain.ts"
import type { Orders } from "../../buyer/Orders.ts"

/** A missing proof is no failure: the stone is paid for. */
export const saveProof = (orders: Orders, stone: Link & { readonly id: string }, file: string, key: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const proof = yield* orders.proof(stone.id)
    const vkey = yield* orders.logKey
    const { verifyProof } = yield* Effect.promise(() => import("../../buyer/log/EntryProof.ts"))
    const verdict = yield* Effect.promise(() => verifyProof(proof, stone, { vkey }))
    if (!verdict.ok) return yield* refuse("proof_does_not_hold", `it does not hold: ${plain(verdict.reason)}`, key)
    yield* Effect.mapError(fs.writeFileString(file, proof), () =>
      refuse("proof_not_saved", `${file} cannot be written.`, key),
    )
    yield* Console.error(plain(`proof       ${file}, checked with the key that the altar named: ${vkey}`))
  }).pipe(
    Effect.mapError(({ code, message }) =>
      refuse(
        code,
        `Stone ${stone.id} is set and paid for, but its proof was not saved: ${message} Download it later, free: /api/witness/${stone.id}/proof`,
        key,
      ),
    ),
  )

const spirit = Argument.Literals("spirit", spiritIds).pipe(Argument.withDescription("Spirit of the altar"))
const onAltar = (says: string) => Flag.Literals("spirit", spiritIds).pipe(Flag.withDescription(says), Flag.optional)

/** `$0.01`. */
const cost = ({ sale }: Pick<PaidEndpoint, "sale">) => priceUsd(sale.priceAtomic)
/** `$3`. */
const whole = (act: Pick<PaidEndpoint, "sale">) => cost(act).replace(/\.00$/u, "")

export const witness = paid("witness", {
  description: `Seal words and set a witness stone: ${cost(setWitnessStone)}`,
  examples: [
    ['spirit-altar witness --text "The heron will return by May."', "Set a stone"],
    [
      'spirit-altar witness --text "I will call my sister." --kind promise --spirit moss-hare --reveal',
      "Set a promise on an altar and reveal it",
    ],
    [
      'spirit-altar witness --text "The heron will return by May." --proof stone.tlog-proof',
      "Set a stone and save its log proof",
    ],
  ],
  flags: {
    words: text("text", "The words to seal; words and salt stay on this machine until revealed"),
    salt,
    kind: Flag.Literals("kind", StoneKind.literals).pipe(
      Flag.withDescription("Kind of the words"),
      Flag.withDefault("intention" as const),
    ),
    spirit: onAltar("Spirit of the stone; chosen by the commitment when absent"),
    agentName,
    proof: optionalText("proof", "Wait until the transparency log covers the stone, and save the proof here", "file"),
    reveal: on("reveal", "Reveal the words at once: words and salt become public"),
  },
  buy: Effect.fnUntraced(function* (orders, { agentName, kind, proof, reveal, salt, spirit, words }, key) {
    const stone = yield* orders.witness({ key, words, kind, ...provided({ spirit, salt, agentName }) })
    const { id } = stone.record
    if (Option.isSome(proof)) yield* saveProof(orders, stone.record, proof.value, key)
    if (!reveal) return stone
    const { stone: opened } = yield* Effect.mapError(orders.reveal(id), ({ code, message }) =>
      refuse(
        code,
        `Stone ${id} is set and paid for, but not revealed: ${message} Reveal it later, free: reveal ${id}`,
        key,
      ),
    )
    return { ...stone, revealed: opened.reveal }
  }),
  later: ({ reveal }) => (reveal ? undefined : "reveal"),
})

export const pray = paid("pray", {
  description: `Lay today's one prayer on a spirit's altar: ${cost(offerPrayer)}`,
  examples: [['spirit-altar pray moss-hare --words "Quiet for my mother." --name Wren', "Pray"]],
  flags: {
    spirit,
    words: text("words", "The intention to seal; it stays on this machine"),
    salt,
    agentName: text("name", "Your public name"),
    day: optionalText("day", "Today in UTC, YYYY-MM-DD: refused on any other day"),
  },
  buy: (orders, { day, salt, ...prayer }, key) => orders.pray({ key, ...prayer, ...provided({ day, salt }) }),
  ends: ({ line }) => `\n\n${plain(line)}`,
})

export const keep = paid("keep", {
  description: `Become a spirit's first keeper, for ever: ${cost(Keeper.takeIn)}`,
  examples: [['spirit-altar keep rain-crow --reason "It sat still when I did not."', "Keep a spirit"]],
  flags: { spirit, agentName, reason },
  buy: (orders, { spirit, ...why }, key) => orders.takeIn({ key, spirit, ...provided(why) }),
})

export const collect = paid("collect", {
  description: `Collect the next numbered edition of a material, crab or pixel: ${cost(collectMaterial)}`,
  examples: [["spirit-altar collect beeswax --spirit kelp-seal", "Collect, and dedicate it to an altar"]],
  flags: {
    element: word("element", "Id of a material, crab or pixel, from /api/elements, /api/companions or /api/pixels"),
    spirit: onAltar("Dedicate it to this altar, for ever"),
    agentName,
    reason,
  },
  buy: (orders, { element, ...others }, key) => orders.collect({ key, element, ...provided(others) }),
})

const { day, month, week } = rungTerms

export const light = paid("light", {
  description: `Light a candle on a spirit's altar: ${whole(lightDay)} for a day, ${whole(lightWeek)} for a week, ${whole(lightMonth)} for a month`,
  examples: [
    ['spirit-altar light kelp-seal --days 7 --dedication "For the bees"', "Light a candle"],
    ["spirit-altar light kelp-seal --parent 3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1", "Add a light"],
  ],
  flags: {
    spirit,
    days: Flag.ChoiceWithValue("days", [
      [String(day.days), day.days],
      [String(week.days), week.days],
      [String(month.days), month.days],
    ]).pipe(
      Flag.withDescription(`How long it burns: ${whole(lightDay)}, ${whole(lightWeek)} or ${whole(lightMonth)}`),
      Flag.withDefault(day.days),
    ),
    dedication: optionalText("dedication", `Public words on the candle, 1 to ${dedicationMaximum} characters`),
    parentId: optionalText("parent", "Add a light to this lit candle instead of lighting a new one"),
    words: optionalText("words", "Words to seal with it; words and salt stay on this machine until unsealed"),
    salt,
    agentName,
  },
  buy: (orders, { days, salt, spirit, words, ...others }, key) =>
    Option.isSome(others.dedication) === Option.isSome(others.parentId)
      ? refuse(
          "bad_request",
          "A candle needs its public words, --dedication; a light needs its candle, --parent. Give one of the two. Nothing was sent or charged.",
          key,
        )
      : orders.light({
          key,
          spirit,
          days,
          ...provided(others),
          ...(Option.isSome(words) ? { words: words.value, ...provided({ salt }) } : {}),
        }),
  later: ({ words }) => (Option.isSome(words) ? "unseal" : undefined),
})
