/** Buys a stone and reveals it with the client that `@hey-api/openapi-ts` generates. */
import { client } from "./hey-api/client.gen.ts"
import { revealWitnessStone, setWitnessStone } from "./hey-api/index.ts"
import { baseUrl, must, newKey, payingFetch, seal } from "./Setting.ts"

client.setConfig({ baseUrl, fetch: payingFetch })
const { commitment, salt, text } = seal("Bought with hey-api.")
const set = await setWitnessStone({
  body: { commitment, kind: "prediction" },
  headers: { "Idempotency-Key": newKey() },
})
if (set.error !== undefined) throw new Error(set.error.message)
if ("reconcile" in set.data) throw new Error(set.data.message)
const path = { witnessId: set.data.record.id }
const opened = await revealWitnessStone({ path, body: { salt, text } })
console.log(must(opened.data?.stone.reveal?.text, "the revealed text"))
