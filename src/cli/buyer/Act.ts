/** `act`: every act of the contract as a command, with the arguments and flags of its endpoint. */
import { Option, Record, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { priceUsd } from "../../../schema/payments/Payment.ts"
import { type Act, catalog } from "../../buyer/Acts.ts"
import type { Field } from "../../buyer/Fields.ts"
import { optionalText } from "../Define.ts"
import { paying, provided, salt } from "../Flags.ts"
import { paid } from "./BuyerCommand.ts"

/** `agent-name` for `agentName`. */
const kebab = (name: string) => name.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)

/** Flags that every paid command already has. */
const reserved = new Set([...Object.keys(paying).map(kebab), "words", "salt"])

const flagName = ({ name }: Field) => (reserved.has(kebab(name)) ? `field-${kebab(name)}` : kebab(name))

const argumentOf = (field: Field): Argument.Argument<Option.Option<Schema.Json>> => {
  const name = kebab(field.name)
  return (field.choices.length === 0 ? Argument.String(name) : Argument.Literals(name, field.choices)).pipe(
    Argument.withDescription(field.description),
    Argument.map(Option.some<Schema.Json>),
  )
}

const Json = Schema.fromJsonString(Schema.Json)

const flagOf = (field: Field): Flag.Flag<Option.Option<Schema.Json>> => {
  const name = flagName(field)
  const flag: Flag.Flag<Schema.Json> =
    field.choices.length > 0
      ? Flag.Literals(name, field.choices)
      : field.isText
        ? Flag.String(name)
        : Flag.String(name).pipe(Flag.withMetavar("json"), Flag.withSchema(Json))
  const described = Flag.withDescription(
    flag,
    field.isCommitment ? `${field.description} Computed from --words when absent.` : field.description,
  )
  return field.isRequired && !field.isCommitment ? Flag.map(described, Option.some) : Flag.optional(described)
}

const flagsOf = (fields: ReadonlyArray<Field>) => Object.fromEntries(fields.map((field) => [field.name, flagOf(field)]))

const texts = (members: Readonly<Record<string, Option.Option<Schema.Json>>>) =>
  Object.fromEntries(Object.entries(Record.getSomes(members)).map(([name, value]) => [name, String(value)]))

const words = optionalText("words", "Words to seal into its commitment; they stay on this machine")

/** An example of the required values, with the first choice where there are choices. */
const exampleOf = ({ name, fields }: Act) => {
  const { params, payload, query } = fields()
  const value = (field: Field) => field.choices[0] ?? (field.isText ? '"…"' : "'…'")
  const flags = [...query, ...payload]
    .filter(({ isRequired }) => isRequired)
    .map((field) => (field.isCommitment ? '--words "…"' : `--${flagName(field)} ${value(field)}`))
  return ["spirit-altar act", name, ...params.map(value), ...flags].join(" ")
}

const commandOf = (act: Act) => {
  const { params, payload, query } = act.fields()
  return paid(act.name, {
    description: `${act.summary}: ${priceUsd(act.price.priceAtomic)}`,
    examples: [[exampleOf(act), "Buy it"]],
    flags: {
      params: Object.fromEntries(params.map((field) => [field.name, argumentOf(field)])),
      query: flagsOf(query),
      payload: flagsOf(payload),
      words,
      salt,
    },
    buy: (orders, { params: path, payload: body, query: asked, salt: salted, words: sealed }, key) =>
      orders.act(act.name, {
        key,
        params: texts(path),
        query: texts(asked),
        payload: Record.getSomes(body),
        ...(Option.isSome(sealed) ? { sealing: { words: sealed.value, ...provided({ salt: salted }) } } : {}),
      }),
  })
}

export const act = Command.make("act").pipe(
  Command.withDescription("Buy any act by its name, even without a command of its own"),
  Command.withSubcommands([...catalog.values()].map(commandOf)),
)
