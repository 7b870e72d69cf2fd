/** Examples of each request in curl, TypeScript and as a command. */
import type { Schema } from "effect"
import { exampleOf, type Form, type Forms, membersOf } from "./Form.ts"
import { bodyOf, isPaid, type Operation } from "./Operations.ts"

/** Operations with a command of their own; every act has one under `act`. `ID` and `KEY` are the reader's. */
export const commands: Readonly<Record<string, string>> = {
  createRoom: 'room create --name "Night shift" --show-link',
  deleteRoom: "room delete ROOM",
  listAltars: "altar",
  listSpirits: "spirits",
  readRoom: "room read ROOM",
  readWitnessChain: "verify",
  reconcile: "reconcile KEY",
  revealWitnessStone: "reveal ID",
  sendMessage: 'room send ROOM "The kettle is on."',
  unsealCandle: "unseal ID",
}

/** A member that holds a commitment; library and command seal it themselves. */
const isSealing = (name: string) => name === "commitment" || name === "intentionCommitment"

const text = (value: Schema.Json) => (typeof value === "string" ? value : JSON.stringify(value))

const withinQuotes = (value: string) => value.replace(/'/gu, `'\\''`)

const kebab = (name: string) => name.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)

interface Request {
  readonly path: string
  readonly params: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Schema.Json | undefined
  readonly isSealed: boolean
}

/** The required members of a body, or the whole example when none is required; the table describes the rest. */
const leastBody = (forms: Forms, form: Form): Schema.Json => {
  const whole = exampleOf(forms, form)
  if (typeof whole !== "object" || whole === null || Array.isArray(whole)) return whole
  const needed = new Set(membersOf(forms, form).flatMap(({ isRequired, path }) => (isRequired ? [path] : [])))
  return needed.size === 0 ? whole : Object.fromEntries(Object.entries(whole).filter(([name]) => needed.has(name)))
}

const requestOf = (forms: Forms, operation: Operation): Request => {
  const params = (operation.parameters ?? [])
    .filter((one) => one.in === "path")
    .map((one) => [one.name, text(exampleOf(forms, one.schema))] as const)
  const form = bodyOf(operation)
  const body = form === undefined ? undefined : leastBody(forms, form)
  return {
    path: params.reduce((path, [name, value]) => path.replace(`{${name}}`, encodeURIComponent(value)), operation.path),
    params,
    body,
    isSealed: typeof body === "object" && body !== null && Object.keys(body).some(isSealing),
  }
}

const isEmpty = (body: Schema.Json | undefined) =>
  body === undefined || (typeof body === "object" && body !== null && Object.keys(body).length === 0)

const isRoom = ({ security = [] }: Operation) => security.some((one) => "apiKey" in one)

const words = "The heron will return by May."

const random = "head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \\n'"

const sealed = `COMMITMENT=$(printf '%s\\0%s' "$SALT" '${words}' | sha256sum | cut -c 1-64)`

/** Shell lines that create a key, and a salt for sealed words, so that each copy has its own. */
const fresh = (operation: Operation, { isSealed }: Request) =>
  [...(isPaid(operation) ? [`KEY=$(${random})\n`] : []), ...(isSealed ? [`SALT=$(${random})\n${sealed}\n`] : [])].join(
    "",
  )

/** A body in single quotes, with shell variables spliced in. */
const inShell = (body: Schema.Json | undefined, isSealed: boolean) => {
  const quoted = withinQuotes(JSON.stringify(body))
  return isSealed ? quoted.replace(/"[0-9a-f]{64}"/u, `"'$COMMITMENT'"`) : quoted
}

const curl = (publicUrl: string, operation: Operation, request: Request) =>
  `${fresh(operation, request)}${sent(publicUrl, operation, request)}`

const sent = (publicUrl: string, operation: Operation, { body, isSealed, path }: Request) =>
  [
    `curl -sS '${publicUrl}${path}'`,
    ...(operation.method === "GET" || (operation.method === "POST" && !isEmpty(body))
      ? []
      : [`-X ${operation.method}`]),
    ...(isRoom(operation) ? [`-H "Authorization: Bearer $ROOM_TOKEN"`] : []),
    ...(isPaid(operation) ? [`-H "Idempotency-Key: $KEY"`] : []),
    ...(isEmpty(body) ? [] : ["-H 'Content-Type: application/json'", `-d '${inShell(body, isSealed)}'`]),
    ...(isPaid(operation) ? ["-i"] : []),
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
  isPaid(operation)
    ? `import { buyer } from "spirit-altar"
import { open } from "spirit-altar/journal"
import { privateKeyToAccount } from "viem/accounts"

const altar = buyer({
  url: "${publicUrl}",
  account: privateKeyToAccount(process.env.PRIVATE_KEY as \`0x\${string}\`),
  journal: open("journal.db"),
})
const { record, receipt } = await altar.act("${operation.operationId}", ${literal(parts(request))})`
    : `const response = await fetch("${publicUrl}${request.path}"${initOf(operation, request)})
const body = await response.json()`

const initOf = (operation: Operation, { body }: Request) => {
  const headers = {
    ...(isRoom(operation) ? { Authorization: "Bearer …" } : {}),
    ...(isEmpty(body) ? {} : { "Content-Type": "application/json" }),
  }
  const init = [
    ...(operation.method === "GET" ? [] : [`  method: "${operation.method}",`]),
    ...(Object.keys(headers).length === 0 ? [] : [`  headers: ${JSON.stringify(headers)},`]),
    ...(isEmpty(body) ? [] : [`  body: JSON.stringify(${JSON.stringify(body)}),`]),
  ]
  return init.length === 0 ? "" : `, {\n${init.join("\n")}\n}`
}

const flagsOf = ({ body, isSealed }: Request): ReadonlyArray<string> =>
  typeof body !== "object" || body === null || Array.isArray(body)
    ? []
    : Object.entries(body).map(([name, value]) =>
        isSealed && isSealing(name) ? `--words "${words}"` : `--${kebab(name)} '${withinQuotes(text(value))}'`,
      )

const command = (publicUrl: string, operation: Operation, request: Request): string | undefined => {
  const own = commands[operation.operationId]
  const call = isPaid(operation)
    ? ["act", operation.operationId, ...request.params.map(([, value]) => value), ...flagsOf(request)].join(" ")
    : own
  if (call === undefined) return undefined
  // An invite contains the room's URL.
  const isPlaced = call.startsWith("room ") && operation.operationId !== "createRoom"
  return `spirit-altar ${call}${isPlaced ? "" : ` \\\n  --url ${publicUrl}`}`
}

export interface Example {
  readonly name: string
  readonly text: string
}

/** The available examples; not every read has a command. */
export const examplesOf = (publicUrl: string, forms: Forms, operation: Operation): ReadonlyArray<Example> => {
  const request = requestOf(forms, operation)
  const typed = command(publicUrl, operation, request)
  return [
    { name: "curl", text: curl(publicUrl, operation, request) },
    { name: "TypeScript", text: typescript(publicUrl, operation, request) },
    ...(typed === undefined ? [] : [{ name: "Command", text: typed }]),
  ]
}
