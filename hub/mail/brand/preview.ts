import type { Project } from '../../db/db.ts'
import { personalise, type Rendered, render } from '../render/render.ts'
import { brandText } from './brand.text.ts'
import type { Brand } from './brand.ts'
import { partsOf } from './brand-parts.ts'

/** previewOf renders a sample mail with a brand, as a recipient would see it. */
export async function previewOf(
  brand: Brand,
  project: Pick<Project, 'name'>,
  language: 'en' | 'tr',
): Promise<Rendered> {
  const { first, second, offer, point, button, ...words } = brandText[language].sample
  const mail = await render({
    ...partsOf(brand, project, language),
    template: 'offer',
    slots: {
      ...words,
      paragraphs: [first, second],
      offer: { title: offer, points: [point] },
      button: { label: button, url: 'https://example.com/' },
    },
  })
  return personalise(mail, { unsubscribe_url: '#' })
}
