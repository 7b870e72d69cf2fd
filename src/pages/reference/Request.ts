/** The request of an example: the least body, path parameters with examples, and whether words are sealed. */
import type { Schema } from "effect"
import { exampleOf, type Form, type Forms, membersOf } from "./Form.ts"
import { answerOf, bodyOf, isPaid, type Operation } from "./Operations.ts"

/** A member that holds a commitment; library and command seal it themselves. */
export const isSealing = (name: string) => name === "commitment" || name === "intentionCommitment"

export const text = (value: Schema.Json) => (typeof value === "string" ? value : JSON.stringify(value))

export interface Request {
  readonly method: string
  readonly path: string
  readonly params: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Schema.Json | undefined
  readonly isSealed: boolean
  readonly isPaid: boolean
  readonly isRoom: boolean
  /** Whether the answer is JSON; a proof is text. */
  readonly isJson: boolean
}

/** The required members of a body, or the whole example when none is required; the table describes the rest. */
const leastBody = (forms: Forms, form: Form): Schema.Json => {
  const whole = exampleOf(forms, form)
  if (typeof whole !== "object" || whole === null || Array.isArray(whole)) return whole
  const needed = new Set(membersOf(forms, form).flatMap(({ isRequired, path }) => (isRequired ? [path] : [])))
  return needed.size === 0 ? whole : Object.fromEntries(Object.entries(whole).filter(([name]) => needed.has(name)))
}

export const requestOf = (forms: Forms, operation: Operation): Request => {
  const params = (operation.parameters ?? [])
    .filter((one) => one.in === "path")
    .map((one) => [one.name, text(exampleOf(forms, one.schema))] as const)
  const form = bodyOf(operation)
  const body = form === undefined ? undefined : leastBody(forms, form)
  return {
    method: operation.method,
    path: params.reduce((path, [name, value]) => path.replace(`{${name}}`, encodeURIComponent(value)), operation.path),
    params,
    body,
    isSealed: typeof body === "object" && body !== null && Object.keys(body).some(isSealing),
    isPaid: isPaid(operation),
    isRoom: (operation.security ?? []).some((one) => "apiKey" in one),
    isJson: answerOf(operation) !== undefined,
  }
}

export const isEmpty = (body: Schema.Json | undefined) =>
  body === undefined || (typeof body === "object" && body !== null && Object.keys(body).length === 0)

export const words = "The heron will return by May."
