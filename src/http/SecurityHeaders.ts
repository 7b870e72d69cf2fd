/** The security headers of every response. They are defaults, which a page overrides with its own. */
import type { OutgoingHttpHeader } from "node:http"

/** The policy of responses that are not pages: opened directly they load nothing, and no page can frame them. */
export const inert = "default-src 'none'; frame-ancestors 'none'"

/** The policy of pages: everything from this server, pictures also as `data:`, nothing inline. */
export const ours = Object.entries({
  "default-src": "'none'",
  "script-src": "'self'",
  "style-src": "'self'",
  "img-src": "'self' data:",
  "font-src": "'self'",
  "connect-src": "'self'",
  "manifest-src": "'self'",
  "base-uri": "'none'",
  "form-action": "'self'",
  "frame-ancestors": "'none'",
})
  .map(([directive, sources]) => `${directive} ${sources}`)
  .join("; ")

const everywhere = {
  "content-security-policy": inert,
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
}

/** Other sites may embed our images, but no script, frame or window. */
const image = { ...everywhere, "cross-origin-resource-policy": "cross-origin" }

/** Pages use no device, and share no window handle with pages that they open or that opened them. */
const page = {
  ...everywhere,
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy":
    "camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), serial=(), usb=()",
}

/** A year in seconds. Subdomains belong to their owners, so they are not included. */
const transport = { "strict-transport-security": "max-age=31536000" }

export type SecurityHeaders = (contentType?: OutgoingHttpHeader) => Readonly<Record<string, string>>

/** Headers by content type. `isEncrypted` means that the public address is https. */
export const securityHeaders = (isEncrypted: boolean): SecurityHeaders => {
  const [ofAll, ofImage, ofPage] = [everywhere, image, page].map((headers) =>
    isEncrypted ? { ...headers, ...transport } : headers,
  )
  return (contentType) => {
    const type = String(contentType ?? "")
    return (type.startsWith("text/html") ? ofPage : type.startsWith("image/") ? ofImage : ofAll) ?? everywhere
  }
}
