/** Times and durations in words, the same on the server and later in the page. */

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const counted = (number: number, unit: string) => `${number} ${unit}${number === 1 ? "" : "s"}`

/** `2 days and 3 hours`, of milliseconds; two units at most, rounded down. */
export const stretchWords = (millis: number): string => {
  if (millis < minute) return "less than a minute"
  if (millis < hour) return counted(Math.floor(millis / minute), "minute")
  const [large, small, largeUnit, smallUnit] =
    millis < day ? [hour, minute, "hour", "minute"] : [day, hour, "day", "hour"]
  const whole = Math.floor(millis / large)
  const rest = Math.floor((millis - whole * large) / small)
  return rest === 0 ? counted(whole, largeUnit) : `${counted(whole, largeUnit)} and ${counted(rest, smallUnit)}`
}

export const leftWords = (millis: number): string => (millis <= 0 ? "burned down" : `${stretchWords(millis)} left`)

/** `3 hours ago`, in one unit. */
export const agoWords = (millis: number): string => {
  if (millis < minute) return "just now"
  const [unit, name] = millis < hour ? [minute, "minute"] : millis < day ? [hour, "hour"] : [day, "day"]
  return `${counted(Math.floor(millis / unit), name)} ago`
}

const months = "January February March April May June July August September October November December".split(" ")

/** `21 November 2026`, of an RFC 3339 time or a day. */
export const dayWords = (iso: string) =>
  `${Number(iso.slice(8, 10))} ${months[Number(iso.slice(5, 7)) - 1] ?? ""} ${iso.slice(0, 4)}`

/** `21 November 2026, 09:17 UTC`. */
export const timeWords = (iso: string) => `${dayWords(iso)}, ${iso.slice(11, 16)} UTC`
