import { z } from 'zod'
import { ApiError, invalid } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import type { Sql } from '../../../shared/sql.ts'
import { everywhere, inProject, sqlState } from '../../db/db.ts'
import { answer, type Ctx, type Env, problems, write } from '../../http/http.ts'
import { absent } from '../../i18n/failure.ts'
import { fieldText } from '../../i18n/problem.text.ts'
import { bilingual } from '../../i18n/words.ts'
import { readLicense, requireRoom, requireWritable } from '../../license/license.ts'
import { adoptFirstBrand } from '../../mail/brand/first-brand.ts'
import { activeSlug, select, slugFor } from '../../projects/active.ts'
import { archiveProject } from '../../projects/archive.ts'
import { keepOwnFacts } from '../../projects/own-facts.ts'
import {
  changeContext,
  makeFolder,
  missingSections,
  parseContext,
  readContext,
  removeFolder,
  SLUG,
  WRITING_SECTIONS,
} from '../../projects/project-folder.ts'
import { projectsText } from '../../projects/projects.text.ts'

const say = bilingual(projectsText)

const UNIQUE_VIOLATION = '23505'

export const Slug = z.string().regex(SLUG, fieldText.en.slug).meta({
  description: 'The short name of the project and the name of its folder.',
  example: 'demir-logistics',
})

const Fields = {
  name: z.string().trim().min(1).max(120),
  website: z
    .url({ protocol: /^https?$/ })
    .max(500)
    .nullable(),
  industry: z.string().trim().max(200).nullable(),
  icp: z.string().trim().max(4000).nullable(),
  description: z.string().trim().max(500),
  value_proposition: z.string().trim().max(4000),
  tone: z.string().trim().max(2000),
  proof_points: z.string().trim().max(4000).meta({
    description: 'What can be shown: references, figures, certificates; one in a line.',
  }),
  offers: z.string().trim().max(4000).meta({
    description: 'What may be offered in a mail, with its conditions; one in a line.',
  }),
}

export const Project = z
  .object({
    slug: z.string(),
    name: z.string(),
    website: z.string().nullable(),
    industry: z.string().nullable(),
    icp: z.string().nullable(),
    active: z.boolean(),
    read_only: z
      .boolean()
      .meta({ description: 'Whether the project is beyond the number that the license allows.' }),
    created_at: z.string(),
    leads: z.int(),
    drafts: z.int().meta({ description: 'The drafts, without the steps of sequences.' }),
    sent: z.int().meta({
      description: 'How many of these drafts were sent; `projects/kpi` counts mails.',
    }),
  })
  .meta({ id: 'Project' })
const OneProject = z.object({ project: Project })
/** Includes the content of CONTEXT.md as it is on disk. */
const Detailed = z.object({
  project: Project.extend({
    description: z.string(),
    value_proposition: z.string(),
    tone: z.string(),
    proof_points: z.string(),
    offers: z.string(),
    missing: z.array(z.enum(WRITING_SECTIONS)).meta({
      description: 'What is not said yet and mails need.',
    }),
  }),
})

/** Projects: isolated from each other, each with its folder. */
export const projects = resource<Env>()

projects.openapi(
  createRoute({
    method: 'get',
    path: '/list',
    operationId: 'listProjects',
    tags: ['Projects'],
    summary: 'List all projects, oldest first',
    responses: {
      200: jsonResponse(z.object({ projects: z.array(Project) }), 'All of them.'),
      ...problems(),
    },
  }),
  async (c) => {
    const projects = await everywhere(c.get('deps').db, (sql) => listProjects(c, sql))
    return answer(c, z.object({ projects: z.array(Project) }), { projects }, 200)
  },
)

projects.openapi(
  createRoute({
    method: 'get',
    path: '/active',
    operationId: 'activeProject',
    tags: ['Projects'],
    summary: 'The active project',
    request: {
      query: z.strictObject({
        project: Slug.optional().meta({ description: 'Another one, by its slug.' }),
      }),
    },
    responses: {
      200: jsonResponse(Detailed, 'The selected project, otherwise the oldest.'),
      ...problems(404, 422),
    },
  }),
  async (c) => {
    const slug = await slugFor(c.get('deps'), c.req.valid('query').project)
    return answer(c, Detailed, { project: await detailed(c, slug) }, 200)
  },
)

