/** Scripts of the pages, which are complete without them: candles burn, copying, checking, sealing, paying. */
import { start as startAsked } from "./proof/asked.ts"
import { start as startCopy } from "./page/copy.ts"
import { all, failure } from "./page/dom.ts"
import { pageFailed, sentenceOf } from "./page/http.ts"
import { start as startExample } from "./proof/example.ts"
import { parts } from "./page/load.ts"
import { start as startNews } from "./page/news.ts"
import { start as startPay } from "./pay/form.ts"
import { start as startReveals } from "./proof/reveals.ts"
import { start as startFiles } from "./words/files.ts"
import { start as startSeal } from "./words/seal.ts"
import { start as startTime } from "./page/time.ts"

const openBox = (box: HTMLElement) =>
  void parts.mine().then(
    ({ start }) => start(),
    (error: unknown) =>
      box.replaceChildren(...failure("Not opened.", sentenceOf(error, pageFailed), () => openBox(box))),
  )

const offline = () => {
  for (const notice of all("[data-offline]", HTMLElement)) notice.hidden = navigator.onLine
}

addEventListener("online", offline)
addEventListener("offline", offline)
offline()
// The box has a page of its own.
for (const box of all("[data-box-list]", HTMLElement)) openBox(box)
for (const start of [
  startTime,
  startCopy,
  startReveals,
  startExample,
  startSeal,
  startFiles,
  startAsked,
  startPay,
  startNews,
]) {
  // A failing part must not keep the others, paying above all, from starting.
  try {
    start()
  } catch (error) {
    reportError(error)
  }
}
