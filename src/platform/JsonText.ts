/** JSON objects with members that are already JSON text, such as stored bytes that must not change. */

/** JSON text, inserted into an answer unchanged. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  /** An array of values that are JSON texts. */
  static list(texts: ReadonlyArray<string>): JsonText {
    return new JsonText(`[${texts.join(",")}]`)
  }
}

/** A value whose members may be JSON texts. */
export type WithTexts<A> = { readonly [Name in keyof A]: A[Name] | JsonText }

/** The JSON of an object, with its members in order. */
export const jsonOf = <A extends object>(value: WithTexts<A>): string =>
  `{${Object.entries(value)
    .flatMap(([name, member]) => {
      const text = member instanceof JsonText ? member.text : JSON.stringify(member)
      return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
    })
    .join(",")}}`
