/** The pages are complete without this; it lets them burn, copy, check, seal and pay. */
import "./shared.ts"
import { start as startArtwork } from "./artwork.ts"
import { start as startCopy } from "./copy.ts"
import { all, failure } from "./dom.ts"
import { pageFailed, sentenceOf } from "./http.ts"
import { start as startLive } from "./live.ts"
import { onDemand } from "./load.ts"
import { start as startPay } from "./pay/form.ts"
import { start as startProofs } from "./proofs.ts"
import { start as startReveals } from "./reveals.ts"
import { start as startSeal } from "./seal.ts"
import { start as startTime } from "./time.ts"
import { start as startVerify } from "./verify.ts"

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
  startProofs,
  startReveals,
  startSeal,
  startArtwork,
  startPay,
  startLive,
]) {
  // One part that fails does not keep the others, paying least of all, from starting.
  try {
    start()
  } catch (error) {
    reportError(error)
  }
}
