/** The validating pass: whatever any test hears from a server of ours has to be what the document says. */
import { afterEach, assert } from "vitest"
import { faultsOf } from "./Contract.ts"

const faults: Array<string> = []
const readings = new Set<Promise<void>>()
const send = globalThis.fetch

const isStream = (response: Response) => response.headers.get("content-type")?.startsWith("text/event-stream") === true

const listen = async (request: Request, response: Response) => {
  const { method, url } = request
  const { headers, status } = response
  const heard = { method, url, status, headers }
  if (isStream(response)) {
    faults.push(...faultsOf(heard))
    return
  }
  // A connection that a test cuts has no body to judge.
  const body = await response.text().catch(() => undefined)
  faults.push(...faultsOf(body === undefined ? heard : { ...heard, body }))
}

globalThis.fetch = async (input, init) => {
  const response = await send(input, init)
  const request = new Request(input instanceof Request ? input.url : input, {
    method: init?.method ?? (input instanceof Request ? input.method : "GET"),
  })
  const reading = listen(request, isStream(response) ? response : response.clone())
  readings.add(reading)
  void reading.finally(() => readings.delete(reading))
  return response
}

afterEach(async () => {
  await Promise.all(readings)
  assert.deepStrictEqual(faults.splice(0), [], "an answer is not what schema/openapi.json says")
})
