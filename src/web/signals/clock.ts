/** Times as the whole site writes them, in UTC, and beside them what the visitor's own clock says. */
import { dayWords, timeWords } from "../v2/page/durations.ts"

const two = (number: number) => String(number).padStart(2, "0")

/** The same moment by the visitor's clock, in the form of RFC 3339 but for the zone. */
const localOf = (iso: string) => {
  const time = new Date(iso)
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}T${two(time.getHours())}:${two(time.getMinutes())}`
}

const isUtc = (iso: string) => localOf(iso) === iso.slice(0, 16)

/** `22 November 2026`, by the visitor's clock: signals stand under the days of whoever reads them. */
export const localDay = (iso: string) => dayWords(localOf(iso))

/** `05:17`, and `04:17 UTC` for whoever lives by another clock. */
export const clockWords = (iso: string): readonly [local: string, utc: string] =>
  isUtc(iso) ? [`${iso.slice(11, 16)} UTC`, ""] : [localOf(iso).slice(11, 16), `${iso.slice(11, 16)} UTC`]

/** `29 November 2026, 04:17 UTC (05:17 your time)`. */
export const bothWords = (iso: string) => {
  if (isUtc(iso)) return timeWords(iso)
  const local = localOf(iso)
  const day = local.slice(0, 10) === iso.slice(0, 10) ? "" : `${dayWords(local)}, `
  return `${timeWords(iso)} (${day}${local.slice(11, 16)} your time)`
}
