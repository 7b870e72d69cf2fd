// Compiles each contract to JSON beside its source. Git shows what changed.
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { packageRoot } from "../../platform/PackageRoot.ts"

// Fixed EVM version and no metadata hash, so that the same source gives the same bytes on every machine.
const settings = {
  optimizer: { enabled: true, runs: 200 },
  evmVersion: "cancun",
  metadata: { bytecodeHash: "none", appendCBOR: false },
  outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] } },
}

const compiler = fileURLToPath(new URL("src/build/tools/node_modules/.bin/solcjs", packageRoot))

interface Bytecode {
  readonly object: string
}

interface Output {
  readonly errors?: ReadonlyArray<{ readonly formattedMessage: string }>
  readonly contracts: Readonly<
    Record<string, Readonly<Record<string, { abi: unknown; evm: { bytecode: Bytecode; deployedBytecode: Bytecode } }>>>
  >
}

for (const [folder, contractName] of [
  ["src/sandbox/contracts", "DevUSD"],
  ["test/contracts", "Wallet1271"],
] as const) {
  const fileOf = (extension: string) => new URL(`${folder}/${contractName}.${extension}`, packageRoot)
  const sources = { contract: { content: readFileSync(fileOf("sol"), "utf8") } }
  const input = JSON.stringify({ language: "Solidity", sources, settings })
  const printed = execFileSync(compiler, ["--standard-json"], { encoding: "utf8", input })
  // A line about missing solvers stands before the JSON.
  const output: Output = JSON.parse(printed.slice(printed.indexOf("{")))
  const compiled = output.contracts["contract"]?.[contractName]
  if (compiled === undefined || output.errors !== undefined) {
    throw new Error(output.errors?.map(({ formattedMessage }) => formattedMessage).join("\n"))
  }
  const { bytecode, deployedBytecode } = compiled.evm
  const artifact = {
    contractName,
    abi: compiled.abi,
    bytecode: `0x${bytecode.object}`,
    deployedBytecode: `0x${deployedBytecode.object}`,
  }
  writeFileSync(fileOf("json"), `${JSON.stringify(artifact)}\n`)
}
