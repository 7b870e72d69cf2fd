/** The chunk loaded on demand; few such chunks, because each costs every page a request. */
export { check } from "./proof/check.ts"
export { start as openBox } from "./words/mine.ts"
