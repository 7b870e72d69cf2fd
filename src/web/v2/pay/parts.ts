/** The chunk for paying and for renewing the page. */
export { renew } from "../page/renew.ts"
export { resume, run } from "./checkout.ts"
export { conduct, follow } from "./status.ts"
