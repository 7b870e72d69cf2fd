/** The security headers of a response by its type. They are defaults, which a page overrides with its own. */
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
  "base-uri": "'none'",
  "form-action": "'self'",
  "frame-ancestors": "'none'",
})
  .map(([directive, sources]) => `${directive} ${sources}`)
  .join("; ")

/** Answers that no browser renders, such as JSON. */
const data = { "x-content-type-options": "nosniff" }

/** Scripts, styles, fonts and texts, which a browser may open by themselves. */
const part = {
  ...data,
  "content-security-policy": inert,
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
}

/** Other sites may embed our images, but no script, frame or window. */
const image = { ...part, "cross-origin-resource-policy": "cross-origin" }

/** Pages use no device, and share no window handle with pages that they open or that opened them. */
const page = {
  ...part,
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy":
    "camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), serial=(), usb=()",
}

/** A year in seconds. Subdomains belong to their owners, so they are not included. */
const transport = { "strict-transport-security": "max-age=31536000" }

export type SecurityHeaders = (contentType?: OutgoingHttpHeader) => Readonly<Record<string, string>>

/** Headers by content type. `isEncrypted` means that the public address is https. */
export const securityHeaders = (isEncrypted: boolean): SecurityHeaders => {
  const encrypted = isEncrypted ? transport : {}
  const [ofData, ofPart, ofImage, ofPage] = [
    { ...data, ...encrypted },
    { ...part, ...encrypted },
    { ...image, ...encrypted },
    { ...page, ...encrypted },
  ]
  return (contentType) => {
    const type = typeof contentType === "string" ? contentType : ""
    if (type === "" || type.startsWith("application/json")) return ofData
    return type.startsWith("text/html") ? ofPage : type.startsWith("image/") ? ofImage : ofPart
  }
}
