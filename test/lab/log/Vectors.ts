/** Logs, notes and proofs that other implementations made: our output must be the same, byte for byte. */
import { Malformed } from "../../../schema/log/Bytes.ts"
import { keyIdInput, keyIdOf, parseVerifierKey, verifierKeyText } from "../../../schema/log/Note.ts"
import { sha256 } from "../../../src/log/Tree.ts"

export const rfcLeaves = [
  "",
  "00",
  "10",
  "2021",
  "3031",
  "40414243",
  "5051525354555657",
  "606162636465666768696a6b6c6d6e6f",
]

/** In hex, of the first 0, 1, 2 … of those leaves. */
export const rfcRoots = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]

export interface InclusionVector {
  readonly index: number
  readonly size: number
  readonly hashes: ReadonlyArray<string>
}

export interface ConsistencyVector {
  readonly old: number
  readonly size: number
  readonly hashes: ReadonlyArray<string>
}

export const rfcInclusion: ReadonlyArray<InclusionVector> = [
  {
    index: 0,
    size: 8,
    hashes: [
      "lqKW0iTyhcZ77pPDD4owkVfw2qNdxbh+QQt4YwoJz8c=",
      "Xwg/ChozygdqlSeYMlgNs+DvRYS9/x9UyKNg9Q3jAx4=",
      "a0eq8p7jwq+a+Im8H7klTavTEXfxYjLdaqsDXKOb9uQ=",
    ],
  },
  {
    index: 5,
    size: 8,
    hashes: [
      "vBoGQ7EuTS18d5GPROD095qDi2z57FtcKD4fTYhZnms=",
      "yoVOoSjtBQtBs1/8G4e46yveRh6eO1WW7Oa51ZdaCuA=",
      "037kGJdt2VdTwcc4Yrk5j6Kiz5tP8P3+izDNlSCWFLc=",
    ],
  },
  { index: 2, size: 3, hashes: ["+sVCA+fMaWzw38tCySodnbr3CtnmIfS9jZhmLwDjwSU="] },
]

export const rfcConsistency: ReadonlyArray<ConsistencyVector> = [
  {
    old: 1,
    size: 8,
    hashes: [
      "lqKW0iTyhcZ77pPDD4owkVfw2qNdxbh+QQt4YwoJz8c=",
      "Xwg/ChozygdqlSeYMlgNs+DvRYS9/x9UyKNg9Q3jAx4=",
      "a0eq8p7jwq+a+Im8H7klTavTEXfxYjLdaqsDXKOb9uQ=",
    ],
  },
  {
    old: 6,
    size: 8,
    hashes: [
      "DrxdNDf74tsVi58Sah0RjjCBgQMdCpSfje3t68VY72o=",
      "yoVOoSjtBQtBs1/8G4e46yveRh6eO1WW7Oa51ZdaCuA=",
      "037kGJdt2VdTwcc4Yrk5j6Kiz5tP8P3+izDNlSCWFLc=",
    ],
  },
  {
    old: 2,
    size: 5,
    hashes: ["Xwg/ChozygdqlSeYMlgNs+DvRYS9/x9UyKNg9Q3jAx4=", "vBoGQ7EuTS18d5GPROD095qDi2z57FtcKD4fTYhZnms="],
  },
  {
    old: 6,
    size: 7,
    hashes: [
      "DrxdNDf74tsVi58Sah0RjjCBgQMdCpSfje3t68VY72o=",
      "sIaT7C5yFZcTBkHoIR5+7cy0wmQTlj7ubB4u0W/7Gl8=",
      "037kGJdt2VdTwcc4Yrk5j6Kiz5tP8P3+izDNlSCWFLc=",
    ],
  },
]

