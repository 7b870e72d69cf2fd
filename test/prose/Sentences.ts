/** Faults of a text by the rules of our prose (CONTRIBUTING.md): long sentences, subject clauses, and words with a better one. */

const longest = 30

/** Patterns of words to avoid, each with the field's word. */
const vocabulary: ReadonlyArray<readonly [found: RegExp, better: string]> = [
  [/\b(?:whoever|somebody|anybody)\b|\bnobody\b(?! can\b)/iu, "caller, client, buyer, operator"],
  [/\bmeanwhile\b|\bunder way\b/iu, "concurrent, in flight"],
  [/\b(?:hand|hands|handed|handing) in\b/iu, "submit"],
  [/\b(?:note|notes|noted|writes?|wrote|written) down\b/iu, "record"],
  [/\btaken back\b|\btakes? back\b/iu, "reorganised, orphaned"],
  [/\bonce more\b/iu, "retry"],
  [/\bof two minds\b/iu, "stale node"],
  [/\bpast (?:its|their) end\b/iu, "expired"],
  [/\bstray (?:payment|transfer)s?\b/iu, "unmatched payment"],
]

interface Fault {
  readonly sentence: string
  readonly message: string
}

/** Text without what is not prose: code, links, addresses, tags. */
const proseOf = (text: string) =>
  text
    .replaceAll(/`[^`]*`/gu, "Code")
    .replaceAll(/\]\([^)]*\)/gu, "]")
    .replaceAll(/<[^>]*>/gu, " ")
    .replaceAll(/https?:\S+/gu, "Address")

const abbreviations = /\b(?:e\.g|i\.e|etc|vs|approx)\./gu

/** Sentences end with a full stop, a colon, a question mark or a paragraph; ends inside quotes and brackets count. */
const sentencesOf = (text: string): ReadonlyArray<string> =>
  proseOf(text)
    .replaceAll(abbreviations, "such as")
    .split(/(?<=[.!?:;]["”»')]?)\s+(?=["“«'([*]*[\p{Lu}\d])|(?<=[:;])\s|\n\s*\n/u)
    .map((sentence) => sentence.replaceAll(/\s+/gu, " ").trim())
    .filter((sentence) => sentence !== "")

const isClause = (sentence: string) =>
  /^["“*_]*(?:who|whoever|what|whatever)\b(?!['’]s\b)/iu.test(sentence) && !/\?["”*_]*$/u.test(sentence)

const messagesOf = (sentence: string): ReadonlyArray<string> => {
  const words = sentence.split(" ").filter((word) => /[\p{L}\d]/u.test(word)).length
  return [
    ...(words > longest ? [`has ${words} words, ${longest} at most`] : []),
    ...(isClause(sentence) ? ["starts with a subject clause: name the subject"] : []),
    ...vocabulary.flatMap(([found, better]) => {
      const [word] = found.exec(sentence) ?? []
      return word === undefined ? [] : [`says “${word}”: ${better}`]
    }),
  ]
}

export const faultsOf = (text: string): ReadonlyArray<Fault> =>
  sentencesOf(text).flatMap((sentence) => messagesOf(sentence).map((message) => ({ sentence, message })))
