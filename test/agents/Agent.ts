/** An agent that knows the URL of `/mcp` and a funded key: it reads tool results, and sends what they say. */
import { createHash, randomBytes } from "node:crypto"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { privateKeyToAccount } from "viem/accounts"
import type { Kit } from "../../schema/agents/Kit.ts"

type Json = Readonly<Record<string, unknown>>

const post = async (url: string, body: unknown, headers: Record<string, string> = {}) => {
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers } }
  const answer = await fetch(url, body === null ? init : { ...init, body: JSON.stringify(body) })
  return { status: answer.status, json: await answer.json() }
}

/** Buys a prayer, a light and a stone, reveals the stone, and has it verified. */
export const visit = async (mcpUrl: string, key: `0x${string}`) => {
  const wallet = privateKeyToAccount(key)
  const client = new Client({ name: "agent", version: "1" }, { versionNegotiation: { mode: "auto" } })
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl)))

  const ask = async <Answer = Json>(name: string, args: Json = {}): Promise<Answer> => {
    const { content, isError, structuredContent } = await client.callTool({ name, arguments: { ...args } })
    if (isError === true) throw new Error(`${name} refused: ${JSON.stringify(content)}`)
    return JSON.parse(JSON.stringify(structuredContent))
  }

  const seal = (words: string) => {
    const salt = randomBytes(16).toString("hex")
    return { salt, commitment: createHash("sha256").update(`${salt}\0${words}`).digest("hex") }
  }

  const buy = async (args: Json) => {
    const kit = await ask<Kit>("buy_kit", { ...args, payer: wallet.address })
    const { domain, message, primaryType, types } = JSON.parse(JSON.stringify(kit.sign.typedData))
    const signature = await wallet.signTypedData({ domain, message, primaryType, types })
    const payment = { ...kit.payment, payload: { ...Object(kit.payment["payload"]), signature } }
    const headers = {
      "idempotency-key": randomBytes(12).toString("hex"),
      "payment-signature": Buffer.from(JSON.stringify(payment)).toString("base64"),
    }
    const { json, status } = await post(kit.request.url, kit.request.body, headers)
    const outcome = kit.outcomes.find((one) => one.status === status)
    if (status !== 201) throw new Error(`${status} ${outcome?.meaning ?? ""} ${JSON.stringify(json)}`)
    return { record: json.record, afterwards: kit.afterwards }
  }

  const { altars } = await ask<{ altars: ReadonlyArray<{ spirit: string; today: { state: string } }> }>("altar")
  const spirit = altars.find(({ today }) => today.state === "free")?.spirit
  const words = "The heron will return by May."
  const sealed = seal(words)
  const prayer = await buy({ action: "offerPrayer", spirit, agentName: "Wren", commitment: sealed.commitment })
  const light = await buy({ action: "lightDay", spirit, dedication: "For the bees" })
  const stone = await buy({ action: "setWitnessStone", commitment: sealed.commitment })
  const url = stone.afterwards?.url.replace("{id}", stone.record.id) ?? ""
  const revealed = await post(url, { salt: sealed.salt, text: words })
  const verification = await ask("verify_witness", { witnessId: stone.record.id })
  await client.close()
  return { prayer, light, stone, revealed, verification }
}
