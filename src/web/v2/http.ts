/** One request to the altar: an answer of the expected kind, or what went wrong as a sentence. */
import { bodyOf, type Reply } from "../../buyer/core/Outcome.ts"

/** What is said where no answer came: the network, not the altar. */
export const unreachable = () => (navigator.onLine ? "The altar does not answer." : "You are offline.")

export const ask = async (path: string, init: RequestInit = {}): Promise<Reply> => {
  const headers = { accept: "application/json", ...Object.fromEntries(new Headers(init.headers)) }
  // The altar itself, whatever this browser remembers of an earlier answer.
  const response = await fetch(path, { ...init, headers, cache: "no-store" }).catch(() => undefined)
  const text = await response?.text().catch(() => undefined)
  if (response === undefined || text === undefined) throw new Error(unreachable())
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
