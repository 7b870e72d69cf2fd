/** Loads the checks of the page when one of them is asked for, and the checker of files with its own page. */
import { all, failure, one } from "../page/dom.ts"
import { pageFailed, sentenceOf } from "../page/http.ts"
import { parts } from "../page/load.ts"
import { onPress } from "../page/press.ts"

const fail = (place: HTMLElement, error: unknown, again: () => void) =>
  one("[role=status]", HTMLElement, place).replaceChildren(
    ...failure("Not checked.", sentenceOf(error, pageFailed), again, "unchecked"),
  )

/** Loaded with its page, which then works offline. */
const openChecker = (root: HTMLElement): void =>
  void parts.checks().then(
    (checks) => checks.openChecker(root),
    (error: unknown) => fail(root, error, () => openChecker(root)),
  )

export const start = () => {
  const places = all("[data-verify], [data-artwork], [data-vkey]", HTMLElement)
  onPress(places, async () => (await parts.checks()).start(), fail)
  for (const root of all("[data-checker]", HTMLElement)) openChecker(root)
}
