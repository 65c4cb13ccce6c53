import { z } from 'zod'
import { createRoute, jsonResponse, resource } from '../../../shared/route.ts'
import {
  booleanParameter,
  CursorQuery,
  decodeCursor,
  encodeCursor,
  integerParameter,
  NextCursor,
  splitPage,
} from '../../../shared/schemas/page.ts'
import type { Sql } from '../../../shared/sql.ts'
import { languageOfAll, languageWords } from '../../agents/recipients/spoken.ts'
import { inProject } from '../../db/db.ts'
import { answer, type Env, problems } from '../../http/http.ts'
import { LANGUAGES } from '../../i18n/words.ts'
import {
  type Audience,
  AudienceFilter,
  peopleOf,
  readersAmong,
} from '../../mail/drafts/audience.ts'
import { Recipient, type RecipientView, readDraft } from '../../mail/drafts/draft-view.ts'
import { readRefusals } from '../../mail/opt-outs.ts'
import { stepsOf } from '../../mail/sequences/sequences.ts'
import { viewSequence } from '../../mail/sequences/view.ts'
import { slugFor } from '../../projects/active.ts'
import { DraftId, ProjectQuery, Readers, readersOf } from './drafts.ts'

/** Who gets a draft: another audience before it is taken, and the outcome of each mail. */
export const draftReaders = resource<Env>()

const { lead_ids: _, answered: __, ...filterFields } = AudienceFilter.shape
const Other = z.strictObject({
  id: DraftId.optional().meta({ description: 'Absent: the recipients of any list.' }),
  sequence_id: DraftId.optional().meta({ description: 'A sequence instead of a draft.' }),
  project: ProjectQuery,
  lead_id: z
    .uuid()
    .optional()
    .meta({ description: 'A single lead; the other fields are ignored.' }),
  ...filterFields,
  answered: booleanParameter(AudienceFilter.shape.answered.meta()?.description ?? ''),
  is_chosen: booleanParameter('Only those of the leads that were chosen for this draft.'),
})
const Choices = z.object({ tags: z.array(z.string()), countries: z.array(z.string()) })
const OtherAudience = z.object({
  recipients: Readers,
  language: z.enum(LANGUAGES).nullable().meta({
    description:
      'The language of mails to all recipients, by their language or else their country; null where there are two, or where it is not known of one.',
  }),
  language_note: z
    .string()
    .nullable()
    .meta({ description: 'The same in words, or how many are written to in which.' }),
  choices: Choices.meta({
    description: 'The tags and countries of the project’s leads, to filter by.',
  }),
})

draftReaders.openapi(
  createRoute({
    method: 'get',
    path: '/drafts/audience',
    operationId: 'getAudience',
    tags: ['Drafts'],
    summary: 'Preview the recipients of another audience',
    description: 'Changes nothing; use draft/edit to set the audience.',
    request: { query: Other },
    responses: {
      200: jsonResponse(OtherAudience, 'Each recipient, or why they are skipped.'),
      ...problems(404),
    },
  }),
  async (c) => {
    const { id, sequence_id, project: named, lead_id, is_chosen, ...filter } = c.req.valid('query')
    const { config, db } = c.get('deps')
    const slug = await slugFor(c.get('deps'), named)
    const refusals = await readRefusals(config.paths)
    const found = await inProject(db, slug, async (sql, project) => {
      const drafts = sequence_id
        ? await stepsOf(sql, sequence_id)
        : id
          ? [await readDraft(sql, project.id, id)]
          : []
      const {
        audience: now,
        template,
        created_at,
      } = sequence_id ? await readSequence(sql, project.id, sequence_id) : (drafts[0] ?? EVERYBODY)
      const lead_ids = now.kind === 'list' && is_chosen ? now.filter.lead_ids : undefined
      const audience: Audience = lead_id
        ? { kind: 'lead', lead_id }
        : { kind: 'list', filter: { ...filter, lead_ids } }
      const project_id = project.id
      const people = await peopleOf(sql, {
        project_id,
        audience,
        template,
        created_at,
        refusals,
        written: audience.kind === 'list' ? drafts : [],
      })
      const readers = await readersAmong(sql, project_id, people.people)
      return {
        recipients: readersOf(people),
        language: languageOfAll(readers) ?? null,
        language_note: languageWords(readers),
        choices: await choicesOf(sql, project.id),
      }
    })
    return answer(c, OtherAudience, found, 200)
  },
)

const EVERYBODY: { audience: Audience; template: string; created_at?: string } = {
  audience: { kind: 'list', filter: {} },
  template: 'letter',
}

async function readSequence(sql: Sql, project_id: string, id: string): Promise<typeof EVERYBODY> {
  const { filter } = await viewSequence(sql, project_id, id)
  return { audience: { kind: 'list' as const, filter }, template: 'letter' }
}

async function choicesOf(sql: Sql, project_id: string): Promise<z.infer<typeof Choices>> {
  const [row] = await sql<z.infer<typeof Choices>>`
    select
      array(
        select tag from hub.leads, unnest(tags) as tag where project_id = ${project_id}
        group by tag order by count(*) desc, tag limit 200
      ) as tags,
      array(
        select country from hub.leads where project_id = ${project_id} and country <> ''
        group by country order by count(*) desc, country limit 200
      ) as countries`
  return row ?? { tags: [], countries: [] }
}

const Recipients = z.object({ recipients: z.array(Recipient), next_cursor: NextCursor })

draftReaders.openapi(
  createRoute({
    method: 'get',
    path: '/drafts/recipients',
    operationId: 'listRecipients',
    tags: ['Drafts'],
    summary: 'List the recipients of an approved draft and the outcome of each mail',
    request: {
      query: z.strictObject({
        id: DraftId,
        project: ProjectQuery,
        state: Recipient.shape.state.optional(),
        limit: integerParameter(1, 500, 100, 'Recipients a page.'),
        cursor: CursorQuery,
      }),
    },
    responses: { 200: jsonResponse(Recipients, 'A page, by address.'), ...problems(404) },
  }),
  async (c) => {
    const { limit, cursor, ...filter } = c.req.valid('query')
    const [after] = (await decodeCursor(filter, cursor, z.tuple([z.string()]))) ?? ['']
    const slug = await slugFor(c.get('deps'), filter.project)
    const rows = await inProject(c.get('deps').db, slug, async (sql, project) => {
      await readDraft(sql, project.id, filter.id)
      const { id, state = null } = filter
      return sql<RecipientView>`
        select email, name, company, lead_id, state, reason, sent_at, opened_at, clicked_at,
          bounced_at, replied_at, unsubscribed_at
        from hub.recipients
        where draft_id = ${id} and (${state}::text is null or state = ${state}) and email > ${after}
        order by email
        limit ${limit + 1}`
    })
    const { page, last } = splitPage(rows, limit)
    const next_cursor = last ? await encodeCursor(filter, [last.email]) : null
    return answer(c, Recipients, { recipients: page, next_cursor }, 200)
  },
)
