/** What is fetched when somebody pays, or when the page is laid out anew. */
import "../shared.ts"
export { renew } from "../renew.ts"
export { resume, run } from "./checkout.ts"
export { follow } from "./resume.ts"
export { conduct } from "./status.ts"
