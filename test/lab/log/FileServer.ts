/** A folder behind a plain file server, which knows nothing of logs. */
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { listening } from "../proxy/HttpServer.ts"

export const serveFolder = (folder: string) =>
  listening((_, response, { url = "/" }) => {
    const file = join(folder, decodeURIComponent(new URL(url, "http://localhost").pathname))
    const isThere = file.startsWith(folder) && existsSync(file) && statSync(file).isFile()
    response.writeHead(isThere ? 200 : 404).end(isThere ? readFileSync(file) : "not here")
  })
