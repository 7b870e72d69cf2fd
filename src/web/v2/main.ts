/** The pages are complete without this; it lets them burn, copy, check, seal and pay. */
import * as Artwork from "./artwork.ts"
import * as Copy from "./copy.ts"
import { all } from "./dom.ts"
import * as Pay from "./pay/form.ts"
import * as Seal from "./seal.ts"
import * as Time from "./time.ts"
import * as Verify from "./verify.ts"

const offline = () => {
  for (const notice of all("[data-offline]", HTMLElement)) notice.hidden = navigator.onLine
}

addEventListener("online", offline)
addEventListener("offline", offline)
offline()
// The box has a page of its own.
if (all("[data-box]", HTMLElement).length > 0) void import("./mine.ts").then((mine) => mine.start())
for (const part of [Time, Copy, Verify, Seal, Artwork, Pay]) part.start()
