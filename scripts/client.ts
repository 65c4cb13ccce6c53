/**
 * Writes shared/client.gen.ts, the types of the HTTP client, from docs/openapi.yaml. The generator
 * is fetched for the moment: it needs an older TypeScript than this package has.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

const DOCUMENT = new URL('../docs/openapi.yaml', import.meta.url)
const TYPES = new URL('../shared/client.gen.ts', import.meta.url)

/** The first line of the types: which document they were made from. */
export function stamp(): string {
  const hash = createHash('sha256').update(readFileSync(DOCUMENT)).digest('hex')
  return `// Made by \`npm run client\` from docs/openapi.yaml, SHA-256 ${hash}`
}

if (import.meta.main) {
  const packages = ['openapi-typescript@7.13.0', 'typescript@5.9.3']
  execFileSync(
    'npm',
    [
      'exec',
      '--yes',
      ...packages.map((name) => `--package=${name}`),
      '--',
      'openapi-typescript',
      DOCUMENT.pathname,
      '-o',
      TYPES.pathname,
    ],
    { stdio: 'inherit' },
  )
  writeFileSync(TYPES, `${stamp()}\n${readFileSync(TYPES, 'utf8')}`)
}
