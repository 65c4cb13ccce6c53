/**
 * Writes docs/openapi.yaml from the code. `--check` writes nothing and fails if the file differs,
 * or if it breaks clients of the released document (docs/openapi.released.yaml, if it exists).
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parse, stringify } from 'yaml'
import { createApp } from '../../functions/app.ts'
import { parseAllowList } from '../../functions/channels/transport/target.ts'
import type { Deps } from '../../functions/context.ts'
import { describe } from '../../functions/openapi/document.ts'
import { createSeal } from '../../functions/seal.ts'
import { breakingChanges } from './openapi-changes.ts'

const FILE = new URL('../../docs/openapi.yaml', import.meta.url)
const RELEASED = new URL('../../docs/openapi.released.yaml', import.meta.url)

/** The committed document, which does not depend on where the service runs. */
export function render(): string {
  return stringify(describe(createApp(inert()), '/'), { aliasDuplicateObjects: false })
}

/** Dependencies that do nothing: describing the routes uses none of them. */
function inert(): Deps {
  const never = () => Promise.reject(new Error('the description of the API reaches nobody'))
  return {
    db: { connect: never, end: async () => undefined },
    verify_session: never,
    seal: createSeal([Buffer.alloc(32).toString('base64')]),
    send: never,
    allow: parseAllowList(undefined),
    limits: { pro: 0, enterprise: 0, address: 0 },
    origins: [],
    public_url: 'http://localhost',
    address: () => '',
    address_limit: () => 0,
    asset: async () => undefined,
    log: () => undefined,
  }
}

function check(document: string): string[] {
  const complaints: string[] = []
  if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== document) {
    complaints.push('docs/openapi.yaml is not what the code says: run `npm run openapi`.')
  }
  if (existsSync(RELEASED)) {
    complaints.push(...breakingChanges(parse(readFileSync(RELEASED, 'utf8')), parse(document)))
  }
  return complaints
}

if (import.meta.main) {
  const document = render()
  if (process.argv.includes('--check')) {
    const complaints = check(document)
    for (const complaint of complaints) console.error(complaint)
    if (complaints.length > 0) process.exitCode = 1
  } else {
    writeFileSync(FILE, document)
    console.log(`docs/openapi.yaml: ${document.split('\n').length} lines`)
  }
}
