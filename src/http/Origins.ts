/** Which pages may call this server from a browser. */

const loopback: ReadonlyArray<string> = ["localhost", "127.0.0.1", "[::1]"]

export const isLoopback = (url: string) => loopback.includes(new URL(url).hostname)

/** The origins of our own pages: on this machine, one server has several names. */
export const ownOrigins = (publicUrl: string): ReadonlySet<string> => {
  const { origin, port, protocol } = new URL(publicUrl)
  return new Set(
    isLoopback(publicUrl) ? loopback.map((name) => new URL(`${protocol}//${name}:${port}`).origin) : [origin],
  )
}

/**
 * Whether a page may call what the world may read anyway. A server of this machine is called by pages of this machine
 * alone: any other site, and any name that was rebound to it, would read through a visitor's browser what only the
 * visitor can reach.
 */
export const mayCall = (publicUrl: string): ((origin: string | undefined) => boolean) =>
  isLoopback(publicUrl) ? (origin) => origin === undefined || (URL.canParse(origin) && isLoopback(origin)) : () => true
