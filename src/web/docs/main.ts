/** The reference is whole without this; it finds, copies and tries. */
import { start as startCopy } from "../v2/copy.ts"
import { all } from "../v2/dom.ts"
import { start as startFind } from "./find.ts"
import { start as startTrying } from "./trying.ts"

for (const button of all(".copy", HTMLButtonElement)) button.hidden = false
// On a phone the list of all operations would stand before the first of them.
if (matchMedia("(max-width: 64rem)").matches) {
  for (const chapter of all(".contents details", HTMLDetailsElement)) chapter.open = false
}
for (const start of [startCopy, startFind, startTrying]) start()
