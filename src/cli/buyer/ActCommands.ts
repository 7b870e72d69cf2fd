/** The commands that buy: of each act that the contract lists, with flags from its body, and of any other act. */
import { Effect, Option, Schema } from "effect"
import { Argument, Flag } from "effect/cli"
import { sales, type Sold } from "../../../schema/altar/Sales.ts"
import { fieldsOf, firstSentenceOf, type Form } from "../../../schema/Form.ts"
import { exampleOf } from "../../../schema/openapi/JsonSchema.ts"
import { priceUsd } from "../../../schema/payments/Payment.ts"
import { bodyOf, inputName, type PaidEndpoint, type Repetition } from "../../../schema/payments/Sale.ts"
import { centAtomic } from "../../../schema/payments/Usdc.ts"
import type { Settled } from "../../buyer/Acts.ts"
import type { Orders } from "../../buyer/Orders.ts"
import { refuse } from "../../buyer/PurchaseError.ts"
import { command, type CommandText, type Config, type FlagValues, text, word } from "../Define.ts"
import { paying, provided, salt } from "../Flags.ts"
import { plain } from "../Output.ts"
import { programName, runPaid } from "./Session.ts"

/** `$0.01`. */
export const cost = ({ sale }: Pick<PaidEndpoint, "sale">) => priceUsd(sale.priceAtomic)

/**
 * A command that buys one act under one key. `objection` is what is wrong with a call, `later` names the command that opens
 * its words, and `checking` says how to check what has no words.
 */
export const paid = <const Name extends string, const Flags extends Config, A extends Settled>(
  name: Name,
  spec: CommandText & {
    readonly flags: Flags
    readonly buy: (orders: Orders, given: FlagValues<Flags>, key: string) => Promise<A>
    readonly objection?: (given: FlagValues<Flags>) => string | undefined
    readonly later?: (given: FlagValues<Flags>) => "reveal" | "unseal" | undefined
    readonly checking?: (given: FlagValues<Flags>, bought: A) => string
  },
) =>
  command(name, {
    ...spec,
    flags: { ...paying, own: spec.flags },
    run: ({ own, ...flags }) => {
      const objection = spec.objection?.(own)
      if (objection !== undefined) return Effect.fail(refuse("usage", `${objection} Nothing was sent or charged.`))
      const later = spec.later?.(own)
      return runPaid(
        flags,
        (orders, key) => spec.buy(orders, own, key),
        (bought) => ({
          before: bought.replayed
            ? "replayed    nothing was charged again"
            : `paid        ${bought.receipt.priceUsd}, once`,
          after: [
            ...(later === undefined
              ? []
              : [`To ${later} the words later, free and once:\n  ${programName} ${later} ${bought.record.id}`]),
            ...(spec.checking === undefined ? [] : [spec.checking(own, bought)]),
            ...("line" in bought ? [plain(String(bought.line))] : []),
          ]
            .filter((note) => note !== "")
            .join("\n\n"),
        }),
      )
    },
  })

/** Flags that are not called as the members of their bodies. */
const flagNames: Readonly<Record<string, string>> = { agentName: "name", parentId: "parent" }

export const flagName = (member: string) =>
  flagNames[member] ?? member.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)

type Value = Option.Option<Schema.Json>

const sealing = "Words to seal; they and their salt stay on this machine"

const meaningOf = (form: Form) => firstSentenceOf(form).slice(0, -1)

const typedFlag = (name: string, { enum: choices, type }: Form): Flag.Flag<Schema.Json> =>
  choices !== undefined
    ? Flag.Literals(name, choices.map(String))
    : type === "integer"
      ? Flag.Int(name)
      : type === "boolean"
        ? Flag.Boolean(name)
        : text(name, "")

const flagOf = (name: string, form: Form, isRequired: boolean): Flag.Flag<Value> => {
  const flag = typedFlag(name, form).pipe(Flag.withDescription(meaningOf(form)))
  return isRequired ? Flag.map(flag, Option.some) : Flag.optional(flag)
}

const argumentOf = (name: string, form: Form): Argument.Argument<Value> =>
  (form.enum === undefined ? Argument.String(name) : Argument.Literals(name, form.enum.map(String))).pipe(
    Argument.withDescription(meaningOf(form)),
    Argument.map(Option.some),
  )

const often: Readonly<Record<Repetition, string>> = { once: ", once for ever", daily: ", once a day", often: "" }

const quoted = (value: unknown) => (/^[\w-]+$/u.test(String(value)) ? String(value) : `"${value}"`)

/** The command of an act, with an argument for its path and a flag for each member of query and body. */
const commandOf = (endpoint: Sold) => {
  const { identifier, sale } = endpoint
  const path = fieldsOf(endpoint.params)
  const members = [endpoint.query, bodyOf(endpoint)].flatMap(fieldsOf)
  const flags = members.flatMap(({ form, name, required }): ReadonlyArray<readonly [string, Flag.Flag<Value>]> =>
    name === sale.sealed
      ? [
          ["words", flagOf("words", { description: `${sealing}.` }, required)],
          ["salt", salt],
        ]
      : [[name, flagOf(flagName(name), form, required)]],
  )
  const example = [
    ...path.map(({ form }) => quoted(exampleOf(form, {}))),
    ...members
      .filter(({ required }) => required)
      .map(({ form, name }) =>
        name === sale.sealed
          ? '--words "The heron will return by May."'
          : `--${flagName(name)} ${quoted(exampleOf(form, {}))}`,
      ),
  ].join(" ")
  return paid(sale.command, {
    description: `${sale.title}${often[sale.repetition]}: ${priceUsd(sale.priceAtomic)}`,
    examples: { [`spirit-altar ${sale.command} ${example}`]: sale.title },
    flags: {
      ...Object.fromEntries(path.map(({ form, name }) => [inputName(name), argumentOf(inputName(name), form)])),
      ...Object.fromEntries(flags),
    },
    buy: (orders, given, key) => orders.buy<string>(identifier, { ...provided(given), key }),
  })
}

/** The acts whose commands are not written by hand. */
export const commandsOf = (written: ReadonlySet<string>) =>
  sales.filter(({ sale }) => !written.has(sale.command)).map(commandOf)

const decodeInput = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

/** An act that a newer altar sells. */
export const act = paid("act", {
  description: `Buy any act by its name. An act that this version does not list is bought by the altar's own contract, for at most ${priceUsd(centAtomic)}, whatever that contract and --max say`,
  examples: { [`spirit-altar act takeIn --input '{"spirit":"rain-crow"}'`]: "Buy an act by its name" },
  flags: {
    name: word("name", "Of the act, as in /llms.txt"),
    input: text(
      "input",
      "Members of its path, query and body in one JSON object; words in it are sealed here",
      "json",
    ).pipe(Flag.withDefault("{}")),
  },
  buy: async (orders, { input, name }, key) => {
    const members = decodeInput(input)
    if (Option.isSome(members)) return orders.buy<string>(name, { ...members.value, key })
    throw refuse("bad_request", "--input is not a JSON object. Nothing was sent or charged.", key)
  },
})
