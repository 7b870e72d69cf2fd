/** The content blocks of the manual, which the page and the Markdown render. */

/** Text may hold `code` in backticks. */
export type Block =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "List"; readonly items: ReadonlyArray<string>; readonly ordered?: boolean }
  | { readonly _tag: "Links"; readonly links: ReadonlyArray<readonly [title: string, url: string, says: string]> }
  | {
      readonly _tag: "Table"
      readonly head: ReadonlyArray<string>
      readonly rows: ReadonlyArray<ReadonlyArray<string>>
    }
  | { readonly _tag: "Code"; readonly language: string; readonly code: string }

export interface Section {
  readonly id: string
  readonly title: string
  readonly blocks: ReadonlyArray<Block>
}

/** One paragraph for each text. */
export const text = (...texts: ReadonlyArray<string>): ReadonlyArray<Block> =>
  texts.map((one) => ({ _tag: "Text", text: one }))

export const code = (language: string, lines: string): Block => ({ _tag: "Code", language, code: lines })
