/** The public API as a stranger asks it: one answer after the other, patient where it is told to wait. */
import { setTimeout } from "node:timers/promises"

/** A server that is away is asked again for this long, milliseconds. */
const patience = 15_000

export const request = async (url: string, init: RequestInit = {}) => {
  for (const end = Date.now() + patience; ; await setTimeout(500)) {
    try {
      const answer = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(30_000), ...init })
      const bytes = Buffer.from(await answer.arrayBuffer())
      const heard = { status: answer.status, bytes, text: bytes.toString() }
      if (![429, 502, 504].includes(answer.status) || Date.now() > end) return heard
    } catch (cause) {
      if (Date.now() > end) throw new Error(`${url} does not answer`, { cause })
    }
  }
}

/** The JSON of a read; undefined for a body that is no JSON. */
export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export type Json = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const textAt = (json: unknown, ...path: ReadonlyArray<string>): string | undefined => {
  let value = json
  for (const name of path) value = isObject(value) ? value[name] : undefined
  return typeof value === "string" ? value : undefined
}

export const each = async <A>(all: Iterable<A>, ask: (one: A, at: number) => Promise<void>, atOnce = 8) => {
  const rest = [...all].entries()
  const worker = async () => {
    for (const [at, one] of rest) await ask(one, at)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
