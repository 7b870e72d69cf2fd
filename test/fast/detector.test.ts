/** What points elsewhere is found in disguise, and innocent words are left alone. */
import { assert, describe, it } from "@effect/vitest"
import { pointsElsewhere } from "../../src/altar/Detector.ts"

const pointing = [
  "https://a.example/x",
  "HTTP://EXAMPLE.COM",
  "hxxps://example.com",
  "go to example.com now",
  "example.com/path?x=1",
  "exa\u200bmple.com",
  "ｅｘａｍｐｌｅ．ｃｏｍ",
  "example。com",
  "example[.]com",
  "example (dot) com",
  "example dot com",
  "münchen.de",
  "пример.рф",
  "xn--e1afmkfd.xn--p1ai",
  "www.something.co.uk",
  "t.me/joinhere",
  "mail me: wren@example.org",
  "wren [at] example [dot] org",
  "mailto:wren",
  "192.168.0.1",
  "at 10.0.0.1:8080",
  "2001:db8::1",
  "[::1]:3000",
  "::ffff:10.0.0.1",
  "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  "0x70997970c51812dc3a010c7d01b50e0d17dc79c8 please",
  "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
  "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
  "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV",
  "wren.eth",
  "send to wren.sol",
  "javascript:alert(1)",
  "ipfs://bafy",
]

const innocent = [
  "The heron will return by May.",
  "For Grandma, who kept bees. 1931-2019",
  "e.g. a candle, i.e. light",
  "At 5.30 p.m. we met.",
  "Version 2.0.1 of me",
  "3.14159",
  "Wait...what?",
  "U.S.A. and back",
  "Rain,crow,rain",
  "12:30:45",
  "10:30",
  "Ratio 3:2",
  "und so weiter usw. usf.",
  "ἐν ἀρχῇ ἦν ὁ λόγος",
  "今日は雨です。明日は晴れ。",
  "Donaudampfschifffahrtsgesellschaftskapitaen",
  "0x is a prefix",
  "the dot on the i",
  "meet at the dot",
  "@ home",
  "5 @ 3 cents",
  "a: b",
  "❤️‍🔥 for you",
]

describe("the detector", () => {
  it.each(pointing)("finds %s", (text) => assert.isTrue(pointsElsewhere(text)))
  it.each(innocent)("leaves %s", (text) => assert.isFalse(pointsElsewhere(text)))
})
