/** The one rule for names and texts that others see: something to see, and nothing that changes how a line is read. */
import { Schema } from "effect"

/** Controls, lone surrogates, line and paragraph separators, bidirectional controls, and noncharacters. */
export const plain = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Noncharacter_Code_Point}]*$/u

/**
 * A character that a reader sees. Fonts draw nothing for white space, for characters that Unicode calls ignorable, for
 * format characters and for four blanks; a mark needs a letter to stand on.
 */
const visible =
  /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Cs}\p{M}\u2800\u{13441}\u{13442}\u{1d159}]/u

/** The rule in words, with the exact classes, for the document. */
export const rule =
  "At least one character is visible: none of White_Space, Default_Ignorable_Code_Point, Cf, M, U+2800, U+13441, U+13442 and U+1D159. None is of Cc, Cs, Zl, Zp, Bidi_Control or Noncharacter_Code_Point."

/** Text under the rule, within bounds in code points. */
export const publicText = (maximum: number) =>
  Schema.String.check(
    Schema.isMinCodePoints(1),
    Schema.isMaxCodePoints(maximum),
    Schema.makeFilter(
      (text) =>
        !plain.test(text)
          ? "Must be one line without control characters, line separators, bidirectional controls, noncharacters and lone surrogates"
          : text !== "" && !visible.test(text)
            ? "Must have at least one visible character"
            : undefined,
      { toJsonSchema: () => ({ pattern: plain.source }) },
    ),
  )
