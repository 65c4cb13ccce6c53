import type { Agent } from './agent.ts'
import { ceo } from './ceo.ts'
import { data } from './data.ts'
import { docs } from './docs.ts'
import { engineer } from './engineer.ts'
import { engineer_system } from './engineer_system.ts'
import { finance } from './finance.ts'
import { legal } from './legal.ts'
import { marketing } from './marketing.ts'
import type { AgentName } from './names.ts'
import { pm } from './pm.ts'
import { research } from './research.ts'
import { sales } from './sales.ts'
import { system } from './system.ts'
import { web_research } from './web_research.ts'

/** All thirteen agents. */
export const AGENTS: Record<AgentName, Agent> = {
  research,
  web_research,
  marketing,
  sales,
  engineer,
  engineer_system,
  docs,
  finance,
  legal,
  data,
  pm,
  system,
  ceo,
}