/** A log by Tessera whose entry i is `entry-<i>`. */
export const golden = {
  name: "webtessera.fixture.log",
  signerKey: "PRIVATE+KEY+webtessera.fixture.log+dc00151b+AcwDSjtCWhsc7xNHRYufTeqK6/OA73GaH/GCwyT1xsvP",
  vkey: "webtessera.fixture.log+dc00151b+AUeIGKl2KxQNkIaKQYoZiZT3MbL8/GB3Q3Yo3fTwAV2+",
  /** Size, root, and the signature where it is known. */
  checkpoints: [
    [
      0,
      "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
      "3AAVGymaTjJQbo49kdb81+gPbzCo1jXWsq7eI89zZDsYAsgvehUVY2UbV+inr4Uea/nXr6IOn4/+KaaCpa9On3CLWAg=",
    ],
    [
      1,
      "QHZrIDNCkCb1PVRQJnmoOXBrR0H43K86i7pfQbX/4HU=",
      "3AAVGxlH+L8f18lQcTtzquz2bsU7ynFBtlrtsGualck0zPSjbkqMX6VeZoSRVxLHa7EHvdRtVx5WQnDJi0Ig67uqeA4=",
    ],
    [
      2,
      "LyelCCwdQq+kiKw1Cp/EOQwIT1T3Hs3/hZ6Y24QptHk=",
      "3AAVG9U+fKtx6ow6/es4Fjl+2o9NlqGABtrcK2hQ/EvgeA2H2AOijga8+krjhrKZFPdpv9tOfdTwSd8M9P1YgyZ1bAs=",
    ],
    [3, "pkvybgkSj2/i/m+LLYyAHhZrV8BHp82bK4Ceepai8cs=", undefined],
    [
      8,
      "38wTubDKkyxo3j1Z6qqP4mapyAkcAwDoQF6/6w0OWDI=",
      "3AAVG3Onqu1vrWSDKJrvANHwYGYRSjP0I0YUugeeoCnzQxfb/B9omNGlNam7cHBp0ZpGrOYIoQ6yCMAbJj8BHdVh3As=",
    ],
    [255, "RdqfN0dI4Xo3L3HABCKxLiv5aELx9hxXQP5JTkvs/w8=", undefined],
    [
      256,
      "+F9OrTQIBxC00egIMBVDqquBqgTeuIWZNQ3Cak8vWN4=",
      "3AAVG6FKYmVWWsWvzqdvE/SljT4RyxRY7fnfykeWff0cedqeQkeSaJoVq2qiiYmtd1shboxtqglynu/cOzS5FcgTVAU=",
    ],
    [
      257,
      "kYsc7GTzF8duPPVcBTaEHAOe/wZ3LruIKM58F2Aotaw=",
      "3AAVG+MXB9pxpdaeWJ/6b26D9ikKipOjqEbLFpMwejU3h6eUcm2r3wVXF5nCu62pwGUkQFkrFqFspphy6FBq4Lg9ngQ=",
    ],
    [1000, "0D1jt3KvmQGYF+4+AYKG02omFhvbW/6CKOksAqvpEV0=", undefined],
    [5000, "u5aVT2/+Dy5HPb3YwoXV2Sc09qRtZR7lMrrJhRn4onQ=", undefined],
  ] satisfies ReadonlyArray<readonly [number, string, string | undefined]>,
  /** In hex, at size 2 and at size 257. */
  files: {
    2: {
      "tile/0/000.p/2":
        "40766b2033429026f53d54502679a839706b4741f8dcaf3a8bba5f41b5ffe075e868811a482c27d50b6d45dde79c465d6adb9b06645100477a90cf3d8518898b",
      "tile/entries/000.p/2": "0007656e7472792d300007656e7472792d31",
    },
    257: {
      "tile/0/001.p/1": "dcb006f0bdd54dd607beb5d12211d248e3566406e459635895724c3d57a780e7",
      "tile/1/000.p/1": "f85f4ead34080710b4d1e808301543aaab81aa04deb88599350dc26a4f2f58de",
      "tile/entries/001.p/1": "0009656e7472792d323536",
    },
  },
  inclusion: [
    {
      index: 5,
      size: 8,
      hashes: [
        "GUu1otW9EOXRqm/V1CmAs1bK8dpiPNmYfEv6L4F3Htc=",
        "1EgFk1RgUwW/k2qmoOTHCTIclg4rpskhuYuaFlMZy+I=",
        "JWueiCXl03CkrgBdCQHqKRl34pJ/XPjj5yZg3QlRnts=",
      ],
    },
    {
      index: 6,
      size: 7,
      hashes: ["ShNqcAh7Y340w9Paps6naLHbE+xHWQLS4kC2Dj2ZnHo=", "JWueiCXl03CkrgBdCQHqKRl34pJ/XPjj5yZg3QlRnts="],
    },
    { index: 256, size: 257, hashes: ["+F9OrTQIBxC00egIMBVDqquBqgTeuIWZNQ3Cak8vWN4="] },
  ] satisfies ReadonlyArray<InclusionVector>,
  consistency: [
    {
      old: 6,
      size: 8,
      hashes: [
        "ShNqcAh7Y340w9Paps6naLHbE+xHWQLS4kC2Dj2ZnHo=",
        "1EgFk1RgUwW/k2qmoOTHCTIclg4rpskhuYuaFlMZy+I=",
        "JWueiCXl03CkrgBdCQHqKRl34pJ/XPjj5yZg3QlRnts=",
      ],
    },
    { old: 4, size: 8, hashes: ["W2aA4wNdupuKIh7oGegF4cF7MzzWZmTnZALqQ9e2SoM="] },
    {
      old: 3,
      size: 7,
      hashes: [
        "BJ19zbVrz+vTEzBMmDnxlqPUtu873AsIKY+TrIGR8Kg=",
        "J0ebarMh0u5HdFL2i6UndI6GPK/o+9HfK/idFXDRtpc=",
        "LyelCCwdQq+kiKw1Cp/EOQwIT1T3Hs3/hZ6Y24QptHk=",
        "5CnFtcyqlSPDcpfxhGdm+QMTfoIZXFGZ5r5XEw0QBsg=",
      ],
    },
    { old: 256, size: 257, hashes: ["3LAG8L3VTdYHvrXRIhHSSONWZAbkWWNYlXJMPVengOc="] },
  ] satisfies ReadonlyArray<ConsistencyVector>,
  /** Entry 5 at size 8. */
  proofFile: `c2sp.org/tlog-proof@v1
index 5
GUu1otW9EOXRqm/V1CmAs1bK8dpiPNmYfEv6L4F3Htc=
1EgFk1RgUwW/k2qmoOTHCTIclg4rpskhuYuaFlMZy+I=
JWueiCXl03CkrgBdCQHqKRl34pJ/XPjj5yZg3QlRnts=

webtessera.fixture.log
8
38wTubDKkyxo3j1Z6qqP4mapyAkcAwDoQF6/6w0OWDI=

— webtessera.fixture.log 3AAVG3Onqu1vrWSDKJrvANHwYGYRSjP0I0YUugeeoCnzQxfb/B9omNGlNam7cHBp0ZpGrOYIoQ6yCMAbJj8BHdVh3As=
`,
}

