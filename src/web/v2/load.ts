/** What is fetched when it is asked for; where it does not come, that is said in our words. */
import { unreached } from "./http.ts"

export const arrived = <Part>(part: Promise<Part>): Promise<Part> =>
  part.catch(() => {
    throw unreached()
  })

export const onDemand = () => arrived(import("./onDemand.ts"))

/** What pays, and lays the page out anew. */
export const paying = () => arrived(import("./pay/onDemand.ts"))

/** The part that can sign. */
export const signing = () => arrived(import("./pay/signer.ts"))
