// Compiles the contract JSON from the sources beside it; `--check` fails when the committed JSON differs.
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, FileSystem, Path, Schema } from "effect"
import solc from "solc"

class CompileError extends Schema.TaggedError<CompileError>()("CompileError", {
  message: Schema.String,
}) {}

const Artifact = Schema.Struct({
  abi: Schema.Unknown,
  evm: Schema.Struct({
    bytecode: Schema.Struct({ object: Schema.String }),
    deployedBytecode: Schema.Struct({ object: Schema.String }),
  }),
})

const Output = Schema.fromJsonString(
  Schema.Struct({
    errors: Schema.optionalKey(
      Schema.Array(Schema.Struct({ severity: Schema.String, formattedMessage: Schema.String })),
    ),
    contracts: Schema.optionalKey(Schema.Record(Schema.String, Schema.Record(Schema.String, Artifact))),
  }),
)

// Fixed EVM version and no metadata hash, so that the same source gives the same bytes on every machine.
const settings = {
  optimizer: { enabled: true, runs: 200 },
  evmVersion: "cancun",
  metadata: { bytecodeHash: "none", appendCBOR: false },
  outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] } },
}

/** Compiles every `.sol` file of a folder; returns path and text of the JSON for the contract named like the file. */
const compileFolder = Effect.fn("compileFolder")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const files = (yield* fs.readDirectory(folder)).filter((file) => file.endsWith(".sol")).sort()
  const sources: Record<string, { content: string }> = {}
  for (const file of files) {
    sources[file] = { content: yield* fs.readFileString(path.join(folder, file)) }
  }
  const input = JSON.stringify({ language: "Solidity", sources, settings })
  const output = yield* Schema.decodeUnknownEffect(Output)(solc.compile(input))
  const problems = output.errors ?? []
  if (problems.length > 0) {
    return yield* new CompileError({
      message: problems.map((problem) => problem.formattedMessage).join("\n"),
    })
  }
  return Object.entries(output.contracts ?? {}).flatMap(([file, contracts]) => {
    const contractName = path.basename(file, ".sol")
    const artifact = contracts[contractName]
    if (artifact === undefined) return []
    const text = JSON.stringify({
      contractName,
      abi: artifact.abi,
      bytecode: `0x${artifact.evm.bytecode.object}`,
      deployedBytecode: `0x${artifact.evm.deployedBytecode.object}`,
    })
    return [{ target: path.join(folder, `${contractName}.json`), text: `${text}\n` }]
  })
})

const program = Effect.fn("compile")(function* (check: boolean) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const here = import.meta.dirname
  const folders = [here, path.join(here, "../../../test/contracts")]
  const artifacts = (yield* Effect.forEach(folders, compileFolder)).flat()
  for (const { target, text } of artifacts) {
    const name = path.relative(path.join(here, "../../.."), target)
    const committed = yield* fs.readFileString(target).pipe(Effect.orElseSucceed(() => ""))
    if (committed === text) continue
    if (check) {
      return yield* new CompileError({ message: `${name} is stale: run npm run token` })
    }
    yield* fs.writeFileString(target, text)
    yield* Console.log(`wrote ${name}`)
  }
})

NodeRuntime.runMain(program(process.argv.includes("--check")).pipe(Effect.provide(NodeServices.layer)))
