import { createLocalJWKSet, decodeProtectedHeader, errors, jwtVerify } from 'jose'
import { z } from 'zod'
import { ApiError } from '../../shared/problem.ts'
import type { Sql } from '../../shared/sql.ts'
import type { Config } from '../config.ts'
import type { Project } from '../db/db.ts'
import { LOCK_SPACE, LOCKS } from '../db/locks.ts'
import { readJson } from '../files.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { readSetting, type Setting } from '../ops/settings.ts'
import { licenseText } from './license.text.ts'

const say = bilingual(licenseText)

/**
 * What each tier allows and costs a year; Enterprise is unlimited unless its key says otherwise.
 */
export const TIERS = {
  free: { max_projects: 1, price_usd_year: 0 },
  starter: { max_projects: 3, price_usd_year: 499 },
  pro: { max_projects: 10, price_usd_year: 1_499 },
  enterprise: { max_projects: null, price_usd_year: 4_999 },
} as const
/** The names of the tiers, the same in both languages. */
export const TIER_NAMES = {
  free: 'Free',
  starter: 'Starter',
  pro: 'Pro',
  enterprise: 'Enterprise',
} as const satisfies Record<keyof typeof TIERS, string>
export const Tier = z.enum(['free', 'starter', 'pro', 'enterprise'])

const GRACE_DAYS = 14
const DAY_MS = 86_400_000

/** The claims of a license: a JWT signed with Ed25519 (RFC 8037, RFC 9864). */
export const Claims = z.object({
  tier: Tier.exclude(['free']),
  /** null: unlimited. */
  max_projects: z.int().min(1).nullable().optional(),
  customer: z.string().min(1).max(200),
  exp: z.int(),
})

/** license.json: the key as the customer received it. */
export const LicenseFile = z.strictObject({ license: z.string().min(1).max(8000) })
export const LICENSE: Setting<z.ZodNullable<typeof LicenseFile>> = {
  file: 'license.json',
  schema: LicenseFile.nullable(),
  fallback: null,
}

export type License = {
  tier: z.infer<typeof Tier>
  max_projects: number | null
  customer: string | null
  valid_until: string | null
  /** `grace`: expired within the last 14 days, and everything still works; then `expired`: Free. */
  status: 'none' | 'valid' | 'grace' | 'expired' | 'refused'
  /** Why the stored key is refused or expired. */
  reason: Words | null
}

const FREE: License = {
  tier: 'free',
  max_projects: TIERS.free.max_projects,
  customer: null,
  valid_until: null,
  status: 'none',
  reason: null,
}

/** The license of this hub as of now; a key that is refused leaves the Free limits and says why. */
export async function readLicense(config: Config, now = new Date()): Promise<License> {
  const file = await readSetting(config.paths, LICENSE)
  if (!file) return FREE
  return checkLicense(file.license, config, now)
}

/** checkLicense verifies a key offline, by its `kid`, against the shipped public keys. */
export async function checkLicense(
  key: string,
  config: Config,
  now = new Date(),
): Promise<License> {
  const refused = (reason: Words): License => ({ ...FREE, status: 'refused', reason })
  const keys = z
    .object({ keys: z.array(z.looseObject({ kid: z.string() })) })
    .parse(await readJson(config.license_keys))
  try {
    const { kid } = decodeProtectedHeader(key)
    if (!keys.keys.some((known) => known.kid === kid)) {
      return refused(say.unknown_key)
    }
    // safe: jose checks the members of each key itself
    const set = createLocalJWKSet(keys as Parameters<typeof createLocalJWKSet>[0])
    const { payload } = await jwtVerify(key, set, {
      algorithms: ['Ed25519', 'EdDSA'],
      // Not checked by jose: after the expiry date there is a grace period.
      currentDate: new Date(0),
    })
    return licenseOf(Claims.parse(payload), now)
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) {
      return refused(say.altered)
    }
    if (
      error instanceof errors.JOSEError ||
      error instanceof z.ZodError ||
      error instanceof TypeError
    ) {
      return refused(say.no_key)
    }
    throw error
  }
}

function licenseOf(
  { tier, max_projects, customer, exp }: z.infer<typeof Claims>,
  now: Date,
): License {
  const until = exp * 1000
  const valid_until = new Date(until).toISOString()
  const most = max_projects === undefined ? TIERS[tier].max_projects : max_projects
  if (now.getTime() <= until) {
    return { tier, max_projects: most, customer, valid_until, status: 'valid', reason: null }
  }
  if (now.getTime() <= until + GRACE_DAYS * DAY_MS) {
    const reason = say.grace(valid_until)
    return { tier, max_projects: most, customer, valid_until, status: 'grace', reason }
  }
  return { ...FREE, customer, valid_until, status: 'expired', reason: say.expired(valid_until) }
}

/** Throws 402 if the license does not allow another project. */
export async function requireRoom(sql: Sql, { tier, max_projects }: License): Promise<void> {
  if (max_projects === null) return
  // Two concurrent creations must not both take the last place.
  await sql`select pg_advisory_xact_lock(${LOCK_SPACE}, ${LOCKS.license})`
  const [row] = await sql<{ count: number }>`select count(*)::int as count from hub.projects`
  if ((row?.count ?? 0) < max_projects) return
  throw new ApiError('license_limit', say.no_room(TIER_NAMES[tier], max_projects))
}

/** Throws 402 for a project beyond the license's limit; the oldest projects stay writable. */
export async function requireWritable(sql: Sql, project: Project, license: License): Promise<void> {
  const { max_projects, tier } = license
  if (max_projects === null) return
  const [row] = await sql<{ older: number }>`select private.older_projects(${project.id}) as older`
  if ((row?.older ?? 0) < max_projects) return
  throw new ApiError('license_limit', say.read_only(project.name, TIER_NAMES[tier], max_projects))
}
