import { z } from 'zod'
import { createRoute, jsonResponse, resource } from '../../../shared/route.ts'
import { integerParameter } from '../../../shared/schemas/page.ts'
import { inProject } from '../../db/db.ts'
import { answer, type Env, problems } from '../../http/http.ts'
import { MAX_SHOWN, sequenceNumbers } from '../../mail/sequences/numbers.ts'
import { SEQUENCE_STATES } from '../../mail/sequences/state.ts'
import { People, Stopped } from '../../mail/sequences/view.ts'
import { slugFor } from '../../projects/active.ts'
import { agentShare, pipelineByWeek, replyTimes } from '../../projects/numbers.ts'
import { Slug } from './projects.ts'

const Sums = z.array(z.object({ currency: z.string(), amount: z.number() }))
const Numbers = z
  .object({
    weeks: z
      .array(
        z.object({
          week: z.string().meta({ description: 'The Monday of the week, in UTC.' }),
          new: z.int().meta({ description: 'Leads that were added.' }),
          contacted: z.int().meta({ description: 'Leads that came to the stage the first time.' }),
          replied: z.int(),
          won: z.int().meta({ description: 'Deals decided in this week that still are.' }),
          lost: z.int(),
          won_sums: Sums,
          lost_sums: Sums,
        }),
      )
      .meta({ description: 'Oldest first, the current week last; empty weeks too.' }),
    reply_time: z.object({
      replies: z.int(),
      median_hours: z.number().nullable().meta({ description: 'null without a reply.' }),
      parts: z.array(
        z.object({
          up_to_hours: z.number().nullable().meta({ description: 'null: longer than all.' }),
          count: z.int(),
        }),
      ),
    }),
    agents: z.object({
      mails: z
        .object({
          all: z.int().meta({ description: 'Those of people too.' }),
          by_agents: z.int(),
          as_written: z.int().meta({ description: 'Approved as the agent wrote them.' }),
          edited: z.int().meta({ description: 'Approved after a person edited them.' }),
          rejected: z.int(),
          undecided: z.int(),
        })
        .meta({
          description:
            'A mail counts once, however many people get it, and a sequence once, with all its steps. Each of an agent is in one of the last four.',
        }),
      documents: z.object({ by_agents: z.int(), edited: z.int() }),
    }),
    sequences: z
      .array(
        z.object({
          id: z.uuid(),
          name: z.string(),
          state: z.enum(SEQUENCE_STATES),
          people: People,
          stopped: Stopped,
          sent: z.array(z.int()).meta({ description: 'Mails of each step that were sent.' }),
          replied: z.int().meta({
            description: 'Recipients who answered a mail of it, also after its last one.',
          }),
        }),
      )
      .meta({
        description: `The sequences that were ever approved, the newest ${MAX_SHOWN} first.`,
      }),
  })
  .meta({ id: 'Numbers' })

/** Figures of a project over time. */
export const numbers = resource<Env>()

numbers.openapi(
  createRoute({
    method: 'get',
    path: '/projects/numbers',
    operationId: 'projectNumbers',
    tags: ['Projects'],
    summary: 'The pipeline by week, the time to reply, the agents’ share, and the sequences',
    request: {
      query: z.strictObject({
        project: Slug.optional(),
        weeks: integerParameter(1, 53, 12, 'Weeks, the current one included.'),
      }),
    },
    responses: { 200: jsonResponse(Numbers, 'As of now.'), ...problems(404) },
  }),
  async (c) => {
    const { project, weeks } = c.req.valid('query')
    const slug = await slugFor(c.get('deps'), project)
    const found = await inProject(c.get('deps').db, slug, async (sql, { id }) => ({
      weeks: await pipelineByWeek(sql, id, weeks),
      reply_time: await replyTimes(sql, id),
      agents: await agentShare(sql, id),
      sequences: await sequenceNumbers(sql, id),
    }))
    return answer(c, Numbers, found, 200)
  },
)
