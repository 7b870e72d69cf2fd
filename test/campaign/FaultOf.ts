/** A test file with a fault in its query, by which one file is several to vitest. */
export const withFault = (file: string, fault: string): string => `${file}?fault=${encodeURIComponent(fault)}`

/** The fault of a test file; empty without one. */
export const faultOf = (file: string): string => decodeURIComponent(file.split("?fault=")[1] ?? "")
