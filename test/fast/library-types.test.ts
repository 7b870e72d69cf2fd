/** The types of the library's public API: a name or a type that changes does not compile here, before it breaks a program. */
import { describe, expectTypeOf, it } from "@effect/vitest"
import type { Endpoint } from "../../src/buyer/Acts.ts"
import * as library from "../../src/buyer/index.ts"

type Result<Name extends keyof library.Buyer> = Awaited<ReturnType<library.Buyer[Name]>>

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
    const named = `browserJournal buyer extendsTree memoryJournal normalize openCheckpoint recipe seal verifyEntry
      verifyProof verifyReceipt verifyReveal verifySegment verifyStone`.split(/\s+/u)
    expect(Object.keys(library).sort()).toEqual(named)
  })

  it("makes a buyer of a URL and, where it pays, an account", () => {
    expectTypeOf(library.buyer).parameters.toEqualTypeOf<[options: library.BuyerOptions]>()
    expectTypeOf(library.buyer).returns.toEqualTypeOf<library.Buyer>()
    expectTypeOf<{ readonly url: string }>().toExtend<library.BuyerOptions>()
    expectTypeOf<{ readonly account: library.Account }>().not.toExtend<library.BuyerOptions>()
    expectTypeOf<library.BuyerOptions>().toEqualTypeOf<{
      readonly url: string
      readonly account?: library.Account
      readonly policy?: library.Policy
      readonly journal?: library.Journal
      readonly fetch?: typeof fetch
      readonly sales?: ReadonlyArray<Endpoint>
      readonly insecure?: boolean
      readonly onProgress?: (progress: library.Progress) => void
    }>()
    expectTypeOf<library.Policy>().toEqualTypeOf<{
      readonly maxPerPayment?: bigint
      readonly maxPerDay?: bigint
      readonly network?: string
      readonly asset?: string
      readonly payTo?: string
    }>()
    expectTypeOf<library.Progress["step"]>().toEqualTypeOf<"signed" | "repeated" | "pending" | "unkept" | "silent">()
    expectTypeOf<keyof library.Buyer>().toEqualTypeOf<
      | "act"
      | "witness"
      | "pray"
      | "takeIn"
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

  it("accepts words or a commitment to seal, and never both", () => {
    const kind = "prediction"
    expectTypeOf({ words, commitment, kind } as const).not.toExtend<library.WitnessOrder>()
    expectTypeOf({ commitment, salt: words, kind } as const).not.toExtend<library.WitnessOrder>()
    expectTypeOf({ kind } as const).not.toExtend<library.WitnessOrder>()
    const spirit = "moss-hare"
    const agentName = "Heron"
    expectTypeOf({ words, commitment, spirit, agentName } as const).not.toExtend<library.PrayerOrder>()
    expectTypeOf({ spirit, agentName } as const).not.toExtend<library.PrayerOrder>()
    expectTypeOf({ words, agentName }).not.toExtend<library.PrayerOrder>()
  })

  it("accepts candles with or without sealed words, for the days that candles burn", () => {
    const spirit = "moss-hare"
    expectTypeOf({ spirit, days: 7, words, commitment } as const).not.toExtend<library.CandleOrder>()
    expectTypeOf({ spirit, days: 2 } as const).not.toExtend<library.CandleOrder>()
    expectTypeOf({ spirit } as const).not.toExtend<library.CandleOrder>()
  })

  it("accepts every other order by its own members, and any order under a key", () => {
    expectTypeOf({ spirit: "nobody" } as const).not.toExtend<library.KeeperOrder>()
    expectTypeOf({ spirit: "moss-hare" } as const).not.toExtend<library.CollectOrder>()
    type Keyed = { readonly key?: string }
    expectTypeOf<
      | library.WitnessOrder
      | library.PrayerOrder
      | library.KeeperOrder
      | library.CollectOrder
      | library.CandleOrder
      | library.ActOrder
    >().toExtend<Keyed>()
    expectTypeOf<library.Opening>().toEqualTypeOf<{
      readonly salt?: string
      readonly words?: string
      readonly agentName?: string
    }>()
  })

  it("buys any act by its name, with text parameters", () => {
    expectTypeOf<library.Buyer["act"]>().parameters.toEqualTypeOf<
      [name: string, order: library.ActOrder, call?: library.Call | undefined]
    >()
    expectTypeOf<Result<"act">>().toExtend<Bought>()
    expectTypeOf({
      params: { familiarId: "moss-hare" },
      query: { day: "2030-01-01" },
      payload: { agentName: "Heron", count: 1 },
      sealing: { words },
      key: "a-key-of-this-test",
    }).toExtend<library.ActOrder>()
    expectTypeOf({ params: { familiarId: 1 } }).not.toExtend<library.ActOrder>()
    expectTypeOf<library.Call>().toEqualTypeOf<{ readonly signal?: AbortSignal }>()
  })

  it("answers each act with its record, its receipt and its key", () => {
    expectTypeOf<Result<"witness" | "pray" | "takeIn" | "collect" | "light">>().toExtend<Bought>()
    expectTypeOf<Result<"witness">["record"]>().toExtend<library.Link & { readonly id: string }>()
    expectTypeOf<Result<"reveal">["replayed"]>().toEqualTypeOf<boolean>()
    expectTypeOf<Result<"unseal">["replayed"]>().toEqualTypeOf<boolean>()
    expectTypeOf<Result<"spirits">[number]["id"]>().toExtend<string>()
    expectTypeOf<Parameters<library.Buyer["altar"]>[0]>().toEqualTypeOf<library.KeeperOrder["spirit"]>()
    expectTypeOf<Parameters<library.Buyer["reconcile"]>>().toEqualTypeOf<
      [key: string, call?: library.Call | undefined]
    >()
  })

  it("rejects with library.Refused or library.Open, distinguished by their tag", () => {
    const read = (error: library.Refused | library.Open) => {
      if (error._tag === "Open") {
        expectTypeOf(error).toEqualTypeOf<library.Open>()
        return error.key
      }
      expectTypeOf(error).toEqualTypeOf<library.Refused>()
      expectTypeOf(error.code).toEqualTypeOf<string>()
      return error.message
    }
    expectTypeOf(read).returns.toEqualTypeOf<string>()
    expectTypeOf<library.Refused["_tag"]>().toEqualTypeOf<"Refused">()
    expectTypeOf<library.Open["_tag"]>().toEqualTypeOf<"Open">()
    expectTypeOf<library.Refused["key"]>().toEqualTypeOf<string | undefined>()
    expectTypeOf<library.Open["key"]>().toEqualTypeOf<string>()
  })

  it("accepts a journal of three functions and a turn", () => {
    expectTypeOf<library.Pages>().toEqualTypeOf<{
      readonly get: (name: string) => Promise<string | undefined>
      readonly set: (name: string, text: string) => Promise<void>
      readonly all: (prefix: string) => Promise<ReadonlyArray<string>>
    }>()
    expectTypeOf<library.Journal>().toEqualTypeOf<{
      readonly alone: <A>(run: (pages: library.Pages) => Promise<A>) => Promise<A>
    }>()
    expectTypeOf(library.memoryJournal).toEqualTypeOf<() => library.Journal>()
    expectTypeOf(library.browserJournal).toEqualTypeOf<(name?: string) => library.Journal>()
  })

  it("seals and verifies with nothing but hashing", () => {
    expectTypeOf(library.seal).toEqualTypeOf<(words: string, salt?: string) => Promise<library.Sealed>>()
    expectTypeOf<library.Sealed>().toEqualTypeOf<{
      readonly commitment: string
      readonly salt: string
      readonly words: string
    }>()
    expectTypeOf(library.verifyStone).toEqualTypeOf<
      (
        stone: library.Link & { readonly reveal?: library.Revealed | null },
        sealed?: { readonly salt: string; readonly words: string },
      ) => Promise<{ readonly ok: true } | library.Broken>
    >()
    expectTypeOf(library.verifyReveal).toEqualTypeOf<
      (
        commitment: string | null,
        revealed: library.Revealed | null,
      ) => Promise<{ readonly ok: true } | { readonly ok: false; readonly reason: string }>
    >()
    expectTypeOf<{ readonly text: string; readonly salt: string }>().toExtend<library.Revealed>()
    expectTypeOf<{ readonly words: null; readonly salt: null }>().toExtend<library.Revealed>()
    expectTypeOf(library.verifySegment).toEqualTypeOf<
      (
        segment: library.Segment,
        anchor?: library.Head,
      ) => Promise<{ readonly ok: true; readonly links: number; readonly head: library.Head } | library.Broken>
    >()
    expectTypeOf<library.Broken>().toEqualTypeOf<{
      readonly ok: false
      readonly sequence: number
      readonly reason: string
    }>()
    expectTypeOf<library.Head>().toEqualTypeOf<{ readonly sequence: number; readonly chainHash: string }>()
    expectTypeOf<library.Segment>().toEqualTypeOf<{
      readonly anchor: library.Head
      readonly entries: ReadonlyArray<library.Link>
      readonly head: library.Head
      readonly next: number | null
    }>()
    expectTypeOf(library.normalize).toEqualTypeOf<(words: string) => string>()
    expectTypeOf(library.recipe).toBeString()
  })
})
