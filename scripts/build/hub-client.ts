/** Writes hub/web/api/api.gen.ts, the types of the hub's HTTP API, from its own routes. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe } from '../../hub/api/spec.ts'
import { createApp } from '../../hub/app.ts'
import type { Deps } from '../../hub/deps.ts'
import { generate } from './client.ts'

export const TYPES = resolve(import.meta.dirname, '../../hub/web/api/api.gen.ts')

/** The hub's OpenAPI document, from its routes. */
export function hubDocument(): string {
  const nobody = {} as Deps // safe: describing the routes uses none of them
  return JSON.stringify(describe(createApp(nobody)), null, 1)
}

/** The first line of the types: the digest of the document they were made from. */
export function stampOf(document: string): string {
  const hash = createHash('sha256').update(document).digest('hex')
  return `// Made by \`npm run client:hub\` from the hub's routes, SHA-256 ${hash}`
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'hub-client-'))
  try {
    const document = hubDocument()
    const file = join(folder, 'hub.json')
    writeFileSync(file, document)
    generate(file, TYPES, stampOf(document))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
