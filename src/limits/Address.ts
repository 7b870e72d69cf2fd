/** The address a request really comes from: the socket's, or what a trusted proxy vouches for; IPv6 by its /64. */
import { Option, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { IpNetwork, NetAddress } from "effect/net"

/** Characters of an address with its port and zone. */
const longestHop = 100

/** Characters of a `Forwarded` header: a client can send any, and reading quotes costs the square of their number. */
const longestForwarded = 1024

/** Plain, in brackets, with a port or a zone; IPv4 in IPv6 counts as IPv4. */
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

/** Hops of `Forwarded` (RFC 7239), nearest last; one that names nobody is empty. */
const forwarded = (header: string) =>
  (header.length > longestForwarded ? [""] : (header.match(element) ?? [""])).map((hop) => {
    const found = forParameter.exec(hop.trim())
    return found?.[1] ?? found?.[2] ?? ""
  })

const isTrusted = (trusted: ReadonlyArray<IpNetwork.IpNetwork>, address: NetAddress.IpAddress) =>
  trusted.some((one) => IpNetwork.contains(one, address))

/** From the right, past every trusted hop; a hop that is no address ends the walk at the last one that was. */
const walk = (hops: ReadonlyArray<string>, peer: NetAddress.IpAddress, trusted: ReadonlyArray<IpNetwork.IpNetwork>) => {
  let known = peer
  for (const hop of hops.toReversed()) {
    const address = parse(hop)
    if (address === undefined) return known
    known = address
    if (!isTrusted(trusted, address)) return known
  }
  return known
}

const text = (address: NetAddress.IpAddress) =>
  NetAddress.isIpv4Address(address)
    ? NetAddress.formatIp(address)
    : `${NetAddress.ipv6ToSegments(address)
        .slice(0, 4)
        .map((segment) => segment.toString(16))
        .join(":")}::/64`

/** The wider IPv6 networks that hold an address, narrowest first: a /56 is usually one customer, a /48 one site or many. */
export const networksOf = (address: string): ReadonlyArray<string> => {
  const [first = "", second = "", third = "", fourth = ""] = address.replace("::/64", "").split(":")
  if (!address.endsWith("::/64")) return []
  const customer = Number.parseInt(fourth, 16) & 0xff00
  return [`${first}:${second}:${third}:${customer.toString(16)}::/56`, `${first}:${second}:${third}::/48`]
}

/** What limits are counted by; requests without an address share one. */
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
  const found = headers.flatMap(([header, hops]) =>
    header === undefined ? [] : [text(walk(hops(header), peer, trusted))],
  )
  // A proxy writes one of the two; if the other was forged past it and they disagree, neither is believed.
  return found.length > 0 && found.every((one) => one === found[0]) ? (found[0] ?? text(peer)) : text(peer)
}
