/** The browser origins that may call this server. */

const loopback: ReadonlyArray<string> = ["localhost", "127.0.0.1", "[::1]"]

export const isLoopback = (url: string) => loopback.includes(new URL(url).hostname)

/** The origins of our own pages. On a local machine one server has several names. */
export const ownOrigins = (publicUrl: string): ReadonlySet<string> => {
  const { origin, port, protocol } = new URL(publicUrl)
  return new Set(
    isLoopback(publicUrl) ? loopback.map((name) => new URL(`${protocol}//${name}:${port}`).origin) : [origin],
  )
}

/**
 * Whether a page may read public data. A local server accepts only local origins: any other site, including a rebound
 * name, could otherwise read through a visitor's browser an address that only the visitor can reach.
 */
export const mayCall = (publicUrl: string): ((origin: string | undefined) => boolean) =>
  isLoopback(publicUrl) ? (origin) => origin === undefined || (URL.canParse(origin) && isLoopback(origin)) : () => true
