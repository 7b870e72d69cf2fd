/** Content negotiation by `Accept` and `Accept-Encoding` (RFC 9110 §12.5). */

/** The quality of each name in a header, 0 to 1, by the name in lower case. */
const qualitiesOf = (header: string): ReadonlyMap<string, number> =>
  new Map(
    header.split(",").map((element) => {
      const [name = "", ...parameters] = element.split(";").map((part) => part.trim().toLowerCase())
      const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2)
      return [name, quality === undefined ? 1 : Number(quality) || 0]
    }),
  )

/** The offered type the client prefers, the first on a tie; undefined if it accepts none. */
export const preferred = <const Type extends string>(
  header: string | undefined,
  offered: readonly [Type, ...ReadonlyArray<Type>],
): Type | undefined => {
  if (header === undefined || header.trim() === "") return offered[0]
  const qualities = qualitiesOf(header)
  // The most specific range that covers a type decides.
  const rated = offered.map((type) => ({
    type,
    quality: qualities.get(type) ?? qualities.get(`${type.split("/", 1)[0]}/*`) ?? qualities.get("*/*") ?? 0,
  }))
  return rated.filter(({ quality }) => quality > 0).sort((left, right) => right.quality - left.quality)[0]?.type
}

export type Encoding = "identity" | "gzip" | "br"

export const encodingFor = (header: string | undefined): Encoding => {
  if (header === undefined) return "identity"
  const qualities = qualitiesOf(header)
  const rated = (encoding: Encoding) => qualities.get(encoding) ?? qualities.get("*") ?? 0
  const [br, gz] = [rated("br"), rated("gzip")]
  if (br <= 0 && gz <= 0) return "identity"
  // A client that prefers plain bytes gets them. Any other gets a compressed variant.
  if ((qualities.get("identity") ?? 0) > Math.max(br, gz)) return "identity"
  return br >= gz ? "br" : "gzip"
}
