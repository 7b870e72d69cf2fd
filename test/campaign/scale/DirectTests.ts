/** Test files that do not go through PgBouncer, and why; all others with a database do. */
import { globSync } from "node:fs"

interface DirectTests {
  readonly why: string
  readonly files: ReadonlyArray<string>
}

export const directTests: ReadonlyArray<DirectTests> = [
  {
    why: "starts, kills or fills a PostgreSQL of its own, or a sandbox that has one",
    files: [
      "test/cli/sandbox.test.ts",
      "test/cli/second-sandbox.test.ts",
      "test/campaign/fire/fire.test.ts",
      "test/sandbox/DataFolder.test.ts",
      "test/sandbox/LocalDatabase.test.ts",
    ],
  },
  {
    why: "counts the sessions that a server has at PostgreSQL, which are the pooler's here",
    files: ["test/contract/connections.test.ts"],
  },
  {
    why: "puts a PgBouncer of its own before the database",
    files: ["test/operations/proxies.test.ts"],
  },
  {
    why: "moves the database's clock by its search path, which a pooler's older sessions do not have",
    files: ["test/campaign/stories/altar.test.ts", "test/campaign/stories/rooms.test.ts"],
  },
  {
    why: "has no database",
    files: [
      "test/browser/artwork.test.ts",
      "test/cli/usage.test.ts",
      "test/campaign/fire/members.test.ts",
      "test/campaign/fire/reorganisations.test.ts",
      "test/campaign/hostile/slow.test.ts",
      "test/log/proofs.test.ts",
      "test/campaign/model/protocol.test.ts",
      "test/nix/flake.test.ts",
      "test/payments/answer-size.test.ts",
      "test/payments/log-search.test.ts",
      "test/payments/signing-thread.test.ts",
      "test/sandbox/DevUSD.test.ts",
      "test/sandbox/LocalChain.test.ts",
    ],
  },
]

/** All test files but the fast ones and those. */
export const withDatabase = (): ReadonlyArray<string> => {
  const left = new Set(directTests.flatMap(({ files }) => files))
  return globSync("test/**/*.test.ts", { exclude: ["test/fast", "**/node_modules"] })
    .filter((file) => !left.has(file))
    .sort()
}
