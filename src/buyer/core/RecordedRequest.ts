/** How each act's record repeats its request: whatever the buyer said in path, query and body. */
import { bodyOf } from "./Outcome.ts"

/** A request as it was sent. */
export interface Requested {
  /** URL of the request; path and query are enough once it is signed. */
  readonly url: string
  /** JSON as it was sent; empty when there was none. */
  readonly body: string
}

interface Recorded {
  readonly path: RegExp
  /** Members of the record that the request decides, with what they are when it leaves them out; undefined is the altar's choice. */
  readonly members: Readonly<Record<string, string | null | undefined>>
}

const names = { agentName: null, reason: null }

/** How each act records its request. An act that is not listed is compared member by member, where both have one. */
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

/** Of a URL, or of a path alone. */
const locationOf = (url: string) => new URL(url, "https://altar.invalid")

/** What the request says, by the record's names. */
export const requestOf = ({ body, url }: Requested) => {
  const { pathname, searchParams } = locationOf(url)
  const act = recorded.find(({ path }) => path.test(pathname))
  const said = { ...bodyOf(body), ...Object.fromEntries(searchParams), ...act?.path.exec(pathname)?.groups }
  return { act, said }
}

/** Stones have pages of their own. */
export const isStone = (url: string) => locationOf(url).pathname.endsWith("/api/witness")
