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
  checks: () => arrived(import("../proof/checks.ts")),
  file: () => arrived(import("../words/file.ts")),
  pay: () => arrived(import("../pay/form.ts")),
  signer: () => arrived(import("../pay/signer.ts")),
}
