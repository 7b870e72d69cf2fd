/** Buys a stone and reveals it with the client that `swagger-typescript-api` generates. */
import { baseUrl, must, newKey, payingFetch, seal } from "./Setting.ts"
import { Api, StoneKind } from "./swagger/altar.ts"

const { api } = new Api({ baseUrl, customFetch: (input, init) => payingFetch(input, init) })
const { commitment, salt, text } = seal("Bought with swagger-typescript-api.")
const set = await api.setWitnessStone(
  { commitment, kind: StoneKind.Prediction },
  { headers: { "Idempotency-Key": newKey() } },
)
const opened = await api.revealWitnessStone(set.data.record.id, { salt, text })
console.log(must(opened.data.stone.reveal?.text, "the revealed text"))
