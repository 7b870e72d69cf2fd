/** The client address of a request: the socket's, or the one a trusted proxy reports. IPv6 counts by /64. */
import { Option, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { IpNetwork, NetAddress } from "effect/net"

/** Maximum characters of an address with its port and zone. */
const longestHop = 100

/** Maximum characters of a `Forwarded` header. Clients can send any, and parsing quotes takes quadratic time. */
const longestForwarded = 1024

/** Plain, in brackets, with a port or a zone. IPv4-mapped IPv6 counts as IPv4. */
const parse = (text: string): NetAddress.IpAddress | undefined => {
  if (text.length > longestHop) return undefined
  const bare = text.replace(/^\[(.*)\]$/u, "$1").replace(/%[^\]:]*$/u, "")
  const address = Result.orElse(NetAddress.ipFromString(bare), () =>
    Result.map(NetAddress.inetAddressFromString(text), (inet) => inet.address),
  )
  return Result.isSuccess(address) ? NetAddress.toCanonical(address.success) : undefined
}

export const network = (text: string): Result.Result<IpNetwork.IpNetwork, NetAddress.NetAddressError> =>
  text.includes("/")
    ? IpNetwork.fromString(text)
    : Result.flatMap(NetAddress.ipFromString(text), (ip) => {
        const address = NetAddress.toCanonical(ip)
        return IpNetwork.make(address, NetAddress.width(address))
      })

/** Hops of `X-Forwarded-For`, nearest last. */
const forwardedFor = (header: string) => header.split(",").map((hop) => hop.trim())

const element = /(?:"(?:[^"\\]|\\.)*"|[^",])+/gu
const forParameter = /(?:^|;)\s*for=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]+))\s*(?:;|$)/iu

/** Hops of `Forwarded` (RFC 7239), nearest last. A hop without an address is empty. */
const forwarded = (header: string) =>
  (header.length > longestForwarded ? [""] : (header.match(element) ?? [""])).map((hop) => {
    const match = forParameter.exec(hop.trim())
    return match?.[1] ?? match?.[2] ?? ""
  })

const isTrusted = (trusted: ReadonlyArray<IpNetwork.IpNetwork>, address: NetAddress.IpAddress) =>
  trusted.some((network) => IpNetwork.contains(network, address))

/** Walks from the right past trusted hops. A malformed hop ends the walk at the address before it. */
const walk = (hops: ReadonlyArray<string>, peer: NetAddress.IpAddress, trusted: ReadonlyArray<IpNetwork.IpNetwork>) => {
  let last = peer
  for (const hop of hops.toReversed()) {
    const address = parse(hop)
    if (address === undefined) return last
    last = address
    if (!isTrusted(trusted, address)) return last
  }
  return last
}

const text = (address: NetAddress.IpAddress) =>
  NetAddress.isIpv4Address(address)
    ? NetAddress.formatIp(address)
    : `${NetAddress.ipv6ToSegments(address)
        .slice(0, 4)
        .map((segment) => segment.toString(16))
        .join(":")}::/64`

/** The wider IPv6 networks of an address, narrowest first. A /56 is usually one customer, a /48 one site or many. */
export const networksOf = (address: string): ReadonlyArray<string> => {
  const [first = "", second = "", third = "", fourth = ""] = address.replace("::/64", "").split(":")
  if (!address.endsWith("::/64")) return []
  const customer = Number.parseInt(fourth, 16) & 0xff00
  return [`${first}:${second}:${third}:${customer.toString(16)}::/56`, `${first}:${second}:${third}::/48`]
}

/** The address that limits count by. Requests without an address share one. */
export const addressOf = (
  request: Pick<HttpServerRequest.HttpServerRequest, "headers" | "remoteAddress">,
  trusted: ReadonlyArray<IpNetwork.IpNetwork>,
): string => {
  const peer = parse(Option.getOrElse(request.remoteAddress, () => ""))
  if (peer === undefined) return "unknown"
  if (!isTrusted(trusted, peer)) return text(peer)
  const headers = [
    [request.headers["x-forwarded-for"], forwardedFor],
    [request.headers["forwarded"], forwarded],
  ] as const
  const [first, ...others] = headers.flatMap(([header, hops]) =>
    header === undefined ? [] : [text(walk(hops(header), peer, trusted))],
  )
  // A proxy sets only one of the two headers. If a client forged the other and they disagree, neither counts.
  return first !== undefined && others.every((address) => address === first) ? first : text(peer)
}
