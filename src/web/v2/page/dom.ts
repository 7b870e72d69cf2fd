/** Creates elements with text content only, finds those of the page, and hears of files. */

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

export const all = <E extends Element>(
  selector: string,
  kind: new () => E,
  within: ParentNode = document,
): ReadonlyArray<E> => [...within.querySelectorAll(selector)].filter((element): element is E => element instanceof kind)

/** A page without one of its parts is our mistake and must not pass silently. */
export const find = <E extends Element>(selector: string, kind: new () => E, within: ParentNode = document): E => {
  const match = within.querySelector(selector)
  if (match instanceof kind) return match
  throw new Error(`The page has no ${kind.name} at ${selector}`)
}

export const button = (text: string, act: () => void, main = false): HTMLButtonElement => {
  const element = make("button", { type: "button", class: main ? "button button--main" : "button" }, text)
  element.addEventListener("click", act)
  return element
}

/** Buttons and links in a row. */
export const doors = (...content: ReadonlyArray<Node | string>) => make("p", { class: "doors" }, ...content)

/** A button to retry, which counts down the seconds that the altar asks to wait. */
export const retry = (text: string, again: () => void, wait = 0, main = false): HTMLButtonElement => {
  const element = button(text, again, main)
  const until = Date.now() + wait * 1000
  const tick = () => {
    const left = Math.ceil((until - Date.now()) / 1000)
    element.disabled = left > 0
    element.textContent = left > 0 ? `${text} in ${left} s` : text
    if (left > 0) setTimeout(tick, 250)
  }
  if (wait > 0) tick()
  return element
}

/** A failure in our words, and a button to retry. */
export const failure = (
  word: string,
  message: string,
  again: () => void,
  kind: Verdict = "broken",
  wait?: number,
): ReadonlyArray<HTMLElement> => [
  verdict(kind, word, message),
  make("p", { class: "again" }, retry("Try again", again, wait)),
]

/** Holds, does not hold, is being checked, or could not be; sign, word and colour say the same. */
export type Verdict = "holds" | "broken" | "waits" | "unchecked"

const signs = { holds: "✓", broken: "✗", waits: "…", unchecked: "?" } as const

export const verdict = (kind: Verdict, word: string, ...more: ReadonlyArray<Node | string>): HTMLElement =>
  make(
    "p",
    { class: `verdict verdict--${kind}` },
    make("span", { class: "verdict__sign", "aria-hidden": "true" }, signs[kind]),
    make("span", {}, make("b", {}, word), ...(more.length === 0 ? [] : [" ", ...more])),
  )

export const longCode = (text: string) => make("code", { class: "long" }, text)

/** The two ends of an address or a hash; the title has all of it. */
export const shortOf = (hex: string) => make("code", { class: "hash", title: hex }, endsOf(hex))

export const endsOf = (hex: string) => `${hex.slice(0, 6)}…${hex.slice(-4)}`

/** Hears of files that are chosen in a field or dropped on a place; the innermost place takes a drop. */
export const hearFiles = (
  input: HTMLInputElement,
  place: HTMLElement,
  take: (file: File, ...others: ReadonlyArray<File>) => void,
  removed = () => {},
) => {
  input.addEventListener("change", () => {
    const [file, ...others] = input.files ?? []
    if (file === undefined) removed()
    else take(file, ...others)
  })
  place.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault()
  })
  place.addEventListener("drop", (event) => {
    const [file, ...others] = event.dataTransfer?.files ?? []
    if (file === undefined || event.defaultPrevented) return
    event.preventDefault()
    take(file, ...others)
  })
}
