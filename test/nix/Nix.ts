/** Nix, where it is installed, with a store of its own that is gone with the test: nothing of the machine's is touched. */
import { execFileSync } from "node:child_process"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { newFolder } from "../lab/Folders.ts"
import { type Ended, run } from "../lab/Process.ts"

const isInstalled = () => {
  try {
    return execFileSync("nix-instantiate", ["--version"], { encoding: "utf8" }).includes("Nix")
  } catch {
    process.stdout.write("No Nix here: the flake is not evaluated (apt install nix-bin).\n")
    return false
  }
}

export const isHere = isInstalled()

export interface Nix {
  readonly run: (command: string, args: ReadonlyArray<string>) => Promise<Ended>
  readonly close: () => Promise<void>
}

/** No network but what a derivation's own builder does: no substitutes, no registry of flakes. */
export const make = async (): Promise<Nix> => {
  const folder = newFolder()
  const env = {
    ...process.env,
    NIX_REMOTE: "",
    NIX_PATH: "",
    NIX_STORE_DIR: join(folder, "store"),
    NIX_STATE_DIR: join(folder, "state"),
    NIX_LOG_DIR: join(folder, "log"),
    NIX_CONF_DIR: join(folder, "conf"),
    NIX_CONFIG: "build-users-group =\nsandbox = false\nsubstitute = false\n",
  }
  return {
    run: (command, args) => run(args, { command, env }).ended,
    close: () => rm(folder, { recursive: true, force: true }),
  }
}
