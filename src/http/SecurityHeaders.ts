/** What every answer tells a browser to refuse, whoever writes it: it is a default, and a page names what it needs instead. */
import type { OutgoingHttpHeader } from "node:http"

/** For what no browser shows as a page: opened by itself it loads nothing, and nobody frames it. */
export const inert = "default-src 'none'; frame-ancestors 'none'"

const everywhere = {
  "content-security-policy": inert,
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
}

/** Another page's picture may be ours; its script, frame and window may not. */
const image = { ...everywhere, "cross-origin-resource-policy": "cross-origin" }

/** No page asks for a device, and none keeps a handle on a window that it opened or that opened it. */
const page = {
  ...everywhere,
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy":
    "camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), serial=(), usb=()",
}

/** A year, in seconds. Other names of the domain are their owner's affair. */
const transport = { "strict-transport-security": "max-age=31536000" }

export type SecurityHeaders = (contentType?: OutgoingHttpHeader) => Readonly<Record<string, string>>

/** By the type of an answer. `isEncrypted` when the world reaches this server by https alone. */
export const securityHeaders = (isEncrypted: boolean): SecurityHeaders => {
  const [ofAll, ofImage, ofPage] = [everywhere, image, page].map((headers) =>
    isEncrypted ? { ...headers, ...transport } : headers,
  )
  return (contentType) => {
    const type = String(contentType ?? "")
    return (type.startsWith("text/html") ? ofPage : type.startsWith("image/") ? ofImage : ofAll) ?? everywhere
  }
}
