/** How the record of each act repeats the path, query and body of its request. */
import { bodyOf } from "./Outcome.ts"

export interface Requested {
  /** URL of the request; path and query suffice once it is signed. */
  readonly url: string
  /** JSON as sent; empty when there was none. */
  readonly body: string
}

interface Recorded {
  readonly path: RegExp
  /** Members that the request decides, with their values where it omits them; undefined is the altar's choice. */
  readonly members: Readonly<Record<string, string | null | undefined>>
}

const names = { agentName: null, reason: null }

/** How each act records its request. An act that is not listed is compared in the members that both have. */
export const recorded: ReadonlyArray<Recorded> = [
  { path: /\/api\/witness$/u, members: { commitment: null, kind: "intention", spirit: undefined } },
  {
    path: /\/api\/prayers\/(?<spirit>[^/]+)$/u,
    members: { spirit: null, day: undefined, agentName: null, intentionCommitment: null },
  },
  { path: /\/api\/acquire\/(?<spirit>[^/]+)$/u, members: { spirit: null, ...names } },
  { path: /\/api\/elements\/(?<elementId>[^/]+)\/collect$/u, members: { elementId: null, spirit: null, ...names } },
  {
    path: /\/api\/candles\/(?<rung>[^/]+)\/(?<spirit>[^/]+)$/u,
    members: {
      rung: null,
      spirit: null,
      dedication: null,
      parentId: null,
      intentionCommitment: null,
      agentName: null,
    },
  },
]

const locationOf = (url: string) => new URL(url, "https://altar.invalid")

/** The members of the request, by the record's names. */
export const requestOf = ({ body, url }: Requested) => {
  const { pathname, searchParams } = locationOf(url)
  const act = recorded.find(({ path }) => path.test(pathname))
  const said = { ...bodyOf(body), ...Object.fromEntries(searchParams), ...act?.path.exec(pathname)?.groups }
  return { act, said }
}

/** Stones have pages of their own. */
export const isStone = (url: string) => locationOf(url).pathname.endsWith("/api/witness")
