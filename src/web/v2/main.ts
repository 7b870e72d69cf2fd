/** Scripts of the pages, which are complete without them: copying, checking, sealing, paying. */
import { start as startCopy } from "./page/copy.ts"
import { all } from "./page/dom.ts"
import { allMarked, selectorOf } from "./page/marks.ts"
import { start as startPrint } from "./page/printed.ts"
import { start as startPay } from "./pay/form.ts"
import { start as startChecks } from "./proof/checks.ts"
import { start as startExample } from "./proof/example.ts"
import { start as startReveals } from "./proof/reveals.ts"
import { start as startFiles } from "./words/files.ts"
import { start as startMine } from "./words/mine.ts"
import { start as startSeal } from "./words/seal.ts"

const offline = () => {
  for (const notice of allMarked("offline")) notice.hidden = navigator.onLine
}

addEventListener("online", offline)
addEventListener("offline", offline)
offline()
for (const choice of all(".filter select", HTMLSelectElement))
  choice.addEventListener("change", () => choice.form?.requestSubmit())
for (const time of all("time[datetime*=T]", HTMLTimeElement)) time.title = new Date(time.dateTime).toLocaleString()
for (const start of [
  startPay,
  startCopy,
  startPrint,
  startReveals,
  startExample,
  startSeal,
  startFiles,
  startMine,
  startChecks,
  // Reads receipts, which no other page does.
  () => document.querySelector(selectorOf("checker")) && void import("./proof/checker.ts").then(({ start }) => start()),
]) {
  // A failing part must not keep the others, paying above all, from starting.
  try {
    start()
  } catch (error) {
    reportError(error)
  }
}
