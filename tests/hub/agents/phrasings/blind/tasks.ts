import type { AgentName } from '../../../../../hub/agents/names.ts'

/** Tasks by the language in which they are typed and the agent whose they are. */
export type Tasks = {
  en: Partial<Record<AgentName, string[]>>
  tr: Partial<Record<AgentName, string[]>>
}
