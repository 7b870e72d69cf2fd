/** Examples of each request with curl, and of each purchase in TypeScript. */
import { isSealing } from "../../../schema/altar/Recipe.ts"
import type { Forms } from "../../../schema/Form.ts"
import { exampleOf } from "../../../schema/openapi/JsonSchema.ts"
import { inputName } from "../../../schema/payments/Sale.ts"
import { bodyOf, isPaid, type Operation } from "./Operations.ts"

const words = "The heron will return by May."

const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value))

const requestOf = (forms: Forms, operation: Operation) => {
  const params = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === "path")
    .map((parameter) => [parameter.name, text(exampleOf(parameter.schema, forms))] as const)
  const form = bodyOf(operation)
  const body = form === undefined ? undefined : exampleOf(form, forms)
  return {
    method: operation.method,
    path: params.reduce((path, [name, value]) => path.replace(`{${name}}`, encodeURIComponent(value)), operation.path),
    params,
    body,
    isSealed: Object.keys(Object(body)).some(isSealing),
    isPaid: isPaid(operation),
    isRoom: (operation.security ?? []).some((scheme) => "apiKey" in scheme),
  }
}

type Request = ReturnType<typeof requestOf>

const isEmpty = (body: unknown) => Object.keys(Object(body)).length === 0

const random = "head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \\n'"

const sealed = `COMMITMENT=$(printf '%s\\0%s' "$SALT" '${words}' | sha256sum | cut -c 1-64)`

/** A body in single quotes, with shell variables spliced in. */
const inShell = (body: unknown, isSealed: boolean) => {
  const quoted = JSON.stringify(body).replace(/'/gu, `'\\''`)
  return isSealed ? quoted.replace(/"[0-9a-f]{64}"/u, `"'$COMMITMENT'"`) : quoted
}

/** Each run makes a key, and a salt for sealed words, of its own. */
const curl = (publicUrl: string, { body, isPaid, isRoom, isSealed, method, path }: Request) => {
  const call = [
    `curl -sS '${publicUrl}${path}'`,
    ...(method === "GET" || (method === "POST" && !isEmpty(body)) ? [] : [`-X ${method}`]),
    ...(isRoom ? [`-H "Authorization: Bearer $ROOM_TOKEN"`] : []),
    ...(isPaid ? [`-H "Idempotency-Key: $KEY"`] : []),
    ...(isEmpty(body) ? [] : ["-H 'Content-Type: application/json'", `-d '${inShell(body, isSealed)}'`]),
    ...(isPaid ? ["-i"] : []),
  ]
  return [
    ...(isPaid ? [`KEY=$(${random})`] : []),
    ...(isSealed ? [`SALT=$(${random})`, sealed] : []),
    call.join(" \\\n  "),
  ].join("\n")
}

/** The library seals words itself, and takes path and body in one. */
const inputOf = ({ body, isSealed, params }: Request) => ({
  ...Object.fromEntries(params.map(([name, value]) => [inputName(name), value])),
  ...Object.fromEntries(Object.entries(Object(body)).filter(([name]) => !isSealing(name))),
  ...(isSealed ? { words } : {}),
})

/** JSON as program text: names without quotes. */
const literal = (value: object): string => JSON.stringify(value, null, 2).replace(/^(\s*)"([A-Za-z]\w*)":/gmu, "$1$2:")

const typescript = (publicUrl: string, operation: Operation, request: Request) =>
  `import { buyer } from "spirit-altar"
import { open } from "spirit-altar/journal"
import { privateKeyToAccount } from "viem/accounts"

const altar = buyer({
  url: "${publicUrl}",
  account: privateKeyToAccount(process.env.PRIVATE_KEY as \`0x\${string}\`),
  journal: open("journal.db"),
})
const { record, receipt } = await altar.buy("${operation.operationId}", ${literal(inputOf(request))})`

export const examplesOf = (publicUrl: string, forms: Forms, operation: Operation) => {
  const request = requestOf(forms, operation)
  const bash = ["curl", curl(publicUrl, request)] as const
  return request.isPaid ? [bash, ["TypeScript", typescript(publicUrl, operation, request)] as const] : [bash]
}
