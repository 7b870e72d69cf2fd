/** One request to the altar: an answer of the expected kind, or what went wrong as a sentence. */
import { bodyOf, type Reply } from "../../../buyer/core/Outcome.ts"

/** A sentence of ours: whatever else is thrown are words of a browser, a wallet or a library, and nobody is shown them. */
export class Said extends Error {
  override readonly name = "Said"
  /** What it comes to, in front of the sentence. */
  readonly word: string | undefined
  constructor(message: string, word?: string) {
    super(message)
    this.word = word
  }
}

/** Nobody answered: the very same may work in a moment. */
class Unreached extends Said {}

export const isUnreached = (error: unknown) => error instanceof Unreached

export const unreached = () => new Unreached(unreachable())

export const cannotHash = "This page was not loaded over https, so the browser gives it no means to hash."

/** A mistake of ours. */
export const pageFailed = "This page failed. Load it again."

/** By its name: the part that checks the log is bundled alone, with a class of its own. */
export const sentenceOf = (error: unknown, otherwise: string): string =>
  error instanceof Error && error.name === "Said" ? error.message : otherwise

/** What is said where no answer came: the network, not the altar. */
export const unreachable = () => (navigator.onLine ? "The altar does not answer." : "You are offline.")

export const ask = async (path: string, init: RequestInit = {}): Promise<Reply> => {
  const headers = { accept: "application/json", ...Object.fromEntries(new Headers(init.headers)) }
  // The altar itself, whatever this browser remembers of an earlier answer.
  const response = await fetch(path, { ...init, headers, cache: "no-store" }).catch(() => undefined)
  const text = await response?.text().catch(() => undefined)
  if (response === undefined || text === undefined) throw unreached()
  return { status: response.status, headers: response.headers, body: bodyOf(text) }
}

/** A part of something that was answered; undefined when it has none. */
export const part = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

export const post = (body: object): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
})

/** What the altar said, as it said it. */
export const messageOf = ({ body, status }: Reply): string =>
  typeof body["message"] === "string" ? body["message"] : `The altar answered ${status}.`
