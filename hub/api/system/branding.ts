import { z } from 'zod'
import { ApiError, invalid } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import {
  BRANDING,
  Branding,
  brandingWarnings,
  GivenBranding,
  mayBrand,
  readBranding,
} from '../../branding/branding.ts'
import { logoFault } from '../../branding/logo.ts'
import { answer, type Env, problems } from '../../http/http.ts'
import { bilingual } from '../../i18n/words.ts'
import { licenseText } from '../../license/license.text.ts'
import { readSetting, writeSetting } from '../../ops/settings.ts'

const Look = z.object({ branding: Branding }).meta({ id: 'Look' })
const Settings = z
  .object({
    branding: Branding,
    applies: z
      .boolean()
      .meta({ description: 'Whether the license allows this branding, so that it is shown.' }),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'BrandingSettings' })

/** The look of the hub, for everybody who can see its sign-in page. */
export const look = resource<Env>()

look.openapi(
  createRoute({
    method: 'get',
    path: '/branding',
    operationId: 'getLook',
    tags: ['Access'],
    summary: 'The name, logo and colours in use',
    security: [],
    responses: { 200: jsonResponse(Look, 'The branding that is shown, also on the sign-in page.') },
  }),
  async (c) => {
    const branding = await readBranding(c.get('deps').config)
    return answer(c, Look, { branding }, 200)
  },
)

/** Settings > Branding; needs an Enterprise license to take effect. */
export const branding = resource<Env>()

branding.openapi(
  createRoute({
    method: 'get',
    path: '/branding',
    operationId: 'getBranding',
    tags: ['Settings'],
    summary: 'The branding settings, with warnings about weak contrast',
    responses: {
      200: jsonResponse(
        Settings,
        'The settings, also while the license does not allow them to be shown.',
      ),
    },
  }),
  async (c) => {
    const { config } = c.get('deps')
    const branding = await readSetting(config.paths, BRANDING)
    const applies = await mayBrand(config)
    const warnings = brandingWarnings(branding)
    return answer(c, Settings, { branding, applies, warnings }, 200)
  },
)

branding.openapi(
  createRoute({
    method: 'put',
    path: '/branding',
    operationId: 'setBranding',
    tags: ['Settings'],
    summary: 'Change the name, logo and colours',
    description: 'Requires an Enterprise license. The logo is a PNG or a JPEG.',
    request: { body: jsonBody(GivenBranding) },
    responses: { 200: jsonResponse(Settings, 'Changed; in use at once.'), ...problems(402, 422) },
  }),
  async (c) => {
    const { config } = c.get('deps')
    if (!(await mayBrand(config))) {
      throw new ApiError('license_limit', bilingual(licenseText).no_branding)
    }
    const given = c.req.valid('json')
    const fault = given.logo === null ? undefined : logoFault(given.logo)
    if (fault) throw invalid([{ path: 'logo', code: 'custom', message: fault }])
    const branding = await writeSetting(config.paths, BRANDING, given)
    const warnings = brandingWarnings(branding)
    return answer(c, Settings, { branding, applies: true, warnings }, 200)
  },
)
