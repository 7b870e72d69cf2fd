/** A shared cache in front of a server: a real nginx that keeps whatever it is not told to forget, answers to POST included. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { Effect } from "effect"
import * as OwnedProcess from "../../../src/sandbox/OwnedProcess.ts"
import { freePort } from "../Ports.ts"
import { newFolder } from "../Folders.ts"

const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"]

/** Where nginx is; empty when there is none. */
export const nginx = folders.map((folder) => join(folder, "nginx")).find((file) => existsSync(file)) ?? ""

const configuration = (folder: string, port: number, upstream: string) => `
${process.getuid?.() === 0 ? "user root;" : ""}
daemon off;
worker_processes 1;
pid ${folder}/pid;
error_log stderr notice;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  proxy_cache_path ${folder}/cache keys_zone=shared:1m;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${upstream};
      proxy_http_version 1.1;
      proxy_cache shared;
      proxy_cache_methods GET HEAD POST;
      proxy_cache_key "$request_method $request_uri";
      proxy_cache_valid any 10m;
      add_header X-Cache $upstream_cache_status always;
    }
  }
}
`

/** The address of the cache in front of `upstream`; `X-Cache` of an answer says whether it is a kept one. */
export const inFrontOf = Effect.fnUntraced(function* (upstream: string) {
  const port = yield* freePort
  const folder = newFolder()
  mkdirSync(join(folder, "cache"))
  const file = join(folder, "nginx.conf")
  writeFileSync(file, configuration(folder, port, upstream))
  yield* OwnedProcess.start({
    command: nginx,
    args: ["-p", folder, "-c", file, "-e", "stderr"],
    ready: /start worker process /u,
    stop: { signal: "SIGTERM", force: "SIGKILL", patienceMs: 5000 },
  })
  return `http://127.0.0.1:${port}`
})
