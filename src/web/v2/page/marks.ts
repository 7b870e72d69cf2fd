/** The `data-` attributes of pages: templates write them and scripts find them by the same table. */

/** Each mark with its element. */
export const marks = {
  // Every page.
  offline: "p",
  copy: "button",
  print: "button",
  renewed: "*",
  drawn: "figure",
  head: "td",
  // A form that pays, its fields and its parts.
  pay: "form",
  rung: "input",
  body: "field",
  json: "field",
  query: "field",
  place: "field",
  seal: "textarea",
  price: "span",
  route: "span",
  left: "b",
  submit: "button",
  wallet: "div",
  connect: "button",
  outcome: "div",
  progress: "div",
  // A file that is sealed or checked.
  file: "input",
  fileSaid: "div",
  fileSealed: "div",
  fileHash: "input",
  fileCheck: "div",
  take: "input",
  // Words that are checked or revealed, and those that are shown.
  owner: "div",
  check: "form",
  filled: "div",
  salt: "input",
  words: "textarea",
  commitment: "input",
  reveals: "button",
  result: "div",
  revealed: "*",
  wordsShown: "*",
  revealVerdict: "*",
  example: "form",
  computed: "code",
  verdictShown: "div",
  // The chain and the checker of files.
  link: "*",
  verdict: "span",
  verify: "div",
  checker: "section",
  found: "span",
  // My words.
  box: "div",
  boxList: "div",
  boxSaid: "div",
  boxCount: "span",
  wallets: "div",
  askWallet: "button",
} as const satisfies Readonly<Record<string, Tag>>

/** The values that stand beside a mark, by their names in scripts: `saltShown` is `data-salt-shown`. */
interface ValueNames {
  copy: "copy"
  head: "head"
  pay: "path" | "amount" | "network" | "recorded" | "dearest" | "title" | "often" | "play"
  rung: "path" | "amount" | "recorded"
  body: "body"
  json: "json"
  query: "query"
  place: "place"
  seal: "seal"
  fileCheck: "fileCheck"
  check: "reveal" | "name" | "on"
  revealed: "revealed" | "saltShown"
  revealVerdict: "revealVerdict" | "on"
  example: "example" | "saltShown"
  link: "link" | "chainHash"
  verify: "from" | "to" | "logVkey" | "cosigners"
  checker: "keys" | "logs"
  found: "found"
}

/** `field` is a control of a form, `*` any element. */
interface Elements extends HTMLElementTagNameMap {
  "*": HTMLElement
  field: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement
}

export type Tag = keyof Elements
export type MarkName = keyof typeof marks
type TagOf<Name extends MarkName> = (typeof marks)[Name]
export type ElementOf<Name extends MarkName> = Elements[TagOf<Name>]

/** The marks that an element with this tag may carry. */
export type MarksOf<Element extends "input" | "select" | "textarea"> = {
  [Name in MarkName]: TagOf<Name> extends Element | "field" ? Name : never
}[MarkName]

/** The names of the values of a mark. */
export type ValueOf<Name extends MarkName> = Name extends keyof ValueNames ? ValueNames[Name] : never

export const attributeOf = (name: string) => `data-${name.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)}`

export const selectorOf = (name: MarkName) => {
  const tag: Tag = marks[name]
  return `${tag === "field" ? ":is(input,select,textarea)" : tag}[${attributeOf(name)}]`
}

export const allMarked = <Name extends MarkName>(
  name: Name,
  within: ParentNode = document,
): ReadonlyArray<ElementOf<Name>> => [...within.querySelectorAll<ElementOf<Name>>(selectorOf(name))]

/** A page without one of its parts is our mistake and must not pass silently. */
export const marked = <Name extends MarkName>(name: Name, within: ParentNode = document): ElementOf<Name> => {
  const element = within.querySelector<ElementOf<Name>>(selectorOf(name))
  if (element === null) throw new Error(`The page has no ${selectorOf(name)}`)
  return element
}

type Values<Name extends MarkName> = { readonly [Value in ValueOf<Name>]?: string | undefined }

/** The values that stand beside a mark on its element. */
export function valuesOf<Name extends MarkName>(name: Name, element: ElementOf<Name>): Values<Name>
export function valuesOf(_name: MarkName, { dataset }: HTMLElement): DOMStringMap {
  return dataset
}
