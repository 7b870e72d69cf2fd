/** An example in Go 1.24, with its standard library alone. */
import { isEmpty, isSealing, type Request, words } from "./Request.ts"

/** The body as a raw string, with the commitment spliced in. */
const bodyOf = ({ body, isSealed }: Request) => {
  if (isEmpty(body)) return "nil"
  const raw = `\`${JSON.stringify(body)}\``
  const names = typeof body === "object" && body !== null ? Object.keys(body).filter(isSealing) : []
  return `strings.NewReader(${
    isSealed ? raw.replace(new RegExp(`"(${names.join("|")})":"[^"]*"`, "u"), '"$1":"` + commitment + `"') : raw
  })`
}

const fails = ["\tif err != nil {", "\t\tpanic(err)", "\t}"]

const headersOf = ({ body, isPaid, isRoom }: Request) => [
  ...(isRoom ? ['"Authorization", "Bearer "+os.Getenv("ROOM_TOKEN")'] : []),
  ...(isPaid ? ['"Idempotency-Key", rand.Text()'] : []),
  ...(isEmpty(body) ? [] : ['"Content-Type", "application/json"']),
]

export const go = (publicUrl: string, request: Request): string => {
  const { body, isPaid, isRoom, isSealed, method, path } = request
  const packages = [
    ...(isPaid || isSealed ? ["crypto/rand"] : []),
    ...(isSealed ? ["crypto/sha256"] : []),
    "fmt",
    "io",
    "net/http",
    ...(isRoom ? ["os"] : []),
    ...(isEmpty(body) ? [] : ["strings"]),
  ]
  return [
    "package main",
    "",
    "import (",
    ...packages.map((name) => `\t"${name}"`),
    ")",
    "",
    "func main() {",
    ...(isSealed
      ? [
          "\tsalt := rand.Text() // Keep it with the words.",
          `\tcommitment := fmt.Sprintf("%x", sha256.Sum256([]byte(salt+"\\x00${words}")))`,
        ]
      : []),
    `\trequest, err := http.NewRequest("${method}", "${publicUrl}${path}", ${bodyOf(request)})`,
    ...fails,
    ...headersOf(request).map((line) => `\trequest.Header.Set(${line})`),
    "\tresponse, err := http.DefaultClient.Do(request)",
    ...fails,
    "\tdefer response.Body.Close()",
    "\tanswer, err := io.ReadAll(response.Body)",
    ...fails,
    `\tfmt.Println(response.Status, string(answer))${isPaid ? " // 402: sign the offer with an x402 client." : ""}`,
    "}",
  ].join("\n")
}
