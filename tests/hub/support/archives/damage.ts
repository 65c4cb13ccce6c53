import { gzipSync } from 'node:zlib'
import { tarOf } from '../tar.ts'
import { type Attempts, edit, LEADS } from './craft.ts'

/** What is no archive, or no longer a whole one. */
export function attackBytes({ sound, bytes, put, change }: Attempts): void {
  put('no archive', 'a text', /damaged/, () => Buffer.from('hello'))
  put('no archive', 'nothing', /damaged|manifest/, () => Buffer.alloc(0))
  put('no archive', 'nothing, compressed', /damaged|manifest/, () => gzipSync(Buffer.alloc(0)))
  put('no archive', 'zeros, compressed', /damaged|manifest/, () => gzipSync(Buffer.alloc(10_240)))
  put('no archive', 'no manifest', /no manifest/, () => tarOf(sound.slice(2)))
  put('no archive', 'a manifest behind a file', /no manifest/, () =>
    tarOf([...sound.slice(2), ...sound.slice(0, 2)]),
  )
  put('no archive', 'an age header without end', /damaged/, () =>
    Buffer.concat([Buffer.from('age-encryption.org/v1\n-> X25519 '), Buffer.alloc(200_000, 'a')]),
  )
  put('no archive', 'an age header that costs gigabytes', /does not open/, () => {
    const salt = Buffer.alloc(16).toString('base64').replace(/=+$/, '')
    const body = Buffer.alloc(32).toString('base64').replace(/=+$/, '')
    const mac = Buffer.alloc(32).toString('base64').replace(/=+$/, '')
    return Buffer.from(
      `age-encryption.org/v1\n-> scrypt ${salt} 24\n${body}\n--- ${mac}\nxxxxxxxxxxxxxxxx`,
    )
  })
  for (const share of [0.1, 0.3, 0.5, 0.7, 0.9, 0.99]) {
    put('cut off', `at ${share * 100} %`, /damaged|missing|manifest/, () =>
      bytes.subarray(0, Math.floor(bytes.length * share)),
    )
  }
  for (const share of [0.02, 0.2, 0.4, 0.6, 0.8, 0.95]) {
    put(
      'a flipped bit',
      `at ${share * 100} %`,
      /damaged|checksum|manifest|signature|plain file|twice|bytes/,
      () => {
        const spoiled = Buffer.from(bytes)
        const at = Math.floor(spoiled.length * share)
        spoiled[at] = (spoiled[at] ?? 0) ^ 0x10
        return spoiled
      },
    )
  }
  change(
    'a sum',
    'another content of the same size',
    /checksum/,
    (members) => {
      edit(members, LEADS, (text) => text.replace('40', '41').replace('new', 'won'))
    },
    { reseal: false },
  )
}
