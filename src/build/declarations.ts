/** Prints the acts and records of the contract as plain types, so that the library's declarations need no package. */
import { Schema } from "effect"
import { jsonOf } from "../../schema/Json.ts"
import { Form, remarkOf } from "../../schema/Form.ts"
import { Act } from "../../schema/altar/ActApi.ts"
import { unsealAnswers } from "../../schema/altar/Candle.ts"
import { isSealing } from "../../schema/altar/Recipe.ts"
import { sales, type Sold } from "../../schema/altar/Sales.ts"
import { SpiritId } from "../../schema/altar/Spirit.ts"
import { ChainSegment, ListedStone, revealAnswers, WitnessStone } from "../../schema/altar/Witness.ts"
import { answersOf, bodyOf, dollars, inputName } from "../../schema/payments/Sale.ts"

/** The library's names for schemas that the contract calls otherwise, or not at all. */
const named = {
  Stone: WitnessStone,
  ListedStone,
  Spirit: SpiritId,
  Segment: ChainSegment,
  Act,
  StoneRevealed: Schema.Union(revealAnswers).annotate({ description: "A stone with the words that were revealed." }),
  CandleUnsealed: Schema.Union(unsealAnswers).annotate({ description: "A candle with the words that were unsealed." }),
}

const Document = Schema.Struct({ schema: Form, definitions: Schema.Record(Schema.String, Form) })

const width = 130

