/** Links and addresses are found in disguise, and innocent words are left alone. */
import { assert, describe, it } from "@effect/vitest"
import { pointsElsewhere } from "../../src/altar/Detector.ts"

const pointing: Readonly<Record<string, ReadonlyArray<string>>> = {
  "an address of the web": ["https://a.example/x", "HTTP://EXAMPLE.COM", "hxxps://example.com", "t.me/joinhere"],
  "a host": ["go to example.com now", "example.com/path?x=1", "münchen.de", "пример.рф", "xn--e1afmkfd.xn--p1ai"],
  "a host of several labels": ["www.something.co.uk", "বাংলা.বাংলা", "موقع.امارات"],
  "a host in another script": ["उदाहरण.भारत", "उदाहरण dot भारत", "mysite.இந்தியா", "ตัวอย่าง.ไทย"],
  "a host with other dots": ["example。com", "example[.]com", "example (dot) com", "example dot com"],
  "a host in wide letters": ["ｅｘａｍｐｌｅ．ｃｏｍ"],
  "a letter that is not seen in a host": ["exa\u200bmple.com", "example.c\u034fom", "example.c\ufe0fom"],
  "a filler or a selector in a host": [
    "example.c\u3164om",
    "example.c\uffa0om",
    "exam\u115fple.com",
    "example.c\u180bom",
    "example.c\u17b4om",
    "example.c\u{e0100}om",
    "e\u034f\u0301cole.fr",
  ],
  "a host that is struck through": [
    "example.com\u0332",
    "e\u0336x\u0336a\u0336m\u0336p\u0336l\u0336e\u0336.\u0336c\u0336o\u0336m\u0336",
  ],
  "a scheme": ["javascript:alert(1)", "ipfs://bafy", "h\u034fttps:\ufe0f//example"],
  "an address of mail": ["mail me: wren@example.org", "wren [at] example [dot] org", "mailto:wren"],
  "a disguised address of mail": ["wren@exa\u034fmple.org", "wren@उदाहरण.भारत"],
  "an address of the network": ["192.168.0.1", "at 10.0.0.1:8080", "2001:db8::1", "[::1]:3000"],
  "a disguised address of the network": ["::ffff:10.0.0.1", "192.1\u034f68.1.1", "2001:db8\u034f::1"],
  "an address of a wallet": [
    "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    "0x70997970c51812dc3a010c7d01b50e0d17dc79c8 please",
    "70997970C51812dc3A010C7d01b50e0d17dc79C8",
    "70997970c51812dc3a010c7d01b50e0d17dc79c8",
    "x70997970C51812dc3A010C7d01b50e0d17dc79C8 is mine",
    "000000000000000000000000000000000000dEaD",
    "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
    "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
    "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV",
  ],
  "a disguised address of a wallet": [
    "7099797\u200b0C51812dc3A010C7d01b50e0d17dc79C8",
    "７０９９７９７０C51812dc3A010C7d01b50e0d17dc79C8",
    "0x70997970C51812dc3A01\ufe0f0C7d01b50e0d17dc79C8",
    "0x70997970C51812dc3A01\u03360C7d01b50e0d17dc79C8",
    "7EcDhSYGxXyscszYEp35\ufe0fKHN8vvw3svAuLKTzXwCFLtV",
  ],
  "a name of a wallet": ["wren.eth", "send to wren.sol", "vitalik.e\ufe0fth", "a🦊.eth", "🦊a.eth"],
  "a name of a wallet in pictures": ["🦊.eth", "🦊🦊🦊.eth", "🦊．ETH", "🦊。eth", "🦊 dot eth", "🦊[.]eth"],
  "a name of a wallet in joined pictures": ["🧙🏽‍♂️.eth", "❤️.eth", "1️⃣.eth", "🇵🇪.eth", "🏴󠁧󠁢󠁷󠁬󠁳󠁿.eth"],
}

const innocent: Readonly<Record<string, ReadonlyArray<string>>> = {
  sentences: ["The heron will return by May.", "For Grandma, who kept bees. 1931-2019", "e.g. a candle, i.e. light"],
  "points in sentences": ["At 5.30 p.m. we met.", "Wait...what?", "U.S.A. and back", "und so weiter usw. usf."],
  numbers: ["Version 2.0.1 of me", "3.14159", "12:30:45", "10:30", "Ratio 3:2", "5 @ 3 cents"],
  "words without blanks": ["Rain,crow,rain", "Donaudampfschifffahrtsgesellschaftskapitaen", "a: b", "@ home"],
  "the word dot": ["the dot on the i", "meet at the dot"],
  "hexadecimal digits": ["0x is a prefix", "a".repeat(40), "fade".repeat(10), "deadbeef cafe 1234567890"],
  "words of hexadecimal digits": [
    "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab",
    "A decade faded; a facade, a bead, a cafe",
  ],
  pictures: ["🦊. Ethel likes it", "🦊.Ethel likes it", "Fox 🦊 and ether", "🕯️... solstice", "❤️‍🔥 for you"],
  "joined pictures": ["1️⃣. first, ☀️.🌙", "👩‍👩‍👧‍👦.Ethel"],
  "other scripts": ["ἐν ἀρχῇ ἦν ὁ λόγος", "今日は雨です。明日は晴れ。", "Tiếng Việt có dấu.Thật đẹp"],
  "scripts of India, Thailand, Arabia and Israel": [
    "यह मोमबत्ती मेरी दादी के लिए है।",
    "यह अच्छा है.और यह भी. डॉ.राम",
    "என் பாட்டிக்கு ஒரு மெழுகுவர்த்தி.",
    "அன்பு.மற்றும் நன்றி",
    "ขอบคุณสำหรับทุกอย่าง พ.ศ. ๒๕๖๐",
    "هَذِهِ شَمْعَةٌ لِجَدَّتِي.مَا هٰذَا؟",
    "עִבְרִית יָפָה.",
    "e\u0301te\u0301.Apre\u0300s 12\u034f:30",
  ],
}

describe("the detector of links", () => {
  it.each(Object.entries(pointing))("finds %s", (_, texts) => {
    for (const text of texts) assert.isTrue(pointsElsewhere(text), text)
  })
  it.each(Object.entries(innocent))("ignores %s", (_, texts) => {
    for (const text of texts) assert.isFalse(pointsElsewhere(text), text)
  })
})
