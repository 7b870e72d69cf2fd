/** The types of the library's public API: a name or a type that changes does not compile here, before it breaks a program. */
import { describe, expectTypeOf, it } from "@effect/vitest"
import type { Endpoint } from "../../src/buyer/Acts.ts"
import * as library from "../../src/buyer/index.ts"
import type {
  Account,
  ActOrder,
  Broken,
  Buyer,
  BuyerOptions,
  Call,
  CandleOrder,
  CollectOrder,
  Head,
  Journal,
  KeeperOrder,
  Link,
  Open,
  Opening,
  Pages,
  Policy,
  PrayerOrder,
  Progress,
  Refused,
  Sealed,
  Revealed,
  Segment,
  WitnessOrder,
} from "../../src/buyer/index.ts"

/** What a call of the buyer resolves to. */
type Result<Name extends keyof Buyer> = Awaited<ReturnType<Buyer[Name]>>

/** The answer of every act, whatever else stands in it. */
interface Bought {
  readonly key: string
  readonly replayed: boolean
  readonly permalink: string
  readonly record: { readonly id: string }
  readonly receipt: { readonly priceUsd: string }
}

const words = "The heron will return by May."
const commitment = "0".repeat(64)

describe("the library", () => {
  it("exports these values and no others", ({ expect }) => {
    expect(Object.keys(library).sort()).toEqual([
      "browserJournal",
      "buyer",
      "extendsTree",
      "memoryJournal",
      "normalize",
      "openCheckpoint",
      "recipe",
      "seal",
      "verifyProof",
      "verifyReveal",
      "verifySegment",
      "verifyStone",
    ])
  })

  it("makes a buyer of a URL and, where it pays, an account", () => {
    expectTypeOf(library.buyer).parameters.toEqualTypeOf<[options: BuyerOptions]>()
    expectTypeOf(library.buyer).returns.toEqualTypeOf<Buyer>()
    expectTypeOf<{ readonly url: string }>().toExtend<BuyerOptions>()
    expectTypeOf<{ readonly account: Account }>().not.toExtend<BuyerOptions>()
    expectTypeOf<BuyerOptions>().toEqualTypeOf<{
      readonly url: string
      readonly account?: Account
      readonly policy?: Policy
      readonly journal?: Journal
      readonly fetch?: typeof fetch
      readonly sales?: ReadonlyArray<Endpoint>
      readonly insecure?: boolean
      readonly onProgress?: (progress: Progress) => void
    }>()
    expectTypeOf<Policy>().toEqualTypeOf<{
      readonly maxPerPayment?: bigint
      readonly maxPerDay?: bigint
      readonly network?: string
      readonly asset?: string
      readonly payTo?: string
    }>()
    expectTypeOf<Progress["step"]>().toEqualTypeOf<"signed" | "repeated" | "pending" | "unkept" | "silent">()
    expectTypeOf<keyof Buyer>().toEqualTypeOf<
      | "act"
      | "witness"
      | "pray"
      | "keep"
      | "collect"
      | "light"
      | "reveal"
      | "unseal"
      | "reconcile"
      | "proof"
      | "spirits"
      | "altar"
    >()
  })

  it("takes words or a commitment for what is sealed, and never both", () => {
    const kind = "prediction"
    expectTypeOf({ words, kind } as const).toExtend<WitnessOrder>()
    expectTypeOf({ words, kind, salt: "salt-of-sixteen-or-more" } as const).toExtend<WitnessOrder>()
    expectTypeOf({ commitment, kind } as const).toExtend<WitnessOrder>()
    expectTypeOf({ words, commitment, kind } as const).not.toExtend<WitnessOrder>()
    expectTypeOf({ commitment, salt: words, kind } as const).not.toExtend<WitnessOrder>()
    expectTypeOf({ kind } as const).not.toExtend<WitnessOrder>()
    const spirit = "moss-hare"
    const agentName = "Heron"
    expectTypeOf({ words, spirit, agentName } as const).toExtend<PrayerOrder>()
    expectTypeOf({ commitment, spirit, agentName } as const).toExtend<PrayerOrder>()
    expectTypeOf({ words, commitment, spirit, agentName } as const).not.toExtend<PrayerOrder>()
    expectTypeOf({ spirit, agentName } as const).not.toExtend<PrayerOrder>()
    expectTypeOf({ words, agentName }).not.toExtend<PrayerOrder>()
  })

  it("takes candles with or without sealed words, for the days that candles burn", () => {
    const spirit = "moss-hare"
    expectTypeOf({ spirit, days: 1 } as const).toExtend<CandleOrder>()
    expectTypeOf({ spirit, days: 7, words } as const).toExtend<CandleOrder>()
    expectTypeOf({ spirit, days: 30, commitment } as const).toExtend<CandleOrder>()
    expectTypeOf({ spirit, days: 7, words, commitment } as const).not.toExtend<CandleOrder>()
    expectTypeOf({ spirit, days: 2 } as const).not.toExtend<CandleOrder>()
    expectTypeOf({ spirit } as const).not.toExtend<CandleOrder>()
  })

  it("takes every other order by its own members, and any order under a key", () => {
    expectTypeOf({ spirit: "moss-hare", reason: words } as const).toExtend<KeeperOrder>()
    expectTypeOf({ spirit: "nobody" } as const).not.toExtend<KeeperOrder>()
    expectTypeOf({ element: "pixel-bit-frog", spirit: "moss-hare" } as const).toExtend<CollectOrder>()
    expectTypeOf({ spirit: "moss-hare" } as const).not.toExtend<CollectOrder>()
    type Keyed = { readonly key?: string }
    expectTypeOf<WitnessOrder | PrayerOrder | KeeperOrder | CollectOrder | CandleOrder | ActOrder>().toExtend<Keyed>()
    expectTypeOf<Opening>().toEqualTypeOf<{
      readonly salt?: string
      readonly words?: string
      readonly agentName?: string
    }>()
  })

  it("buys any act by its name, in texts", () => {
    expectTypeOf<Buyer["act"]>().parameters.toEqualTypeOf<[name: string, order: ActOrder, call?: Call | undefined]>()
    expectTypeOf<Result<"act">>().toExtend<Bought>()
    expectTypeOf({
      params: { familiarId: "moss-hare" },
      query: { day: "2030-01-01" },
      payload: { agentName: "Heron", count: 1 },
      sealing: { words },
      key: "a-key-of-this-test",
    }).toExtend<ActOrder>()
    expectTypeOf({ params: { familiarId: 1 } }).not.toExtend<ActOrder>()
    expectTypeOf<Call>().toEqualTypeOf<{ readonly signal?: AbortSignal }>()
  })

  it("answers each act with its record, its receipt and the key it was bought under", () => {
    expectTypeOf<Result<"witness" | "pray" | "keep" | "collect" | "light">>().toExtend<Bought>()
    expectTypeOf<Result<"witness">["record"]>().toExtend<Link & { readonly id: string }>()
    expectTypeOf<Result<"reveal">["replayed"]>().toEqualTypeOf<boolean>()
    expectTypeOf<Result<"unseal">["replayed"]>().toEqualTypeOf<boolean>()
    expectTypeOf<Result<"spirits">[number]["id"]>().toExtend<string>()
    expectTypeOf<Parameters<Buyer["altar"]>[0]>().toEqualTypeOf<KeeperOrder["spirit"]>()
    expectTypeOf<Parameters<Buyer["reconcile"]>>().toEqualTypeOf<[key: string, call?: Call | undefined]>()
  })

  it("rejects with Refused or Open, told apart by their tag", () => {
    const read = (error: Refused | Open) => {
      if (error._tag === "Open") {
        expectTypeOf(error).toEqualTypeOf<Open>()
        return error.key
      }
      expectTypeOf(error).toEqualTypeOf<Refused>()
      expectTypeOf(error.code).toEqualTypeOf<string>()
      return error.message
    }
    expectTypeOf(read).returns.toEqualTypeOf<string>()
    expectTypeOf<Refused["_tag"]>().toEqualTypeOf<"Refused">()
    expectTypeOf<Open["_tag"]>().toEqualTypeOf<"Open">()
    expectTypeOf<Refused["key"]>().toEqualTypeOf<string | undefined>()
    expectTypeOf<Open["key"]>().toEqualTypeOf<string>()
  })

  it("keeps a journal wherever three functions and a turn can be given", () => {
    expectTypeOf<Pages>().toEqualTypeOf<{
      readonly get: (name: string) => Promise<string | undefined>
      readonly set: (name: string, text: string) => Promise<void>
      readonly all: (prefix: string) => Promise<ReadonlyArray<string>>
    }>()
    expectTypeOf<Journal>().toEqualTypeOf<{
      readonly alone: <A>(run: (pages: Pages) => Promise<A>) => Promise<A>
    }>()
    expectTypeOf(library.memoryJournal).toEqualTypeOf<() => Journal>()
    expectTypeOf(library.browserJournal).toEqualTypeOf<(name?: string) => Journal>()
  })

  it("seals and verifies with nothing but hashing", () => {
    expectTypeOf(library.seal).toEqualTypeOf<(words: string, salt?: string) => Promise<Sealed>>()
    expectTypeOf<Sealed>().toEqualTypeOf<{
      readonly commitment: string
      readonly salt: string
      readonly words: string
    }>()
    expectTypeOf(library.verifyStone).toEqualTypeOf<
      (
        stone: Link & { readonly reveal?: Revealed | null },
        sealed?: { readonly salt: string; readonly words: string },
      ) => Promise<{ readonly ok: true } | Broken>
    >()
    expectTypeOf(library.verifyReveal).toEqualTypeOf<
      (
        commitment: string | null,
        revealed: Revealed | null,
      ) => Promise<{ readonly ok: true } | { readonly ok: false; readonly reason: string }>
    >()
    expectTypeOf<{ readonly text: string; readonly salt: string }>().toExtend<Revealed>()
    expectTypeOf<{ readonly words: null; readonly salt: null }>().toExtend<Revealed>()
    expectTypeOf(library.verifySegment).toEqualTypeOf<
      (
        segment: Segment,
        anchor?: Head,
      ) => Promise<{ readonly ok: true; readonly links: number; readonly head: Head } | Broken>
    >()
    expectTypeOf<Broken>().toEqualTypeOf<{
      readonly ok: false
      readonly sequence: number
      readonly reason: string
    }>()
    expectTypeOf<Head>().toEqualTypeOf<{ readonly sequence: number; readonly chainHash: string }>()
    expectTypeOf<Segment>().toEqualTypeOf<{
      readonly anchor: Head
      readonly entries: ReadonlyArray<Link>
      readonly head: Head
      readonly next: number | null
    }>()
    expectTypeOf(library.normalize).toEqualTypeOf<(words: string) => string>()
    expectTypeOf(library.recipe).toBeString()
  })
})
