/** Loads chunks on demand, with a sentence of ours for a failure. */
import { AnswerError, unreached } from "./http.ts"

/** Chunks belong to the build of this file: if it is gone, a new build is served. */
const isRenewed = () =>
  fetch(import.meta.url, { method: "HEAD", cache: "no-store" }).then(
    ({ status }) => status === 404,
    () => false,
  )

export const arrived = <Part>(part: Promise<Part>): Promise<Part> =>
  part.catch(async () => {
    throw (await isRenewed()) ? new AnswerError("The site was renewed; load the page again.") : unreached()
  })
