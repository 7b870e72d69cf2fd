/** The parts that both programs need beside a generated client: a funded wallet that pays, sealed words, and where to say the result. */
import { createHash, randomUUID } from "node:crypto"
import { ExactEvmScheme } from "@x402/evm"
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch"
import { privateKeyToAccount } from "viem/accounts"

const [, , url = "", privateKey = "0x"] = process.argv

export const baseUrl = url
const wallet = privateKeyToAccount(`0x${privateKey.slice(2)}`)

/** `fetch` that answers a 402 by paying, from the unchanged reference client. */
export const payingFetch = wrapFetchWithPaymentFromConfig(fetch, {
  schemes: [{ network: "eip155:*", client: new ExactEvmScheme(wallet) }],
})

export const newKey = () => `program-${randomUUID()}`

export const seal = (text: string) => {
  const salt = randomUUID()
  return { salt, text, commitment: createHash("sha256").update(`${salt}\0${text}`).digest("hex") }
}

export const must = <A>(value: A | null | undefined, what: string): A => {
  if (value === null || value === undefined) throw new Error(`${what} is missing`)
  return value
}

/** The output that the test compares with the chain and the database. */
export interface Told {
  readonly stone: string
  readonly sequence: number
  readonly commitment: string
  readonly payer: string
  readonly transaction: string
  readonly revealed: string | null
  readonly replayed: boolean
  readonly pixels: number
  readonly offered: string
  readonly signals: ReadonlyArray<string>
}

export const tell = (told: Told) => process.stdout.write(`${JSON.stringify(told)}\n`)
