/** A test file with a promise in its query, by which one file is several to vitest. */
export const withPromise = (file: string, promise: string): string => `${file}?promise=${encodeURIComponent(promise)}`

export const promiseIn = (file: string): string => decodeURIComponent(file.split("?promise=")[1] ?? "")
