/** An example in Python, with its standard library alone. */
import type { Schema } from "effect"
import { isEmpty, isSealing, type Request, words } from "./Request.ts"

/** JSON as Python; a sealed commitment is the variable of that name. */
const literal = (value: Schema.Json, name = ""): string => {
  if (isSealing(name)) return "commitment"
  if (value === null) return "None"
  if (typeof value === "boolean") return value ? "True" : "False"
  if (typeof value !== "object") return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((one: Schema.Json) => literal(one)).join(", ")}]`
  return `{${Object.entries(value)
    .map(([key, one]) => `${JSON.stringify(key)}: ${literal(one, key)}`)
    .join(", ")}}`
}

const headersOf = ({ body, isPaid, isRoom }: Request) => [
  ...(isRoom ? [`"Authorization": "Bearer " + os.environ["ROOM_TOKEN"]`] : []),
  ...(isPaid ? [`"Idempotency-Key": secrets.token_hex(16)`] : []),
  ...(isEmpty(body) ? [] : [`"Content-Type": "application/json"`]),
]

export const python = (publicUrl: string, request: Request): string => {
  const { body, isJson, isPaid, isRoom, isSealed, method, path } = request
  const headers = headersOf(request)
  const modules = [
    ...(isSealed ? ["hashlib"] : []),
    "json",
    ...(isRoom ? ["os"] : []),
    ...(isPaid || isSealed ? ["secrets"] : []),
    "urllib.error",
    "urllib.request",
  ].filter((name) => name !== "json" || isJson || !isEmpty(body))
  return [
    `import ${modules.join(", ")}`,
    "",
    ...(isSealed
      ? [
          "salt = secrets.token_hex(16)  # Keep it with the words.",
          `commitment = hashlib.sha256(f"{salt}\\0${words}".encode()).hexdigest()`,
        ]
      : []),
    "request = urllib.request.Request(",
    `    "${publicUrl}${path}",`,
    ...(method === "GET" ? [] : [`    method="${method}",`]),
    ...(headers.length === 0 ? [] : ["    headers={", ...headers.map((line) => `        ${line},`), "    },"]),
    ...(isEmpty(body) ? [] : [`    data=json.dumps(${literal(body ?? null)}).encode(),`]),
    ")",
    "try:",
    "    response = urllib.request.urlopen(request)",
    "except urllib.error.HTTPError as error:",
    `    response = error${isPaid ? "  # 402: sign the offer with an x402 client." : ""}`,
    `print(response.status, ${isJson ? "json.load(response)" : "response.read().decode()"})`,
  ].join("\n")
}
