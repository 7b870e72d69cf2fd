/** What a client would rather read, by its `Accept` header (RFC 9110 §12.5.1). */

interface Range {
  readonly type: string
  readonly quality: number
}

const rangesOf = (header: string): ReadonlyArray<Range> =>
  header.split(",").map((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase())
    const quality = parameters.find((one) => one.startsWith("q="))?.slice(2)
    return { type, quality: quality === undefined ? 1 : Number(quality) || 0 }
  })

/** The quality a header gives a media type; the most specific range that covers it decides. */
const qualityOf = (ranges: ReadonlyArray<Range>, type: string) => {
  const names = [type, `${type.split("/", 1)[0]}/*`, "*/*"]
  return names.flatMap((name) => ranges.find((range) => range.type === name) ?? [])[0]?.quality ?? 0
}

/** The offered type the client likes best, the first on a tie; none when it takes none of them. */
export const preferred = <const Type extends string>(
  header: string | undefined,
  offered: readonly [Type, ...ReadonlyArray<Type>],
): Type | undefined => {
  if (header === undefined || header.trim() === "") return offered[0]
  const ranges = rangesOf(header)
  const rated = offered.map((type) => ({ type, quality: qualityOf(ranges, type) })).filter(({ quality }) => quality > 0)
  return rated.sort((one, other) => other.quality - one.quality)[0]?.type
}
