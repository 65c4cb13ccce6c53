import { z } from 'zod'
import { ApiError } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { inProject } from '../../db/db.ts'
import { answer, type Ctx, type Env, problems, write } from '../../http/http.ts'
import { bilingual } from '../../i18n/words.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { brandText } from '../../mail/brand/brand.text.ts'
import { fromOf } from '../../mail/brand/brand.ts'
import { brandOf } from '../../mail/brand/brand-of.ts'
import {
  type DkimKeys,
  domainOfSender,
  makeKey,
  publishedAs,
  readDkim,
  recordOf,
  removeKey,
  setSigning,
} from '../../mail/smtp/dkim.ts'
import { Slug } from '../projects/projects.ts'

const say = bilingual(brandText).dkim

export const Dkim = z
  .object({
    domain: z.string(),
    signs: z.boolean().meta({ description: 'Whether mails sent by SMTP are signed with the key.' }),
    record: z
      .object({ name: z.string(), value: z.string() })
      .nullable()
      .meta({ description: 'The TXT record to publish; null while there is no key.' }),
  })
  .meta({ id: 'Dkim' })
const OneDkim = z.object({ dkim: Dkim })

/** The key of a domain without what is secret in it. */
export function viewDkim(domain: string, { keys }: DkimKeys): z.infer<typeof Dkim> {
  const key = keys[domain]
  return { domain, signs: key?.signs ?? false, record: key ? recordOf(domain, key) : null }
}

/** The key that signs the mails of a sender's domain; projects with one domain share it. */
export const dkim = resource<Env>()

async function domainFor(c: Ctx, slug: string): Promise<string> {
  const { config, db } = c.get('deps')
  const license = await readLicense(config)
  const from = await inProject(db, slug, async (sql, project) => {
    await requireWritable(sql, project, license)
    return fromOf(await brandOf(sql, config, project))
  })
  if (!from) throw new ApiError('conflict', say.no_sender)
  return domainOfSender(from.email)
}

dkim.openapi(
  createRoute({
    method: 'post',
    path: '/dkim/make',
    operationId: 'makeDkimKey',
    tags: ['Projects'],
    summary: 'Make a key that signs the mails of the sender’s domain (DKIM)',
    description:
      'RSA with 2048 bits; it replaces an earlier key. It signs after dkim/check has found its record.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ slug: Slug })) },
    responses: {
      200: jsonResponse(OneDkim, 'The record to publish.'),
      ...problems(402, 404, 409, 422),
    },
  }),
  async (c) => {
    const { paths } = c.get('deps').config
    const domain = await domainFor(c, c.req.valid('json').slug)
    await makeKey(paths, domain)
    return answer(c, OneDkim, { dkim: viewDkim(domain, await readDkim(paths)) }, 200)
  },
)

const Checked = OneDkim.extend({
  published: z.enum(['present', 'other', 'missing', 'unknown']).meta({
    description: 'other: another key is published under this name. unknown: DNS did not answer.',
  }),
  message: z.string(),
})

dkim.openapi(
  createRoute({
    method: 'post',
    path: '/dkim/check',
    operationId: 'checkDkimKey',
    tags: ['Projects'],
    summary: 'Look the record up in the DNS, and sign from then on if it is there',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          slug: Slug,
          sign_anyway: z.boolean().default(false).meta({
            description: 'Signs although DNS does not answer here, for a record that is published.',
          }),
        }),
      ),
    },
    responses: {
      200: jsonResponse(Checked, 'What the DNS says.'),
      ...problems(402, 404, 409, 422),
    },
  }),
  async (c) => {
    const { slug, sign_anyway } = c.req.valid('json')
    const { paths } = c.get('deps').config
    const domain = await domainFor(c, slug)
    const key = (await readDkim(paths)).keys[domain]
    if (!key) throw new ApiError('conflict', say.no_key(domain))
    const published = await publishedAs(domain, key)
    const signs = published === 'present' || (published === 'unknown' && sign_anyway)
    if (signs || published !== 'unknown') await setSigning(paths, domain, signs)
    const { name } = recordOf(domain, key)
    const message = published === 'unknown' && sign_anyway ? say.signs_anyway : say[published](name)
    const dkim = viewDkim(domain, await readDkim(paths))
    return answer(c, Checked, { dkim, published, message }, 200)
  },
)

dkim.openapi(
  createRoute({
    method: 'post',
    path: '/dkim/remove',
    operationId: 'removeDkimKey',
    tags: ['Projects'],
    summary: 'Forget the key: mails of this domain are not signed any more',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ slug: Slug })) },
    responses: { 200: jsonResponse(OneDkim, 'Removed.'), ...problems(402, 404, 409, 422) },
  }),
  async (c) => {
    const { paths } = c.get('deps').config
    const domain = await domainFor(c, c.req.valid('json').slug)
    await removeKey(paths, domain)
    return answer(c, OneDkim, { dkim: viewDkim(domain, await readDkim(paths)) }, 200)
  },
)
