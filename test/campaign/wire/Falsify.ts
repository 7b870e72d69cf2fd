/** Falsifies answers at the HTTP boundary: each function of a promise's table breaks one status, header, member or order. */

export interface WireAnswer {
  status: number
  readonly headers: Headers
  /** The text of the body; a JSON one is read and written by `member`. */
  text: string
}

/** Changes an answer in place. It leaves alone what it does not concern. */
export type Change = (answer: WireAnswer) => void

export interface WireMutant {
  /** The promise that the change breaks, as a sentence that the broken answer makes false. */
  readonly promise: string
  /** `METHOD path`, as a pattern. */
  readonly of: RegExp
  readonly change: Change
  /** The test files, two at most, of which a test has to notice it. */
  readonly tests: ReadonlyArray<string>
}

type Json = Record<string, unknown>

const isRecord = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** Answers one status with another one. */
export const status =
  (from: number, to: number): Change =>
  (answer) => {
    if (answer.status === from) answer.status = to
  }

/** Applies a change to answers of one status. */
export const only =
  (code: number, change: Change): Change =>
  (answer) => {
    if (answer.status === code) change(answer)
  }

/** Sends a header with another value, or none without one. */
export const header =
  (name: string, value?: string): Change =>
  ({ headers }) => {
    if (value === undefined) headers.delete(name)
    else headers.set(name, value)
  }

/** Changes the value at a path of members; `*` stands for each entry of a list. A missing parent changes nothing. */
export const member = (path: string, to: (value: never) => unknown): Change => {
  const steps = path.split(".")
  const replaced = (value: unknown, [step, ...rest]: ReadonlyArray<string>): unknown => {
    if (step === undefined) return to(value as never)
    if (step === "*") return Array.isArray(value) ? value.map((entry) => replaced(entry, rest)) : value
    if (!isRecord(value) || (rest.length > 0 && value[step] === undefined)) return value
    const next = replaced(value[step], rest)
    return next === undefined
      ? Object.fromEntries(Object.entries(value).filter(([name]) => name !== step))
      : { ...value, [step]: next }
  }
  return (answer) => {
    if (!(answer.headers.get("content-type") ?? "").includes("json") || answer.text === "") return
    answer.text = JSON.stringify(replaced(JSON.parse(answer.text), steps))
  }
}

/** The same with a value that is known beforehand. */
export const says = (path: string, value: unknown): Change => member(path, () => value)

export const reversed = (path: string): Change => member(path, (list: ReadonlyArray<unknown>) => list.toReversed())

/** Leaves out the last entry of a list, such as one below its limit. */
export const shortened = (path: string): Change => member(path, (list: ReadonlyArray<unknown>) => list.slice(0, -1))

/** Changes the JSON of a header in base64, such as `PAYMENT-REQUIRED`. */
export const encoded =
  (name: string, path: string, to: (value: never) => unknown): Change =>
  ({ headers }) => {
    const value = headers.get(name)
    if (value === null) return
    const inside: WireAnswer = {
      status: 0,
      headers: new Headers({ "content-type": "application/json" }),
      text: Buffer.from(value, "base64").toString(),
    }
    member(path, to)(inside)
    headers.set(name, Buffer.from(inside.text).toString("base64"))
  }

/** Answers in words, where others are in the text. */
export const replaced =
  (from: string | RegExp, to: string): Change =>
  (answer) => {
    answer.text = answer.text.replaceAll(from, to)
  }
