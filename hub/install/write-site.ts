/** Run by the installer as root: writes nginx's two configuration files. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { z } from 'zod'
import { writeWhole } from '../files.ts'
import { renderProxy, renderSite } from './site.ts'

const given = z
  .object({
    SITE_FILE: z.string().min(1),
    SITE_BIND: z.string().min(1),
    SITE_PUBLIC: z.enum(['hub', 'unsubscribe']),
    SITE_NAMES: z.string().min(1),
    SITE_TLS_DIR: z.string().min(1),
    SITE_SECRET: z.string().min(1),
    SITE_PROXY: z.string().min(1),
    SITE_ANSWERS: z.string().min(1),
    SITE_LIMITS: z.enum(['yes', 'no']),
  })
  .parse(process.env)

// The hub's user owns the folder, so a symbolic link there is not followed.
const file = await open(given.SITE_SECRET, constants.O_RDONLY | constants.O_NOFOLLOW)
const secret = (await file.readFile('utf8')).trim()
await file.close()

// Whoever can read the secret can forge X-Real-IP.
await writeWhole(given.SITE_PROXY, renderProxy(secret), 0o600)
const site = renderSite({
  bind: given.SITE_BIND,
  published: given.SITE_PUBLIC,
  names: given.SITE_NAMES.trim().replace(/\s+/g, ' '),
  tls_dir: given.SITE_TLS_DIR,
  proxy_file: given.SITE_PROXY,
  answers_dir: given.SITE_ANSWERS,
  has_limits: given.SITE_LIMITS === 'yes',
})
await writeWhole(given.SITE_FILE, site, 0o644)
