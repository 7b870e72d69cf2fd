/** Every error code with its page: its status, its meaning, its body and the operations that answer it. */
import type { Schema } from "effect"
import { MethodNotAllowed } from "../../../schema/Errors.ts"
import { RoomMethodNotAllowed } from "../../../schema/room/Errors.ts"
import { refusalOf } from "../../http/Responses.ts"
import { exampleOf } from "./Form.ts"
import { type Operation, type Reference, statusesOf } from "./Operations.ts"

export interface ErrorCode {
  readonly code: string
  readonly status: string
  readonly meaning: string
  readonly example: Schema.Json
  /** None for a code that any path may answer. */
  readonly operations: ReadonlyArray<Operation>
}

export const root = "/docs/errors"
export const addressOf = (code: string) => `${root}/${code}`

/** The room writes its codes in capitals. */
export const isOfRoom = ({ code }: ErrorCode) => code === code.toUpperCase()

/** Codes that the document lacks, since it lists only methods that a path answers. */
const unlisted = [
  [new MethodNotAllowed({}).code, refusalOf(new MethodNotAllowed({}))],
  [new RoomMethodNotAllowed({}).error.code, { error: new RoomMethodNotAllowed({}).error }],
] as const

const wrongMethod = unlisted.map(([code, body]): ErrorCode => ({
  code,
  status: "405",
  meaning: "The path does not support this method; `Allow` lists those it supports.",
  example: JSON.parse(JSON.stringify(body)),
  operations: [],
}))

export const errorsOf = ({ chapters, forms }: Reference): ReadonlyArray<ErrorCode> => {
  const found = new Map(wrongMethod.map((one) => [one.code, one]))
  for (const operation of chapters.flatMap(({ operations }) => operations)) {
    for (const { code, form, meaning, status } of statusesOf(forms, operation)) {
      if (code === "" || form === undefined) continue
      const before = found.get(code)
      const operations = [...(before?.operations ?? []), operation]
      found.set(
        code,
        before === undefined
          ? { code, status, meaning, example: exampleOf(forms, form), operations }
          : { ...before, operations },
      )
    }
  }
  return [...found.values()].sort(
    (one, other) => Number(one.status) - Number(other.status) || (one.code < other.code ? -1 : 1),
  )
}

/** The sentence that the server sends with the code. */
export const messageOf = ({ example }: ErrorCode): string => {
  const body: { readonly message?: string; readonly error?: { readonly message: string } } = Object(example)
  return body.message ?? body.error?.message ?? ""
}
