import { z } from 'zod'
import { createRoute, jsonBody, jsonResponse, pathId, resource } from '../../../shared/route.ts'
import { inProject } from '../../db/db.ts'
import { answer, type Ctx, type Env, problems, write } from '../../http/http.ts'
import { absent } from '../../i18n/failure.ts'
import type { Localizable } from '../../i18n/words.ts'
import { Brand, fromOf } from '../../mail/brand/brand.ts'
import { brandOf } from '../../mail/brand/brand-of.ts'
import { nameOf } from '../../mail/brand/brand-parts.ts'
import { changeBrand, merged } from '../../mail/brand/change-brand.ts'
import { previewOf } from '../../mail/brand/preview.ts'
import { renderAnew } from '../../mail/brand/render-anew.ts'
import { readLists } from '../../mail/listmonk/lists.ts'
import { readMail } from '../../mail/settings.ts'
import { domainOfSender, readDkim } from '../../mail/smtp/dkim.ts'
import { knownDns } from '../../mail/smtp/known-dns.ts'
import { slugFor } from '../../projects/active.ts'
import { Slug } from '../projects/projects.ts'
import { Dkim, viewDkim } from './dkim.ts'
import { PREVIEW_POLICY, ProjectQuery } from './drafts.ts'

const Finding = z.object({
  state: z.enum(['present', 'missing', 'unknown']),
  record: z.string().nullable(),
  advice: z
    .string()
    .nullable()
    .meta({ description: 'What to do about it; null when nothing is needed.' }),
})
const Shown = z
  .object({
    project: z.string(),
    brand: Brand,
    name: z.string().meta({ description: 'The name that mails and documents carry.' }),
    list: z
      .object({ list_id: z.int(), name: z.string() })
      .nullable()
      .meta({ description: 'The project’s list in listmonk; null until one is needed.' }),
    dns: z
      .object({ domain: z.string(), spf: Finding, dkim: Finding, dmarc: Finding })
      .nullable()
      .meta({ description: 'The DNS records of the sender’s domain; null until DNS was queried.' }),
    dkim: Dkim.nullable().meta({ description: 'Null while there is no sender.' }),
  })
  .meta({ id: 'ProjectBrand' })
const Change = z.strictObject({
  slug: Slug,
  ...Brand.partial().shape,
  list_id: z.int().positive().nullable().optional().meta({
    description: 'A list that exists in listmonk; null: the hub creates one when it needs it.',
  }),
})

/** The brand of a project: what its mails and documents carry. */
export const brand = resource<Env>()

async function view(c: Ctx, slug: string): Promise<Localizable<z.input<typeof Shown>>> {
  const { config, db } = c.get('deps')
  const mail = await readMail(config.paths)
  const keys = await readDkim(config.paths)
  const list = (await readLists(config.paths))[slug] ?? null
  return inProject(db, slug, async (sql, project) => {
    const brand = await brandOf(sql, config, project)
    const from = fromOf(brand)
    const dns = knownDns(from, mail, keys)
    const shown = { project: slug, brand, name: nameOf(brand, project), list, dns }
    return { ...shown, dkim: from && viewDkim(domainOfSender(from.email), keys) }
  })
}

brand.openapi(
  createRoute({
    method: 'get',
    path: '/brand',
    operationId: 'getBrand',
    tags: ['Projects'],
    summary: 'The brand of a project: sender, address, look and texts of its mails',
    request: { query: z.strictObject({ project: ProjectQuery }) },
    responses: { 200: jsonResponse(Shown, 'The brand.'), ...problems(404) },
  }),
  async (c) => {
    const slug = await slugFor(c.get('deps'), c.req.valid('query').project)
    return answer(c, Shown, await view(c, slug), 200)
  },
)

/** So many are rendered before the answer; the others in the background. */
const AT_ONCE = 10
const Changed = Shown.extend({
  drafts: z.int().meta({
    description: 'Drafts that were rendered or approved: rendered again, they wait for approval.',
  }),
})

brand.openapi(
  createRoute({
    method: 'put',
    path: '/brand',
    operationId: 'putBrand',
    tags: ['Projects'],
    summary: 'Change the brand of a project',
    description:
      'Absent fields are unchanged, null clears one. Drafts that were rendered or approved are rendered again and must be approved again; mails that are being sent are finished as they were approved.',
    middleware: write,
    request: { body: jsonBody(Change) },
    responses: { 200: jsonResponse(Changed, 'Changed.'), ...problems(402, 404, 409, 422) },
  }),
  async (c) => {
    const { slug, ...change } = c.req.valid('json')
    const { config, db, mailer } = c.get('deps')
    const drafts = await changeBrand({ config, db }, slug, change)
    if (drafts > 0) await renderAnew({ config, db }, { limit: AT_ONCE })
    mailer.nudge()
    return answer(c, Changed, { ...(await view(c, slug)), drafts }, 200)
  },
)

/** The last previews; a page asks for each one right after it was made. */
const previews = new Map<string, string>()
const MAX_PREVIEWS = 20

const Preview = z
  .object({
    id: z.uuid(),
    subject: z.string(),
    text: z.string(),
    from: z
      .object({ name: z.string(), email: z.string(), reply_to: z.string().nullable() })
      .nullable(),
  })
  .meta({ id: 'BrandPreview' })
const OnePreview = z.object({ preview: Preview })

brand.openapi(
  createRoute({
    method: 'post',
    path: '/brand/preview',
    operationId: 'previewBrand',
    tags: ['Projects'],
    summary: 'A sample mail with a brand that is not saved yet',
    description: 'Changes nothing. Read its HTML from projects/brand/preview/{id}.',
    request: {
      body: jsonBody(
        z.strictObject({
          slug: Slug,
          ...Brand.partial().shape,
          language: z.enum(['en', 'tr']).default('en'),
        }),
      ),
    },
    responses: { 200: jsonResponse(OnePreview, 'The sample mail.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { slug, language, ...change } = c.req.valid('json')
    const { config, db } = c.get('deps')
    const { brand, project } = await inProject(db, slug, async (sql, project) => ({
      project,
      brand: merged(await brandOf(sql, config, project), change),
    }))
    const { subject, html, text } = await previewOf(brand, project, language)
    const id = crypto.randomUUID()
    previews.set(id, html)
    for (const old of previews.keys()) if (previews.size > MAX_PREVIEWS) previews.delete(old)
    return answer(c, OnePreview, { preview: { id, subject, text, from: fromOf(brand) } }, 200)
  },
)

brand.openapi(
  createRoute({
    method: 'get',
    path: '/brand/preview/{id}',
    operationId: 'showBrandPreview',
    tags: ['Projects'],
    summary: 'The sample mail as a recipient sees it',
    description: 'Sandboxed HTML: no scripts, and nothing is loaded from other servers.',
    request: { params: z.object({ id: pathId('The preview.') }) },
    responses: {
      200: { description: 'The mail as HTML.', content: { 'text/html': { schema: z.string() } } },
      ...problems(404),
    },
  }),
  async (c) => {
    const html = previews.get(c.req.valid('param').id)
    if (html === undefined) throw absent('preview')
    c.set('content_policy', PREVIEW_POLICY)
    return c.html(html)
  },
)
