import { generateKeyPairSync, sign } from 'node:crypto'
import { fileOf, tarOf } from '../tar.ts'
import { type Attempts, LEADS } from './craft.ts'

/** Signatures by others, and over something else. */
export function attackSignatures({ sound, put }: Attempts): void {
  const [manifest, , ...rest] = sound
  const signed = (content: Buffer, kind: 'ed25519' | 'ed448', over = content) => {
    const { privateKey, publicKey } = generateKeyPairSync(kind as 'ed25519')
    const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
    const text = Buffer.concat([Buffer.from('watchpost-hub backup 1\n'), over])
    return JSON.stringify({ key, signature: sign(null, text, privateKey).toString('base64') })
  }
  const head = (signature: string) => () =>
    tarOf([manifest ?? fileOf('manifest.json'), fileOf('signature.json', signature), ...rest])
  const text = manifest?.content ?? Buffer.alloc(0)
  put(
    'a signature',
    'of another hub, with no word from a person',
    /Another hub signed this archive \(key [0-9a-f ]{39}\)/,
    head(signed(text, 'ed25519')),
    '',
  )
  put(
    'a signature',
    'of another hub, with the wrong word',
    /Another hub signed/,
    head(signed(text, 'ed25519')),
    'yes',
  )
  put(
    'a signature',
    'of another manifest',
    /signature does not match/,
    head(signed(text, 'ed25519', Buffer.from('x'))),
  )
  put(
    'a signature',
    'by another kind of key',
    /signature does not match/,
    head(signed(text, 'ed448')),
  )
  put('a signature', 'that is empty', /signature does not match/, head('{}'))
  put('a signature', 'that is no JSON', /signature does not match/, head('x'))
  put('a signature', 'that is very long', /signature does not match/, head(' '.repeat(5000)))
  put(
    'a signature',
    'none, with no word from a person',
    /not signed by any hub/,
    () => tarOf([manifest ?? fileOf(''), ...rest]),
    '',
  )
  put('a signature', 'ours, with rows of theirs', /checksum/, () =>
    tarOf(
      sound.map((member) =>
        member.path === LEADS
          ? {
              ...member,
              content: Buffer.from(member.content.toString('utf8').replace('new', 'won')),
            }
          : member,
      ),
    ),
  )
  put('a signature', 'ours, with a manifest of theirs', /signature does not match/, () =>
    tarOf(
      sound.map((member) =>
        member.path === 'manifest.json'
          ? {
              ...member,
              content: Buffer.from(member.content.toString('utf8').replace('manual', 'daily')),
            }
          : member,
      ),
    ),
  )
}
