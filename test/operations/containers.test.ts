/** compose.yaml and the Dockerfile, read as their engines read them: no engine is asked. */
import { existsSync, readFileSync } from "node:fs"
import { parse } from "yaml"
import { serving } from "../../src/server/config/Table.ts"
import { assert, assertNone, describe, it } from "../lab/Suites.ts"

const root = new URL("../..", import.meta.url)
const text = (file: string) => readFileSync(new URL(file, root), "utf8")

type Value = string | number | boolean | null | ReadonlyArray<Value> | { readonly [key: string]: Value }
type Members = Readonly<Record<string, Value>>

const isMembers = (value: Value | undefined): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const members = (value: Value | undefined): Members => (isMembers(value) ? value : {})
const list = (value: Value | undefined): ReadonlyArray<Value> => (Array.isArray(value) ? value : [])

// A name that stands there twice, or a broken indentation, is refused.
const compose: Members = parse(text("compose.yaml"), { strict: true, uniqueKeys: true })
const services = members(compose["services"])
const altar = members(services["altar"])

/** Members of a service, by the Compose specification, as far as they are used here. */
const known = new Set(
  (
    "build image read_only tmpfs cap_drop security_opt env_file environment volumes ports " +
    "stop_grace_period restart depends_on healthcheck"
  ).split(" "),
)

const stages = text("Dockerfile")
  .split(/^FROM /mu)
  .slice(1)
const served = stages.at(-1) ?? ""

describe("compose.yaml", () => {
  it("has only members of the Compose specification, and refers only to declared names", () => {
    assert.deepStrictEqual(Object.keys(compose), ["services", "volumes"])
    for (const [name, service] of Object.entries(services)) {
      const said = members(service)
      assertNone(Object.keys(said), (member) => !known.has(member), name)
      assert.isTrue("build" in said !== "image" in said, name)
      for (const volume of list(said["volumes"]))
        assert.property(members(compose["volumes"]), String(volume).split(":")[0] ?? "", name)
      for (const [other, { condition }] of Object.entries(members(said["depends_on"])).map(
        ([other, how]) => [other, members(how)] as const,
      )) {
        assert.property(services, other)
        assert.strictEqual(condition, "service_healthy")
        assert.property(members(services[other]), "healthcheck", "what is waited for says how it is")
      }
    }
  })

  it("gives the server only its own variables, and no secret", () => {
    const names = new Set(serving.map(({ name }) => name))
    const environment = members(altar["environment"])
    assertNone(Object.keys(environment), (name) => !names.has(name))
    for (const { name } of serving.filter(({ isSecret }) => isSecret)) {
      if (name === "DATABASE_URL")
        assert.match(String(environment[name]), /:\$\{POSTGRES_PASSWORD:\?[^}]+\}@database:/u)
      else assert.notProperty(environment, name)
    }
    assert.match(String(members(members(services["database"])["environment"])["POSTGRES_PASSWORD"]), /^\$\{\w+:\?/u)
  })

  it("publishes the port on this host alone, with a read-only root and time to stop", () => {
    assert.deepStrictEqual(list(altar["ports"]), ["127.0.0.1:${PORT:-3000}:3000"])
    assert.deepStrictEqual(
      [altar["read_only"], altar["cap_drop"], altar["security_opt"]],
      [true, ["ALL"], ["no-new-privileges:true"]],
    )
    assert.isAbove(Number.parseInt(String(altar["stop_grace_period"]), 10), 20)
    assert.notProperty(members(services["database"]), "ports")
  })
})

describe("the Dockerfile", () => {
  it("copies only existing files that the build's context includes", () => {
    const let_ = new Set([...text(".dockerignore").matchAll(/^!(.+)$/gmu)].map(([, name = ""]) => name))
    const copied = [...(stages[0] ?? "").matchAll(/^COPY (.+) \S+$/gmu)].flatMap(([, names = ""]) => names.split(" "))
    assert.isAtLeast(copied.length, 8)
    assertNone(copied, (name) => !let_.has(name) || !existsSync(new URL(name, root)))
  })

  it("runs `serve` as a user of its own, with a health check and the commit", () => {
    assert.match(served, /^USER node$/mu)
    assert.match(served, /^STOPSIGNAL SIGTERM$/mu)
    assert.match(served, /^HEALTHCHECK [^\n]*\\\n {2}CMD \["node", "-e", "fetch\(`[^`]+\/livez`\)/mu)
    const [, entry = "[]"] = /^ENTRYPOINT (\[.*\])$/mu.exec(served) ?? []
    assert.strictEqual(JSON.parse(entry).at(-1), "/app/node_modules/spirit-altar/src/start.js")
    assert.match(stages[0] ?? "", /^ARG SOURCE_COMMIT\nRUN npm run package /mu)
    assert.strictEqual(members(members(altar["build"])["args"])["SOURCE_COMMIT"], "${SOURCE_COMMIT:-}")
  })
})
