/** What is fetched when it is asked for: few parts, because each further one would cost every page a request. */
export { check } from "./proof/check.ts"
export { start as openBox } from "./words/mine.ts"
