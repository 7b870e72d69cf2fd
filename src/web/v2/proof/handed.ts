/** Where the search leaves a receipt or a proof for the checker, until the checker's page opens. */
export const handed = "altar:checked"

/** Larger than any receipt file, and than a proof with a hundred cosignatures. */
export const largest = 1_000_000

/** Files that the checker reads, by the names that this site gives them. */
export const isForChecker = ({ name, size }: File) => size < 4e6 && /\.receipt\.json$|\.tlog-proof$/iu.test(name)
