/** The tools of a buyer's own MCP server: one for each command that sells, and those that open, list and check. */
import { Schema } from "effect"
import { sales, type Sold } from "../../../schema/altar/Sales.ts"
import { fieldsOf } from "../../../schema/Form.ts"
import { Uuid } from "../../../schema/Common.ts"
import { priceUsd } from "../../../schema/payments/Payment.ts"
import { bodyOf, inputName } from "../../../schema/payments/Sale.ts"
import { inputForm } from "../../agents/AgentTool.ts"
import { stateOf } from "../../buyer/core/Purchase.ts"
import type { Orders } from "../../buyer/Orders.ts"
import { refuse } from "../../buyer/PurchaseError.ts"
import { verify } from "../../buyer/Verify.ts"
import { buyOnce, type Input, purchasesOf, type Till } from "./Till.ts"

/** One call: the buyer at an altar, and the signal that ends it. */
export interface Counter extends Till {
  readonly orders: Orders
  readonly insecure: boolean
  readonly signal: AbortSignal
}

export interface LocalTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly properties: Schema.JsonObject
  readonly required: ReadonlyArray<string>
  /** The one that completes resends a payment that was signed before. */
  readonly kind: "pays" | "completes" | "publishes" | "reads"
  readonly run: (input: Input, counter: Counter) => Promise<object>
}

const text = (description: string): Schema.Json => ({ type: "string", description })

const words = text(
  "Words to seal, 1 to 280 characters. They and their salt stay on this machine until you reveal them.",
)

const another: Schema.Json = {
  type: "boolean",
  description:
    "true: buy once more, after the same purchase has ended. Each such call pays, so leave it out to repeat one after a lost answer. A purchase that is open is resumed in any case.",
}

/** The members of an act's path, query and body; its commitment is made here, of words. */
const membersOf = (endpoint: Sold) =>
  [endpoint.params, endpoint.query, bodyOf(endpoint)].flatMap(fieldsOf).map(({ form, name, required }) => {
    const isSealed = name === endpoint.sale.sealed
    return { name: isSealed ? "words" : inputName(name), form: isSealed ? words : inputForm(form), required }
  })

/** Tools are named by commands, except this one. */
const toolNames: Readonly<Record<string, string>> = { witness: "seal" }

const often = { once: ", once for ever", daily: ", once in a UTC day", often: "" } as const

/** The tool of acts that share a command and differ in their days. */
const sellingTool = (command: string, acts: ReadonlyArray<Sold>): ReadonlyArray<LocalTool> => {
  const [first, ...others] = acts
  if (first === undefined) return []
  const members = membersOf(first)
  const days = acts.flatMap(({ sale }) => sale.days ?? [])
  const prices = acts.map(
    ({ sale }) => `${priceUsd(sale.priceAtomic)}${sale.days === undefined ? "" : ` for ${sale.days} days`}`,
  )
  return [
    {
      name: toolNames[command] ?? command,
      title: first.sale.title,
      description: `Buys ${first.sale.thing}${often[first.sale.repetition]}, with this machine's wallet: ${prices.join(", ")}. The same call again charges nothing: it resumes an open purchase, and for 24 hours returns a settled one with repeated: true.`,
      properties: {
        ...Object.fromEntries(members.map(({ form, name }) => [name, form])),
        ...(others.length === 0 ? {} : { days: { type: "integer", enum: days } }),
        another,
      },
      required: [
        ...members.flatMap(({ name, required }) => (required ? [name] : [])),
        ...(others.length === 0 ? [] : ["days"]),
      ],
      kind: "pays",
      run: ({ another: wantsAnother = false, days: chosen, ...input }, counter) => {
        const act = others.length === 0 ? first : acts.find(({ sale }) => sale.days === chosen)
        if (act !== undefined) return buyOnce(counter, counter.orders, act.identifier, input, wantsAnother === true)
        throw refuse("bad_request", `days is one of ${days.join(", ")}. Nothing was sent or charged.`)
      },
    },
  ]
}

