/**
 * The provenance of a package as an unsigned in-toto statement with a SLSA predicate. It names no machine, path or
 * time, so the same commit gives the same statement.
 */
import { createHash } from "node:crypto"

/** Type and builder have no pages of their own; SECURITY.md explains them. */
const buildType = "urn:spirit-altar:npm-run-package:v1"
const builder = "urn:spirit-altar:unsigned"

export interface Part {
  readonly name: string
  readonly bytes: Uint8Array
}

export interface Making {
  readonly archive: Part
  readonly sbom: Part
  readonly lock: Part
  /** The packed commit; absent where the tree is no commit's. */
  readonly commit: string | undefined
  /** Versions of the programs that ran, as in `24.21.0`. */
  readonly node: string
  readonly npm: string
}

const digest = (algorithm: "sha256" | "sha512", { bytes }: Part) => createHash(algorithm).update(bytes).digest("hex")

const resource = (part: Part) => ({ name: part.name, digest: { sha256: digest("sha256", part) } })

export const provenance = ({ archive, commit, lock, node, npm, sbom }: Making) => ({
  _type: "https://in-toto.io/Statement/v1",
  subject: [{ name: archive.name, digest: { sha256: digest("sha256", archive), sha512: digest("sha512", archive) } }],
  predicateType: "https://slsa.dev/provenance/v1",
  predicate: {
    buildDefinition: {
      buildType,
      externalParameters: { command: "npm ci && npm run package" },
      internalParameters: { node, npm },
      resolvedDependencies: [
        ...(commit === undefined ? [] : [{ name: "source", digest: { gitCommit: commit } }]),
        resource(lock),
      ],
    },
    runDetails: { builder: { id: builder }, byproducts: [resource(sbom)] },
  },
})
