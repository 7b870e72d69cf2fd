/** Loads the parts of the pages on demand, with a sentence of ours for a failure. */
import { AnswerError, unreached } from "./http.ts"

/** Chunks belong to the build of this file: if it is gone, a new build is served. */
const isReplaced = () =>
  fetch(import.meta.url, { method: "HEAD", cache: "no-store" }).then(
    ({ status }) => status === 404,
    () => false,
  )

const arrived = <Part>(part: Promise<Part>): Promise<Part> =>
  part.catch(async () => {
    throw (await isReplaced()) ? new AnswerError("The site was updated. Load the page again.") : unreached()
  })

export const parts = {
  chain: () => arrived(import("../proof/chain.ts")),
  checker: () => arrived(import("../proof/checker.ts")),
  file: () => arrived(import("../words/file.ts")),
  log: () => arrived(import("../proof/log.ts")),
  mine: () => arrived(import("../words/mine.ts")),
  paying: () => arrived(import("../pay/status.ts")),
  signer: () => arrived(import("../pay/signer.ts")),
}
