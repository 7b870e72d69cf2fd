/** The page that buys an act: a form of its path, query and body, as the contract describes them. */
import { collectMaterial } from "../../../schema/altar/Collectible.ts"
import { candleActs } from "../../../schema/altar/Candle.ts"
import { takeIn } from "../../../schema/altar/Keeper.ts"
import { offerPrayer } from "../../../schema/altar/Prayer.ts"
import { wordsMaximum } from "../../../schema/altar/Recipe.ts"
import { sales, type Sold } from "../../../schema/altar/Sales.ts"
import { setWitnessStone } from "../../../schema/altar/Witness.ts"
import { fieldsOf as membersOf, firstSentenceOf, type Form } from "../../../schema/Form.ts"
import { bodyOf, inputName, type Repetition } from "../../../schema/payments/Sale.ts"
import { priceWords as wordsOf } from "../../../schema/payments/Usdc.ts"
import { filled } from "../../payments/Act.ts"
import { type Html, html } from "../../platform/Html.ts"
import { opening, type Page } from "./Layout.ts"
import { mark } from "./Marks.ts"
import {
  beside,
  choiceField,
  nameField,
  notConfigured,
  offer,
  type Payment,
  sealing,
  selectField,
  textField,
  wordsField,
} from "./Offer.ts"
import { spiritOptions } from "./Plates.ts"
import { capitalized, priceWords } from "./Words.ts"

/** Acts with forms on pages of their own. */
const placed: ReadonlySet<string> = new Set(
  [offerPrayer, takeIn, collectMaterial, setWitnessStone, ...Object.values(candleActs)].map(
    ({ identifier }) => identifier,
  ),
)

/** Acts whose only form is here. */
export const unplaced = sales.filter(({ identifier }) => !placed.has(identifier))

export const soldAct = (name: string) => sales.find(({ identifier }) => identifier === name)

export const buyPath = ({ identifier }: Sold, spirit?: string) =>
  `/v2/buy/${identifier}${spirit === undefined ? "" : `?spirit=${spirit}`}`

/** `parentId` as `Parent id`. */
const labelOf = (name: string) => capitalized(name.replace(/[A-Z]/gu, (letter) => ` ${letter.toLowerCase()}`))

/** Where the request has a member. */
type Part = "place" | "query" | "body"

const markOf = (part: Part, name: string, isJson: boolean) => {
  if (part === "body") return isJson ? mark("json", { json: name }) : mark("body", { body: name })
  return part === "query" ? mark("query", { query: name }) : mark("place", { place: name })
}

const fieldOf = (name: string, part: Part, form: Form, isRequired: boolean, spirit: string | undefined): Html => {
  const isJson = form.type === "integer" || form.type === "boolean"
  const must = html`${isRequired ? "required" : ""}`
  const [id, label, of] = [`act-${name}`, labelOf(inputName(name)), markOf(part, name, isJson)] as const
  const field = [id, label, of, must] as const
  if (inputName(name) === "spirit") return selectField(field, spiritOptions("choose a spirit", spirit))
  if (name === "agentName") return nameField(id, isRequired ? "A visitor" : undefined)
  const choices = form.type === "boolean" ? ["true", "false"] : form.enum?.map(String)
  if (choices !== undefined)
    return choiceField(
      field,
      (isRequired ? choices : ["", ...choices]).map((choice) => [choice, choice || "not given"] as const),
      isRequired ? (choices[0] ?? "") : "",
    )
  const bound = form.maxLength === undefined ? "" : html` maxlength="${form.maxLength}"`
  const kind = form.type === "integer" ? html` type="number" step="1"` : ""
  return textField([id, label, of, html`${must}${bound}${kind}`], firstSentenceOf(form))
}

const fieldsOf = (endpoint: Sold, spirit: string | undefined): ReadonlyArray<Html> => {
  const parts = [
    ["place", endpoint.params],
    ["query", endpoint.query],
    ["body", bodyOf(endpoint)],
  ] as const
  return parts.flatMap(([part, schema]) =>
    membersOf(schema).map(({ form, name, required }) =>
      name === endpoint.sale.sealed
        ? wordsField(
            [
              "act-words",
              required ? "Your words" : "Sealed words, if you like",
              mark("seal", { seal: name }),
              html`maxlength="8192" ${required ? "required" : ""}`,
            ],
            `1 to ${wordsMaximum} characters. They never leave this browser.`,
          )
        : fieldOf(name, part, form, required, spirit),
    ),
  )
}

const often: Readonly<Record<Repetition, string>> = {
  once: "Each can be bought only once.",
  daily: "Each can be bought once a day (UTC).",
  often: "It can be bought as often as you like.",
}

/** The place of a parameter in the path is taken by the choice in the form. */
const pathOf = ({ path }: Sold) =>
  filled(path, Object.fromEntries([...path.matchAll(/:([A-Za-z]+)/gu)].map(([, name = ""]) => [name, name])))

export const buyAct = (endpoint: Sold, payment: Payment, spirit: string | undefined): Page => {
  const { sale } = endpoint
  return {
    title: sale.title,
    description: `${sale.description}, for ${wordsOf(sale.priceAtomic)}.`,
    path: buyPath(endpoint),
    chapter: "none",
    body: html`${opening(sale.title, html`${sale.description}, for ${priceWords(sale)}.`)}
      <section id="buy" aria-label="${sale.title}">
        ${
          payment.enabled
            ? beside(
                offer(payment, {
                  id: "act",
                  verb: sale.title,
                  path: pathOf(endpoint),
                  sale,
                  fields: html`${fieldsOf(endpoint, spirit)}`,
                }),
                often[sale.repetition],
                ...(sale.sealed === undefined ? [] : [sealing]),
              )
            : notConfigured(payment)
        }
      </section>`,
  }
}
