import { z } from 'zod'
import { ApiError } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import {
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  NextCursor,
  splitPage,
} from '../../../shared/schemas/page.ts'
import { Instant } from '../../../shared/time.ts'
import { everywhere } from '../../db/db.ts'
import { answer, type Env, problems, write } from '../../http/http.ts'
import { positionOf } from '../../http/page.ts'
import { bilingual } from '../../i18n/words.ts'
import { normaliseEmail } from '../../mail/address.ts'
import { readSalt } from '../../mail/suppression.ts'
import { erase, foldersOf, leadsOf, recipientsOf, refuseBusy } from '../../people/erase.ts'
import {
  findPerson,
  inListmonk,
  namesOf,
  readablePage,
  recordsOf,
  staysOf,
} from '../../people/find.ts'
import { recordErasure } from '../../people/ledger.ts'
import { peopleText } from '../../people/people.text.ts'

const say = bilingual(peopleText)

const Email = z.string().trim().min(3).max(320)
const Names = z
  .array(z.string().trim().min(3).max(200))
  .max(20)
  .optional()
  .meta({ description: 'The exact names to look for; without them, those of the person’s leads.' })
const Asked = z.strictObject({ email: Email, names: Names })
const Excerpts = z.array(z.string())
const Erasures = z.object({
  erasures: z.array(
    z.object({
      email_hash: z.string().meta({ description: 'The address itself is not kept.' }),
      erased_at: z.string(),
      erased_by: z.string().nullable().meta({
        description:
          'Who did it: a member’s name, `admin`, or `api` for a script; null for one of an earlier release.',
      }),
      texts: z.boolean().meta({ description: 'Whether texts and files were cleaned too.' }),
    }),
  ),
  next_cursor: NextCursor,
})
export const Found = z
  .object({
    email: z.string(),
    names: z.array(z.string()),
    leads: z.int(),
    mails: z.int(),
    rows: z.array(
      z.object({
        table: z.string(),
        column: z.string(),
        project: z.string().nullable(),
        excerpts: Excerpts,
      }),
    ),
    files: z.array(z.object({ file: z.string(), excerpts: Excerpts })),
    unsearched: z
      .array(z.string())
      .meta({ description: 'Files that are not text, e.g. PDFs: nobody looked into them.' }),
    in_listmonk: z.boolean().nullable().meta({ description: 'null without a listmonk.' }),
    stays: z.array(z.string()).meta({ description: 'What an erasure leaves.' }),
  })
  .meta({ id: 'PersonFound' })
export const Exported = z
  .object({
    email: z.string(),
    names: z.array(z.string()),
    records: z.record(z.string(), z.array(z.unknown())),
    listmonk: z.unknown(),
    places: Found.pick({ rows: true, files: true }),
    page: z.string().meta({ description: 'The same as an HTML page.' }),
  })
  .meta({ id: 'PersonExport' })
export const Erased = z
  .object({
    erased: z.object({
      leads: z.int(),
      drafts: z.int(),
      recipients: z.int(),
      import_rows: z.int(),
      texts: z.int(),
      files: z.int(),
      subscribers: z.int(),
    }),
    remaining: Found.pick({ rows: true, files: true }).meta({
      description: 'Places that still name the person.',
    }),
    stays: z.array(z.string()),
  })
  .meta({ id: 'PersonErased' })

function addressOf(email: string): string {
  const normal = normaliseEmail(email)
  if (normal) return normal
  const issue = { path: 'email', code: 'invalid', message: 'Not an e-mail address.' }
  throw new ApiError('invalid', issue.message, { issues: [issue] })
}

/** The rights of people: access, a copy, erasure (GDPR articles 15, 17 and 20, KVKK article 11). */
export const people = resource<Env>()

people.openapi(
  createRoute({
    method: 'post',
    path: '/find',
    operationId: 'findPerson',
    tags: ['People'],
    summary: 'Find every place where a person stands',
    description: 'Changes nothing; the address is in the body, so that no log has it.',
    request: { body: jsonBody(Asked) },
    responses: { 200: jsonResponse(Found, 'The places.'), ...problems(409, 422, 503) },
  }),
  async (c) => {
    const { config, db } = c.get('deps')
    const { email: given, names: named } = c.req.valid('json')
    const email = addressOf(given)
    const subscriber = await inListmonk(config.paths, async (client) =>
      Boolean(await client.findSubscriber(email)),
    )
    return everywhere(db, async (_, client) => {
      const names = named ?? (await namesOf(client, email))
      const found = await findPerson(client, config.paths, { email, names })
      const leads = (await leadsOf(client, email)).length
      const mails = (await recipientsOf(client, email)).length
      const stays = await staysOf(config.paths, found.unsearched.length, 0)
      const body = { email, names, leads, mails, ...found, in_listmonk: subscriber, stays }
      return answer(c, Found, body, 200)
    })
  },
)

