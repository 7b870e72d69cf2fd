/** Answers in which some members are JSON texts already: bytes that were stored to be answered unchanged. */

/** JSON as it lies in the database; it is written into an answer as it is. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  /** An array of values that are JSON texts each. */
  static list(texts: ReadonlyArray<string>): JsonText {
    return new JsonText(`[${texts.join(",")}]`)
  }
}

/** A value of which members may stand as text. */
export type WithTexts<A> = { readonly [Name in keyof A]: A[Name] | JsonText }

/** The JSON of an object, its members in their order. */
export const jsonOf = <A extends object>(value: WithTexts<A>): string =>
  `{${Object.entries(value)
    .flatMap(([name, member]) => {
      const text = member instanceof JsonText ? member.text : JSON.stringify(member)
      return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
    })
    .join(",")}}`
