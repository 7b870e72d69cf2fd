/** Finds the endpoint that sells an act, so that what is said of a request is read from the contract alone. */
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { Api } from "../../../schema/Api.ts"

/** Paths compare without the names of their parameters. */
const plain = (path: string) => path.replace(/:[A-Za-z]+|\{[a-z-]+\}/gu, "*")

const endpoints: ReadonlyMap<string, HttpApiEndpoint.Top> = (() => {
  const all = new Map<string, HttpApiEndpoint.Top>()
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => void all.set(plain(`${endpoint.method} ${endpoint.path}`), endpoint),
  })
  return all
})()

/** `route` is method and path template, as in the price list; none when nothing is sold there. */
export const endpointOf = (route: string): HttpApiEndpoint.Top | undefined => endpoints.get(plain(route))
