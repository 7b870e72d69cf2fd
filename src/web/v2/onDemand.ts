/** What is fetched when it is asked for: few parts, because each further one would cost every page a request. */
import "./shared.ts"
export { check } from "./check.ts"
export { start as openBox } from "./mine.ts"
