import { z } from 'zod'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { AGENT_NAMES } from '../../agents/names.ts'
import { allRules, MAX_RULES, writeRules } from '../../agents/run/project-rules.ts'
import { inProject } from '../../db/db.ts'
import { answer, type Env, problems, write } from '../../http/http.ts'
import { readLicense, requireWritable } from '../../license/license.ts'
import { slugFor } from '../../projects/active.ts'
import { ProjectQuery } from '../mail/drafts.ts'
import { Slug } from '../projects/projects.ts'

const Rules = z.object({
  rules: z.array(
    z
      .object({
        agent: z.enum(AGENT_NAMES),
        text: z.string().meta({ description: 'One rule in a line, each after "- ".' }),
      })
      .meta({ id: 'ProjectRules' }),
  ),
})

/** What agents have learned for one project, in addition to their prompts. */
export const rules = resource<Env>()

rules.openapi(
  createRoute({
    method: 'get',
    path: '/rules',
    operationId: 'listRules',
    tags: ['Projects'],
    summary: 'The rules that agents follow in a project only',
    request: { query: z.strictObject({ project: ProjectQuery }) },
    responses: { 200: jsonResponse(Rules, 'Of every agent that has some.'), ...problems(404) },
  }),
  async (c) => {
    const deps = c.get('deps')
    const slug = await slugFor(deps, c.req.valid('query').project)
    await inProject(deps.db, slug, async () => undefined)
    return answer(c, Rules, { rules: await allRules(deps.config.paths, slug) }, 200)
  },
)

rules.openapi(
  createRoute({
    method: 'put',
    path: '/rules',
    operationId: 'putRules',
    tags: ['Projects'],
    summary: 'Replace the rules of an agent in a project',
    description: 'An empty text removes them. Rules for all projects are in the prompt itself.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          slug: Slug,
          agent: z.enum(AGENT_NAMES),
          text: z
            .string()
            .overwrite((text) => text.replaceAll('\0', '').replaceAll('\r\n', '\n'))
            .max(MAX_RULES),
        }),
      ),
    },
    responses: { 200: jsonResponse(Rules, 'Replaced.'), ...problems(402, 404, 422) },
  }),
  async (c) => {
    const { slug, agent, text } = c.req.valid('json')
    const { config, db } = c.get('deps')
    const license = await readLicense(config)
    await inProject(db, slug, (sql, project) => requireWritable(sql, project, license))
    await writeRules(config.paths, { slug, agent, text })
    return answer(c, Rules, { rules: await allRules(config.paths, slug) }, 200)
  },
)
