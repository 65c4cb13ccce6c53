/**
 * `npm run release` fixes what the version of package.json ships to databases: the migrations and
 * upgrades may not change from then on, and what this version leaves in a database is recorded, so
 * that every later version is tested against it.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../shared/version.ts'
import { ROOT } from './postgres/migrate.ts'
import { changedSinceRelease, recordRelease } from './schema/released.ts'

if (process.argv.length > 2) {
  console.error(`npm run release takes no arguments, and got ${process.argv.slice(2).join(' ')}.`)
  process.exit(2)
}
const recording = `tests/upgrade/recorded/service-${VERSION}.json`
const problems = changedSinceRelease()
if (existsSync(join(ROOT, recording))) {
  problems.push(`${recording} exists: set the next version in package.json and shared/version.ts`)
}
if (problems.length > 0) {
  console.error(`Not released:\n${problems.map((line) => `- ${line}`).join('\n')}`)
  process.exit(1)
}
const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', '--config', 'tests/upgrade/record.vitest.ts'],
  { cwd: ROOT, stdio: 'inherit' },
)
if (status !== 0) process.exit(status ?? 1)
const added = recordRelease()
console.log(`Recorded ${VERSION} in tests/upgrade/recorded. New released files of SQL:`)
for (const path of added) console.log(`- ${path}`)
console.log(`Next: date the version in CHANGELOG.md, commit, and tag it: git tag v${VERSION}`)
