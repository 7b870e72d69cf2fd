/** Setup of a mutant's test files: every answer that `fetch` brings passes the change first, also before it is validated. */
import { afterAll, beforeEach } from "vitest"
import { faultOf } from "../FaultOf.ts"
import { type Change, type WireAnswer, type WireMutant } from "./Falsify.ts"
import { mutants } from "./promises.ts"

const falsified = async (response: Response, change: Change) => {
  const { headers, status } = response
  const answer: WireAnswer = { status, headers: new Headers(headers), text: await response.clone().text() }
  change(answer)
  const body = [204, 304].includes(answer.status) ? null : answer.text
  const changed = new Response(body, { status: answer.status, headers: answer.headers })
  return Object.defineProperty(changed, "url", { value: response.url })
}

let mutant: WireMutant | undefined
let isNoticed = false
const send = globalThis.fetch

globalThis.fetch = async (input, init) => {
  const response = await send(input, init)
  const method = init?.method ?? (input instanceof Request ? input.method : "GET")
  const { pathname, search } = new URL(input instanceof Request ? input.url : String(input))
  return mutant?.of.test(`${method.toUpperCase()} ${pathname}${search}`) === true
    ? falsified(response, mutant.change)
    : response
}

// The worker's next file has a promise of its own.
afterAll(() => void (globalThis.fetch = send))

beforeEach(({ onTestFailed, skip, task }) => {
  mutant ??= mutants.find(({ promise }) => promise === faultOf(task.file.filepath))
  // One failure is enough: the other tests of the file would only cost time.
  onTestFailed(() => void (isNoticed = true))
  if (isNoticed) skip()
})
