/** Buys a stone and reveals it with the client that `orval` generates. */
import { revealWitnessStone, setWitnessStone } from "./orval/altar.ts"
import { baseUrl, must, newKey, payingFetch, seal } from "./Setting.ts"

globalThis.fetch = (path, init) => payingFetch(`${baseUrl}${path}`, init)
const { commitment, salt, text } = seal("Bought with orval.")
const set = await setWitnessStone({ commitment, kind: "prediction" }, { headers: { "Idempotency-Key": newKey() } })
if (set.status !== 201) throw new Error(`${set.status}`)
const opened = await revealWitnessStone(set.data.record.id, { salt, text })
if (opened.status !== 201) throw new Error(`${opened.status}`)
console.log(must(opened.data.stone.reveal?.text, "the revealed text"))
