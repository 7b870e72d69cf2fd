/** The validating pass: whatever any test hears from a server of ours has to be what the document says. */
import { afterEach, assert } from "vitest"
import { faultsOf, type Heard } from "./Contract.ts"

const faults: Array<string> = []
const readings = new Set<Promise<void>>()
const send = globalThis.fetch

/** Judges what was heard elsewhere, such as in a browser. */
export const judge = (heard: Heard) => void faults.push(...faultsOf(heard))

/** The same for what is still being read. */
export const judgeLater = (hearing: Promise<Heard>) => {
  const reading = hearing.then(judge)
  readings.add(reading)
  void reading.finally(() => readings.delete(reading))
}

const isStream = (response: Response) => response.headers.get("content-type")?.startsWith("text/event-stream") === true

const listen = async (method: string, url: string, response: Response): Promise<Heard> => {
  const { headers, status } = response
  const heard = { method, url, status, headers }
  if (isStream(response)) return heard
  // A connection that a test cuts has no body to judge.
  const body = await response.text().catch(() => undefined)
  return body === undefined ? heard : { ...heard, body }
}

globalThis.fetch = async (input, init) => {
  const response = await send(input, init)
  const method = init?.method ?? (input instanceof Request ? input.method : "GET")
  const url = input instanceof Request ? input.url : String(input)
  judgeLater(listen(method, url, isStream(response) ? response : response.clone()))
  return response
}

afterEach(async () => {
  await Promise.all(readings)
  assert.deepStrictEqual(faults.splice(0), [], "an answer is not what schema/openapi.json says")
})