projects.openapi(
  createRoute({
    method: 'post',
    path: '/select',
    operationId: 'selectProject',
    tags: ['Projects'],
    summary: 'Select the active project',
    description: 'Also works with the read-only key.',
    request: { body: jsonBody(z.strictObject({ slug: Slug })) },
    responses: { 200: jsonResponse(OneProject, 'Selected.'), ...problems(404, 422) },
  }),
  async (c) => {
    const { slug } = c.req.valid('json')
    const { db, config } = c.get('deps')
    await inProject(db, slug, async () => select(config.paths, slug, c.get('actor')))
    return answer(c, OneProject, { project: await one(c, slug) }, 200)
  },
)

projects.openapi(
  createRoute({
    method: 'post',
    path: '/create',
    operationId: 'createProject',
    tags: ['Projects'],
    summary: 'Create a project and its folder',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          slug: Slug,
          name: Fields.name,
          website: Fields.website.optional(),
          industry: Fields.industry.optional(),
          icp: Fields.icp.optional(),
          description: Fields.description.optional(),
          value_proposition: Fields.value_proposition.optional(),
          tone: Fields.tone.optional(),
          proof_points: Fields.proof_points.optional(),
          offers: Fields.offers.optional(),
        }),
      ),
    },
    responses: { 201: jsonResponse(OneProject, 'Created.'), ...problems(402, 409, 422) },
  }),
  async (c) => {
    const { slug, name, website = null, industry = null, icp = null, ...rest } = c.req.valid('json')
    const { db, config } = c.get('deps')
    const license = await readLicense(config)
    try {
      await everywhere(db, async (sql) => {
        await requireRoom(sql, license)
        const [made] = await sql<{ id: string }>`
          insert into hub.projects (slug, name, website, industry, icp)
          values (${slug}, ${name}, ${website}, ${industry}, ${icp})
          returning id`
        await makeFolder(config.paths, slug, {
          title: name,
          description: rest.description || describe(name, industry, website),
          icp: icp ?? '',
          value_proposition: rest.value_proposition ?? '',
          tone: rest.tone ?? '',
          proof_points: rest.proof_points ?? '',
          offers: rest.offers ?? '',
        })
        await keepOwnFacts(sql, made?.id ?? '', await readContext(config.paths, slug))
      })
    } catch (error) {
      if (sqlState(error) !== UNIQUE_VIOLATION) throw error
      throw new ApiError('conflict', say.slug_taken(slug))
    }
    await adoptFirstBrand(config, db)
    const project = await one(c, slug)
    return answer(c, OneProject, { project }, 201, { Location: '/api/cockpit/projects/list' })
  },
)

projects.openapi(
  createRoute({
    method: 'post',
    path: '/update',
    operationId: 'updateProject',
    tags: ['Projects'],
    summary: 'Change a project',
    description:
      'Absent fields are unchanged; only the sections of CONTEXT.md that are sent are rewritten.',
    middleware: write,
    request: {
      body: jsonBody(z.strictObject({ slug: Slug, ...z.object(Fields).partial().shape })),
    },
    responses: { 200: jsonResponse(Detailed, 'Changed.'), ...problems(402, 404, 422) },
  }),
  async (c) => {
    const { slug, ...change } = c.req.valid('json')
    const { db, config } = c.get('deps')
    const license = await readLicense(config)
    await inProject(db, slug, async (sql, project) => {
      await requireWritable(sql, project, license)
      // Read anew under its lock: whoever changes the rest of it at the same time loses nothing.
      const [now] = await sql<Pick<typeof project, 'name' | 'website' | 'industry' | 'icp'>>`
        select name, website, industry, icp from hub.projects where id = ${project.id} for update`
      if (!now) throw absent('project')
      const row = { ...now, ...change }
      await sql`
        update hub.projects
        set name = ${row.name}, website = ${row.website}, industry = ${row.industry},
          icp = ${row.icp}, updated_at = now()
        where id = ${project.id}`
      const { name, icp, website: _, industry: __, ...sections } = change
      await changeContext(config.paths, slug, {
        ...(name === undefined ? {} : { title: name }),
        ...(icp === undefined ? {} : { icp: icp ?? '' }),
        ...sections,
      })
      await keepOwnFacts(sql, project.id, await readContext(config.paths, slug))
    })
    return answer(c, Detailed, { project: await detailed(c, slug) }, 200)
  },
)

