import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { FILES, ONE_DAY_SECONDS } from '../../functions/assets.ts'

const HEADERS = `/*
  Cache-Control: public, max-age=${ONE_DAY_SECONDS}
  X-Content-Type-Options: nosniff
  X-Frame-Options: DENY
  Content-Security-Policy: default-src 'none'; frame-ancestors 'none'
  Referrer-Policy: no-referrer
  Strict-Transport-Security: max-age=31536000; includeSubDomains
`

/** Puts every static file into one folder, for platforms that serve them before they call us. */
async function main(): Promise<void> {
  const [folder] = process.argv.slice(2)
  if (!folder) throw new Error('Usage: node scripts/build/static.ts <folder>')
  for (const [name, { path }] of FILES) {
    const target = join(folder, name)
    await mkdir(dirname(target), { recursive: true })
    await copyFile(path, target)
  }
  await writeFile(join(folder, '_headers'), HEADERS)
}

await main()