/** Words in lines, as `prefix` indents them. */
const inLines = (words: ReadonlyArray<string>, prefix: string): string => {
  const lines: Array<string> = []
  for (const word of words) {
    const line = lines.at(-1)
    if (line === undefined || line.length + word.length >= width) lines.push(`${prefix}${word}`)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines.map((line) => `${line}\n`).join("")
}

const remark = (text: string | undefined, indent = "") => (text === undefined ? "" : `${indent}/** ${text} */\n`)

/** The text of the module of all acts and records. */
export const declarations = (): string => {
  const forms = new Map<string, Form>()
  const formOf = (schema: Schema.Top): Form => {
    const document = Schema.decodeUnknownSync(Document)(jsonOf(Schema.toJsonSchemaDocument(schema)))
    for (const [name, form] of Object.entries(document.definitions)) forms.set(name, form)
    return document.schema
  }
  const targetOf = ({ $ref, allOf }: Form) =>
    ($ref ?? allOf?.find((part) => part.$ref !== undefined)?.$ref)?.split("/").at(-1)
  const roots = Object.entries(named).map(([name, schema]) => [name, formOf(schema)] as const)
  const aliases = new Map(roots.flatMap(([name, form]) => [[targetOf(form), name] as const]))
  const printed = new Map<string, string>()
  const bases: Array<{ readonly name: string; readonly members: ReturnType<typeof membersOf> }> = []

  const membersOf = ({ properties = {}, required = [] }: Form) =>
    Object.entries(properties).map(([name, form]) => ({
      form,
      text: `readonly ${name}${required.includes(name) ? "" : "?"}: ${typeOf(form)}`,
    }))

  const inline = (form: Form) =>
    `{ ${membersOf(form)
      .map(({ text }) => text)
      .join("; ")} }`

  const typeOf = (form: Form): string => {
    const name = targetOf(form)
    if (name !== undefined) {
      const target = forms.get(name) ?? {}
      if (target.properties === undefined && target.enum === undefined) return typeOf(target)
      const alias = aliases.get(name) ?? name
      declare(alias, target)
      return alias
    }
    if (form.enum !== undefined) return form.enum.map((value) => JSON.stringify(value)).join(" | ")
    const choices = form.anyOf ?? form.oneOf
    if (choices !== undefined) return choices.map(typeOf).join(" | ")
    if (form.type === "array") return `ReadonlyArray<${typeOf(form.items ?? {})}>`
    if (form.properties !== undefined) return inline(form)
    if (form.type === "object") return "{ readonly [name: string]: Json }"
    return form.type === "integer" ? "number" : (form.type ?? "Json")
  }

  const declare = (name: string, form: Form) => {
    if (printed.has(name)) return
    printed.set(name, "")
    const about = remark(form.description)
    if (form.properties === undefined) {
      const text = `export type ${name} = ${typeOf(form)}`
      const lines = inLines(typeOf(form).split(/ (?=\| )/u), "  ")
      printed.set(name, `${about}${text.length < width ? `${text}\n` : `export type ${name} =\n${lines}`}`)
      return
    }
    const all = membersOf(form)
    const base = bases.find(({ members }) => members.every((member, at) => all[at]?.text === member.text))
    bases.push({ name, members: all })
    const own = all.slice(base?.members.length ?? 0)
    const lines = own.map(({ form: member, text }) => {
      const isOwn = targetOf(member) === undefined || member.allOf !== undefined
      return { text, about: isOwn ? remark(remarkOf(member), "  ") : "" }
    })
    // Members without a remark share lines.
    const groups = lines.map(({ about, text }, at) => ({
      about,
      text,
      isNew: at === 0 || about !== "" || lines[at - 1]?.about !== "",
    }))
    const starts = groups.flatMap(({ isNew }, at) => (isNew ? [at] : []))
    const body = starts.map((start, at) => {
      const group = groups.slice(start, starts[at + 1])
      return `${group[0]?.about ?? ""}${inLines(
        group.map(({ text }) => `${text};`),
        "  ",
      )}`
    })
    const parent = base === undefined ? "" : ` extends ${base.name}`
    printed.set(name, `${about}export interface ${name}${parent} {\n${body.join("")}}\n`)
  }

  const orderOf = (endpoint: Sold) => {
    const parts = [endpoint.params, endpoint.query, bodyOf(endpoint)].flatMap((part) =>
      part === undefined ? [] : [formOf(part)].map((form) => forms.get(targetOf(form) ?? "") ?? form),
    )
    const members = parts.flatMap(({ properties = {}, required = [] }) =>
      Object.entries(properties).map(([name, form]) => ({ name, form, isRequired: required.includes(name) })),
    )
    const sealed = members.find(({ name }) => isSealing(name))
    const own = members
      .filter((member) => member !== sealed)
      .map(({ form, isRequired, name }) => `readonly ${inputName(name)}${isRequired ? "" : "?"}: ${typeOf(form)}`)
    const sealing = sealed === undefined ? "Wordless" : sealed.isRequired ? "Sealing" : "(Sealing | Wordless)"
    return `{ ${own.join("; ")} } & ${sealing} & Keyed`
  }

  const answerOf = (endpoint: Sold) => {
    const [settled] = answersOf(endpoint)
    const form = formOf(settled ?? Schema.Never)
    return inline(forms.get(targetOf(form) ?? "") ?? form)
  }

  const answers = new Map(sales.map((endpoint) => [endpoint, answerOf(endpoint)]))
  for (const [name, form] of roots) declare(name, forms.get(targetOf(form) ?? "") ?? form)
  const types = sales.map(
    (endpoint) => `{\n    readonly order: ${orderOf(endpoint)}\n    readonly answer: ${answers.get(endpoint)}\n  }`,
  )
  const acts = sales.map(({ sale }, at) => {
    const same = types.findIndex((type) => type === types[at])
    const type = same === at ? types[at] : `Acts["${sales[same]?.sale.name}"]`
    return `  /** ${sale.title}, for $${dollars(sale.priceAtomic)}. */\n  readonly ${sale.name}: ${type}\n`
  })
  return [
    `/** The acts and records of the contract. */\nimport type { Json, Keyed, Sealing, Wordless } from "./Library.js"\n`,
    ...printed.values(),
    `/** The order and the answer of each act by its name. */\nexport interface Acts {\n${acts.join("")}}\n`,
  ].join("")
}
