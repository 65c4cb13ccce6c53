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

/** What the hub, its mails and documents are to look like; `logoFault` looks at the logo. */
export const GivenBranding = z.strictObject({
  name: z.string().trim().min(1).max(80),
  logo: Logo.nullable().default(null).meta({ description: LOGO }),
  colors: z.strictObject({
    /** Buttons and links. */
    primary: Colour,
    /** What stands out beside them. */
    accent: Colour,
  }),
})

/** branding.json: the same, with a logo that is known to be one. */
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

/** Whether the licence lets the hub look otherwise than ours. */
export async function mayBrand(config: Config): Promise<boolean> {
  return (await readLicense(config)).tier === 'enterprise'
}

/** The look in use: the customer's with an Enterprise licence, else our own; the file stays. */
export async function readBranding(config: Config): Promise<Branding> {
  return (await mayBrand(config)) ? readSetting(config.paths, BRANDING) : OWN_LOOK
}

const MAX_MAIL_LOGO = 40_000

/** The look as letters take it: a letter has to stay small. */
export function mailBranding({ name, logo, colors }: Branding) {
  const fits = logo !== null && logo.length <= MAX_MAIL_LOGO
  return { name, logo: fits ? logo : null, color: colors.primary }
}

const WHITE = '#ffffff'
const DARK = '#0b0f14'
/** WCAG 2.2: 4.5 for text; 3 for graphics and large text. */
const TEXT = 4.5
const GRAPHICS = 3

/** What may be hard to read or will not be shown, one sentence each. */
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
