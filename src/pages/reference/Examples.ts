/** Examples of each request in every language. */
import type { Schema } from "effect"
import type { Forms } from "./Form.ts"
import { go } from "./Go.ts"
import type { Operation } from "./Operations.ts"
import { python } from "./Python.ts"
import { isEmpty, isSealing, type Request, requestOf, words } from "./Request.ts"

const withinQuotes = (value: string) => value.replace(/'/gu, `'\\''`)

const random = "head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \\n'"

const sealed = `COMMITMENT=$(printf '%s\\0%s' "$SALT" '${words}' | sha256sum | cut -c 1-64)`

/** Shell lines that create a key, and a salt for sealed words, so that each copy has its own. */
const fresh = ({ isPaid, isSealed }: Request) =>
  [...(isPaid ? [`KEY=$(${random})\n`] : []), ...(isSealed ? [`SALT=$(${random})\n${sealed}\n`] : [])].join("")

/** A body in single quotes, with shell variables spliced in. */
const inShell = (body: Schema.Json | undefined, isSealed: boolean) => {
  const quoted = withinQuotes(JSON.stringify(body))
  return isSealed ? quoted.replace(/"[0-9a-f]{64}"/u, `"'$COMMITMENT'"`) : quoted
}

const curl = (publicUrl: string, request: Request) => `${fresh(request)}${sent(publicUrl, request)}`

const sent = (publicUrl: string, { body, isPaid, isRoom, isSealed, method, path }: Request) =>
  [
    `curl -sS '${publicUrl}${path}'`,
    ...(method === "GET" || (method === "POST" && !isEmpty(body)) ? [] : [`-X ${method}`]),
    ...(isRoom ? [`-H "Authorization: Bearer $ROOM_TOKEN"`] : []),
    ...(isPaid ? [`-H "Idempotency-Key: $KEY"`] : []),
    ...(isEmpty(body) ? [] : ["-H 'Content-Type: application/json'", `-d '${inShell(body, isSealed)}'`]),
    ...(isPaid ? ["-i"] : []),
  ].join(" \\\n  ")

const parts = ({ body, isSealed, params }: Request) => {
  const payload =
    isSealed && typeof body === "object" && body !== null
      ? Object.fromEntries(Object.entries(body).filter(([name]) => !isSealing(name)))
      : body
  return {
    ...(params.length === 0 ? {} : { params: Object.fromEntries(params) }),
    ...(isEmpty(payload) ? {} : { payload: payload ?? null }),
    ...(isSealed ? { sealing: { words } } : {}),
  }
}

/** JSON as program text: names without quotes. */
const literal = (value: Schema.Json): string =>
  JSON.stringify(value, null, 2).replace(/^(\s*)"([A-Za-z]\w*)":/gmu, "$1$2:")

const typescript = (publicUrl: string, operation: Operation, request: Request) =>
  request.isPaid
    ? `import { buyer } from "spirit-altar"
import { open } from "spirit-altar/journal"
import { privateKeyToAccount } from "viem/accounts"

const altar = buyer({
  url: "${publicUrl}",
  account: privateKeyToAccount(process.env.PRIVATE_KEY as \`0x\${string}\`),
  journal: open("journal.db"),
})
const { record, receipt } = await altar.act("${operation.operationId}", ${literal(parts(request))})`
    : `const response = await fetch("${publicUrl}${request.path}"${initOf(request)})
const body = await response.${request.isJson ? "json" : "text"}()`

const initOf = ({ body, isRoom, method }: Request) => {
  const headers = [
    ...(isRoom ? ["Authorization: `Bearer ${process.env.ROOM_TOKEN}`"] : []),
    ...(isEmpty(body) ? [] : ['"Content-Type": "application/json"']),
  ]
  const init = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(headers.length === 0 ? [] : [`  headers: { ${headers.join(", ")} },`]),
    ...(isEmpty(body) ? [] : [`  body: JSON.stringify(${JSON.stringify(body)}),`]),
  ]
  return init.length === 0 ? "" : `, {\n${init.join("\n")}\n}`
}

/** The languages of the reference, in the order of its choice. */
export const languages = ["curl", "TypeScript", "Python", "Go"] as const

export interface Example {
  readonly name: (typeof languages)[number]
  readonly text: string
}

export const examplesOf = (publicUrl: string, forms: Forms, operation: Operation): ReadonlyArray<Example> => {
  const request = requestOf(forms, operation)
  return [
    { name: "curl", text: curl(publicUrl, request) },
    { name: "TypeScript", text: typescript(publicUrl, operation, request) },
    { name: "Python", text: python(publicUrl, request) },
    { name: "Go", text: go(publicUrl, request) },
  ]
}
