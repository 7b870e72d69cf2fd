/** Names of assets that build and server share. The build imports nothing else of the server. */

/** Whether a path names its content: the eight characters before the extension are a hash of the bytes. */
export const isForEver = (path: string): boolean => /-[0-9A-Z]{8}\.\w+$/u.test(path)

/** The typefaces above the fold of every page. */
export const typefaces: ReadonlyArray<string> = ["/type/vollkorn-roman.woff2", "/type/vollkorn-italic.woff2"]
