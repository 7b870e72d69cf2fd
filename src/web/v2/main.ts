/** Scripts of the pages, which are complete without them: candles burn, copying, checking, sealing, paying. */
import { start as startAsked } from "./proof/asked.ts"
import { start as startCopy } from "./page/copy.ts"
import { all } from "./page/dom.ts"
import { start as startExample } from "./proof/example.ts"
import { start as startPay } from "./pay/offers.ts"
import { start as startReveals } from "./proof/reveals.ts"
import { start as startFiles } from "./words/files.ts"
import { start as startMine } from "./words/mine.ts"
import { start as startSeal } from "./words/seal.ts"
import { start as startTime } from "./page/time.ts"

const offline = () => {
  for (const notice of all("[data-offline]", HTMLElement)) notice.hidden = navigator.onLine
}

addEventListener("online", offline)
addEventListener("offline", offline)
offline()
for (const start of [
  startTime,
  startCopy,
  startReveals,
  startExample,
  startSeal,
  startFiles,
  startMine,
  startAsked,
  startPay,
]) {
  // A failing part must not keep the others, paying above all, from starting.
  try {
    start()
  } catch (error) {
    reportError(error)
  }
}
