/** What the build and the server agree on about the names of assets; the build loads nothing else of the server. */

/** Whether a path names its own content: the eight signs before its ending come from the bytes. */
export const isForEver = (path: string): boolean => /-[0-9A-Z]{8}\.\w+$/u.test(path)

/** The faces that stand in the first window of every page. */
export const typefaces: ReadonlyArray<string> = ["/type/vollkorn-roman.woff2", "/type/vollkorn-italic.woff2"]
