/** The services that fixtures give to tests, as keys alone: a test that needs no server loads none. */
import { Context } from "effect"
import type { Facilitator } from "./proxy/Facilitator.ts"
import type { NodeProxy } from "./proxy/Node.ts"
import type { PostgresProxy } from "./proxy/Postgres.ts"

export class TestServer extends Context.Service<TestServer, { readonly url: string }>()("test/TestServer") {}

/** The proxies between a server and its node, its facilitator and its database. */
export class Proxies extends Context.Service<
  Proxies,
  { readonly rpc: NodeProxy; readonly facilitator: Facilitator; readonly database: PostgresProxy }
>()("test/Proxies") {}

/** The options of a suite whose tests and fixture live by the real clock. */
export const realClock = { excludeTestServices: true }
