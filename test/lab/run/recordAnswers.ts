/** Preloaded into a command: writes every answer it gets as one JSON document a line, for the test to check. */
import { appendFileSync } from "node:fs"

const file = process.env["OVERHEARD"] ?? ""
const send = globalThis.fetch

globalThis.fetch = async (input, init) => {
  const response = await send(input, init)
  const url = input instanceof Request ? input.url : String(input)
  const method = init?.method ?? (input instanceof Request ? input.method : "GET")
  const { headers, status } = response
  const body = await response.clone().text()
  appendFileSync(file, `${JSON.stringify({ method, url, status, headers: [...headers], body })}\n`)
  return response
}
