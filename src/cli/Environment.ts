/** The environment of a command; an empty variable counts as unset. */
import { ConfigProvider } from "effect"

/** Containers and units pass unset variables on as empty ones. */
export const givenEnvironment = () =>
  ConfigProvider.fromEnv({
    env: Object.fromEntries(
      Object.entries(process.env).flatMap(([name, value]) =>
        value === undefined || value === "" ? [] : [[name, value]],
      ),
    ),
  })

export const defaultUrl = "http://127.0.0.1:3000"