const isUuid = Schema.is(Uuid)

/** A member that is a text; anything else is absent. */
const textIn = (input: Input, name: string) => {
  const value = input[name]
  return typeof value === "string" ? value : undefined
}

const needed = (input: Input, name: string) => {
  const value = textIn(input, name)
  if (value !== undefined) return value
  throw refuse("bad_request", `${name} is missing. Nothing was sent or charged.`)
}

const own: ReadonlyArray<LocalTool> = [
  {
    name: "reveal",
    title: "Reveal sealed words",
    description:
      "Publishes the sealed words of a stone or candle, with their salt, for ever: everyone can read them, and nothing can take them back. Free. Ask the words' owner first. Words and salt come from this machine's journal.",
    properties: { id: text("The id of the stone or candle"), agentName: text("Your public name") },
    required: ["id"],
    kind: "publishes",
    run: async (input, { journal, orders }) => {
      const [id, agentName] = [needed(input, "id"), textIn(input, "agentName")]
      const bought = (await purchasesOf(journal)).find(({ settled }) => settled?.id === id)
      if (bought === undefined)
        throw refuse(
          "words_unknown",
          `This server does not hold the words of ${id}: it opens what its own tools sealed. Its owner opens others with the command reveal. Nothing was sent.`,
        )
      return bought.act.startsWith("light")
        ? orders.unseal(id)
        : orders.reveal(id, agentName === undefined ? {} : { agentName })
    },
  },
  {
    name: "outcome",
    title: "The outcome of a purchase",
    description: "Asks what became of the purchase of a key, and completes an open one. Free; it never signs.",
    properties: { key: text("The key that a purchase or refusal named") },
    required: ["key"],
    kind: "completes",
    run: (input, { orders }) => orders.reconcile(needed(input, "key")),
  },
  {
    name: "my_words",
    title: "My sealed words",
    description: "Lists the words that these tools sealed, with the ids to reveal them by. Nothing is sent.",
    properties: {},
    required: [],
    kind: "reads",
    run: async (_, { journal }) => ({
      words: (await purchasesOf(journal)).flatMap((purchase) => {
        const { act, altar, begunAt, key, released, sealed, settled } = purchase
        if (sealed === undefined) return []
        const { id = null, permalink = null } = settled ?? {}
        const state = stateOf(purchase)
        return [
          { id, words: sealed.words, revealed: released === "revealed", act, state, permalink, key, altar, begunAt },
        ]
      }),
    }),
  },
  {
    name: "verify",
    title: "Verify anything",
    description:
      "Recomputes the hashes of a stone, words, segment, receipt, proof or checkpoint, and says what holds, what is broken and what was not checked. Believes no server.",
    properties: {
      thing: text("The id of a stone, a URL of this altar, or the text of a file"),
      key: text("The verifier key of receipts, from another source than the receipt"),
      vkey: text("The verifier key of the log, from another source than the log"),
    },
    required: ["thing"],
    kind: "reads",
    run: (input, { altar, insecure, signal }) => {
      const [thing, key, vkey] = [needed(input, "thing"), textIn(input, "key"), textIn(input, "vkey")]
      // A model's host may follow instructions of strangers, so no other server is asked from this machine.
      if (/^https?:/u.test(thing) && !thing.startsWith(`${altar}/`))
        throw refuse("bad_url", `Only addresses of ${altar} are read; give the text itself. Nothing was sent.`)
      return verify(isUuid(thing) ? `${altar}/api/witness/${thing}` : thing, {
        insecure,
        signal,
        ...(key === undefined ? {} : { key }),
        ...(vkey === undefined ? {} : { log: { vkey } }),
      })
    },
  },
]

export const localTools: ReadonlyArray<LocalTool> = [
  ...[...Map.groupBy(sales, ({ sale }) => sale.command)].flatMap(([command, acts]) => sellingTool(command, acts)),
  ...own,
]
