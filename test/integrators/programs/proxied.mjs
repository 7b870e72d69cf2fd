// Sends every request of the document through a proxy that holds request and answer against it, and prints what it finds.
import { createLogger } from "@stoplight/prism-core"
import { createServer } from "@stoplight/prism-http-server"
import { getHttpOperationsFromSpec } from "@stoplight/prism-http"
import newman from "newman"
import Converter from "openapi-to-postmanv2"

const [, , altar, document, token] = process.argv

const config = {
  isProxy: true,
  upstream: new URL(altar),
  mock: false,
  validateRequest: true,
  validateResponse: true,
  checkSecurity: true,
  errors: false,
  upstreamProxy: undefined,
}
const logger = createLogger("proxy", { level: "silent" })
const proxy = createServer(await getHttpOperationsFromSpec(document), { components: { logger }, config, cors: false })
const address = await proxy.listen(0, "127.0.0.1")

const examples = { requestParametersResolution: "Example", exampleParametersResolution: "Example" }
const collection = await new Promise((resolve, reject) => {
  Converter.convert({ type: "file", data: document }, examples, (error, { output, reason }) =>
    error === null && output !== undefined ? resolve(output[0].data) : reject(error ?? new Error(reason)),
  )
})
const variables = { baseUrl: address, bearerToken: token }
const ran = await new Promise((resolve, reject) => {
  const globals = Object.entries(variables).map(([key, value]) => ({ key, value }))
  newman.run({ collection, envVar: globals, globalVar: globals, reporters: [] }, (error, summary) =>
    error === null ? resolve(summary) : reject(error),
  )
})
await proxy.close()

const heard = ran.run.executions.map(({ request, requestError, response }) => ({
  request: `${request.method} ${request.url.getPath()}`,
  status: response?.code ?? 0,
  faults: [requestError?.message, response?.headers.get("sl-violations")].filter(
    (one) => one !== undefined && one !== null,
  ),
}))
process.stdout.write(JSON.stringify(heard))
process.exit(0)
