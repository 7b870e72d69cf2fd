/** Scripts of the pages, which are complete without them: copying, checking, sealing, paying. */
import { start as startCopy } from "./page/copy.ts"
import { all, make } from "./page/dom.ts"
import { pageFailed } from "./page/http.ts"
import { pending } from "./pay/purchase.ts"
import { start as startExample } from "./proof/example.ts"
import { start as startReveals } from "./proof/reveals.ts"
import { start as startFiles } from "./words/files.ts"
import { start as startMine } from "./words/mine.ts"
import { start as startSeal } from "./words/seal.ts"

const offline = () => {
  for (const notice of all("[data-offline]", HTMLElement)) notice.hidden = navigator.onLine
}

/** A failing part must not keep the others, paying above all, from starting. */
const begin = async (part: () => Promise<{ readonly start: () => void }>) => {
  try {
    ;(await part()).start()
  } catch (error) {
    reportError(error)
    document.getElementById("main")?.prepend(make("p", { class: "notice", role: "status" }, pageFailed))
  }
}

const isThere = (places: string) => document.querySelector(places) !== null

addEventListener("online", offline)
addEventListener("offline", offline)
offline()
for (const time of all("time[datetime*=T]", HTMLTimeElement)) time.title = new Date(time.dateTime).toLocaleString()
for (const start of [startCopy, startReveals, startExample, startSeal, startFiles, startMine])
  void begin(async () => ({ start }))
if (isThere("[data-pay]") || pending().length > 0) void begin(() => import("./pay/form.ts"))
if (isThere("[data-verify], [data-vkey]")) void begin(() => import("./proof/checks.ts"))
if (isThere("[data-checker]")) void begin(() => import("./proof/checker.ts"))
