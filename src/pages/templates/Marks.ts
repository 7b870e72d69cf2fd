/** Marks elements for the scripts of a page, by the table that both sides share. */
import { attributeOf, type MarkName, type ValueOf } from "../../web/v2/page/marks.ts"
import { html, Html } from "../../platform/Html.ts"

/** The attributes of a mark, with its name for the fields that only some marks may stand on. */
export class Mark<Name extends MarkName> extends Html {
  readonly name: Name
  constructor(name: Name, text: string) {
    super(text)
    this.name = name
  }
}

/** Every value of a mark is given; one that is undefined or null does not stand. */
type Given<Name extends MarkName> = {
  readonly [Value in ValueOf<Name>]: string | number | bigint | null | undefined
}

export const mark = <Name extends MarkName>(
  name: Name,
  ...[values]: [ValueOf<Name>] extends [never] ? [] : [Given<Name>]
): Mark<Name> => {
  const given = Object.entries<string | number | bigint | null | undefined>({ [name]: "", ...values })
  const attributes = given.flatMap(([key, value]) => {
    if (value === undefined || value === null) return []
    return value === "" ? [html` ${attributeOf(key)}`] : [html` ${attributeOf(key)}="${value}"`]
  })
  return new Mark(name, html`${attributes}`.text.trim())
}
