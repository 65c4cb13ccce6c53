import { execFile } from 'node:child_process'
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ours = generateKeyPairSync('ed25519')
const former = generateKeyPairSync('ed25519')
const foreign = generateKeyPairSync('ed25519')
const spki = (key: KeyObject) => key.export({ format: 'der', type: 'spki' }).toString('base64')

let folder: string
/** The verifier with two keys, as a build fills them in. */
let verifier: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-verify-'))
  const source = await readFile(new URL('../../../hub/install/verify.ts', import.meta.url), 'utf8')
  const keys = [former, ours].map(({ publicKey }) => `'${spki(publicKey)}'`).join(', ')
  verifier = join(folder, 'verify.ts')
  await writeFile(verifier, source.replace('KEYS: string[] = []', `KEYS: string[] = [${keys}]`))
})
afterAll(() => rm(folder, { recursive: true }))

const sumOf = (text: string) => createHash('sha256').update(text).digest('hex')
const RELEASE = { 'install.sh': '#!/bin/sh\n', 'payload.tar.gz': 'payload' }

/** What the verifier says of a release of these files, whose manifest lists those of RELEASE. */
async function verify(files: Record<string, string>, { key = ours.privateKey, change = '' } = {}) {
  const release = await mkdtemp(join(folder, 'release-'))
  const listed = Object.entries(RELEASE).map(([name, text]) => ({
    name,
    size: text.length,
    sha256: sumOf(text),
  }))
  const manifest = JSON.stringify({ version: '1.2.3', files: listed })
  const signature = sign(null, Buffer.from(manifest), key).toString('base64')
  await writeFile(join(release, 'manifest.json'), `${manifest}${change}`)
  await writeFile(join(release, 'manifest.json.sig'), `${signature}\n`)
  for (const [name, text] of Object.entries(files)) await writeFile(join(release, name), text)
  const args = ['manifest.json', 'manifest.json.sig'].map((name) => join(release, name))
  return new Promise<{ code: unknown; out: string; err: string }>((resolve) => {
    execFile(process.execPath, [verifier, ...args, release], (error, out, err) =>
      resolve({ code: error?.code ?? 0, out, err: err.split('\n')[0] ?? '' }),
    )
  })
}

test.each([
  ['the key of today', ours.privateKey],
  ['a former key', former.privateKey],
])('a whole release that is signed with %s is taken, and its version told', async (_, key) => {
  expect(await verify(RELEASE, { key })).toEqual({ code: 0, out: '1.2.3\n', err: '' })
})

test.each<[string, Record<string, string>, object, string]>([
  ['somebody else’s key', RELEASE, { key: foreign.privateKey }, 'the signature of the manifest is'],
  ['a changed manifest', RELEASE, { change: ' ' }, 'the signature of the manifest is not valid'],
  [
    'another file of the same size',
    { ...RELEASE, 'payload.tar.gz': 'daoylap' },
    {},
    'payload.tar.gz does not match the signed checksum',
  ],
  [
    'a file that is longer',
    { ...RELEASE, 'install.sh': '#!/bin/sh\nrm' },
    {},
    'install.sh does not have the signed size',
  ],
  [
    'a file that is missing',
    { 'install.sh': RELEASE['install.sh'] },
    {},
    'payload.tar.gz does not have the signed size',
  ],
])('a release with %s is refused', async (_, files, options, said) => {
  const { code, out, err } = await verify(files, options)
  expect({ code, out, said: err.includes(said) }, err).toEqual({ code: 1, out: '', said: true })
})
