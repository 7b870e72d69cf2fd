/** The addresses that a buyer may send words or payments to. */
import { refuse, type Refused } from "./PurchaseError.ts"

const loopback = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u

/** The refusal of a URL; undefined for a good one. Words and payees travel only over https, or to this machine. */
export const faultOf = (url: string, insecure: boolean): Refused | undefined => {
  if (!URL.canParse(url) || !/^https?:$/u.test(new URL(url).protocol))
    return refuse("bad_url", `${url} is no URL of an altar; name one with https://. This request charged nothing.`)
  const { hostname, protocol } = new URL(url)
  return insecure || protocol === "https:" || loopback.test(hostname)
    ? undefined
    : refuse(
        "insecure_url",
        `${url} is not encrypted, so anybody on the way could read your words and change the payee: use https, or allow it by name (insecure). This request charged nothing.`,
      )
}

export const baseOf = (url: string): string => url.replace(/\/+$/u, "")
