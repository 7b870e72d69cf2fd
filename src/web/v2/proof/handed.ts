/** Where the search leaves a receipt or a proof for the checker, until the checker's page opens. */
export const handed = "altar:checked"

/** Files that the checker reads, by the names that this site gives them. */
export const isForChecker = (name: string) => /\.receipt\.json$|\.tlog-proof$/iu.test(name)
