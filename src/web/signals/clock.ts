/** Times in UTC, as on the whole site, and by the visitor's clock. */
import { dayWords, timeWords } from "../v2/page/durations.ts"

const two = (number: number) => String(number).padStart(2, "0")

/** The moment by the visitor's clock, in the form of RFC 3339 without the zone. */
const localOf = (iso: string) => {
  const time = new Date(iso)
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}T${two(time.getHours())}:${two(time.getMinutes())}`
}

const isUtc = (iso: string) => localOf(iso) === iso.slice(0, 16)

/** `22 November 2026` by the visitor's clock, which decides the day of a signal. */
export const localDay = (iso: string) => dayWords(localOf(iso))

/** `05:17`, and `04:17 UTC` in other time zones. */
export const clockWords = (iso: string): readonly [local: string, utc: string] =>
  isUtc(iso) ? [`${iso.slice(11, 16)} UTC`, ""] : [localOf(iso).slice(11, 16), `${iso.slice(11, 16)} UTC`]

/** `29 November 2026, 04:17 UTC (05:17 your time)`. */
export const bothWords = (iso: string) => {
  if (isUtc(iso)) return timeWords(iso)
  const local = localOf(iso)
  const day = local.slice(0, 10) === iso.slice(0, 10) ? "" : `${dayWords(local)}, `
  return `${timeWords(iso)} (${day}${local.slice(11, 16)} your time)`
}
