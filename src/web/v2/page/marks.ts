/** The `data-` attributes of pages: templates write them and scripts find them by the same table. */

/** Each mark with its element, and the names of the values that stand beside it; `saltShown` is `data-salt-shown`. */
export const marks = {
  // Every page.
  offline: ["p"],
  copy: ["button", "copy"],
  renewed: ["*"],
  head: ["td", "head"],
  // A form that pays, its fields and its parts.
  pay: ["form", "path", "amount", "network", "recorded", "dearest", "title", "play"],
  rung: ["input", "path", "amount", "recorded"],
  body: ["field", "body"],
  json: ["field", "json"],
  query: ["field", "query"],
  place: ["field", "place"],
  seal: ["textarea", "seal"],
  price: ["span"],
  route: ["span"],
  left: ["b"],
  submit: ["button"],
  wallet: ["div"],
  connect: ["button"],
  outcome: ["div"],
  progress: ["div"],
  // A file that is sealed or checked.
  file: ["input"],
  fileSaid: ["div"],
  fileSealed: ["div"],
  fileHash: ["input"],
  fileCheck: ["div", "fileCheck"],
  take: ["input"],
  // Words that are checked or revealed, and those that are shown.
  check: ["form", "reveal", "name"],
  filled: ["div"],
  salt: ["input"],
  words: ["textarea"],
  commitment: ["input"],
  reveals: ["button"],
  result: ["div"],
  revealed: ["*", "revealed", "saltShown"],
  wordsShown: ["*"],
  revealVerdict: ["*", "revealVerdict"],
  example: ["form", "example", "saltShown"],
  computed: ["code"],
  verdictShown: ["div"],
  // The chain and the checker of files.
  link: ["*", "link", "chainHash"],
  verdict: ["span"],
  verify: ["div", "from", "to", "logVkey", "witnesses"],
  checker: ["section", "keys", "logs"],
  found: ["span", "found"],
  // My words.
  box: ["div"],
  boxList: ["div"],
  boxSaid: ["div"],
  boxCount: ["span"],
  wallets: ["div"],
  askWallet: ["button"],
} as const satisfies Readonly<Record<string, readonly [tag: Tag, ...values: ReadonlyArray<string>]>>

/** `field` is a control of a form, `*` any element. */
interface Elements extends HTMLElementTagNameMap {
  "*": HTMLElement
  field: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement
}

export type Tag = keyof Elements
export type MarkName = keyof typeof marks
type TagOf<Name extends MarkName> = (typeof marks)[Name][0]
export type ElementOf<Name extends MarkName> = Elements[TagOf<Name>]

/** The marks that an element with this tag may carry. */
export type MarksOf<Element extends "input" | "select" | "textarea"> = {
  [Name in MarkName]: TagOf<Name> extends Element | "field" ? Name : never
}[MarkName]

/** The names of the values of a mark. */
export type ValueOf<Name extends MarkName> = (typeof marks)[Name] extends readonly [
  Tag,
  ...infer Values extends ReadonlyArray<string>,
]
  ? Values[number]
  : never

export const attributeOf = (name: string) => `data-${name.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)}`

export const selectorOf = (name: MarkName) => {
  const [tag] = marks[name]
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
