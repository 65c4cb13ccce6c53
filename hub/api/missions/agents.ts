import { z } from 'zod'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { AGENT_SETTINGS, AgentSettings } from '../../agents/settings.ts'
import { answer, type Env, problems, write } from '../../http/http.ts'
import { readSetting, writeSetting } from '../../ops/settings.ts'

const Settings = z.object({ agents: AgentSettings })

/** Settings > Agent Prompt Editor: what agents may do. */
export const agentSettings = resource<Env>()

agentSettings.openapi(
  createRoute({
    method: 'get',
    path: '/agents',
    operationId: 'getAgentSettings',
    tags: ['Settings'],
    summary: 'What agents may do',
    responses: { 200: jsonResponse(Settings, 'The settings.'), ...problems() },
  }),
  async (c) => {
    const { paths } = c.get('deps').config
    return answer(c, Settings, { agents: await readSetting(paths, AGENT_SETTINGS) }, 200)
  },
)

agentSettings.openapi(
  createRoute({
    method: 'put',
    path: '/agents',
    operationId: 'putAgentSettings',
    tags: ['Settings'],
    summary: 'Change what agents may do',
    middleware: write,
    request: { body: jsonBody(AgentSettings) },
    responses: { 200: jsonResponse(Settings, 'Changed.'), ...problems(422) },
  }),
  async (c) => {
    const { paths } = c.get('deps').config
    const agents = await writeSetting(paths, AGENT_SETTINGS, c.req.valid('json'))
    return answer(c, Settings, { agents }, 200)
  },
)
