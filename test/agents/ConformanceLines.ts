/** The expected findings of MCP's conformance suites; the rest is listed with reasons beside this file. */

/** Both lines of the suite, with the checks of each scenario that has to pass. */
export const lines = [
  {
    name: "0.1, revisions before 2026",
    suite: "@modelcontextprotocol/conformance",
    args: [],
    exceptions: "conformance.yaml",
    required: { "server-initialize": 1, ping: 1, "tools-list": 1, "dns-rebinding-protection": 2 },
  },
  {
    name: "0.2, 2025-06-18",
    suite: "conformance-next",
    args: ["--spec-version", "2025-06-18"],
    exceptions: "conformance.yaml",
    required: { "server-initialize": 2, ping: 2, "tools-list": 2 },
  },
  {
    name: "0.2, 2026-07-28",
    suite: "conformance-next",
    args: ["--spec-version", "2026-07-28"],
    exceptions: "conformance-2026.yaml",
    required: {
      "http-header-validation": 14,
      "tools-list": 4,
      "dns-rebinding-protection": 2,
      "server-stateless": 21,
      caching: 4,
    },
  },
] as const
