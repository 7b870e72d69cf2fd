/** Setup of a mutant's test files: every answer that `fetch` brings passes the change first, also before it is validated. */
import { beforeEach, inject } from "vitest"
import { type Change, type WireMutant, type WireAnswer } from "./Falsify.ts"
import { mutants } from "./promises.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly promise: string
  }
}

let mutant: WireMutant | undefined
const send = globalThis.fetch

const falsified = async (response: Response, change: Change) => {
  const { headers, status } = response
  const answer: WireAnswer = { status, headers: new Headers(headers), text: await response.clone().text() }
  change(answer)
  const body = [204, 304].includes(answer.status) ? null : answer.text
  const changed = new Response(body, { status: answer.status, headers: answer.headers })
  return Object.defineProperty(changed, "url", { value: response.url })
}

globalThis.fetch = async (input, init) => {
  const response = await send(input, init)
  const method = init?.method ?? (input instanceof Request ? input.method : "GET")
  const { pathname, search } = new URL(input instanceof Request ? input.url : String(input))
  return mutant?.of.test(`${method.toUpperCase()} ${pathname}${search}`) === true
    ? falsified(response, mutant.change)
    : response
}

mutant = mutants.find(({ promise }) => promise === inject("promise"))

let isNoticed = false

// One failure is enough: the other tests of the file would only cost time.
beforeEach(({ onTestFailed, skip }) => {
  onTestFailed(() => void (isNoticed = true))
  if (isNoticed) skip()
})
