/** Bytes and their text encodings; each has one strict spelling, so equal bytes have equal texts. */

export type Bytes = Uint8Array<ArrayBuffer>

/** A text or file that does not follow its format; `message` is a sentence for its sender. */
export class Malformed {
  readonly _tag = "Malformed"
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

export const concat = (...parts: ReadonlyArray<Uint8Array>): Bytes => {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

export const equal = (left: Uint8Array, right: Uint8Array): boolean =>
  left.length === right.length && left.every((byte, index) => byte === right[index])

const encoder = new TextEncoder()

export const utf8 = (text: string): Bytes => encoder.encode(text)

/** Lowercase, two digits a byte. */
export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

/** Standard alphabet, with padding. */
export const base64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))

/** Decodes canonical base64 only; undefined for any other spelling. */
export const fromBase64 = (text: string): Bytes | undefined => {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/u.test(text)) return undefined
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  return base64(bytes) === text ? bytes : undefined
}

/** Parses a safe integer without sign, fraction or leading zeros; undefined for any other spelling. */
export const fromDecimal = (text: string): number | undefined => {
  const value = /^(?:0|[1-9][0-9]{0,15})$/u.test(text) ? Number(text) : undefined
  return value !== undefined && Number.isSafeInteger(value) ? value : undefined
}
