import { z } from 'zod'
import { ApiError, invalid } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { everywhere, inProject } from '../../db/db.ts'
import { answer, type Ctx, type Env, problems, write } from '../../http/http.ts'
import { absent } from '../../i18n/failure.ts'
import { bilingual } from '../../i18n/words.ts'
import { leadsText } from '../../leads/leads.text.ts'
import { fieldsOf, OwnField } from '../../leads/own-fields.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { PERSONAL_FIELDS } from '../../mail/render/slots.ts'
import { activeSlug, slugFor } from '../../projects/active.ts'
import { Slug } from '../projects/projects.ts'

const { own_fields: say } = bilingual(leadsText)
const Fields = z.object({ fields: z.array(OwnField) })
const MAX_FIELDS = 40
/** What placeholders of mails mean already. */
const TAKEN = [...PERSONAL_FIELDS, 'unsubscribe_url']

/** The fields that a project has for its leads, beside those that every lead has. */
export const leadFields = resource<Env>()

leadFields.openapi(
  createRoute({
    method: 'get',
    path: '/fields',
    operationId: 'listLeadFields',
    tags: ['Leads'],
    summary: 'List the fields of a project’s own',
    request: { query: z.strictObject({ project: Slug.optional() }) },
    responses: { 200: jsonResponse(Fields, 'In the order of the forms.'), ...problems(404) },
  }),
  async (c) => {
    const slug = await slugFor(c.get('deps'), c.req.valid('query').project)
    const fields = await inProject(c.get('deps').db, slug, (sql, { id }) => fieldsOf(sql, id))
    return answer(c, Fields, { fields }, 200)
  },
)

leadFields.openapi(
  createRoute({
    method: 'put',
    path: '/fields',
    operationId: 'putLeadFields',
    tags: ['Leads'],
    summary: 'Add, rename and order the fields of a project’s own',
    description:
      'The whole list, in the order of the forms. A field that is missing from it is not removed: 409 names it; use `leads/fields/remove`. 409 also for another kind, or without a choice, that values of leads have.',
    middleware: write,
    request: {
      body: jsonBody(z.strictObject({ project: Slug, fields: z.array(OwnField).max(MAX_FIELDS) })),
    },
    responses: { 200: jsonResponse(Fields, 'Stored.'), ...problems(402, 404, 409, 422) },
  }),
  async (c) => {
    const { project: slug, fields: given } = c.req.valid('json')
    requireDistinct(given)
    const { db, config } = c.get('deps')
    const license = await readLicense(config)
    const fields = await inProject(db, slug, async (sql, project) => {
      await requireWritable(sql, project, license)
      await sql`select from hub.projects where id = ${project.id} for update`
      const before = await fieldsOf(sql, project.id)
      for (const old of before) {
        const now = given.find(({ key }) => key === old.key)
        if (!now) throw new ApiError('conflict', say.left_out(old.label))
        const lost = old.choices.filter((choice) => !now.choices.includes(choice))
        if (now.kind === old.kind && lost.length === 0) continue
        const [used] = await sql<{ count: number }>`
          select count(*)::int as count from hub.leads
          where project_id = ${project.id} and custom ? ${old.key}
            and (${now.kind !== old.kind} or custom ->> ${old.key} = any(${lost}::text[]))`
        if (used?.count) throw new ApiError('conflict', say.in_use(old.label, used.count))
      }
      for (const [position, field] of given.entries()) {
        const choices = field.kind === 'choice' ? field.choices : []
        await sql`
          insert into hub.lead_fields (project_id, key, label, kind, choices, position)
          values (${project.id}, ${field.key}, ${field.label}, ${field.kind}, ${choices}, ${position})
          on conflict (project_id, key) do update
          set label = excluded.label, kind = excluded.kind, choices = excluded.choices,
            position = excluded.position`
      }
      const renamed = before.filter((old) =>
        given.some(({ key, label }) => key === old.key && label !== old.label),
      )
      for (const { key } of renamed) {
        await sql`
          select private.keep_field_facts(array_agg(id)) from hub.leads
          where project_id = ${project.id} and custom ? ${key}
          having count(*) > 0`
      }
      return fieldsOf(sql, project.id)
    })
    return answer(c, Fields, { fields }, 200)
  },
)

leadFields.openapi(
  createRoute({
    method: 'post',
    path: '/fields/remove',
    operationId: 'removeLeadField',
    tags: ['Leads'],
    summary: 'Remove a field of a project’s own with all its values',
    description: 'Needs the field’s label as confirmation.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({ project: Slug, key: OwnField.shape.key, label: z.string().max(60) }),
      ),
    },
    responses: {
      200: jsonResponse(
        Fields.extend({ values: z.int().meta({ description: 'Leads that had a value.' }) }),
        'Removed.',
      ),
      ...problems(402, 404, 422),
    },
  }),
  async (c) => {
    const { project: slug, key, label } = c.req.valid('json')
    const { db, config } = c.get('deps')
    const license = await readLicense(config)
    const done = await inProject(db, slug, async (sql, project) => {
      await requireWritable(sql, project, license)
      const field = (await fieldsOf(sql, project.id)).find((one) => one.key === key)
      if (!field) throw absent('field')
      if (field.label !== label.trim()) {
        throw invalid([{ path: 'label', code: 'mismatch', message: say.type_label }])
      }
      const emptied = await sql<{ id: string }>`
        update hub.leads set custom = custom - ${key}::text, updated_at = now()
        where project_id = ${project.id} and custom ? ${key}
        returning id`
      await sql`delete from hub.lead_fields where project_id = ${project.id} and key = ${key}`
      await sql`
        delete from hub.evidence where project_id = ${project.id} and field_key = ${key}`
      return { fields: await fieldsOf(sql, project.id), values: emptied.length }
    })
    return answer(c, Fields.extend({ values: z.int() }), done, 200)
  },
)

function requireDistinct(fields: OwnField[]): void {
  const issues = fields.flatMap(({ key, label, kind, choices }, at) => {
    const earlier = fields.slice(0, at)
    const name = label.toLocaleLowerCase('tr')
    return [
      ...(TAKEN.includes(key) ? [{ path: 'key', message: say.taken(key) }] : []),
      ...(earlier.some((one) => one.key === key) ? [{ path: 'key', message: say.twice(key) }] : []),
      ...(earlier.some((one) => one.label.toLocaleLowerCase('tr') === name)
        ? [{ path: 'label', message: say.twice(label) }]
        : []),
      ...(kind === 'choice' && choices.length === 0
        ? [{ path: 'choices', message: say.no_choices }]
        : []),
    ].map(({ path, message }) => ({ path: `fields.${at}.${path}`, code: 'unusable', message }))
  })
  if (issues.length > 0) throw invalid(issues)
}

/** The own fields of the project of a preview; none where there is no project yet. */
export async function ownFieldsFor(c: Ctx, named: string | undefined): Promise<OwnField[]> {
  const { db } = c.get('deps')
  return everywhere(db, async (sql) => {
    const slug = named ?? (await activeSlug(c.get('deps').config.paths, sql))
    if (!slug) return []
    const [project] = await sql<{ id: string }>`select id from hub.projects where slug = ${slug}`
    return project ? fieldsOf(sql, project.id) : []
  })
}
