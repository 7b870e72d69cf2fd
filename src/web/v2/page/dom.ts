/** Elements whose content is text alone, and the ones a page was written with. */

type Attributes = Readonly<Record<string, string>>

export const make = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes,
  ...content: ReadonlyArray<Node | string>
): HTMLElementTagNameMap[Tag] => {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...content)
  return element
}

/** All elements of a kind that a selector names. */
export const all = <E extends Element>(
  selector: string,
  kind: new () => E,
  within: ParentNode = document,
): ReadonlyArray<E> => [...within.querySelectorAll(selector)].filter((element): element is E => element instanceof kind)

/** A page without one of its parts is a mistake of ours: it must not pass quietly. */
export const one = <E extends Element>(selector: string, kind: new () => E, within: ParentNode = document): E => {
  const found = within.querySelector(selector)
  if (found instanceof kind) return found
  throw new Error(`The page has no ${kind.name} at ${selector}`)
}

export const button = (text: string, act: () => void, main = false): HTMLButtonElement => {
  const element = make("button", { type: "button", class: main ? "button button--main" : "button" }, text)
  element.addEventListener("click", act)
  return element
}

/** What failed, in our words, and the way to try again. */
export const failure = (word: string, message: string, again: () => void): ReadonlyArray<HTMLElement> => [
  verdict("broken", word, message),
  make("p", { class: "again" }, button("Try again", again)),
]

/** Holds, does not hold, or is under way: a sign, a word and a colour that say the same. */
export type Verdict = "holds" | "broken" | "waits"

const signs = { holds: "✓", broken: "✗", waits: "…" } as const

export const verdict = (kind: Verdict, word: string, ...more: ReadonlyArray<Node | string>): HTMLElement =>
  make(
    "p",
    { class: `verdict verdict--${kind}` },
    make("span", { class: "verdict__sign", "aria-hidden": "true" }, signs[kind]),
    make("span", {}, make("b", {}, word), ...(more.length === 0 ? [] : [" ", ...more])),
  )

/** The two ends of an address or a hash; the whole of it is in the title. */
export const shortOf = (hex: string) => make("code", { class: "hash", title: hex }, endsOf(hex))

export const endsOf = (hex: string) => `${hex.slice(0, 6)}…${hex.slice(-4)}`

/** Happens on the window when the page was laid out anew: each part of it starts what is new. */
export const renewed = "altar:renewed"
