#!/usr/bin/env node
/** Where every command begins. */
import "./node.js"

import("./main.ts")
