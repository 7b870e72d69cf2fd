/** compose.yaml and the Dockerfile, read as their engines read them: no engine is asked. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { parse } from "yaml"
import { serving } from "../../src/server/config/Table.ts"
import { root, textOf } from "../lab/Sources.ts"
import { assertNone } from "../lab/Assertions.ts"

const compose = parse(textOf("compose.yaml"), { strict: true, uniqueKeys: true })
const { altar, database } = compose.services

const stages = textOf("Dockerfile")
  .split(/^FROM /mu)
  .slice(1)
const served = stages.at(-1) ?? ""

describe("compose.yaml", () => {
  it("gives the server only its own variables and no secret, and starts it after a healthy database", () => {
    const names = new Set(serving.map(({ name }) => name))
    assertNone(Object.keys(altar.environment), (name) => !names.has(name))
    for (const { name } of serving.filter(({ isSecret }) => isSecret)) {
      if (name === "DATABASE_URL") assert.match(altar.environment[name], /:\$\{POSTGRES_PASSWORD:\?[^}]+\}@database:/u)
      else assert.notProperty(altar.environment, name)
    }
    assert.match(database.environment.POSTGRES_PASSWORD, /^\$\{\w+:\?/u)
    assert.deepStrictEqual(altar.depends_on, { database: { condition: "service_healthy" } })
    assert.property(database, "healthcheck")
    for (const { volumes = [] } of [altar, database])
      for (const volume of volumes) assert.property(compose.volumes, volume.split(":")[0])
  })

  it("publishes the port on this host alone, with a read-only root and time to stop", () => {
    assert.deepStrictEqual(altar.ports, ["127.0.0.1:${PORT:-3000}:3000"])
    assert.deepStrictEqual(
      [altar.read_only, altar.cap_drop, altar.security_opt],
      [true, ["ALL"], ["no-new-privileges:true"]],
    )
    assert.isAbove(Number.parseInt(altar.stop_grace_period, 10), 20)
    assert.notProperty(database, "ports")
  })
})

describe("the Dockerfile", () => {
  it("copies only existing files that the build's context includes", () => {
    const let_ = new Set([...textOf(".dockerignore").matchAll(/^!(.+)$/gmu)].map(([, name = ""]) => name))
    const copied = [...(stages[0] ?? "").matchAll(/^COPY (.+) \S+$/gmu)].flatMap(([, names = ""]) => names.split(" "))
    assert.isAtLeast(copied.length, 8)
    assertNone(copied, (name) => !let_.has(name) || !existsSync(join(root, name)))
  })

  it("runs `serve` as a user of its own, with a health check and the commit", () => {
    assert.match(served, /^USER node$/mu)
    assert.match(served, /^STOPSIGNAL SIGTERM$/mu)
    assert.match(served, /^HEALTHCHECK [^\n]*\\\n {2}CMD \["node", "-e", "fetch\(`[^`]+\/livez`\)/mu)
    const [, entry = "[]"] = /^ENTRYPOINT (\[.*\])$/mu.exec(served) ?? []
    assert.strictEqual(JSON.parse(entry).at(-1), "/app/node_modules/spirit-altar/src/start.js")
    assert.match(stages[0] ?? "", /^ARG SOURCE_COMMIT\nRUN npm run package /mu)
    assert.strictEqual(altar.build.args.SOURCE_COMMIT, "${SOURCE_COMMIT:-}")
  })
})
