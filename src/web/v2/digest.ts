/** SHA-256 in the browser, in the very recipes the server uses. */
import { type ChainLink, chainLinkText } from "../../../schema/altar/ChainLink.ts"
import { commitmentText } from "../../../schema/altar/Recipe.ts"

/** Browsers give it to pages from https and from this machine only. */
export const canHash = (): boolean => globalThis.crypto?.subtle !== undefined

export const whyNot = "This page was not loaded over https, so the browser gives it no means to hash."

export const hexOf = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")

export const sha256 = async (content: string | ArrayBuffer): Promise<string> => {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content
  return hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)))
}

export const commitmentOf = (salt: string, words: string) => sha256(commitmentText(salt, words))

export const chainHashOf = (link: ChainLink) => sha256(chainLinkText(link))

export const randomHex = (bytes: number) => hexOf(crypto.getRandomValues(new Uint8Array(bytes)))
