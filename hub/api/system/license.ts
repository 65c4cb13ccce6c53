import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { invalid } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { answer, type Ctx, type Env, problems } from '../../http/http.ts'
import {
  checkLicense,
  LICENSE,
  LicenseFile,
  readLicense,
  TIERS,
  Tier,
} from '../../license/license.ts'
import { writeSetting } from '../../ops/settings.ts'

const License = z
  .object({
    tier: Tier,
    max_projects: z.int().nullable().meta({ description: '`null`: unlimited.' }),
    customer: z.string().nullable(),
    valid_until: z.string().nullable(),
    status: z.enum(['none', 'valid', 'grace', 'expired', 'refused']).meta({
      description:
        '`grace`: expired within the last 14 days, everything still works; `expired` and `refused`: the limits of the Free tier apply.',
    }),
    reason: z.string().nullable(),
    tiers: z.array(
      z.object({
        tier: Tier,
        max_projects: z.int().nullable(),
        price_usd_year: z.int(),
      }),
    ),
  })
  .meta({ id: 'License' })

/** The license: a key that is checked offline; without one the limits of Free apply. */
export const license = resource<Env>()

license.openapi(
  createRoute({
    method: 'get',
    path: '/license',
    operationId: 'getLicense',
    tags: ['Settings'],
    summary: 'The license and what each tier allows',
    responses: { 200: jsonResponse(License, 'As of now.'), ...problems() },
  }),
  async (c) => show(c),
)

license.openapi(
  createRoute({
    method: 'put',
    path: '/license',
    operationId: 'setLicense',
    tags: ['Settings'],
    summary: 'Enter a license key',
    description: 'A key that is not valid is refused; the current one stays in use.',
    request: { body: jsonBody(LicenseFile) },
    responses: { 200: jsonResponse(License, 'The license, in use from now on.'), ...problems(422) },
  }),
  async (c) => {
    const { config } = c.get('deps')
    const key = c.req.valid('json').license.replace(/\s+/g, '')
    const { status, reason } = await checkLicense(key, config)
    if (reason && (status === 'refused' || status === 'expired')) {
      throw invalid([{ path: 'license', code: status, message: reason }])
    }
    await writeSetting(config.paths, LICENSE, { license: key })
    return show(c)
  },
)

license.openapi(
  createRoute({
    method: 'delete',
    path: '/license',
    operationId: 'deleteLicense',
    tags: ['Settings'],
    summary: 'Remove the license key',
    description:
      'The limits of the Free tier apply from then on; projects beyond them become read-only.',
    responses: { 204: { description: 'Removed.' }, ...problems() },
  }),
  async (c) => {
    await rm(join(c.get('deps').config.paths.config_dir, LICENSE.file), { force: true })
    return c.body(null, 204)
  },
)

async function show(c: Ctx) {
  const license = await readLicense(c.get('deps').config)
  const tiers = Tier.options.map((tier) => ({ tier, ...TIERS[tier] }))
  return answer(c, License, { ...license, tiers }, 200)
}
