/** Which of two representations a reader asked for (RFC 9110 §12.5.1); a page when it does not matter. */

const types = { html: ["text", "html"], json: ["application", "json"] } as const

export type Representation = keyof typeof types

interface Range {
  readonly type: string
  readonly subtype: string
  readonly quality: number
}

const rangeOf = (text: string): Range => {
  const [media = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase())
  const [type = "", subtype = ""] = media.split("/")
  const quality = Number(parameters.find((one) => one.startsWith("q="))?.slice(2) ?? "1")
  return { type, subtype, quality: Number.isFinite(quality) ? quality : 0 }
}

const specificity = ({ subtype, type }: Range) => (type === "*" ? 0 : subtype === "*" ? 1 : 2)

/** The most specific range that covers a type says how welcome it is. */
const qualityOf = (ranges: ReadonlyArray<Range>, name: Representation) => {
  const [type, subtype] = types[name]
  const covering = ranges
    .filter((range) => ["*", type].includes(range.type) && ["*", subtype].includes(range.subtype))
    .sort((a, b) => specificity(b) - specificity(a))
  return covering[0]?.quality ?? 0
}

/** Undefined when neither is accepted. */
export const negotiate = (accept: string | undefined): Representation | undefined => {
  if (accept === undefined || accept.trim() === "") return "html"
  const ranges = accept.split(",").map(rangeOf)
  const [page, json] = [qualityOf(ranges, "html"), qualityOf(ranges, "json")]
  if (page <= 0 && json <= 0) return undefined
  return page >= json ? "html" : "json"
}
