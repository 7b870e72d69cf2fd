/** Scripts of the pages, which are complete without them: candles burn, copying, checking, sealing, paying. */
import { start as startAsked } from "./proof/asked.ts"
import { start as startCopy } from "./page/copy.ts"
import { all, failure } from "./page/dom.ts"
import { pageFailed, sentenceOf } from "./page/http.ts"
import { start as startExample } from "./proof/example.ts"
import { start as startLive } from "./page/live.ts"
import { onDemand } from "./onDemand.ts"
import { start as startPay } from "./pay/form.ts"
import { start as startReveals } from "./proof/reveals.ts"
import { start as startFiles } from "./words/files.ts"
import { start as startSeal } from "./words/seal.ts"
import { start as startTime } from "./page/time.ts"
import { start as startVerify } from "./proof/verify.ts"

const openBox = (box: HTMLElement) =>
  void onDemand().then(
    (part) => part.openBox(),
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
  startVerify,
  startReveals,
  startExample,
  startSeal,
  startFiles,
  startAsked,
  startPay,
  startLive,
]) {
  // A failing part must not keep the others, paying above all, from starting.
  try {
    start()
  } catch (error) {
    reportError(error)
  }
}
