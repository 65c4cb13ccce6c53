import { z } from 'zod'
import { contrast } from '../../shared/colour.ts'
import type { Config } from '../config.ts'
import { fieldText } from '../i18n/problem.text.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { readLicense } from '../license/license.ts'
import { readSetting, type Setting } from '../ops/settings.ts'
import { brandingText } from './branding.text.ts'
import { logoFault } from './logo.ts'
import { OWN_LOOK } from './own-look.ts'

const say = bilingual(brandingText)

const Colour = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, fieldText.en.colour)
  .transform((colour) => colour.toLowerCase())

const Logo = z.string().max(300_000)
const LOGO = 'A data: URL of a PNG or JPEG, at most 200 KB.'

/** The branding of the hub, its mails and documents; `logoFault` checks the logo. */
export const GivenBranding = z.strictObject({
  name: z.string().trim().min(1).max(80),
  logo: Logo.nullable().default(null).meta({ description: LOGO }),
  colors: z.strictObject({
    /** Buttons and links. */
    primary: Colour,
    /** Highlights. */
    accent: Colour,
  }),
})

/** branding.json: the branding with a checked logo. */
export const Branding = z.strictObject({
  ...GivenBranding.shape,
  logo: Logo.superRefine((logo, context) => {
    const fault = logoFault(logo)
    if (fault) context.addIssue({ code: 'custom', message: fault.en })
  })
    .nullable()
    .default(null)
    .meta({ description: LOGO }),
})
export type Branding = z.output<typeof Branding>

export const BRANDING: Setting<typeof Branding> = {
  file: 'branding.json',
  schema: Branding,
  fallback: OWN_LOOK,
}

/** Whether the license allows custom branding. */
export async function mayBrand(config: Config): Promise<boolean> {
  return (await readLicense(config)).tier === 'enterprise'
}

/**
 * The branding in use: the customer's with an Enterprise license, otherwise the default. The file
 * is kept.
 */
export async function readBranding(config: Config): Promise<Branding> {
  return (await mayBrand(config)) ? readSetting(config.paths, BRANDING) : OWN_LOOK
}

const MAX_MAIL_LOGO = 40_000

/** The branding for mails: without a logo that is too large for a mail. */
export function mailBranding({ name, logo, colors }: Branding) {
  const fits = logo !== null && logo.length <= MAX_MAIL_LOGO
  return { name, logo: fits ? logo : null, color: colors.primary }
}

const WHITE = '#ffffff'
const DARK = '#0b0f14'
/** WCAG 2.2: 4.5 for text; 3 for graphics and large text. */
const TEXT = 4.5
const GRAPHICS = 3

/** One sentence for each colour that is hard to read, and for a logo that mails leave out. */
export function brandingWarnings(branding: Branding): Words[] {
  const warnings = Object.values(branding.colors).flatMap((colour) => {
    const [light, dark] = [contrast(colour, WHITE), contrast(colour, DARK)]
    const found: Words[] = []
    if (light < TEXT) {
      found.push(say.faint_on_white(colour, light, TEXT))
    }
    if (dark < GRAPHICS) {
      found.push(say.faint_on_dark(colour, dark, GRAPHICS))
    }
    return found
  })
  if (branding.logo !== null && mailBranding(branding).logo === null) {
    warnings.push(say.no_mail_logo)
  }
  return warnings
}
