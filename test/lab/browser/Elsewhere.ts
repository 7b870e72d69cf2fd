/** A page of another origin, on a server of its own, with a program that a test writes. */
import { Effect } from "effect"
import { build } from "esbuild"
import { serve } from "../proxy/HttpServer.ts"
import { root } from "../Sources.ts"
import { Browser } from "./Browser.ts"

/** The page, and a call of a function that its program exports. */
export const pageElsewhere = Effect.fnUntraced(function* (program: string) {
  const { outputFiles } = yield* Effect.promise(() =>
    build({
      stdin: { contents: program, resolveDir: root, loader: "js" },
      bundle: true,
      format: "iife",
      globalName: "program",
      platform: "browser",
      write: false,
      logLevel: "error",
    }),
  )
  const url = yield* serve(async (path) =>
    path === "/page.js"
      ? { status: 200, body: outputFiles[0]?.text ?? "", type: "text/javascript" }
      : { status: 200, body: `<!doctype html><script src="/page.js"></script>`, type: "text/html" },
  )
  const chromium = yield* Browser
  const page = yield* Effect.acquireRelease(
    Effect.promise(() => chromium.newPage()),
    (opened) => Effect.promise(() => opened.close()),
  )
  yield* Effect.promise(() => page.goto(url))
  const call = (name: string, input?: unknown) =>
    Effect.promise(() =>
      page.evaluate(([name, input]) => Reflect.get(window, "program")[name](input), [name, input] as const),
    )
  return { call, page }
})