projects.openapi(
  createRoute({
    method: 'post',
    path: '/delete',
    operationId: 'deleteProject',
    tags: ['Projects'],
    summary: 'Delete a project and keep an archive of it',
    description:
      'Needs the project’s name as confirmation. Its rows and folder are saved to an archive first.',
    middleware: write,
    request: { body: jsonBody(z.strictObject({ slug: Slug, name: z.string().max(120) })) },
    responses: {
      200: jsonResponse(
        OneProject.extend({ archive: z.string() }),
        'Deleted; `archive` is its file.',
      ),
      ...problems(404, 409, 422),
    },
  }),
  async (c) => {
    const { slug, name } = c.req.valid('json')
    const { db, config } = c.get('deps')
    const project = await one(c, slug)
    if (name.trim() !== project.name) {
      throw invalid([{ path: 'name', code: 'mismatch', message: say.type_name }])
    }
    const archive = await inProject(db, slug, async (sql, { id }) => {
      const [busy] = await sql<{ by: keyof typeof say.busy }>`
        select case when sequence_id is null then 'mail' else 'sequence' end as by
        from hub.drafts where state = 'sending'
        union all
        select 'mission' from hub.missions where status = 'processing'
        union all
        select 'import' from hub.imports where status in ('queued', 'processing')
        limit 1`
      if (busy) throw new ApiError('conflict', say.busy[busy.by])
      const archive = await archiveProject(config.paths, sql, slug)
      await sql`delete from hub.projects where id = ${id}`
      return archive
    })
    await removeFolder(config.paths, slug)
    return answer(c, OneProject.extend({ archive: z.string() }), { project, archive }, 200)
  },
)

/** The description in a new CONTEXT.md if nobody wrote one. */
function describe(name: string, industry: string | null, website: string | null): string {
  const text = `${name}${industry ? `, ${industry}` : ''}${website ? ` (${website})` : ''}`
  return text.endsWith('.') ? text : `${text}.`
}

async function listProjects(c: Ctx, sql: Sql): Promise<z.infer<typeof Project>[]> {
  const { config } = c.get('deps')
  const active = await activeSlug(config.paths, sql, c.get('actor'))
  const { max_projects } = await readLicense(config)
  const rows = await sql<Omit<z.infer<typeof Project>, 'active' | 'read_only'>>`
    select slug, name, website, industry, icp, created_at,
      (select count(*)::int from hub.leads where project_id = projects.id) as leads,
      drafts.all as drafts, drafts.sent
    from hub.projects, lateral (
      select count(*)::int as all, (count(*) filter (where state = 'sent'))::int as sent
      from hub.drafts where project_id = projects.id and sequence_id is null
    ) as drafts
    order by created_at, id`
  return rows.map((row, index) => ({
    ...row,
    active: row.slug === active,
    read_only: max_projects !== null && index >= max_projects,
  }))
}

/** The project as the API returns it. */
export async function one(c: Ctx, slug: string): Promise<z.infer<typeof Project>> {
  const all = await everywhere(c.get('deps').db, (sql) => listProjects(c, sql))
  const project = all.find((known) => known.slug === slug)
  if (!project) throw absent('project')
  return project
}

async function detailed(c: Ctx, slug: string) {
  const project = await one(c, slug)
  const text = await readContext(c.get('deps').config.paths, slug)
  const { title: _, icp: __, ...sections } = parseContext(text)
  return { ...project, ...sections, missing: missingSections(text) }
}
