/** What is fetched when it is asked for; where it does not come, that is said in our words. */
import { Said, unreached } from "./http.ts"

/** Parts go with this file: where it is not there any more, another build of the site is. */
const isRenewed = () =>
  fetch(import.meta.url, { method: "HEAD", cache: "no-store" }).then(
    ({ status }) => status === 404,
    () => false,
  )

export const arrived = <Part>(part: Promise<Part>): Promise<Part> =>
  part.catch(async () => {
    throw (await isRenewed()) ? new Said("The site was renewed; load the page again.") : unreached()
  })
