/** One request to the altar: an answer of the expected kind, or what went wrong as a sentence. */

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Readonly<Record<string, unknown>>
}

/** No answer came: the network, not the altar. */
export class Unreachable extends Error {}

const bodyOf = (text: string): Answer["body"] => {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === "object" && body !== null ? { ...body } : {}
  } catch {
    return {}
  }
}

export const ask = async (path: string, init: RequestInit = {}): Promise<Answer> => {
  const headers = { accept: "application/json", ...Object.fromEntries(new Headers(init.headers)) }
  const response = await fetch(path, { ...init, headers, cache: "no-store" }).catch(() => undefined)
  const text = await response?.text().catch(() => undefined)
  if (response === undefined || text === undefined) {
    throw new Unreachable(navigator.onLine ? "The altar does not answer." : "You are offline.")
  }
  return { status: response.status, headers: response.headers, body: bodyOf(text) }
}

/** A part of something that was answered; undefined when it has none. */
export const part = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

export const post = (body: object, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
})

/** What the altar said, as it said it. */
export const messageOf = ({ body, status }: Answer): string =>
  typeof body["message"] === "string" ? body["message"] : `The altar answered ${status}.`
