/** Marks optional bodies as such; the generator calls every body required. */
import { OpenApi } from "effect/http-api"

export const optionalBody = OpenApi.annotations({
  transform: (operation) => ({
    ...operation,
    requestBody: { ...Object(operation["requestBody"]), required: false },
  }),
})
