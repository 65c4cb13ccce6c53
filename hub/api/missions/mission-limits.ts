import { z } from 'zod'
import { createRoute, jsonResponse, resource } from '../../../shared/route.ts'
import { MAX_GIVEN } from '../../agents/evidence/given.ts'
import { MAX_LEADS } from '../../agents/mails/choose.ts'
import { MAX_PARTS, PART } from '../../agents/run/summary.ts'
import { MAX_TASK } from '../../agents/run/thread.ts'
import { answer, type Env, problems } from '../../http/http.ts'

const Count = z.int().min(1)

const Limits = z
  .object({
    task_characters: Count.meta({
      description: 'Characters of a task that every call of the model sees; more is left out.',
    }),
    whole_text_characters: Count.meta({
      description:
        'Characters of all texts and files together that the model is given as they are.',
    }),
    part_characters: Count.meta({
      description: 'A longer text is summarised in parts of this many characters.',
    }),
    parts: Count.meta({ description: 'Parts that are read at most; the rest is left out.' }),
    mails: Count.meta({
      description: 'Leads who each get a mail of their own; more get one campaign.',
    }),
    context_tokens: Count.meta({ description: 'What the model reads and writes in one call.' }),
    context_is_known: z.boolean().meta({
      description: 'Whether the model said so; else it is assumed.',
    }),
  })
  .meta({ id: 'MissionLimits' })
const Answer = z.object({ limits: Limits })

/** How much a mission can take, before somebody writes one. */
export const missionLimits = resource<Env>()

missionLimits.openapi(
  createRoute({
    method: 'get',
    path: '/limits',
    operationId: 'getMissionLimits',
    tags: ['Missions'],
    summary: 'Get how much a mission can take',
    description:
      'What does not fit is summarised or left out, and the mission says so (`left_out`). The size of the context is that of the model in use.',
    responses: { 200: jsonResponse(Answer, 'The limits.'), ...problems() },
  }),
  async (c) => {
    const { context_size, context_source } = await c.get('deps').model.state()
    const limits = {
      task_characters: MAX_TASK,
      whole_text_characters: MAX_GIVEN,
      part_characters: PART,
      parts: MAX_PARTS,
      mails: MAX_LEADS,
      context_tokens: context_size,
      context_is_known: context_source !== 'assumed',
    }
    return answer(c, Answer, { limits }, 200)
  },
)
