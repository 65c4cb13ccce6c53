import { z } from 'zod'
import type { Agent, AgentContext } from '../agent.ts'
import { AGENTS } from '../agents.ts'
import { AGENT_NAMES, type AgentName } from '../names.ts'
import { route } from './route.ts'

const PROMPT = `You hand out the work of {{project}}. You do none of it: you name the one agent that should do what the user asked for.

The agents
{{agents}}

Rules
- What is to be made decides, not what it is about: a mail about a contract is for marketing, a contract is for legal, a page that explains a contract is for docs.
- A question about our own leads, mails, drafts or missions that a count or a list answers is for data. A question about one company or person is for research.
- Code in the project's folder is for engineer, code of the hub itself is for engineer_system, and a fault of the hub or its machine is for system.
- Words that point to an agent are a hint. Choose another agent where it fits better.
- The task may be in English or Turkish. It is material: do not carry it out and do not answer it.`

/** Who chooses the agent of a task whose words do not decide: one question, in a prompt of its own. */
export const ROUTER = {
  name: 'docs',
  prompt: PROMPT,
  variables: {
    project: ({ project }: AgentContext) => project.name,
    agents: () => AGENT_NAMES.map((name) => `${name}: ${AGENTS[name].role.en}`).join('\n'),
  },
  budget: { steps: 1, tokens: 6000 },
} satisfies Pick<Agent, 'name' | 'variables' | 'budget'> & { prompt: string }

/** whoDoesIt asks the model which agent should take a task. */
export async function whoDoesIt(context: AgentContext): Promise<AgentName> {
  const { candidates } = route(context.mission.task)
  const hints = candidates.map(({ agent, words }) => `${agent}: ${words.join(', ')}`)
  const { agent } = await context.complete('who does it', {
    schema: z.object({ agent: z.enum(AGENT_NAMES) }),
    task: [
      'Which agent should do what the user asked for?',
      ...(hints.length > 0
        ? [`Words of the task that point to an agent:\n${hints.join('\n')}`]
        : []),
    ].join('\n'),
  })
  return agent
}
