/** The packages of a `package-lock.json`. */
import { jsonOf } from "./Sources.ts"

export interface Entry {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly license?: string
  readonly optional?: boolean
  readonly hasInstallScript?: boolean
  readonly os?: ReadonlyArray<string>
  readonly cpu?: ReadonlyArray<string>
  readonly libc?: ReadonlyArray<string>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

export type Packages = Readonly<Record<string, Entry>>

export const packagesOf = (lock: string): Packages => jsonOf(lock).packages
