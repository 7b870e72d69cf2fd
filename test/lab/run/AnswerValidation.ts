/** Checks every answer that a test gets from a server of ours, by `fetch`, in a browser or in a command, against the document. */
import { faultsOf, type ReceivedAnswer } from "./Contract.ts"

const faults: Array<string> = []
const readings = new Set<Promise<void>>()

/** Judges what was heard elsewhere, such as in a browser. */
export const judge = (heard: ReceivedAnswer) => void faults.push(...faultsOf(heard))

/** The same for what is still being read. */
export const judgeLater = (hearing: Promise<ReceivedAnswer>) => {
  const reading = hearing.then(judge)
  readings.add(reading)
  void reading.finally(() => readings.delete(reading))
}

const isStream = (response: Response) => response.headers.get("content-type")?.startsWith("text/event-stream") === true

const listen = async (method: string, url: string, response: Response): Promise<ReceivedAnswer> => {
  const { headers, status } = response
  const heard = { method, url, status, headers }
  if (isStream(response)) return heard
  // A connection that a test cuts has no body to judge.
  const body = await response.text().catch(() => undefined)
  return body === undefined ? heard : { ...heard, body }
}

const send = globalThis.fetch

// Read once for each worker, whatever the number of its test files.
globalThis.fetch = async (input, init) => {
  const response = await send(input, init)
  const method = init?.method ?? (input instanceof Request ? input.method : "GET")
  const url = input instanceof Request ? input.url : String(input)
  judgeLater(listen(method, url, isStream(response) ? response : response.clone()))
  return response
}

/** The violations of the document since the last call, once all recorded answers were read. */
export const newFaults = async (): Promise<ReadonlyArray<string>> => {
  await Promise.all(readings)
  return faults.splice(0)
}
