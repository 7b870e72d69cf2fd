/** A purchase from a terminal, command by command, with its output; a test runs it as published. */
import { setWitnessStone } from "../../schema/altar/Witness.ts"
import { revealWitnessStone } from "../../schema/altar/WitnessApi.ts"
import { reconcilePath } from "../../schema/payments/Endpoint.ts"

export interface Step {
  readonly title: string
  readonly language: "sh" | "js"
  /** A shell command; for `js`, the file's content. */
  readonly run: string
  /** Its output; empty for none. */
  readonly prints: string
}

/** A path of the contract with a shell variable as its parameter. */
const withVariable = (path: string, variable: string) => path.replace(/:[A-Za-z]+/u, () => variable)

const json = "-H 'content-type: application/json'"

/** The request of the stone, the same each time. */
const stone = (publicUrl: string) => `curl -sS -X POST ${publicUrl}${setWitnessStone.path} ${json} \\
  -H "idempotency-key: $KEY" -d '{"commitment":"'$COMMITMENT'","kind":"prediction"}'`

/** Needs a POSIX shell, curl, and Node with three packages to sign with. */
export const transcript = (publicUrl: string): ReadonlyArray<Step> => [
  {
    title: "Seal your words. Salt and words stay with you until you reveal them.",
    language: "sh",
    run: `WORDS='The heron will return by May.'
SALT=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \\n')
COMMITMENT=$(printf '%s\\0%s' "$SALT" "$WORDS" | sha256sum | cut -c 1-64)
KEY=stone-$(head -c 12 /dev/urandom | od -An -tx1 | tr -d ' \\n')`,
    prints: "",
  },
  {
    title: "Ask for the price. Nothing is reserved.",
    language: "sh",
    run: `${stone(publicUrl)} \\
  -D headers.txt -o refusal.json -w '%{http_code}\\n'
awk 'tolower($1) == "payment-required:" { print $2 }' headers.txt | tr -d '\\r' | base64 -d > challenge.json`,
    prints: "402",
  },
  {
    title:
      "Save this as sign.mjs, beside the packages @x402/core, @x402/evm and viem. BUYER_KEY is the key of your wallet.",
    language: "js",
    run: `import { readFileSync, writeFileSync } from "node:fs"
import { x402Client } from "@x402/core/client"
import { ExactEvmScheme } from "@x402/evm"
import { privateKeyToAccount } from "viem/accounts"

const wallet = new ExactEvmScheme(privateKeyToAccount(process.env.BUYER_KEY))
const challenge = JSON.parse(readFileSync("challenge.json", "utf8"))
const payment = await new x402Client().register("eip155:*", wallet).createPaymentPayload(challenge)
writeFileSync("payment.txt", Buffer.from(JSON.stringify(payment)).toString("base64"))`,
    prints: "",
  },
  {
    title: "Sign it, and send the same request again with the payment.",
    language: "sh",
    run: `node sign.mjs
${stone(publicUrl)} \\
  -H "payment-signature: $(cat payment.txt)" -o stone.json -w '%{http_code}\\n'`,
    prints: "201",
  },
  {
    title: "Lost the answer? The same key, URL and body bring it again, and charge nothing.",
    language: "sh",
    run: `${stone(publicUrl)} \\
  -o replay.json -w '%{http_code}\\n'
curl -sS -X POST ${publicUrl}${withVariable(reconcilePath, "$KEY")} -o reconciled.json -w '%{http_code}\\n'`,
    prints: "200\n200",
  },
  {
    title: "Let the server recompute the stone's link, over MCP.",
    language: "sh",
    run: `ID=$(grep -o '"id":"[^"]*"' stone.json | head -n 1 | cut -d '"' -f 4)
curl -sS ${publicUrl}/mcp ${json} -H 'accept: application/json, text/event-stream' \\
  -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"verify_witness","arguments":{"witnessId":"'$ID'"}}}' |
  grep -o '"verified":true' | head -n 1`,
    prints: '"verified":true',
  },
  {
    title: "Reveal it when you want to. Free, once, and public: salt and words.",
    language: "sh",
    run: `curl -sS -X POST ${publicUrl}${withVariable(revealWitnessStone.path, "$ID")} ${json} \\
  -d '{"salt":"'$SALT'","text":"'"$WORDS"'"}' -o revealed.json -w '%{http_code}\\n'`,
    prints: "201",
  },
]
