import type { Config } from '../../config.ts'
import { type Database, inProject, type Project } from '../../db/db.ts'
import type { RenderInput } from '../render/render.ts'
import { type Brand, signatureOf } from './brand.ts'
import { brandOf } from './brand-of.ts'

const REASON = {
  en: (name: string) =>
    `You are receiving this mail because ${name} believes it is relevant to your work. You can unsubscribe at any time.`,
  tr: (name: string) =>
    `Bu e-postayı, ${name} işinizle ilgili olduğunu düşündüğü için alıyorsunuz. Dilediğiniz zaman abonelikten çıkabilirsiniz.`,
}
/** Stands in previews until the brand has a postal address; a mail with it is never sent. */
const NO_ADDRESS = {
  en: '[postal address: Project > Brand]',
  tr: '[posta adresi: Proje > Marka]',
}
/** Also in mails that were rendered before projects had brands. */
const PLACEHOLDERS = [...Object.values(NO_ADDRESS), '[postal address: Settings > Mail]']

/** lacksAddress returns whether the text part of a mail has a placeholder for the postal address. */
export function lacksAddress(text: string): boolean {
  // Its lines may be broken inside the placeholder.
  const whole = text.replace(/\s+/g, ' ')
  return PLACEHOLDERS.some((placeholder) => whole.includes(placeholder))
}

/** partsOf returns everything of a mail but its text: head, signature and footer. */
export function partsOf(
  brand: Brand,
  project: Pick<Project, 'name'>,
  language: 'en' | 'tr',
): Pick<RenderInput, 'lang' | 'signature' | 'branding' | 'footer'> {
  const unsubscribe = brand[`unsubscribe_${language}`]
  return {
    lang: language,
    signature: signatureOf(brand, project).map((line) => line.slice(0, 80)),
    branding: { name: nameOf(brand, project), logo: brand.logo, color: brand.color },
    footer: {
      postal_address: brand.postal_address ?? NO_ADDRESS[language],
      reason: reasonOf(brand, project, language),
      ...(unsubscribe ? { unsubscribe } : {}),
    },
  }
}

/** nameOf returns the name above a mail and below a document. */
export function nameOf(brand: Brand, project: Pick<Project, 'name'>): string {
  return brand.name ?? project.name.slice(0, 80)
}

function reasonOf(brand: Brand, project: Pick<Project, 'name'>, language: 'en' | 'tr'): string {
  return brand[`reason_${language}`] ?? REASON[language](project.name)
}

/** footerOf lists what stands below every mail of a project, as far as it is set. */
export async function footerOf(
  { config, db }: { config: Config; db: Database },
  slug: string,
  language: 'en' | 'tr',
): Promise<string[]> {
  return inProject(db, slug, async (sql, project) => {
    const brand = await brandOf(sql, config, project)
    const { postal_address } = brand
    return [reasonOf(brand, project, language), ...(postal_address ? [postal_address] : [])]
  })
}
