/** The generator calls every body required; what may be left out says so itself. */
import { OpenApi } from "effect/http-api"

export const optionalBody = OpenApi.annotations({
  transform: (operation) => ({
    ...operation,
    requestBody: { ...Object(operation["requestBody"]), required: false },
  }),
})
