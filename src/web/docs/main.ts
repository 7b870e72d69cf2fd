/** Search, the language of the examples, copy buttons and trial requests of the reference, which is complete without them. */
import { start as startCopy } from "../v2/page/copy.ts"
import { start as startFind } from "./find.ts"
import { start as startLanguage } from "./language.ts"
import { start as startTrying } from "./trying.ts"

for (const start of [startCopy, startFind, startLanguage, startTrying]) start()