people.openapi(
  createRoute({
    method: 'post',
    path: '/export',
    operationId: 'exportPerson',
    tags: ['People'],
    summary: 'Export what the hub keeps about a person',
    request: { body: jsonBody(Asked) },
    responses: { 200: jsonResponse(Exported, 'The rows and a page.'), ...problems(409, 422, 503) },
  }),
  async (c) => {
    const { config, db } = c.get('deps')
    const { email: given, names: named } = c.req.valid('json')
    const email = addressOf(given)
    const listmonk = await inListmonk(config.paths, (client) => client.findSubscriber(email))
    return everywhere(db, async (_, client) => {
      const names = named ?? (await namesOf(client, email))
      const records = await recordsOf(client, config.paths, email)
      const { rows, files } = await findPerson(client, config.paths, { email, names })
      const page = readablePage(email, {
        ...records,
        ...(listmonk ? { listmonk } : {}),
        rows,
        files,
      })
      const body = { email, names, records, listmonk, places: { rows, files }, page }
      return answer(c, Exported, body, 200)
    })
  },
)

people.openapi(
  createRoute({
    method: 'post',
    path: '/erase',
    operationId: 'erasePerson',
    tags: ['People'],
    summary: 'Erase a person everywhere',
    description:
      'Leads with all that hangs on them, mails, recipients and the subscriber in listmonk are erased. With ' +
      '`replace_in_texts` the address and the exact names are replaced in every other text and file too, and refused ' +
      'rows of imports with the name and no address of somebody else are deleted. 409 while ' +
      'a mail to the person is being sent, or an import or a mission is running.',
    middleware: write,
    request: {
      body: jsonBody(
        Asked.extend({
          confirm: Email.meta({ description: 'The address once more, typed by a person.' }),
          replace_in_texts: z.boolean(),
        }),
      ),
    },
    responses: { 200: jsonResponse(Erased, 'The person is erased.'), ...problems(409, 422, 503) },
  }),
  async (c) => {
    const { config, db } = c.get('deps')
    const { paths } = config
    const { email: given, names: named, confirm, replace_in_texts: texts } = c.req.valid('json')
    const email = addressOf(given)
    if (normaliseEmail(confirm) !== email) throw new ApiError('conflict', say.confirm)
    const salt = await readSalt(paths)
    await everywhere(db, (_, client) => refuseBusy(client, email))
    // First what may fail: as long as listmonk does not answer, nothing is erased, and all can be repeated.
    const subscribers = await inListmonk(paths, async (client) => {
      const subscriber = await client.findSubscriber(email)
      if (subscriber) await client.deleteSubscriber(subscriber.id)
      return subscriber ? 1 : 0
    })
    return everywhere(db, async (_, client) => {
      await refuseBusy(client, email)
      const names = named ?? (await namesOf(client, email))
      const counts = await erase(client, { email, names }, { texts, folders: foldersOf(paths) })
      await recordErasure(client, salt, {
        email,
        names,
        texts,
        by: c.get('actor')?.name ?? c.get('actor')?.kind ?? null,
      })
      const { rows, files, unsearched } = await findPerson(client, paths, { email, names })
      const stays = await staysOf(paths, unsearched.length, rows.length + files.length)
      const erased = { ...counts, subscribers: subscribers ?? 0 }
      return answer(c, Erased, { erased, remaining: { rows, files }, stays }, 200)
    })
  },
)

people.openapi(
  createRoute({
    method: 'get',
    path: '/erasures',
    operationId: 'listErasures',
    tags: ['People'],
    summary: 'List who was erased, newest first',
    description: 'As salted hashes, by which a restored backup or archive is cleaned again.',
    request: {
      query: z.strictObject({
        limit: integerParameter(1, 200, 50, 'Erasures a page.'),
        cursor: CursorQuery,
      }),
    },
    responses: { 200: jsonResponse(Erasures, 'A page.'), ...problems() },
  }),
  async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const Position = z.tuple([Instant, z.string()])
    const [at, after] = (await decodeCursor({}, cursor, Position)) ?? ['9999-12-31T00:00:00Z', 'g']
    const rows = await everywhere(
      c.get('deps').db,
      (sql) => sql<z.infer<typeof Erasures>['erasures'][number] & { position: string }>`
        select email_hash, erased_at, erased_by, erased_texts as texts,
          ${positionOf('erased_at')} as position
        from hub.suppression
        where erased_at is not null and (erased_at, email_hash) < (${at}::timestamptz, ${after})
        order by erased_at desc, email_hash desc
        limit ${limit + 1}`,
    )
    const { page, last } = splitPage(rows, limit)
    const next_cursor = last ? await encodeCursor({}, [last.position, last.email_hash]) : null
    return answer(c, Erasures, { erasures: page, next_cursor }, 200)
  },
)