/** The example of C2SP signed-note. */
export const example = {
  vkey: "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
  note: `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`,
}

/** The key of Go's own tests. */
export const neumann = {
  vkey: "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
  signerKey: "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz",
}

/** A log's witness, over the golden checkpoint of size 8. */
export const witness = {
  signerKey: "PRIVATE+KEY+webtessera.fixture.witness+18f977d3+AWJLz5U03Pi3k4VdC8bTygn0Fp9s0JwfaD4tvnYM4ClS",
  vkey: "webtessera.fixture.witness+6ad4ca2c+BGfIJIn8/IKAwqkiLCaTIP6Z8DCka5VbRyQTewy1nIn2",
  seconds: 1_679_315_147,
  line: "— webtessera.fixture.witness atTKLAAAAABkGFDLX0XfGwfRQGQHBkfFGUt9oHJrgcCUTCFgx572QbEEQZI1yTTGiI9Zg92pp2Wc2yx7yYw/nIleGGYue1plYJxlBA==\n",
}

/** A log witness with an ML-DSA-44 key, whose seed is 32 times 7, and what it signs. */
export const postQuantum = {
  name: "witness.example.com/w1",
  id: "fee9385e",
  /** SHA-256 of its public key, and of the bytes it signs. */
  digest: "86c769d3b468de487eb9a09f242f7fa0b997a07ef4ded49627e7bf9539f28b62",
  signed: "deb1db00bcadc2e5c15e86360318b689b48ccd47b20da0cc243bdee31187e07f",
  seconds: 1_679_315_147,
  text: "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
}

/** A key of mixed order that some libraries accept: to be refused. */
export const mixedOrder = {
  publicKey: "678c8edde71e8f4dd2d05c673807d7951ab5e93763a16363f14a1812c7bd8fac",
  message: "hi",
  signature:
    "032bc2b7e1cf18bd44686ac76094ea4c80547a461de1dea46055e5059f8df8dfb65ed101a84ad476d3b3715c03644f9564a48c92b0d84ea8ae9736cd99e59005",
}

/** Three stones sealed over `stone-1` to `stone-3`: chain hash, leaf hash, and the root after each. */
export const stones = [
  [
    "61fc516114ec70841dcb601815bff2eccc11f7567c0a4bdc443c08429f59bf5f",
    "a238ee3921494cb1571b2ba90d6af08a6946bd51b6e26d9d00aa9212fd7b3216",
    "ojjuOSFJTLFXGyupDWrwimlGvVG24m2dAKqSEv17MhY=",
  ],
  [
    "3d9f4420cfade77e472c66ee067189883ac2b5e21e3dfa9c719d3418af76c454",
    "ef9d24d0c67eaef3fa0893edbe1b0adf4bde5b7f40a5cedd19d9edef528d3a55",
    "Z40V+wiFK7GN/SHVAWRLl+9cjha8pOoM2Y2zU9HvnTs=",
  ],
  [
    "732312ef7f87bffc015fc80d814bae4e4af5dcb5cd80c950fde4c034b2a87d52",
    "2bf50b3eaceb1692fbe933b3c0f1bc7a2fe3b0f567f41fef95c103fe53bd3913",
    "Bj9/Wdhc37LZALsr/yY5BQgTrDJ52CAywnqS0/527E0=",
  ],
] as const

/** A verifier key's text for the same key under another name. */
export const renamed = (vkey: string, name: string) => {
  const key = parseVerifierKey(vkey)
  if (key instanceof Malformed) throw new Error(key.message)
  return verifierKeyText({ ...key, name, id: keyIdOf(sha256(keyIdInput({ ...key, name }))) })
}
