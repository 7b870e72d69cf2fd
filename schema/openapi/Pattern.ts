/** Patterns that regular expressions of other languages understand; the server checks the exact ones. */

/**
 * The nearest pattern that JavaScript without flags, Python, Go and Java read alike: no Unicode classes, no escapes of
 * one language. It never rejects what the exact pattern accepts, and leaves lone surrogates and rare separators to the
 * server.
 */
export const portable = (pattern: string): string =>
  pattern
    .replaceAll("\\p{Cc}", "\\x00-\\x1f\\x7f-\\x9f")
    .replaceAll(/\\p\{(?:Cs|Zl|Zp|Bidi_Control|Noncharacter_Code_Point)\}/gu, "")
    .replaceAll(/\\u[0-9a-f]{4}(?:-\\u[0-9a-f]{4})?/gu, (escape) => (escape === "\\u0000" ? "\\x00" : ""))
    .replaceAll("\\0", "\\x00")
    .replaceAll("\\d", "[0-9]")
    .replaceAll("[^]", "[\\s\\S]")
