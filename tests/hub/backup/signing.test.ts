import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BackupError } from '../../../hub/backup/manifest.ts'
import { isTrusted, originOf, ownFingerprint, signManifest } from '../../../hub/backup/signing.ts'
import { pathsIn } from '../../../hub/config.ts'

const MANIFEST = Buffer.from('{"format":1}\n')
let folder: string
const machine = (name: string) => pathsIn(join(folder, name))
type Pair = { publicKey: KeyObject; privateKey: KeyObject }
/** signature.json as the first release wrote it. */
function signed({ publicKey, privateKey }: Pair) {
  const content = Buffer.concat([Buffer.from('watchpost-hub backup 1\n'), MANIFEST])
  return {
    key: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    signature: sign(null, content, privateKey).toString('base64'),
  }
}
const given = signed(generateKeyPairSync('ed25519'))
const origin = (value: unknown, manifest = MANIFEST) =>
  originOf(machine('reader'), manifest, JSON.stringify(value))

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-signing-'))
})
afterAll(() => rm(folder, { recursive: true }))

test('an archive is recognised by the machine that signed it, and named on another', async () => {
  const [here, there] = [machine('here'), machine('there')]
  const text = await signManifest(here, MANIFEST)
  const signer = await ownFingerprint(here)
  expect(signer).toMatch(/^(?:[0-9a-f]{4} ){7}[0-9a-f]{4}$/)
  expect(await originOf(here, MANIFEST, text)).toEqual({ kind: 'here', signer })
  // Who only reads an archive makes no key.
  expect(await originOf(there, MANIFEST, text)).toEqual({ kind: 'elsewhere', signer })
  expect(await readdir(folder)).toEqual(['here'])
  expect(await ownFingerprint(there)).not.toBe(signer)
  expect(await originOf(there, MANIFEST, text)).toEqual({ kind: 'elsewhere', signer })
  expect(await originOf(there, MANIFEST, undefined)).toEqual({ kind: 'unsigned', signer: null })
})

test('the key is made once, for its owner alone', async () => {
  const paths = machine('here')
  const before = await ownFingerprint(paths)
  expect(await ownFingerprint(paths)).toBe(before)
  expect((await stat(join(paths.config_dir, 'backup.key'))).mode & 0o777).toBe(0o600)
})

test('an archive that the first release signed is still recognised', async () => {
  expect(await origin(given)).toMatchObject({ kind: 'elsewhere' })
  const pad = (text: string) => text.padEnd(200, '=')
  expect(await origin({ key: pad(given.key), signature: pad(given.signature) })).toMatchObject({
    kind: 'elsewhere',
  })
})

test.each<[why: string, value: unknown, manifest?: typeof MANIFEST]>([
  ['of another manifest', given, Buffer.from('{"format":2}\n')],
  ['of another key', { ...given, key: signed(generateKeyPairSync('ed25519')).key }],
  ['of another kind of key', signed(generateKeyPairSync('ed448'))],
  ['with something before its key', { ...given, key: `.${given.key}` }],
  ['with something within its key', { ...given, key: given.key.replace(/^(....)/, '$1.') }],
  ['with something after its key', { ...given, key: `${given.key}=.` }],
  ['with something before it', { ...given, signature: `.${given.signature}` }],
  ['with something after it', { ...given, signature: `${given.signature}.` }],
  ['with a longer key', { ...given, key: given.key.padEnd(201, '=') }],
  ['that is longer', { ...given, signature: given.signature.padEnd(201, '=') }],
  ['with another field', { ...given, name: 'x' }],
  ['without a key', { signature: given.signature }],
  ['without a signature', { key: given.key }],
  ['with a key that is none', { ...given, key: 'AAAA' }],
  ['that is no object', null],
])('a signature %s is refused', async (_, value, manifest) => {
  const refused = origin(value, manifest)
  await expect(refused).rejects.toBeInstanceOf(BackupError)
  await expect(refused).rejects.toThrow(/signature/)
})

test('a signature that is no JSON is refused', async () => {
  await expect(originOf(machine('reader'), MANIFEST, 'x')).rejects.toThrow(/signature/)
})

test.each([
  ['I trust this archive', true],
  ['  I  trust\nthis\t archive \n', true],
  ['Bu arşive güveniyorum', true],
  ['i trust this archive', false],
  ['I trust this archive.', false],
  ['Itrustthisarchive', false],
  ['yes', false],
  ['', false],
  [undefined, false],
])('whether %j is the sentence of trust: %s', (typed, is) => expect(isTrusted(typed)).toBe(is))
