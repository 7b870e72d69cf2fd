/** The environment of a command: what is set and empty is not set; and the variables that the buyer's commands read, each named once for its parser and for the help. */
import { ConfigProvider } from "effect"

/** Containers and units pass on empty what nobody gave them. */
export const givenEnvironment = () =>
  ConfigProvider.fromEnv({
    env: Object.fromEntries(
      Object.entries(process.env).flatMap(([name, value]) =>
        value === undefined || value === "" ? [] : [[name, value]],
      ),
    ),
  })

export const environment = {
  /** Public URL of the altar. */
  url: "SPIRIT_ALTAR_URL",
  /** Folder of the journal. */
  data: "SPIRIT_ALTAR_DATA",
  /** Who pays. */
  privateKey: "SPIRIT_ALTAR_PRIVATE_KEY",
} as const

/** The altar where none is named. */
export const defaultUrl = "http://127.0.0.1:3000"
