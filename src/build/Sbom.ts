/**
 * The third-party code of a package as CycloneDX 1.6 (ECMA-424). It is derived from the bundle's inputs and the lock,
 * so it is the same on any platform; npm's own list depends on the installation.
 */

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly license?: string
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
}

const purl = (name: string, version = "") => `pkg:npm/${name.replace("@", "%40")}@${version}`

/** The lock's key of the package that a file belongs to: the path up to the innermost package. */
const packageOf = (file: string) => /^.*?(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//u.exec(file)?.[1]

const licence = (license: string | undefined) =>
  license === undefined
    ? []
    : / (?:OR|AND) /u.test(license)
      ? [{ expression: license }]
      : [{ license: { id: license } }]

const component = (path: string, { integrity = "", license, version }: Locked) => {
  const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)
  const [algorithm, digest = ""] = integrity.split("-", 2)
  return {
    type: "library",
    "bom-ref": purl(name, version),
    name,
    version,
    ...(algorithm === "sha512"
      ? { hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }] }
      : {}),
    licenses: licence(license),
    purl: purl(name, version),
  }
}

/** `packages` are those of the lock, `inputs` the files of the bundle. */
export const sbom = (
  { license, name, version }: Manifest,
  packages: Readonly<Record<string, Locked>>,
  inputs: ReadonlyArray<string>,
) => {
  const paths = [...new Set(inputs.flatMap((file) => packageOf(file) ?? []))].sort()
  const all = paths.map((path) => {
    const locked = packages[path]
    if (locked === undefined) throw new Error(`package-lock.json has no ${path}`)
    return component(path, locked)
  })
  const components = [...new Map(all.map((one) => [one.purl, one])).values()]
  const self = purl(name, version)
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: { type: "application", "bom-ref": self, name, version, licenses: licence(license), purl: self },
    },
    components,
    dependencies: [{ ref: self, dependsOn: components.map((one) => one.purl) }],
  }
}
