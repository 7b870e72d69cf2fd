/** The environment of a command: what is set and empty is not set. */
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

/** The altar where none is named. */
export const defaultUrl = "http://127.0.0.1:3000"
