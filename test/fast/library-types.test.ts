/**
 * The library's public types, as far as no program of the tests uses them: its exports, and orders that do not compile.
 * `npm run check` holds the expectations of types, which no run can fail.
 */
import { describe, expectTypeOf, it } from "@effect/vitest"
import { textOf } from "../lab/Sources.ts"
import * as library from "../../src/buyer/index.ts"

const words = "The heron will return by May."
const commitment = "0".repeat(64)
const spirit = "moss-hare"

describe("the library", () => {
  it("exports these values and no others", ({ expect }) => {
    const named =
      "AltarError Misrecorded Open Refused bindFetch bindNonce browserJournal buyer checkBinding memoryJournal normalize recipe seal verify".split(
        " ",
      )
    expect(Object.keys(library).sort()).toEqual(named)
  })

  it("accepts words or a commitment to seal, and never both", () => {
    expectTypeOf({ words, commitment } as const).not.toExtend<library.OrderOf<"setWitnessStone">>()
    expectTypeOf({ commitment, salt: words } as const).not.toExtend<library.OrderOf<"setWitnessStone">>()
    expectTypeOf({ agentName: "Heron" } as const).not.toExtend<library.OrderOf<"setWitnessStone">>()
    expectTypeOf({ words, commitment, spirit } as const).not.toExtend<library.OrderOf<"offerPrayer">>()
    expectTypeOf({ spirit } as const).not.toExtend<library.OrderOf<"offerPrayer">>()
    expectTypeOf({ spirit, days: 7, words, commitment } as const).not.toExtend<library.CandleOrder>()
  })

  it("accepts no order without what it is for: a spirit, an item, or days that candles burn", () => {
    expectTypeOf({ words }).not.toExtend<library.OrderOf<"offerPrayer">>()
    expectTypeOf({ spirit: "nobody" } as const).not.toExtend<library.OrderOf<"takeIn">>()
    expectTypeOf({ spirit } as const).not.toExtend<library.OrderOf<"collectMaterial">>()
    expectTypeOf({ spirit, days: 2 } as const).not.toExtend<library.CandleOrder>()
    expectTypeOf({ spirit } as const).not.toExtend<library.CandleOrder>()
    expectTypeOf<library.Bought<"offerPrayer">["line"]>().toEqualTypeOf<string>()
    expectTypeOf<library.Bought<"takeIn">["record"]>().toExtend<library.Keeper>()
    expectTypeOf<library.Act["receipt"]>().toExtend<library.Receipt | { readonly card: object }>()
    expectTypeOf<library.ListedStone>().toExtend<library.Stone>()
    expectTypeOf({ tone: "low" } as const).toExtend<library.OrderOf<"ringBell">>()
  })

  it("rejects with errors that class, tag and code distinguish", ({ expect }) => {
    expectTypeOf<(library.Refused | library.Open | library.Misrecorded)["_tag"]>().toEqualTypeOf<
      "Refused" | "Open" | "Misrecorded"
    >()
    expectTypeOf<library.Open["key"]>().toEqualTypeOf<string>()
    const { AltarError, Misrecorded, Open, Refused } = library
    const [key, message] = ["a-key-of-one-purchase", "It is open."]
    const errors = [
      new Refused({ code: "not_signed", key, message }),
      new Open({ key, message }),
      new Misrecorded({ differences: [], key, message }),
    ]
    for (const error of errors)
      expect([error instanceof AltarError, error.key, error.message]).toEqual([true, key, message])
    expect(errors.map(({ _tag, code }) => [_tag, code])).toEqual([
      ["Refused", "not_signed"],
      ["Open", "outcome_open"],
      ["Misrecorded", "misrecorded"],
    ])
    expect(errors.map(String)).toEqual(["Refused", "Open", "Misrecorded"].map((name) => `${name}: It is open.`))
    expect(errors.filter((error) => error instanceof Refused)).toEqual([errors[0]])
  })

  it("has each of its codes in the guide's table", ({ expect }) => {
    const [declared = ""] = /export type Code =[^(]*/u.exec(textOf("src/buyer/Errors.ts")) ?? []
    const [table = ""] = /\| codes \| do \|[^]*?\n\n/u.exec(textOf("docs/integrating.md")) ?? []
    const codes = (text: string, quote: string) =>
      [...text.matchAll(new RegExp(`${quote}([a-z_]+)${quote}`, "gu"))].map(([, code]) => code).sort()
    expect(codes(table, "`")).toEqual(codes(declared, '"'))
  })

  it("accepts a journal that gives each turn pages of four functions", () => {
    expectTypeOf<library.Pages>().toEqualTypeOf<{
      readonly get: (name: string) => Promise<string | undefined>
      readonly set: (name: string, text: string) => Promise<void>
      readonly remove: (name: string) => Promise<void>
      readonly all: (prefix: string) => Promise<ReadonlyArray<string>>
    }>()
    expectTypeOf<library.Journal>().toEqualTypeOf<{
      readonly alone: <A>(run: (pages: library.Pages) => Promise<A>) => Promise<A>
    }>()
  })
})
