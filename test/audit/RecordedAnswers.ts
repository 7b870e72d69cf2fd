/** All answers, as they were recorded: a line of JSON for each answer, in the order in which they came. */
import { createReadStream } from "node:fs"
import { createInterface } from "node:readline"
import { isObject, parsed, textAt } from "./Api.ts"

/** One line of the answers file: an answer that was received whole. */
export interface RecordedAnswer {
  /** When it was received, milliseconds since 1970. */
  readonly at: number
  readonly server: string
  readonly method: string
  /** Absolute, as it was asked for. */
  readonly url: string
  /** The `Idempotency-Key` that was sent; null where none was. */
  readonly key: string | null
  readonly requestBody?: string
  /** The `PAYMENT-SIGNATURE` header that was sent, as it was sent. */
  readonly payment?: string
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** An answer with what every check reads of it. */
export interface ReadAnswer extends RecordedAnswer {
  readonly path: string
  readonly json: unknown
  /** Whether something was done or shown. */
  readonly isGood: boolean
  /** The beginning of a finding. */
  readonly where: string
}

/** Reads the answers one after the other; a broken last line is one that was being written. */
export const answersOf = async function* (file: string): AsyncGenerator<ReadAnswer> {
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    const given = parsed(line)
    if (!isObject(given)) continue
    const answer = given as unknown as RecordedAnswer
    const { at, body, method, server, status, url } = answer
    const [path, json] = [new URL(url, server).pathname, parsed(body)]
    const where = `${method} ${path} answered ${status} ${textAt(json, "code") ?? ""} at ${new Date(at).toISOString()}`
    yield { ...answer, path, json, isGood: status === 200 || status === 201, where }
  }
}
