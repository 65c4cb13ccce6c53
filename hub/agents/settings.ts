import { z } from 'zod'
import type { Setting } from '../ops/settings.ts'

/** agents.json: what agents may do in addition. */
export const AgentSettings = z.strictObject({
  engineer_system: z.boolean().default(false).meta({
    description:
      'Whether engineer_system may write patch files for the hub. It never applies them.',
  }),
  web: z.enum(['ask', 'allow', 'deny']).default('ask').meta({
    description:
      'Whether web_research may read websites: after an approval each time, always, or never.',
  }),
  search: z
    .url({ protocol: /^https?$/ })
    .max(500)
    .nullable()
    .default(null)
    .meta({
      description:
        'A search endpoint with the JSON API of SearXNG that research may ask, under the rule of `web`; null for none.',
    }),
  improve: z.enum(['never', 'daily', 'weekly']).default('weekly').meta({
    description: 'How often pm reviews failed missions by itself.',
  }),
})
export type AgentSettings = z.infer<typeof AgentSettings>

export const AGENT_SETTINGS: Setting<typeof AgentSettings> = {
  file: 'agents.json',
  schema: AgentSettings,
  fallback: AgentSettings.parse({}),
}
