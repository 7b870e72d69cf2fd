/** A request to the altar: an answer of the expected kind, or its failure as a sentence. */
import { bodyOf, type Reply } from "../../../buyer/core/Outcome.ts"

/** An error with a sentence of ours; the words of browsers, wallets and libraries are never shown. */
export class AnswerError extends Error {
  /** A short verdict before the sentence. */
  readonly word: string | undefined
  /** Seconds until a retry makes sense: 0 without an answer, undefined when a retry changes nothing. */
  readonly retryAfter: number | undefined
  constructor(message: string, word?: string, retryAfter?: number) {
    super(message)
    this.word = word
    this.retryAfter = retryAfter
  }
}

export const unreached = () => new AnswerError(unreachable(), undefined, 0)

/** Fails for a part of the page that did not come. One that is gone belongs to an old build. */
export const partFailed = async (): Promise<never> => {
  const status = await fetch(import.meta.url, { method: "HEAD", cache: "no-store" }).then(
    (answer) => answer.status,
    () => 0,
  )
  throw status === 404 ? new AnswerError("The site was updated. Load the page again.") : unreached()
}

export const cannotHash = "A browser hashes only on pages loaded over https."

/** For a mistake of ours. */
export const pageFailed = "This page failed. Load it again."

export const sentenceOf = (error: unknown, otherwise: string): string =>
  error instanceof AnswerError ? error.message : otherwise

/** Seconds until a retry makes sense. */
export const waitOf = (error: unknown): number | undefined =>
  error instanceof AnswerError ? error.retryAfter : undefined

/** The sentence for a missing answer: the network's fault or the altar's. */
export const unreachable = () => (navigator.onLine ? "The altar does not answer." : "You are offline.")

export const ask = async (path: string, init: RequestInit = {}): Promise<Reply> => {
  const headers = { accept: "application/json", ...Object.fromEntries(new Headers(init.headers)) }
  // Bypasses the browser's cache.
  const response = await fetch(path, { ...init, headers, cache: "no-store" }).catch(() => undefined)
  const text = await response?.text().catch(() => undefined)
  if (response === undefined || text === undefined) throw unreached()
  return { status: response.status, headers: response.headers, body: bodyOf(text) }
}

export const post = (body: object): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
})

/** A refusal of the altar in its own words. */
export const refusalOf = ({ body, headers, status }: Reply): AnswerError => {
  const wait = Number(headers.get("retry-after"))
  const message = typeof body["message"] === "string" ? body["message"] : `The altar answered ${status}.`
  return new AnswerError(message, undefined, status === 429 && wait > 0 ? wait : undefined)
}
