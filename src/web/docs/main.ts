/** The reference is whole without this; it finds, copies and tries. */
import { start as startCopy } from "../v2/page/copy.ts"
import { start as startFind } from "./find.ts"
import { start as startTrying } from "./trying.ts"

for (const start of [startCopy, startFind, startTrying]) start()
