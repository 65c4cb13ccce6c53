/**
 * Writes shared/client.gen.ts, the types of the HTTP client, from docs/openapi.yaml. The generator
 * is installed temporarily, because it needs an older TypeScript than this package has. `--check`
 * writes nothing and fails if the types were made from another document.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'

const DOCUMENT = new URL('../../docs/openapi.yaml', import.meta.url)
const TYPES = new URL('../../shared/client.gen.ts', import.meta.url)

/** The first line of the types: the digest of the document they were made from. */
export function stamp(): string {
  const hash = createHash('sha256').update(readFileSync(DOCUMENT)).digest('hex')
  return `// Made by \`npm run client\` from docs/openapi.yaml, SHA-256 ${hash}`
}

/** generate writes the types of an OpenAPI document below their stamp. */
export function generate(document: string, types: string, stamp: string): void {
  const packages = ['openapi-typescript@7.13.0', 'typescript@5.9.3']
  execFileSync(
    'npm',
    [
      'exec',
      '--yes',
      ...packages.map((name) => `--package=${name}`),
      '--',
      'openapi-typescript',
      document,
      '-o',
      types,
    ],
    // In another folder, so that this repository's rules for documents do not apply.
    { stdio: 'inherit', cwd: tmpdir() },
  )
  writeFileSync(types, `${stamp}\n${readFileSync(types, 'utf8')}`)
}

function check(): void {
  if (readFileSync(TYPES, 'utf8').startsWith(`${stamp()}\n`)) return
  console.error('shared/client.gen.ts was made from another docs/openapi.yaml. Run: npm run client')
  process.exitCode = 1
}

if (import.meta.main) {
  if (process.argv.includes('--check')) check()
  else generate(DOCUMENT.pathname, TYPES.pathname, stamp())
}
