/** A program of an integrator, as text: it names what the package exports, and does not compile when a type gets lost. */
export const program = `
import { type Buyer, buyer, type Keeper, memoryJournal, Refused, seal, type Segment, type Spirit, type Stone, verify } from "spirit-altar"
import document from "spirit-altar/openapi.json" with { type: "json" }
import { privateKeyToAccount } from "viem/accounts"

const url = process.argv[2] ?? ""
const key = process.argv[3] ?? ""
const isKey = (text: string): text is \`0x\${string}\` => text.startsWith("0x")
if (!isKey(key)) throw new Error("no key")

const sealed = await seal("The heron will return by May.", "salt-of-sixteen-or-more")
const altar: Buyer = buyer({ url, account: privateKeyToAccount(key), journal: memoryJournal() })
const { record, replayed } = await altar.witness({ words: sealed.words, salt: sealed.salt, kind: "prediction" })
const id: string = record.id
// @ts-expect-error an id is text
const wrong: number = record.id
const [named, first]: [Stone, Spirit] = [record, record.spirit]
const keeps = async (): Promise<Keeper> => (await altar.keep({ spirit: first })).record
const isRefused = (error: unknown) => error instanceof Refused && error.code === "not_signed"
// @ts-expect-error a stone has a kind that the contract knows
const misspelt = () => altar.witness({ words: "words", kind: "predicition" })
// @ts-expect-error there are 24 spirits, and this is none of them
const unknown = () => altar.altar("moss-hair")

const segment: Segment = await altar.segment()
const checks = await Promise.all([verify(record, { sealed }), verify(segment)])

console.log(JSON.stringify({
  id: id === record.id, commitment: record.commitment === sealed.commitment, replayed,
  checks: checks.map((check) => check.ok), version: document.info.version,
  unused: [typeof wrong, typeof misspelt, typeof unknown, typeof keeps, isRefused(named)].length,
}))
`

/** A program that uses the contract's schemas, with the `effect` that it brings. */
export const schemaProgram = `
import { Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api, interfaceVersion } from "spirit-altar/schema"

const health = await Effect.gen(function* () {
  const client = yield* HttpApiClient.make(Api, { baseUrl: process.argv[2] ?? "" })
  return yield* client.service.health({})
}).pipe(Effect.provide(FetchHttpClient.layer), Effect.runPromise)
// @ts-expect-error a version is text
const version: number = health.version
console.log(JSON.stringify([health.version, interfaceVersion, typeof version]))
`

/** As strict as a compiler can be with it. */
export const compilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  module: "NodeNext",
  target: "ES2024",
  lib: ["ES2024", "DOM"],
  types: ["node"],
  noEmit: true,
  skipLibCheck: false,
  resolveJsonModule: true,
}
