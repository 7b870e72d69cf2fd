/** What is fetched when somebody pays, or when the page is laid out anew. */
export { renew } from "../page/renew.ts"
export { resume, run } from "./checkout.ts"
export { conduct, follow } from "./status.ts"
