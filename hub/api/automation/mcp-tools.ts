import { z } from 'zod'
import { NewLead } from '../../leads/lead.ts'
import { Slug } from '../projects/projects.ts'

/** A request to the API. */
export type Call = { method: 'GET' | 'POST'; path: string; body?: unknown }
type Tool = {
  name: string
  title: string
  description: string
  /** Whether it creates something that a person then decides about. */
  isProposal: boolean
  input: z.ZodObject
  call: (input: Record<string, unknown>) => Call
}

const project = Slug.meta({ description: 'The slug of a project; see list_projects.' })
const limit = z.int().min(1).max(100).optional()
const cursor = z.string().max(1000).optional()
const Id = z.uuid()

const read = (
  name: string,
  title: string,
  description: string,
  input: z.ZodObject,
  path: (input: Record<string, unknown>) => string,
): Tool => ({
  ...{ name, title, description, isProposal: false, input },
  call: (given) => ({ method: 'GET', path: path(given) }),
})

const propose = (
  name: string,
  title: string,
  description: string,
  input: z.ZodObject,
  path: string,
  bodyOf: (input: Record<string, unknown>) => unknown = (given) => given,
): Tool => ({
  ...{ name, title, description, isProposal: true, input },
  call: (given) => ({ method: 'POST', path, body: bodyOf(given) }),
})

function query(input: Record<string, unknown>): string {
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  return given.length > 0
    ? `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
    : ''
}

/** The tools for models: routes of the API that read or propose, and no others. */
export const TOOLS: Tool[] = [
  read(
    'list_projects',
    'List projects',
    'All projects with counts.',
    z.strictObject({}),
    () => 'projects/list',
  ),
  read(
    'list_leads',
    'List leads',
    'The leads of a project, newest first; `q` searches names, companies and e-mails.',
    z.strictObject({
      project,
      stage: z.string().max(20).optional(),
      q: z.string().max(200).optional(),
      limit,
      cursor,
    }),
    (input) => `leads/list${query(input)}`,
  ),
  read(
    'get_lead',
    'Get a lead',
    'One lead with notes, tasks and the facts known about it.',
    z.strictObject({ lead_id: Id }),
    (input) => `lead/get${query(input)}`,
  ),
  read(
    'get_timeline',
    'Get the timeline of a lead',
    'What happened with a lead, newest first, and who did it.',
    z.strictObject({ lead_id: Id, limit, cursor }),
    (input) => `lead/timeline${query(input)}`,
  ),
  read(
    'list_drafts',
    'List drafts',
    'The drafts of mail of a project with their states.',
    z.strictObject({ project, limit, cursor }),
    (input) => `drafts/list${query(input)}`,
  ),
  read(
    'get_draft',
    'Get a draft',
    'One draft with its sentences and the evidence for each.',
    z.strictObject({ project, id: Id }),
    (input) => `drafts/get${query(input)}`,
  ),
  read(
    'list_missions',
    'List missions',
    'What agents were asked in a project, with the state of each.',
    z.strictObject({ project, limit, cursor }),
    (input) => `missions/list${query(input)}`,
  ),
  read(
    'get_mission',
    'Get a mission',
    'One mission with its steps and result.',
    z.strictObject({ id: Id }),
    ({ id }) => `missions/${id}`,
  ),
  read(
    'search',
    'Search',
    'Finds projects, leads, drafts and missions by words; accents do not matter.',
    z.strictObject({ q: z.string().min(1).max(200) }),
    (input) => `search${query(input)}`,
  ),
  read(
    'get_numbers',
    'Get the numbers of a project',
    'Leads by stage, drafts by state, and what became of the mails.',
    z.strictObject({ project }),
    ({ project }) => `projects/kpi/${project}`,
  ),
  propose(
    'create_lead',
    'Propose a lead',
    'Adds a lead to a project. The same e-mail in the project is refused, with the known lead.',
    z.strictObject({ project, ...NewLead.shape }),
    'lead/quick_add',
    ({ project, ...data }) => ({ slug: project, data }),
  ),
  propose(
    'add_note',
    'Add a note to a lead',
    'Adds a note, which stands on the timeline of the lead.',
    z.strictObject({ lead_id: Id, text: z.string().min(1).max(10_000) }),
    'lead/note',
  ),
  propose(
    'create_draft',
    'Propose a mail to a lead',
    'Creates a draft. Nothing is sent: a person reads, approves and sends it in the hub.',
    z.strictObject({
      project,
      lead_id: Id,
      language: z.enum(['en', 'tr']).optional(),
      subject: z.string().min(1).max(300),
      text: z.string().min(1).max(100_000),
    }),
    'draft/create',
    ({ lead_id, ...given }) => ({ ...given, audience: { kind: 'lead', lead_id } }),
  ),
  propose(
    'compose_mission',
    'Give an agent a mission',
    'Asks an agent of the hub; `department: auto` chooses one. What it would do outside waits for a person.',
    z.strictObject({
      project,
      department: z.string().max(40).default('auto'),
      task: z.string().min(1).max(20_000),
    }),
    'mission/compose',
  ),
]
