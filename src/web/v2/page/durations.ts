/** Times and counts in words, the same from the server and in the page. */

const months = "January February March April May June July August September October November December".split(" ")

/** `21 November 2026`, of an RFC 3339 time or a day. */
export const dayWords = (iso: string) =>
  `${Number(iso.slice(8, 10))} ${months[Number(iso.slice(5, 7)) - 1] ?? ""} ${iso.slice(0, 4)}`

/** `21 November 2026, 09:17 UTC`. */
export const timeWords = (iso: string) => `${dayWords(iso)}, ${iso.slice(11, 16)} UTC`

export const count = (number: number, singular: string, many: string = `${singular}s`) =>
  `${number.toLocaleString("en-US")} ${number === 1 ? singular : many}`
