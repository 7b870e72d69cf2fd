/** Malformed requests: values, bytes and paths that have broken servers, gathered by kind. */
const words = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/u)

const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`

/** In place of a value of a body, as JSON text: some of it no JSON at all. */
export const values: ReadonlyArray<string> = [
  ...words('null true 0 -0 -1 1e999 9007199254740993 0.1e-400 NaN "" [] {} [[[[[[[[[[1]]]]]]]]]] {"then":1}'),
  "1".repeat(400),
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udfff\\ud83d"',
  '"\\ufeff"',
  '"\u202eabc"',
  '"\u{1f56f}\ufe0f\u200d\u{1f525}"',
  '"Z\u0351\u036b\u0343\u036a\u0302\u036b"',
  `"${"a".repeat(5000)}"`,
  `"${"\u{1f409}".repeat(1100)}"`,
  `"${"\\u0041".repeat(700)}"`,
  '"\' OR 1=1;--"',
  '"$(id)`id`{{7*7}}${7*7}<script>"',
  '"%00%ff"',
  '"\t\n"',
  '{"__proto__":{"isAdmin":true}}',
  '{"constructor":{"prototype":{"ok":true}}}',
  '{"toString":1,"valueOf":1,"hasOwnProperty":1}',
  '{"toJSON":1,"_tag":"Success","_id":"Effect"}',
  deep(50),
  `[${"0,".repeat(3000)}0]`,
]

/** Requests whose bytes are no HTTP, or lie about their length; the answer is not of the contract. */
export const broken: ReadonlyArray<string> = [
  "GET\r\n\r\n",
  "GET / HTTP/9.9\r\n\r\n",
  "get / http/1.1\r\nhost: a\r\n\r\n",
  "GET / HTTP/1.1\r\n\r\n",
  "GET  /  HTTP/1.1\r\nhost: a\r\n\r\n",
  "GET http:// HTTP/1.1\r\nhost: a\r\n\r\n",
  "GET http://evil.example/api/spirits HTTP/1.1\r\nhost: a\r\n\r\n",
  "GET //evil.example/api/spirits HTTP/1.1\r\nhost: a\r\n\r\n",
  "GET ?limit=1 HTTP/1.1\r\nhost: a\r\n\r\n",
  "OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n",
  "CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n",
  "GET /api/spirits HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
  "GET /api/spirits HTTP/1.1\r\nhost: a\r\nno colon\r\n\r\n",
  "GET /api/spirits HTTP/1.1\r\nhost: a\r\na\u0000b: c\r\n\r\n",
  "GET /api/spirits HTTP/1.1\r\nhost: a\r\n folded: x\r\n\r\n",
  `GET /api/spirits HTTP/1.1\r\nhost: a\r\nx: ${"x".repeat(40_000)}\r\n\r\n`,
  `GET /api/spirits HTTP/1.1\r\nhost: a\r\n${"x: y\r\n".repeat(3000)}\r\n`,
  `GET /${"a".repeat(33_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
  "GET /api/spirits HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
  "POST /api/witness HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n{}",
  "POST /api/witness HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n{}",
  "POST /api/witness HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
  "POST /api/witness HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  "POST /api/witness HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n{}",
  "POST /api/witness HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n{}",
  "POST /api/witness HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
  `POST /api/witness HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2;${"a".repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
  "POST /api/witness HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\n{}GET / HTTP/1.1\r\nhost: a\r\n\r\n",
  "POST /api/witness HTTP/1.1\r\nhost: a\r\nexpect: nonsense\r\ncontent-length: 2\r\n\r\n{}",
  "POST /api/rooms HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999999\r\n\r\n{}",
]

/** The paths outside of the contract, and what replaces their names. */
export const pages = words(`
  / // /// //a:99999/ //[/ /v2 /v2/mine /v2/acts?q=%00 /v2/acts?q=a%00b /v2/acts?q=%E2%80%A8 /v2/acts?q=heron
  /v2/acts?kind=%00&spirit=__proto__&wallet=%00&before=%00 /v2/acts?kind=constructor /v2/wallets/%00
  /v2/wallets/0x${"g".repeat(40)} /v2/stone?spirit=%00 /art/spirits /art/spirits/moss-hare.svg
  /art/spirits/moss-hare.svg/x /art/spirits/moss-hare.svg%2Fx /style/icon.svg/x /style/icon.svg%2Fx
  /style/icon%2Esvg/x /art/%ff /art/%00 /art/${"x".repeat(256)} /${"x".repeat(256)} /art/spirits/${"%C3%A4".repeat(100)}
  /openapi.json /llms.txt /docs /mcp /signals /metrics
  /.well-known/x402 /.well-known/mcp/server-card.json /log/checkpoint /log/tile/0/000 /log/tile/0/x999/000.p/255
  /art/../../package.json /art/%2e%2e/%2e%2e/package.json /web/nothing.js /feed.xml /robots.txt /favicon.ico
`)
