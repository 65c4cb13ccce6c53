/**
 * verify.ts MANIFEST SIGNATURE FOLDER: checks the manifest's Ed25519 signature (RFC 8032) with the
 * pinned keys, then size and SHA-256 of every file it names. install.sh pins this file's own
 * digest.
 */
import { createHash, createPublicKey, verify } from 'node:crypto'
import { createReadStream, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

/** Ed25519 public keys as SPKI in base64; the build fills them in. */
const KEYS: string[] = []

type Manifest = { version: string; files: { name: string; size: number; sha256: string }[] }

const [manifestFile = '', signatureFile = '', folder = ''] = process.argv.slice(2)

async function main(): Promise<void> {
  const manifest = readFileSync(manifestFile)
  const signature = Buffer.from(readFileSync(signatureFile, 'utf8'), 'base64')
  const isSigned = KEYS.some((key) =>
    verify(
      null,
      manifest,
      createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' }),
      signature,
    ),
  )
  if (!isSigned) throw new Error('the signature of the manifest is not valid')
  // safe: signed by us, so written by our build
  const { version, files } = JSON.parse(manifest.toString()) as Manifest
  for (const { name, size, sha256 } of files) {
    const path = join(folder, name)
    if (statSync(path, { throwIfNoEntry: false })?.size !== size) {
      throw new Error(`${name} does not have the signed size`)
    }
    const hash = createHash('sha256')
    await pipeline(createReadStream(path), hash)
    if (hash.digest('hex') !== sha256) throw new Error(`${name} does not match the signed checksum`)
  }
  console.log(version)
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
}
