/** The thirteen agents, in the order in which the interface shows them. */
export const AGENT_NAMES = [
  'research',
  'web_research',
  'marketing',
  'sales',
  'engineer',
  'engineer_system',
  'docs',
  'finance',
  'legal',
  'data',
  'pm',
  'system',
  'ceo',
] as const

export type AgentName = (typeof AGENT_NAMES)[number]

/** isAgentName distinguishes an agent's name from any other word. */
export function isAgentName(word: string): word is AgentName {
  return (AGENT_NAMES as readonly string[]).includes(word)
}
