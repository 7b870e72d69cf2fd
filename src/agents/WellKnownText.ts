/** The two small texts that machines ask every host for. */
import { DateTime } from "effect"

/** Days that a contact is said to hold; it is computed anew each day, so a server that runs never lets it lapse. */
const lifeDays = 180

/** RFC 9116. `now` decides the day alone, so that all servers and all requests of one day answer the same bytes. */
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

/** Everything public may be read; rooms are nobody's to index, and a wallet's purchases need no second home. */
export const robots = (publicUrl: string) => `User-agent: *
Allow: /
Disallow: /api/rooms
Disallow: /sandbox
Disallow: /v2/mine?

Sitemap: ${publicUrl}/sitemap.xml
`
