/** How connections to a database are encrypted: `sslmode` and `sslrootcert` of its URL, as psql means them. */
import { X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { type ConnectionOptions, getCACertificates } from "node:tls"
import { Result } from "effect"

type Encryption = ConnectionOptions | false

/** Encryptions in the order in which they are tried. */
export type Encryptions = readonly [Encryption, ...ReadonlyArray<Encryption>]

const unverified: Encryption = { rejectUnauthorized: false }

/** Certificates of authorities in a file of PEM blocks. */
const authoritiesIn = (file: string) =>
  Result.try(() => {
    const ca = readFileSync(file, "utf8")
    void new X509Certificate(ca)
    return { ca }
  })

/** The encryptions of a URL, or the fault of its parameters. Without `sslrootcert`, Node's own authorities are trusted. */
export const encryptionsOf = ({ hostname, searchParams }: URL): Encryptions | string => {
  const unsupported = [...searchParams.keys()].find(
    (name) => name.startsWith("ssl") && name !== "sslmode" && name !== "sslrootcert",
  )
  if (unsupported !== undefined) return `Its parameter ${unsupported} is not supported. Remove it.`
  const file = searchParams.get("sslrootcert")
  const isSystem = file === "system"
  const mode = searchParams.get("sslmode") ?? (isSystem ? "verify-full" : "disable")
  if (isSystem && mode !== "verify-full") return "Its sslrootcert=system needs sslmode=verify-full."
  const trust =
    file === null
      ? Result.succeed({})
      : isSystem
        ? Result.succeed({ ca: getCACertificates("system") })
        : authoritiesIn(file)
  if (Result.isFailure(trust)) return "Its sslrootcert names no readable file of PEM certificates."
  const anyHost: Encryption = { ...trust.success, checkServerIdentity: () => undefined }
  const ways = new Map<string, Encryptions>([
    ["disable", [false]],
    ["allow", [false, unverified]],
    ["prefer", [unverified, false]],
    ["require", [file === null ? unverified : anyHost]],
    ["verify-ca", [anyHost]],
    ["verify-full", [trust.success]],
  ])
  const encryptions = ways.get(mode) ?? `Its sslmode is none of ${[...ways.keys()].join(", ")}.`
  // A socket file is not encrypted, whatever the mode.
  const isSocketFile = /^(?:\/|%2f)/iu.test(searchParams.get("host") ?? hostname)
  return isSocketFile && typeof encryptions !== "string" ? [false] : encryptions
}
