/** The two small texts that machines ask every host for. */
import { DateTime } from "effect"

/** Days until the contact expires. Each day moves the expiry, so it never lapses on a running server. */
const lifeDays = 180

/** RFC 9116. Only the day of `now` counts, so that all servers answer the same bytes all day. */
export const securityText = (publicUrl: string, contact: string, now: DateTime.DateTime): string => {
  const expires = DateTime.add(DateTime.startOf(now, "day"), { days: lifeDays })
  return [
    `Contact: ${contact}`,
    `Expires: ${DateTime.formatIso(expires)}`,
    `Canonical: ${publicUrl}/.well-known/security.txt`,
    "Preferred-Languages: en",
    "",
  ].join("\n")
}

/** Allows crawling of everything public except rooms and the purchases of a wallet. */
export const robots = `User-agent: *
Allow: /
Disallow: /api/rooms
Disallow: /sandbox
Disallow: /v2/mine?
`
